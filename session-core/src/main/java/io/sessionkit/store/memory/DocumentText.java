package io.sessionkit.store.memory;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;

import io.sessionkit.Round;
import io.sessionkit.Session;
import io.sessionkit.SessionKey;
import io.sessionkit.TokenUsage;
import io.sessionkit.Turn;
import io.sessionkit.TurnStatus;
import io.sessionkit.Verdict;
import io.sessionkit.ViewTotals;
import io.sessionkit.codec.MessageCodec;
import io.sessionkit.codec.UnreadablePayloadException;
import io.sessionkit.codec.UnsupportedVersionException;
import io.sessionkit.internal.row.SettingsText;
import io.sessionkit.internal.row.SnapshotText;
import io.sessionkit.store.SessionRecord;
import org.jspecify.annotations.Nullable;

/**
 * Writes a session as named values, which pass the codec as a whole, and reads it back.
 * The payloads among them have passed the codec once before: a reader decodes only those
 * it needs, and a payload that is corrupt does not make the others unreadable.
 */
final class DocumentText {

	/*
	 * Part of the stored form, as the names are. A name that is added later must have a
	 * meaning when it is missing.
	 */
	static final int VERSION = 2;

	private final SessionKey key;

	private final MessageCodec codec;

	DocumentText(SessionKey key, MessageCodec codec) {
		this.key = key;
		this.codec = codec;
	}

	String write(SessionContent content) {
		Session header = content.header();
		Map<String, @Nullable Object> values = new LinkedHashMap<>();
		values.put("document", VERSION);
		values.put("owner", this.key.owner());
		values.put("id", this.key.id());
		values.put("incarnation", header.incarnation());
		values.put("version", header.version());
		values.put("lastItem", header.items());
		values.put("branch", header.branch());
		values.put("head", header.head());
		values.put("openTurn", header.openTurn());
		values.put("title", header.title());
		values.put("tags", List.copyOf(new TreeSet<>(header.tags())));
		if (!header.settings().isEmpty()) {
			values.put("settings", SettingsText.values(header.settings()));
		}
		values.put("timeToLive", header.timeToLive());
		values.put("createdAt", header.createdAt());
		values.put("updatedAt", header.updatedAt());
		values.put("attributes", content.position().attributes().payload());
		values.put("summaryTurn", content.position().summary());
		values.put("summaryId", content.position().summaryId());
		values.put("summaries",
				new TreeMap<>(content.summaries()).entrySet().stream().map(DocumentText::values).toList());
		values.put("turns", content.turns().stream().map(this::values).toList());
		values.put("records", content.records().stream().map(DocumentText::values).toList());
		return this.codec.encodeValues(this.key, values);
	}

	private static Map<String, @Nullable Object> values(Map.Entry<String, Long> summary) {
		Map<String, @Nullable Object> values = new LinkedHashMap<>();
		values.put("id", summary.getKey());
		values.put("turn", summary.getValue());
		return values;
	}

	private Map<String, @Nullable Object> values(TurnContent content) {
		Map<String, @Nullable Object> values = new LinkedHashMap<>();
		write(content.turn(), values);
		writeIfPresent(content.turn(), values);
		if (content.before() != content.turn().parent()) {
			values.put("before", content.before());
		}
		values.put("parts", content.parts());
		values.put("attributes", content.attributes().payload());
		values.put("items", content.items().stream().map(this::values).toList());
		return values;
	}

	private static void write(Turn turn, Map<String, @Nullable Object> values) {
		values.put("id", turn.id());
		values.put("parent", turn.parent());
		values.put("branch", turn.branch());
		values.put("status", turn.status().name());
		values.put("agent", turn.agent());
		values.put("model", turn.model());
		values.put("startedAt", turn.startedAt());
		values.put("endedAt", turn.endedAt());
		values.put("rounds", turn.rounds().stream().map(DocumentText::values).toList());
		values.put("tools", new TreeMap<>(turn.tools()));
	}

	private static void writeIfPresent(Turn turn, Map<String, @Nullable Object> values) {
		values.put("failure", turn.failure());
		if (!turn.verdicts().isEmpty()) {
			values.put("verdicts", turn.verdicts().stream().map(DocumentText::values).toList());
		}
		if (turn.snapshot() != null) {
			values.put("snapshot", SnapshotText.values(turn.snapshot()));
		}
		if (!turn.parameters().isEmpty()) {
			values.put("parameters", turn.parameters());
		}
	}

	private static Map<String, @Nullable Object> values(Round round) {
		Map<String, @Nullable Object> values = new LinkedHashMap<>();
		values.put("model", round.model());
		values.put("input", round.usage().input());
		values.put("output", round.usage().output());
		values.put("cacheRead", round.usage().cacheRead());
		values.put("cacheWrite", round.usage().cacheWrite());
		return values;
	}

	private static Map<String, @Nullable Object> values(Verdict verdict) {
		Map<String, @Nullable Object> values = new LinkedHashMap<>();
		values.put("hook", verdict.hook());
		values.put("phase", verdict.phase().name());
		values.put("kind", verdict.kind().name());
		values.put("reason", verdict.reason());
		return values;
	}

	private Map<String, @Nullable Object> values(StoredItem item) {
		Map<String, @Nullable Object> values = new LinkedHashMap<>();
		values.put("sequence", item.sequence());
		values.put("at", item.at());
		values.put("tokens", item.tokens());
		values.put("message", item.message().payload(this.key, this.codec));
		return values;
	}

	private static Map<String, @Nullable Object> values(SessionRecord record) {
		Map<String, @Nullable Object> values = new LinkedHashMap<>();
		values.put("kind", record.kind());
		values.put("id", record.id());
		values.put("revision", record.revision());
		values.put("payload", record.payload());
		values.put("writtenAt", record.writtenAt());
		values.put("expiresAt", record.expiresAt());
		return values;
	}

	/**
	 * Reads a session back.
	 * @throws UnreadablePayloadException if the text is not a text of this session
	 * @throws UnsupportedVersionException if a newer version wrote it
	 */
	SessionContent read(String text) {
		DocumentFields fields = new DocumentFields(this.key,
				DocumentVersion1.renamed(this.codec.decodeValues(this.key, text)));
		check(fields);
		try {
			return content(fields);
		}
		catch (IllegalArgumentException ex) {
			throw new UnreadablePayloadException(
					"The document of session " + this.key + " holds a value that cannot be.", ex);
		}
	}

	private void check(DocumentFields fields) {
		int version = fields.get("document", Integer.class);
		if (version != VERSION) {
			throw new UnsupportedVersionException("The document of session " + this.key + " has version " + version
					+ ", and this SessionKit reads " + VERSION + ". Read it with the SessionKit that wrote it.");
		}
		if (!fields.text("owner").equals(this.key.owner()) || !fields.text("id").equals(this.key.id())) {
			throw new UnreadablePayloadException("The document of session " + this.key + " is that of another session.",
					null);
		}
	}

	private SessionContent content(DocumentFields fields) {
		List<TurnContent> turns = new ArrayList<>();
		fields.all("turns").forEach((turn) -> turns.add(turn(turn, turns.size() + 1)));
		checkHead(fields.number("head"), turns.size());
		HeadPosition position = position(fields);
		return new SessionContent(header(fields, position, turns.size()), position, summaries(fields, position), turns,
				fields.all("records").stream().map(this::record).toList());
	}

	private static void checkHead(long head, int turns) {
		if (head < 0 || head > turns) {
			throw new IllegalArgumentException("There is no turn " + head + " to be the head.");
		}
	}

	private Session header(DocumentFields fields, HeadPosition position, int turns) {
		return new Session(this.key, fields.text("incarnation"), fields.number("version"),
				new Session.Position(turns, fields.number("lastItem"), fields.text("branch"), fields.number("head"),
						fields.number("openTurn"), position.summary(), position.summaryId(), ViewTotals.NONE),
				new Session.Details(fields.find("title", String.class), fields.texts("tags"), Map.of(),
						fields.find("timeToLive", Duration.class),
						SettingsText.read(this.key, fields.find("settings", Map.class))),
				new Session.Times(fields.instant("createdAt"), fields.instant("updatedAt"), null));
	}

	private static HeadPosition position(DocumentFields fields) {
		return new HeadPosition(StoredAttributes.of(fields.text("attributes")), fields.number("summaryTurn"),
				fields.find("summaryId", String.class));
	}

	/** Returns the summaries by the last turn that they cover. */
	private static Map<String, Long> summaries(DocumentFields fields, HeadPosition position) {
		Map<String, Long> summaries = new TreeMap<>();
		if (position.summaryId() != null) {
			summaries.put(position.summaryId(), position.summary());
		}
		fields.all("summaries").forEach((summary) -> summaries.put(summary.text("id"), summary.number("turn")));
		return summaries;
	}

	private static TurnContent turn(DocumentFields fields, long number) {
		long parent = fields.number("parent");
		if (parent < 0 || parent >= number) {
			throw new IllegalArgumentException("Turn " + number + " cannot follow turn " + parent + ".");
		}
		List<StoredItem> items = fields.all("items").stream().map((item) -> item(item, number)).toList();
		Turn.Place place = new Turn.Place(number, parent, fields.text("branch"), items.size(),
				items.stream().mapToInt(StoredItem::tokens).sum());
		Turn turn = new Turn(fields.text("id"), place, origin(fields), progress(fields));
		return new TurnContent(turn, fields.get("parts", Integer.class), StoredAttributes.of(fields.text("attributes")),
				items, before(fields, parent));
	}

	private static long before(DocumentFields fields, long parent) {
		Long before = fields.find("before", Long.class);
		if (before != null && (before < 0 || before > parent)) {
			throw new IllegalArgumentException(
					"A path cannot lead from a turn that follows turn " + parent + " to turn " + before + ".");
		}
		return (before != null) ? before : parent;
	}

	private static Turn.Origin origin(DocumentFields fields) {
		return new Turn.Origin(fields.instant("startedAt"), fields.find("agent", String.class), fields.named("tools"),
				SnapshotText.read(fields.find("snapshot", Map.class)), fields.valuesIfPresent("parameters"));
	}

	private static Turn.Progress progress(DocumentFields fields) {
		return new Turn.Progress(TurnStatus.valueOf(fields.text("status")), fields.find("endedAt", Instant.class),
				fields.find("model", String.class), fields.all("rounds").stream().map(DocumentText::round).toList(),
				fields.find("failure", String.class),
				fields.allIfPresent("verdicts").stream().map(DocumentText::verdict).toList());
	}

	private static Round round(DocumentFields fields) {
		return new Round(fields.find("model", String.class), new TokenUsage(fields.number("input"),
				fields.number("output"), fields.number("cacheRead"), fields.number("cacheWrite")));
	}

	private static Verdict verdict(DocumentFields fields) {
		return new Verdict(fields.text("hook"), Verdict.Phase.valueOf(fields.text("phase")),
				Verdict.Kind.valueOf(fields.text("kind")), fields.find("reason", String.class));
	}

	private static StoredItem item(DocumentFields fields, long turn) {
		return new StoredItem(fields.number("sequence"), turn, fields.instant("at"),
				fields.get("tokens", Integer.class), StoredMessage.encoded(fields.text("message"), null));
	}

	private SessionRecord record(DocumentFields fields) {
		return new SessionRecord(this.key, fields.text("kind"), fields.text("id"), fields.number("revision"),
				fields.text("payload"), fields.instant("writtenAt"), fields.find("expiresAt", Instant.class));
	}

}
