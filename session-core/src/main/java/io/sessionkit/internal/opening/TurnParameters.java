package io.sessionkit.internal.opening;

import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;

import io.sessionkit.codec.MessageCodec;
import io.sessionkit.codec.UnstorableMessageException;
import io.sessionkit.internal.Names;
import org.jspecify.annotations.Nullable;

/**
 * The advisor parameters of a call that are kept with its turn, and those of them that
 * are shown to the model again once the turn is history.
 *
 * @param names the parameters that are kept
 * @param replayed those of them that are shown again, in the order in which they are
 * shown
 */
public record TurnParameters(Set<String> names, Set<String> replayed) {

	/** Stands for all names. */
	static final String ALL = "*";

	/**
	 * The pattern for names of parameters that are shown, since such a name becomes a
	 * tag.
	 */
	private static final Pattern TAG = Pattern.compile("[\\p{L}_][\\p{L}\\p{N}_.-]*");

	public TurnParameters {
		names = Collections.unmodifiableSet(new LinkedHashSet<>(names));
		replayed = Collections.unmodifiableSet(new LinkedHashSet<>(replayed));
	}

	/**
	 * Creates the rules from lists of names.
	 * @param replay the names to show again, or {@value #ALL} for all
	 * @param exclude the names not to show again, even if {@code replay} has them, or
	 * {@value #ALL} for all
	 * @throws IllegalArgumentException if a name is not allowed, or if the lists
	 * contradict each other
	 */
	public static TurnParameters of(Set<String> names, Set<String> replay, Set<String> exclude) {
		names.forEach(TurnParameters::checkName);
		checkKept("shown again", replay, names);
		checkKept("excluded", exclude, names);
		Set<String> replayed = new LinkedHashSet<>(replay.contains(ALL) ? names : replay);
		replayed.removeAll(exclude.contains(ALL) ? names : exclude);
		replayed.forEach(TurnParameters::checkTag);
		return new TurnParameters(names, replayed);
	}

	private static void checkName(String name) {
		if (name.isBlank() || Names.isOwn(name) || name.equals(ALL)) {
			throw new IllegalArgumentException("'" + name
					+ "' cannot be kept with a turn: name an advisor parameter of the application, such as context.");
		}
	}

	private static void checkKept(String what, Set<String> some, Set<String> names) {
		for (String name : some) {
			if (!names.contains(name) && !name.equals(ALL)) {
				throw new IllegalArgumentException("The parameter '" + name + "' is to be " + what
						+ ", but it is not kept with the turn. Add it to the kept parameters, which are " + names
						+ ", or leave it out here.");
			}
		}
	}

	private static void checkTag(String name) {
		if (!TAG.matcher(name).matches()) {
			throw new IllegalArgumentException("The parameter '" + name
					+ "' cannot be shown again: its name becomes a tag. Use letters, digits, '_', '-' and '.'.");
		}
	}

	/**
	 * Returns copies of those values of a call that are kept.
	 * @throws UnstorableMessageException if one of them cannot be stored, or if one that
	 * is to be shown again cannot be shown as text
	 */
	public Map<String, Object> of(TurnRequest request, MessageCodec codec) {
		Map<String, Object> values = new LinkedHashMap<>();
		for (String name : this.names) {
			Object value = request.parameters().get(name);
			if (value != null) {
				values.put(name, copy(request, name, value, codec));
			}
		}
		return values;
	}

	/**
	 * Returns the parameters of a call that continues a turn. Those that are kept are the
	 * turn's, also if it has none: a policy that asks by one of them would let calls run
	 * otherwise, as whoever continues the turn need not be who has begun it.
	 * @param ofCall the parameters of the call
	 * @param ofTurn the parameters that are stored with the turn
	 * @return the parameters that hooks can read
	 */
	public Map<String, Object> continued(Map<String, Object> ofCall, Map<String, Object> ofTurn) {
		if (this.names.isEmpty() && ofTurn.isEmpty()) {
			return ofCall;
		}
		Map<String, Object> all = new HashMap<>(ofCall);
		all.keySet().removeAll(this.names);
		ofTurn.entrySet()
			.stream()
			.filter((kept) -> !Names.isOwn(kept.getKey()))
			.forEach((kept) -> all.put(kept.getKey(), kept.getValue()));
		return all;
	}

	private Object copy(TurnRequest request, String name, Object value, MessageCodec codec) {
		if (this.replayed.contains(name) && hasBytes(value)) {
			throw new UnstorableMessageException("The advisor parameter '" + name
					+ "' is to be shown to the model again, and bytes are no text. Pass a text, or leave it out of"
					+ " sessionkit.turn.replay.");
		}
		try {
			Object copy = codec.decodeValues(request.key(), codec.encodeValues(request.key(), Map.of(name, value)))
				.get(name);
			return (copy != null) ? copy : value;
		}
		catch (UnstorableMessageException ex) {
			throw new UnstorableMessageException("The " + culprit(request, name, value, codec)
					+ " cannot be kept with the turn. Pass strings, booleans, numbers, dates and times of java.time,"
					+ " UUID, URI, bytes, and lists, sets and maps of these, or leave it out of"
					+ " sessionkit.turn.parameters.");
		}
	}

	/**
	 * Returns the place and the class of a value that cannot be stored: that of an entry,
	 * if the value is a map.
	 */
	private static String culprit(TurnRequest request, String name, Object value, MessageCodec codec) {
		String place = "advisor parameter '" + name + "'";
		if (value instanceof Map<?, ?> map) {
			for (Map.Entry<?, ?> entry : map.entrySet()) {
				Object each = entry.getValue();
				if (each != null && !isStorable(request, each, codec)) {
					return "entry '" + entry.getKey() + "' of the " + place + ", a " + each.getClass().getName() + ",";
				}
			}
		}
		return place + " of " + value.getClass().getName();
	}

	private static boolean isStorable(TurnRequest request, Object value, MessageCodec codec) {
		try {
			codec.encodeValues(request.key(), Map.of("value", value));
			return true;
		}
		catch (UnstorableMessageException ex) {
			return false;
		}
	}

	private static boolean hasBytes(@Nullable Object value) {
		if (value instanceof List<?> list) {
			return list.stream().anyMatch(TurnParameters::hasBytes);
		}
		return value instanceof byte[]
				|| (value instanceof Map<?, ?> map && map.values().stream().anyMatch(TurnParameters::hasBytes));
	}

	/**
	 * Returns those of the values that are stored with the question, to be shown again.
	 */
	Map<String, Object> replayed(Map<?, ?> values) {
		Map<String, Object> replayed = new LinkedHashMap<>();
		for (String name : this.replayed) {
			Object value = values.get(name);
			if (value != null) {
				replayed.put(name, value);
			}
		}
		return replayed;
	}

}
