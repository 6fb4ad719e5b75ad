package io.sessionkit.store;

import java.time.Instant;

import io.sessionkit.SessionKey;
import org.jspecify.annotations.Nullable;

/**
 * An entry that is kept with a session and is neither header, turn nor item, such as a
 * summary, a named branch, a decision, a lease or a score.
 *
 * @param key the session it belongs to
 * @param kind its kind, 1 to {@value RecordWrite#MAX_NAME_LENGTH} characters
 * @param id its name, unique within session and kind
 * @param revision the {@link RecordWrite#first()} of the write that created it, raised by
 * one with each write since. No two contents of a name share a revision, not even in a
 * later session of the key
 * @param payload its content, as the codec encoded it
 * @param writtenAt when it was last written, by the store's clock; if that was in a
 * commit, this is the {@link io.sessionkit.Session#updatedAt()} that the commit has left
 * @param expiresAt when it starts to read as absent, by the store's clock; null: with the
 * session
 */
public record SessionRecord(SessionKey key, String kind, String id, long revision, String payload, Instant writtenAt,
		@Nullable Instant expiresAt) {
}
