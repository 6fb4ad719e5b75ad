package io.sessionkit.internal.view;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.ToIntFunction;

import io.sessionkit.SessionKey;
import io.sessionkit.context.Trim;

import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.UserMessage;
import org.springframework.ai.tool.definition.ToolDefinition;

/**
 * Remembers what this process has learned about the tokens of its sessions: how the
 * provider's own counts compare with the estimates, how many items fit into the limit,
 * and how large tools are. This only improves the estimates: another process starts
 * without it. It also knows which reports of pins were logged. Bounded; safe for use by
 * many threads.
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
 * outside these bounds shows that something else was counted, such as a text that the
 * provider adds.
 */
public final class TokenMemory {

	private static final int REMEMBERED = 10_000;

	private static final double LEAST = 0.5;

	private static final double MOST = 4;

	/** Bounds the memory of tools, since tools come and go when servers offer them. */
	private static final int REMEMBERED_TOOLS = 1000;

	/** The assumed size of an item until one is known. */
	private static final int FEW_TOKENS = 25;

	/**
	 * @param factor the ratio of reported to estimated tokens
	 * @param items the number of the newest items that fitted into the limit; 0 if
	 * unknown
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

	/** The limits for which it was reported that a pinned turn has no room. */
	private final Map<SessionKey, Trim> reported = new LinkedHashMap<>(16, 0.75F, true) {

		@Override
		protected boolean removeEldestEntry(Map.Entry<SessionKey, Trim> eldest) {
			return size() > REMEMBERED;
		}

	};

	private final Map<ToolDefinition, Integer> tools = new ConcurrentHashMap<>();

	public synchronized double factor(SessionKey key) {
		return learned(key).factor();
	}

	/**
	 * Records the input tokens that a provider reported for a request.
	 * @param cached whether a part of the input was cached; the report may then leave
	 * that part out, so it is ignored if it would lower the known factor
	 */
	synchronized void reported(SessionKey key, long reported, long estimated, boolean cached) {
		if (reported > 0 && estimated > 0) {
			double factor = Math.max(LEAST, Math.min(MOST, (double) reported / estimated));
			if (cached && factor < learned(key).factor()) {
				return;
			}
			this.learned.put(key, new Learned(factor, learned(key).items()));
		}
	}

	/**
	 * Returns how many items to read for a number of tokens. This is somewhat more than
	 * fitted last time, because the next turns may be smaller.
	 */
	synchronized int itemsFor(SessionKey key, int tokens) {
		int items = learned(key).items();
		return (items == 0) ? tokens / FEW_TOKENS + 8 : somewhatMoreThan(items);
	}

	private static int somewhatMoreThan(int items) {
		return items + items / 4 + 8;
	}

	synchronized void fitted(SessionKey key, int items) {
		this.learned.put(key, new Learned(learned(key).factor(), Math.max(1, items)));
	}

	/**
	 * Records that the whole view fits, so that the next read has at least room for it.
	 * The items that fitted before a summary may have been other, larger ones.
	 */
	synchronized void fittedAll(SessionKey key, int items, int tokens) {
		if (somewhatMoreThan(items) > itemsFor(key, tokens)) {
			fitted(key, items);
		}
	}

	/**
	 * Returns the size of a tool, which is counted once.
	 */
	int tokensOf(ToolDefinition tool, ToIntFunction<Message> estimate) {
		if (this.tools.size() > REMEMBERED_TOOLS) {
			this.tools.clear();
		}
		return this.tools.computeIfAbsent(tool, (definition) -> estimate
			.applyAsInt(new UserMessage(String.join(" ", tool.name(), tool.description(), tool.inputSchema()))));
	}

	/**
	 * Records that a pinned turn has no room within these limits.
	 * @return whether that is new, so that it is to be logged
	 */
	synchronized boolean isFirstReportOfPins(SessionKey key, Trim trim) {
		return !trim.equals(this.reported.put(key, trim));
	}

	private Learned learned(SessionKey key) {
		return this.learned.getOrDefault(key, Learned.NOTHING);
	}

}
