package io.sessionkit.internal.line;

/**
 * The turn that answers a request.
 *
 * @param turn its id
 * @param from the smallest number that the turn can have
 */
public record Answer(String turn, long from) {
}
