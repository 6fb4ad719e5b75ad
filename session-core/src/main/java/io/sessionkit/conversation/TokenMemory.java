package io.sessionkit.conversation;

import java.util.LinkedHashMap;
import java.util.Map;

import io.sessionkit.SessionKey;

/**
 * What this process has learned of the tokens of its sessions: how the provider's own
 * counts compare with the estimates, and how many items fit into the limit. It only makes
 * things better: another process begins without it. Bounded; safe for use by many
 * threads.
 * <p>
 * The factor of a session is
 *
 * <pre>{@code
 * input tokens that the provider reported for the last round
 * ---------------------------------------------------------- , at least 0.5, at most 4
 * estimate of the same request: system text, tools, messages
 * }</pre>
 *
 * and 1 until a provider has reported. A sum of estimates is multiplied by it. A report
 * outside of these bounds says that something else was counted, such as a text that the
 * provider adds.
 */
final class TokenMemory {

	private static final int REMEMBERED = 10_000;

	private static final double LEAST = 0.5;

	private static final double MOST = 4;

	/** What is taken for the size of an item until one is known. */
	private static final int FEW_TOKENS = 25;

	/**
	 * @param factor reported to estimated tokens
	 * @param items how many of the newest items fitted into the limit; 0 for unknown
	 */
	private record Learned(double factor, int items) {

		static final Learned NOTHING = new Learned(1, 0);

	}

	private final Map<SessionKey, Learned> learned = new LinkedHashMap<>(16, 0.75F, true) {

		@Override
		protected boolean removeEldestEntry(Map.Entry<SessionKey, Learned> eldest) {
			return size() > REMEMBERED;
		}

	};

	synchronized double factor(SessionKey key) {
		return learned(key).factor();
	}

	synchronized void reported(SessionKey key, long reported, long estimated) {
		if (reported > 0 && estimated > 0) {
			double factor = Math.max(LEAST, Math.min(MOST, (double) reported / estimated));
			this.learned.put(key, new Learned(factor, learned(key).items()));
		}
	}

	/**
	 * How many items to read for so many tokens: somewhat more than fitted last time,
	 * since the next turns may be smaller.
	 */
	synchronized int itemsFor(SessionKey key, int tokens) {
		int items = learned(key).items();
		return (items == 0) ? tokens / FEW_TOKENS + 8 : items + items / 4 + 8;
	}

	synchronized void fitted(SessionKey key, int items) {
		this.learned.put(key, new Learned(learned(key).factor(), Math.max(1, items)));
	}

	private Learned learned(SessionKey key) {
		return this.learned.getOrDefault(key, Learned.NOTHING);
	}

}
