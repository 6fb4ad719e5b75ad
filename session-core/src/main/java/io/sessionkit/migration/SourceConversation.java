package io.sessionkit.migration;

/**
 * A conversation of a source.
 *
 * @param id its id in the source
 * @param user the user that the source names for it; empty if the source knows none
 */
public record SourceConversation(String id, String user) {
}
