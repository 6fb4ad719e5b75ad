package io.sessionkit.stream;

/**
 * An event of a stream, with the id by which a reader can come back. Immutable.
 *
 * @param id the id, for the field {@code id} of a server-sent event: a browser sends it
 * back as {@code Last-Event-ID}. The ids of a stream increase; {@link CallEvent.Lost} has
 * that of the event before. Empty if the stream cannot be resumed, and for a lost one
 * before which there is no event
 * @param event the event
 */
public record StreamEvent(String id, CallEvent event) {
}
