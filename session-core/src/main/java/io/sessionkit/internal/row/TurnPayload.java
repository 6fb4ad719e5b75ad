package io.sessionkit.internal.row;

import java.util.HashMap;
import java.util.List;
import java.util.Map;

import io.sessionkit.Round;
import io.sessionkit.SessionKey;
import io.sessionkit.TokenUsage;
import io.sessionkit.Turn;
import io.sessionkit.Verdict;
import io.sessionkit.codec.MessageCodec;
import org.jspecify.annotations.Nullable;

/**
 * The encoded texts of a turn: the origin, which is written once, and the outcome, which
 * each part replaces.
 */
final class TurnPayload {

	private TurnPayload() {
	}

	static @Nullable String origin(SessionKey key, Turn turn, MessageCodec codec) {
		Map<String, Object> values = new HashMap<>();
		putIfPresent(values, "agent", turn.agent());
		if (!turn.tools().isEmpty()) {
			values.put("tools", turn.tools());
		}
		if (turn.snapshot() != null) {
			values.put("snapshot", SnapshotText.values(turn.snapshot()));
		}
		if (!turn.parameters().isEmpty()) {
			values.put("parameters", turn.parameters());
		}
		return values.isEmpty() ? null : ProvenPayload.of(key, values, codec);
	}

	static String outcome(SessionKey key, Turn turn, MessageCodec codec) {
		Map<String, Object> values = new HashMap<>();
		putIfPresent(values, "model", turn.model());
		putIfPresent(values, "failure", turn.failure());
		if (!turn.rounds().isEmpty()) {
			values.put("rounds", turn.rounds().stream().map(TurnPayload::values).toList());
		}
		if (!turn.verdicts().isEmpty()) {
			values.put("verdicts", turn.verdicts().stream().map(TurnPayload::values).toList());
		}
		return ProvenPayload.of(key, values, codec);
	}

	static Turn turn(SessionKey key, TurnRow row, MessageCodec codec) {
		Map<String, @Nullable Object> origin = new HashMap<>();
		if (row.origin() != null) {
			origin.putAll(codec.decodeValues(key, row.origin()));
		}
		Map<String, @Nullable Object> outcome = codec.decodeValues(key, row.outcome());
		return StoredValues.read(() -> turn(row, origin, outcome));
	}

	private static Turn turn(TurnRow row, Map<String, @Nullable Object> origin, Map<String, @Nullable Object> outcome) {
		return new Turn(row.id(), new Turn.Place(row.number(), row.parent(), row.branch(), row.items(), row.tokens()),
				new Turn.Origin(Micros.instant(row.startedAt()), (String) origin.get("agent"),
						tools(origin.get("tools")), SnapshotText.read(origin.get("snapshot")),
						parameters(origin.get("parameters"))),
				new Turn.Progress(row.status(), Micros.instantOrNull(row.endedAt()), (String) outcome.get("model"),
						rounds(outcome.get("rounds")), (String) outcome.get("failure"),
						verdicts(outcome.get("verdicts"))));
	}

	private static Map<String, Object> values(Round round) {
		Map<String, Object> values = new HashMap<>();
		putIfPresent(values, "model", round.model());
		values.put("input", round.usage().input());
		values.put("output", round.usage().output());
		values.put("cacheRead", round.usage().cacheRead());
		values.put("cacheWrite", round.usage().cacheWrite());
		return values;
	}

	private static List<Round> rounds(@Nullable Object values) {
		return (values != null) ? ((List<?>) values).stream().map((round) -> round((Map<?, ?>) round)).toList()
				: List.of();
	}

	private static Round round(Map<?, ?> values) {
		return new Round((String) values.get("model"), new TokenUsage(number(values, "input"), number(values, "output"),
				number(values, "cacheRead"), number(values, "cacheWrite")));
	}

	private static Map<String, Object> values(Verdict verdict) {
		Map<String, Object> values = new HashMap<>();
		values.put("hook", verdict.hook());
		values.put("phase", verdict.phase().name());
		values.put("kind", verdict.kind().name());
		putIfPresent(values, "reason", verdict.reason());
		return values;
	}

	private static List<Verdict> verdicts(@Nullable Object values) {
		return (values != null) ? ((List<?>) values).stream().map((verdict) -> verdict((Map<?, ?>) verdict)).toList()
				: List.of();
	}

	private static Verdict verdict(Map<?, ?> values) {
		return new Verdict(String.valueOf(values.get("hook")),
				Verdict.Phase.valueOf(String.valueOf(values.get("phase"))),
				Verdict.Kind.valueOf(String.valueOf(values.get("kind"))), (String) values.get("reason"));
	}

	private static long number(Map<?, ?> values, String name) {
		return (values.get(name) instanceof Number number) ? number.longValue() : 0;
	}

	private static Map<String, String> tools(@Nullable Object values) {
		Map<String, String> tools = new HashMap<>();
		if (values != null) {
			((Map<?, ?>) values).forEach((name, digest) -> tools.put(String.valueOf(name), String.valueOf(digest)));
		}
		return tools;
	}

	private static Map<String, Object> parameters(@Nullable Object values) {
		Map<String, Object> parameters = new HashMap<>();
		if (values != null) {
			((Map<?, ?>) values).forEach((name, value) -> putIfPresent(parameters, String.valueOf(name), value));
		}
		return parameters;
	}

	private static void putIfPresent(Map<String, Object> values, String name, @Nullable Object value) {
		if (value != null) {
			values.put(name, value);
		}
	}

}
