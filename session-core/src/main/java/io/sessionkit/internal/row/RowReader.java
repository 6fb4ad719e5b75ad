package io.sessionkit.internal.row;

import java.time.Instant;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;

import io.sessionkit.Session;
import io.sessionkit.SessionItem;
import io.sessionkit.SessionKey;
import io.sessionkit.Turn;
import io.sessionkit.codec.MessageCodec;
import io.sessionkit.codec.UnreadablePayloadException;
import org.jspecify.annotations.Nullable;

/**
 * Converts rows to the objects that callers see. If a row cannot be decoded, the
 * exception names the session, and the item or turn.
 */
public final class RowReader {

	private final MessageCodec codec;

	public RowReader(MessageCodec codec) {
		this.codec = codec;
	}

	public Session session(SessionKey key, HeaderRow row) {
		return named("The header of session " + key,
				() -> new Session(key, row.incarnation(), row.version(), position(row), details(key, row),
						new Session.Times(row.life().createdAt(), row.life().updatedAt(), row.life().expiresAt())));
	}

	private static Session.Position position(HeaderRow row) {
		return new Session.Position(row.turns(), row.items(), row.branch(), row.path().head(), row.openTurn(),
				row.path().summary(), row.path().summaryId(), row.totals());
	}

	private Session.Details details(SessionKey key, HeaderRow row) {
		return new Session.Details(title(key, row.title()), tags(key, row.tags()), attributes(key, row.attributes()),
				row.life().duration(), SettingsText.read(key, row.settings(), this.codec));
	}

	public List<SessionItem> items(SessionKey key, List<ItemRow> rows) {
		return rows.stream().map((row) -> item(key, row)).toList();
	}

	SessionItem item(SessionKey key, ItemRow row) {
		Instant at = Micros.instant(row.at());
		return named("Item " + row.sequence() + " of session " + key, () -> new SessionItem(row.sequence(), row.turn(),
				at, row.tokens(), this.codec.decode(key, row.body())));
	}

	public Turn turn(SessionKey key, TurnRow row) {
		return named("Turn " + row.number() + " of session " + key, () -> TurnPayload.turn(key, row, this.codec));
	}

	/**
	 * Returns the attributes that were in force when a turn was the head.
	 */
	public Map<String, Object> attributes(SessionKey key, TurnRow row) {
		return named("Turn " + row.number() + " of session " + key, () -> attributes(key, row.attributes()));
	}

	private @Nullable String title(SessionKey key, @Nullable String payload) {
		if (payload == null) {
			return null;
		}
		Object title = this.codec.decodeValues(key, payload).get("title");
		return (title != null && !title.equals("")) ? StoredValues.read(() -> (String) title) : null;
	}

	private Set<String> tags(SessionKey key, @Nullable String payload) {
		Set<String> tags = new HashSet<>();
		Object stored = (payload != null) ? this.codec.decodeValues(key, payload).get("tags") : null;
		if (stored != null) {
			StoredValues.read(() -> (List<?>) stored).forEach((tag) -> tags.add(String.valueOf(tag)));
		}
		return tags;
	}

	private Map<String, Object> attributes(SessionKey key, @Nullable String payload) {
		Map<String, Object> attributes = new HashMap<>();
		if (payload != null) {
			this.codec.decodeValues(key, payload).forEach((name, value) -> {
				if (value != null) {
					attributes.put(name, value);
				}
			});
		}
		return attributes;
	}

	private static <T> T named(String what, Supplier<T> decoding) {
		try {
			return decoding.get();
		}
		catch (UnreadablePayloadException ex) {
			throw new UnreadablePayloadException(what + " cannot be read: " + ex.getMessage(), ex);
		}
	}

}
