package io.sessionkit.internal.view;

import java.util.List;
import java.util.NavigableMap;
import java.util.TreeMap;
import java.util.function.Supplier;

import io.sessionkit.SessionKey;
import io.sessionkit.internal.Misuse;
import io.sessionkit.internal.Told;
import io.sessionkit.internal.view.ViewLine.Source;

import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.ToolResponseMessage;

/**
 * The items of the history that a turn forgets when it is stored. Safe for use by many
 * threads.
 */
public final class ForgottenItems {

	private final SessionKey key;

	private final long covered;

	private final Supplier<List<ViewLine>> history;

	/** The turns of the items, by the sequence of the item. */
	private final NavigableMap<Long, Long> items = new TreeMap<>();

	/** True if nothing may be forgotten, since the message in question may not join. */
	private final boolean refuses;

	private boolean running = true;

	private boolean over;

	/**
	 * @param covered the last turn that the summary in force covers; 0 for none
	 * @param history supplies the lines of the history that hooks and tools see
	 */
	public ForgottenItems(SessionKey key, long covered, Supplier<List<ViewLine>> history) {
		this(key, covered, history, false);
	}

	private ForgottenItems(SessionKey key, long covered, Supplier<List<ViewLine>> history, boolean refuses) {
		this.key = key;
		this.covered = covered;
		this.history = history;
		this.refuses = refuses;
	}

	/**
	 * Returns what hooks forget that are asked about a message which may not become part
	 * of the turn: nothing. They get an exception.
	 */
	public ForgottenItems refusing() {
		return new ForgottenItems(this.key, this.covered, this.history, true);
	}

	/**
	 * Forgets lines of the history, and with them the calls of results and the results of
	 * calls.
	 * @param saving whether a hook that decides what is stored does so
	 */
	public synchronized void forget(int from, int to, boolean saving) {
		if (this.refuses) {
			throw new Misuse("A hook cannot forget messages of session " + this.key
					+ " because of a message that may not become part of the turn. Refuse the message, or forget them in"
					+ " a tool or in beforeSave.");
		}
		if (this.over || !(this.running || saving)) {
			throw new Misuse("The turn on session " + this.key
					+ " is over, and forgets nothing any more. Do so before the tool or hook returns.");
		}
		List<ViewLine> lines = this.history.get();
		if (Math.min(from, to) < 0 || to > lines.size()) {
			throw new NoSuchMessages(
					"The history of session " + this.key + " has " + lines.size() + " messages, so there are none from "
							+ from + " to " + to + " to forget. The second index is that behind the last one.");
		}
		int first = from;
		while (first > 0 && first < to && isResult(lines.get(first).message())) {
			first--;
		}
		int end = to;
		while (first < end && end < lines.size() && isResult(lines.get(end).message())) {
			end++;
		}
		NavigableMap<Long, Long> chosen = new TreeMap<>();
		for (int i = first; i < end; i++) {
			chosen.put(sequence(i, lines.get(i)), lines.get(i).turn());
		}
		this.items.putAll(chosen);
	}

	private static boolean isResult(Message message) {
		return message instanceof ToolResponseMessage;
	}

	private long sequence(int index, ViewLine line) {
		if (!isForgettable(line)) {
			throw new NoneOfItsTurns("Message " + index + " of the history of session " + this.key
					+ " is none of its turns: it belongs to a summary, or the call has brought it. Forget messages from"
					+ " SessionContext.forgettableFrom() on, or use Conversation.reset() between calls.");
		}
		return (line.source() instanceof Source.Pruned pruned) ? pruned.sequence()
				: ((Source.Item) line.source()).sequence();
	}

	private boolean isForgettable(ViewLine line) {
		boolean own = line.source() instanceof Source.Item || line.source() instanceof Source.Pruned;
		return own && line.turn() > this.covered;
	}

	/** Returns the index of the first line behind those that cannot be forgotten. */
	public int from() {
		List<ViewLine> lines = this.history.get();
		int from = lines.size();
		while (from > 0 && isForgettable(lines.get(from - 1))) {
			from--;
		}
		return from;
	}

	/** Returns whether nothing is forgotten so far. */
	public synchronized boolean isEmpty() {
		return this.items.isEmpty();
	}

	/** Stops tools from forgetting, because the turn is being saved. */
	public synchronized void endRunning() {
		this.running = false;
	}

	/**
	 * Ends the forgetting.
	 * @return the turns of the items to delete, by the sequence of the item
	 */
	public synchronized NavigableMap<Long, Long> end() {
		this.over = true;
		return new TreeMap<>(this.items);
	}

	private static final class NoSuchMessages extends IndexOutOfBoundsException implements Told {

		NoSuchMessages(String message) {
			super(message);
		}

	}

	private static final class NoneOfItsTurns extends IllegalArgumentException implements Told {

		NoneOfItsTurns(String message) {
			super(message);
		}

	}

}
