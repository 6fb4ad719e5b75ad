package io.sessionkit.internal.row;

import io.sessionkit.SessionKey;
import io.sessionkit.store.SessionRecord;
import org.jspecify.annotations.Nullable;

/**
 * A record as it is stored, without its name.
 *
 * @param revision its revision
 * @param written when it was last written
 * @param expires when it starts to read as absent; null: with the session
 * @param payload its content
 */
public record RecordRow(long revision, long written, @Nullable Long expires, String payload) {

	public SessionRecord record(SessionKey key, String kind, String id) {
		return new SessionRecord(key, kind, id, this.revision, this.payload, Micros.instant(this.written),
				Micros.instantOrNull(this.expires));
	}

}
