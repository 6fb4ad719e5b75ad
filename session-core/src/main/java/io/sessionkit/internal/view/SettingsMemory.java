package io.sessionkit.internal.view;

import java.util.LinkedHashMap;
import java.util.Map;

import io.sessionkit.SessionKey;
import io.sessionkit.SessionSettings;
import io.sessionkit.SessionSettings.TrimSettings;

/**
 * Remembers the limits that this process has read in the settings of sessions, so that
 * the next statement reads as much as they allow. It only guesses: the header that comes
 * with the answer decides. Bounded; safe for use by many threads.
 */
final class SettingsMemory {

	private static final int REMEMBERED = 10_000;

	private final Map<SessionKey, SessionSettings> known = new LinkedHashMap<>(16, 0.75F, true) {

		@Override
		protected boolean removeEldestEntry(Map.Entry<SessionKey, SessionSettings> eldest) {
			return size() > REMEMBERED;
		}

	};

	/** Returns the settings that were read last. */
	synchronized SessionSettings of(SessionKey key) {
		return this.known.getOrDefault(key, SessionSettings.NONE);
	}

	/** Records the settings that were read. Those without limits take no place. */
	synchronized void read(SessionKey key, SessionSettings settings) {
		if (settings.limit() == null && settings.trim().equals(TrimSettings.NONE)) {
			this.known.remove(key);
		}
		else {
			this.known.put(key, settings);
		}
	}

}
