package io.sessionkit.internal.row;

/**
 * An item as it is stored.
 *
 * @param sequence its place in the session
 * @param turn the number of its turn
 * @param at when it was recorded
 * @param tokens its size in tokens
 * @param body the encoded message
 */
public record ItemRow(long sequence, long turn, long at, int tokens, String body) {

}
