package io.sessionkit.store.memory;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Set;

import io.sessionkit.Session;
import io.sessionkit.SessionKey;
import io.sessionkit.SessionSettings;
import io.sessionkit.store.SessionRecord;
import org.jspecify.annotations.Nullable;

/**
 * The whole content of one session at one moment, as it is kept. It is immutable.
 *
 * @param header the header; its attributes are those of the position, its totals follow
 * from the turns
 * @param position the attributes and the summary in force at the head
 * @param summaries the last turns that summaries cover, by the id of their record
 * @param turns all turns, by number
 * @param records all records
 */
record SessionContent(Session header, HeadPosition position, Map<String, Long> summaries, List<TurnContent> turns,
		List<SessionRecord> records) {

	SessionContent {
		summaries = Map.copyOf(summaries);
	}

	/**
	 * Returns a session that does not exist yet: its version is 0.
	 */
	static SessionContent absent(SessionKey key, Instant createdAt, @Nullable Duration timeToLive) {
		Session header = new Session(key, Session.newIncarnation(), 0, Session.Position.BEGINNING,
				new Session.Details(null, Set.of(), Map.of(), timeToLive, SessionSettings.NONE),
				new Session.Times(createdAt, createdAt, null));
		return new SessionContent(header, HeadPosition.BEGINNING, Map.of(), List.of(), List.of());
	}

}
