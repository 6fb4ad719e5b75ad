package io.sessionkit.context;

import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Random;
import java.util.Set;

/**
 * One combination of all that stands between a thread and what the model sees of it.
 *
 * @param limit what is limited
 * @param layout how the history is sent
 * @param parts what else is there
 */
record ViewRules(Limit limit, Layout layout, Set<Part> parts) {

	enum Limit {

		NONE, TURNS, MESSAGES, TOKENS, ALL

	}

	enum Layout {

		MESSAGES, SYSTEM_TEXT, USER_TEXT

	}

	enum Part {

		PINS, PRUNE, SUMMARY, MERGE, REDACTOR, STOP_WORDS, CUSTOM_HOOK, STATE, INPUTS

	}

	/** In the metadata of a message that is pinned. */
	static final String PIN = "pin";

	/**
	 * Every combination.
	 */
	static List<ViewRules> all() {
		List<ViewRules> all = new ArrayList<>();
		for (Limit limit : Limit.values()) {
			for (Layout layout : Layout.values()) {
				for (int bits = 0; bits < 1 << Part.values().length; bits++) {
					all.add(new ViewRules(limit, layout, parts(bits)));
				}
			}
		}
		return all;
	}

	private static Set<Part> parts(int bits) {
		Set<Part> parts = EnumSet.noneOf(Part.class);
		for (Part part : Part.values()) {
			if ((bits & (1 << part.ordinal())) != 0) {
				parts.add(part);
			}
		}
		return parts;
	}

	boolean has(Part part) {
		return this.parts.contains(part);
	}

	/**
	 * Returns whether the history stands in a request as it was read, except for what
	 * limits leave out.
	 */
	boolean leaveHistoryInItsPlace() {
		return this.layout == Layout.MESSAGES && !has(Part.MERGE) && !has(Part.CUSTOM_HOOK);
	}

	Trim trim(Random random) {
		int turns = random.nextInt(4);
		int messages = 1 + random.nextInt(14);
		int tokens = 20 + random.nextInt(300);
		Trim trim = switch (this.limit) {
			case NONE -> Trim.NONE;
			case TURNS -> Trim.keepLastTurns(turns);
			case MESSAGES -> Trim.keepLastMessages(messages);
			case TOKENS -> Trim.keepLastTokens(tokens);
			case ALL -> Trim.keepLastTurns(turns + 1).maxMessages(messages + 2).maxTokens(tokens + 40);
		};
		return has(Part.PINS) ? trim.pins(Pins.firstUser().andMetadata(PIN)) : trim;
	}

}
