package io.sessionkit.store;

import java.time.Instant;

import io.sessionkit.SessionKey;
import org.jspecify.annotations.Nullable;

/**
 * Something kept with a session that is neither header, turn nor item: a checkpoint, a
 * named branch, a decision, a lease, a score.
 *
 * @param key the session it belongs to
 * @param kind what it is, 1 to {@value RecordWrite#MAX_NAME_LENGTH} characters
 * @param id its name, unique within session and kind
 * @param revision {@link RecordWrite#first()} of the write that created it, one more with
 * each write since: no two contents of a name have the same, also not in a later session
 * of the key
 * @param payload its content, as the codec left it
 * @param writtenAt when it was last written, by the store's clock
 * @param expiresAt when it reads as absent, by the store's clock; null: with the session
 */
public record SessionRecord(SessionKey key, String kind, String id, long revision, String payload, Instant writtenAt,
		@Nullable Instant expiresAt) {
}
