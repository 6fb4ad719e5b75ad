package io.sessionkit.store.memory;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

import io.sessionkit.store.SessionStore;
import org.jspecify.annotations.Nullable;

/**
 * Renames what documents of version 1 hold, which is the only place that knows their
 * names. Builds before the first release wrote them, and one is kept in the tests: a
 * document that somebody has stored stays readable.
 */
final class DocumentVersion1 {

	private static final Map<String, String> NAMES = Map.of("state", "attributes", "checkpoint", "summaryTurn",
			"checkpointId", "summaryId", "checkpoints", "summaries", "inputs", "parameters", "outcome", "kind");

	private DocumentVersion1() {
	}

	/**
	 * Returns the values of a document of version 1 under the names of version 2; those
	 * of another version as they are.
	 */
	static Map<?, ?> renamed(Map<String, @Nullable Object> document) {
		if (!Integer.valueOf(1).equals(document.get("document"))) {
			return document;
		}
		Map<Object, @Nullable Object> values = withNames(document);
		values.put("document", DocumentText.VERSION);
		// before there were incarnations, the time of creation told sessions apart
		values.putIfAbsent("incarnation", String.valueOf(document.get("createdAt")));
		values.computeIfPresent("turns", (name, turns) -> each(turns, DocumentVersion1::turn));
		values.computeIfPresent("records", (name, records) -> each(records, DocumentVersion1::summary));
		values.put("summaries", summaries(values));
		return values;
	}

	private static Map<Object, @Nullable Object> withNames(Map<?, ?> before) {
		Map<Object, @Nullable Object> values = new HashMap<>();
		before.forEach((name, value) -> values.put(NAMES.containsKey(name) ? NAMES.get(name) : name, value));
		return values;
	}

	private static Object each(Object list, Function<Map<?, ?>, Object> change) {
		if (!(list instanceof List<?> values)) {
			return list;
		}
		List<@Nullable Object> changed = new ArrayList<>();
		values.forEach((value) -> changed.add((value instanceof Map<?, ?> map) ? change.apply(map) : value));
		return changed;
	}

	private static Object turn(Map<?, ?> before) {
		Map<Object, @Nullable Object> turn = withNames(before);
		turn.computeIfPresent("verdicts", (name, verdicts) -> each(verdicts, DocumentVersion1::withNames));
		return turn;
	}

	private static Object summary(Map<?, ?> before) {
		Map<Object, @Nullable Object> record = new HashMap<>(before);
		record.replace("kind", "checkpoint", SessionStore.SUMMARY);
		return record;
	}

	/**
	 * Returns the summaries that the document names. In the oldest ones each turn names
	 * the summary that was in force when it was the head.
	 */
	private static List<Object> summaries(Map<Object, @Nullable Object> values) {
		List<Object> summaries = new ArrayList<>();
		if (values.get("turns") instanceof List<?> turns) {
			turns.forEach((turn) -> addNamed(turn, summaries));
		}
		if (values.get("summaries") instanceof List<?> named) {
			summaries.addAll(named);
		}
		return summaries;
	}

	private static void addNamed(@Nullable Object turn, List<Object> summaries) {
		if (turn instanceof Map<?, ?> values && values.get("summaryTurn") instanceof Long covered
				&& values.get("summaryId") instanceof String id) {
			summaries.add(Map.of("id", id, "turn", covered));
		}
	}

}
