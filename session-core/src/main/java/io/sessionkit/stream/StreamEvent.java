package io.sessionkit.stream;

/**
 * An event of a stream, with the id by which a reader can come back. Immutable.
 *
 * @param id the id, for the field {@code id} of a server-sent event: a browser sends it
 * back as {@code Last-Event-ID}. The ids of a stream increase. Empty if the stream cannot
 * be resumed
 * @param event the event
 */
public record StreamEvent(String id, CallEvent event) {
}
