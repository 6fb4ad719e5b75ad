package io.sessionkit.internal.row;

import java.util.HashMap;
import java.util.List;
import java.util.Map;

import io.sessionkit.Snapshot;
import io.sessionkit.Snapshot.Items;
import io.sessionkit.Snapshot.Part;
import io.sessionkit.Snapshot.Pruned;
import io.sessionkit.Snapshot.Summary;
import io.sessionkit.Snapshot.Verbatim;
import io.sessionkit.codec.UnreadablePayloadException;
import org.jspecify.annotations.Nullable;

/**
 * Converts a snapshot to named values, which pass the codec with those of its turn, and
 * back. A part of a snapshot is one short text, because a long history that was pruned
 * has many parts. For SessionKit's own stores, not for applications.
 */
public final class SnapshotText {

	private static final String ITEMS = "items";

	private static final String PRUNED = "pruned";

	private static final String SUMMARY = "summary";

	private static final String VERBATIM = "verbatim";

	private static final int PRUNED_WORDS = 3;

	private SnapshotText() {
	}

	public static Map<String, Object> values(Snapshot snapshot) {
		Map<String, Object> values = new HashMap<>();
		if (snapshot.systemDigest() != null) {
			values.put("systemDigest", snapshot.systemDigest());
		}
		if (snapshot.system() != null) {
			values.put("system", snapshot.system());
		}
		values.put("parts", snapshot.parts().stream().map(SnapshotText::text).toList());
		return values;
	}

	/**
	 * Reads the snapshot from its values.
	 * @param values the values; null for none
	 * @throws UnreadablePayloadException if they are not those of a snapshot
	 */
	public static @Nullable Snapshot read(@Nullable Object values) {
		if (values == null) {
			return null;
		}
		if (values instanceof Map<?, ?> map && map.get("parts") instanceof List<?> parts) {
			return new Snapshot((String) map.get("systemDigest"), (String) map.get("system"),
					parts.stream().map((part) -> part(String.valueOf(part))).toList());
		}
		throw new UnreadablePayloadException("The snapshot has no valid 'parts'.", null);
	}

	private static String text(Part part) {
		if (part instanceof Items items) {
			return String.join(" ", ITEMS, String.valueOf(items.from()), String.valueOf(items.to()),
					String.valueOf(items.firstTurn()), String.valueOf(items.lastTurn()));
		}
		if (part instanceof Pruned pruned) {
			return PRUNED + " " + pruned.sequence() + " " + pruned.turn() + " " + pruned.placeholder();
		}
		if (part instanceof Summary summary) {
			return SUMMARY + " " + summary.summary();
		}
		return VERBATIM + " " + part.size();
	}

	private static Part part(String text) {
		int space = text.indexOf(' ');
		String rest = text.substring(space + 1);
		try {
			return part(text.substring(0, Math.max(0, space)), rest);
		}
		catch (IllegalArgumentException | ArrayIndexOutOfBoundsException ex) {
			throw new UnreadablePayloadException("The snapshot has a part that cannot be.", ex);
		}
	}

	private static Part part(String kind, String rest) {
		return switch (kind) {
			case ITEMS -> items(rest.split(" "));
			case PRUNED -> pruned(rest.split(" ", PRUNED_WORDS));
			case SUMMARY -> new Summary(rest);
			case VERBATIM -> new Verbatim(Integer.parseInt(rest));
			default -> throw new IllegalArgumentException("There is no such part.");
		};
	}

	private static Items items(String[] words) {
		return new Items(Long.parseLong(words[0]), Long.parseLong(words[1]), Long.parseLong(words[2]),
				Long.parseLong(words[3]));
	}

	private static Pruned pruned(String[] words) {
		return new Pruned(Long.parseLong(words[0]), Long.parseLong(words[1]), words[2]);
	}

}
