package io.sessionkit.internal.row;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;

import io.sessionkit.SessionKey;
import io.sessionkit.SessionSettings;
import io.sessionkit.SessionSettings.RetentionSettings;
import io.sessionkit.SessionSettings.TrimSettings;
import io.sessionkit.codec.MessageCodec;
import io.sessionkit.codec.UnreadablePayloadException;
import io.sessionkit.codec.UnsupportedVersionException;
import org.jspecify.annotations.Nullable;

/**
 * Converts the settings of a session to named values, which pass the codec, and back.
 * Settings that are absent are left out. A setting that this version does not know is
 * refused: a call that ignored it would send or keep what it forbids, and the next change
 * would erase it.
 */
public final class SettingsText {

	/** The version of the form. */
	private static final int VERSION = 1;

	private static final String SETTINGS = "settings";

	private static final String LIMIT = "limit";

	private static final String MAX_TURNS = "maxTurns";

	private static final String MAX_MESSAGES = "maxMessages";

	private static final String MAX_TOKENS = "maxTokens";

	private static final String SUMMARIZE = "summarize";

	private static final String RETAINED_TURNS = "retainedTurns";

	private static final String RETAINED_AGE = "retainedAge";

	private static final Set<String> NAMES = Set.of(SETTINGS, LIMIT, MAX_TURNS, MAX_MESSAGES, MAX_TOKENS, SUMMARIZE,
			RETAINED_TURNS, RETAINED_AGE);

	private SettingsText() {
	}

	static String write(SessionKey key, SessionSettings settings, MessageCodec codec) {
		return ProvenPayload.of(key, values(settings), codec);
	}

	public static Map<String, Object> values(SessionSettings settings) {
		Map<String, Object> values = new LinkedHashMap<>();
		values.put(SETTINGS, VERSION);
		putIfPresent(values, LIMIT, settings.limit());
		putIfPresent(values, MAX_TURNS, settings.trim().maxTurns());
		putIfPresent(values, MAX_MESSAGES, settings.trim().maxMessages());
		putIfPresent(values, MAX_TOKENS, settings.trim().maxTokens());
		putIfPresent(values, SUMMARIZE, settings.summarize());
		putIfPresent(values, RETAINED_TURNS, settings.retention().maxTurns());
		putIfPresent(values, RETAINED_AGE, settings.retention().maxAge());
		return values;
	}

	private static void putIfPresent(Map<String, Object> values, String name, @Nullable Object value) {
		if (value != null) {
			values.put(name, value);
		}
	}

	static SessionSettings read(SessionKey key, @Nullable String payload, MessageCodec codec) {
		return (payload != null) ? read(key, codec.decodeValues(key, payload)) : SessionSettings.NONE;
	}

	/**
	 * Reads the settings from their values.
	 * @param values the values; null for none
	 * @throws UnreadablePayloadException if they are not those of settings
	 * @throws UnsupportedVersionException if a newer version wrote them
	 */
	public static SessionSettings read(SessionKey key, @Nullable Map<?, ?> values) {
		if (values == null) {
			return SessionSettings.NONE;
		}
		checkKnown(key, values);
		try {
			TrimSettings trim = new TrimSettings(number(values, MAX_TURNS), number(values, MAX_MESSAGES),
					number(values, MAX_TOKENS));
			RetentionSettings retention = new RetentionSettings(number(values, RETAINED_TURNS),
					age((Duration) values.get(RETAINED_AGE)));
			return new SessionSettings(number(values, LIMIT), trim, (Boolean) values.get(SUMMARIZE), retention);
		}
		catch (IllegalArgumentException | ClassCastException ex) {
			throw new UnreadablePayloadException("The settings of session " + key + " hold a value that cannot be.",
					ex);
		}
	}

	/** Shorter ones than a second were allowed once, and would keep nothing. */
	private static @Nullable Duration age(@Nullable Duration stored) {
		boolean isTooShort = stored != null && stored.toSeconds() == 0 && stored.toNanos() > 0;
		return isTooShort ? null : stored;
	}

	private static void checkKnown(SessionKey key, Map<?, ?> values) {
		if (!(values.get(SETTINGS) instanceof Integer version) || version < 1) {
			throw new UnreadablePayloadException("The settings of session " + key + " have no version.", null);
		}
		if (version > VERSION || !NAMES.containsAll(values.keySet())) {
			throw new UnsupportedVersionException("The settings of session " + key + " were written by a newer"
					+ " SessionKit, in version " + version + " of their form or with settings that this one does not"
					+ " know. Use the version that wrote them.");
		}
	}

	private static @Nullable Integer number(Map<?, ?> values, String name) {
		return (Integer) values.get(name);
	}

}
