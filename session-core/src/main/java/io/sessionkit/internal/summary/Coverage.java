package io.sessionkit.internal.summary;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;

import io.sessionkit.SessionItem;
import io.sessionkit.Summary;
import io.sessionkit.ViewTotals;
import io.sessionkit.context.Pins;
import io.sessionkit.context.Summarize;
import io.sessionkit.internal.view.CarriedTurns;
import io.sessionkit.store.SessionView;
import org.jspecify.annotations.Nullable;

import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.MessageType;

/**
 * The turns that a summary covers: the oldest that no summary covers yet, as many as the
 * summarizer may read. It never contains one of the newest turns that stay, and never a
 * call without its results.
 *
 * @param before the summary so far; null for none
 * @param items all items of the turns that it covers
 * @param summarized the items that the summarizer reads
 * @param pinned the items that continue to be sent as they are, older ones included
 */
record Coverage(@Nullable Summary before, List<SessionItem> items, List<SessionItem> summarized,
		List<SessionItem> pinned) {

	static Coverage of(SessionView view, @Nullable Summary before, Summarize rule, Pins pins) {
		List<List<SessionItem>> older = linked(olderTurns(view, rule.keepTurns()));
		Coverage all = of(before, older, pins);
		for (int end = all.readable(older, rule.maxInputTokens()); end <= older.size(); end++) {
			Coverage some = of(before, withoutOpenCalls(older.subList(0, end)), pins);
			if (!some.isEmpty()) {
				return some;
			}
		}
		return of(before, List.of(), pins);
	}

	private static List<List<SessionItem>> olderTurns(SessionView view, int keepTurns) {
		Map<Long, List<SessionItem>> turns = new LinkedHashMap<>();
		view.items().forEach((item) -> turns.computeIfAbsent(item.turn(), (turn) -> new ArrayList<>()).add(item));
		List<List<SessionItem>> all = new ArrayList<>(turns.values());
		return all.subList(0, Math.max(0, all.size() - keepTurns));
	}

	/**
	 * Returns the turns with those as one that are linked by calls and their results:
	 * they are summarized or pinned together.
	 */
	private static List<List<SessionItem>> linked(List<List<SessionItem>> turns) {
		List<List<SessionItem>> linked = new ArrayList<>();
		for (List<SessionItem> turn : turns) {
			List<SessionItem> last = linked.isEmpty() ? turn : linked.get(linked.size() - 1);
			if (last != turn && CarriedTurns.areLinked(last.get(last.size() - 1).message(), turn.get(0).message())) {
				last.addAll(turn);
			}
			else {
				linked.add(new ArrayList<>(turn));
			}
		}
		return linked;
	}

	private static Coverage of(@Nullable Summary before, List<List<SessionItem>> turns, Pins pins) {
		List<SessionItem> items = new ArrayList<>();
		List<SessionItem> summarized = new ArrayList<>();
		List<SessionItem> pinned = new ArrayList<>((before != null) ? before.pinned() : List.of());
		boolean firstUser = pins.firstUserMessage() && isBeginning(before);
		for (List<SessionItem> turn : turns) {
			boolean hasUser = turn.stream().anyMatch((item) -> item.role() == MessageType.USER);
			boolean whole = (firstUser && hasUser) || turn.stream().anyMatch((item) -> pins.pins(item.message()));
			firstUser = firstUser && !hasUser;
			for (SessionItem item : turn) {
				items.add(item);
				// system text that was added to the session is not conversation
				(whole || item.role() == MessageType.SYSTEM ? pinned : summarized).add(item);
			}
		}
		return new Coverage(before, items, summarized, pinned);
	}

	/** Returns whether the turns are the first ones, or those behind a new start. */
	private static boolean isBeginning(@Nullable Summary before) {
		return before == null || (before.isReset() && before.pinned().isEmpty());
	}

	/**
	 * Returns how many of the turns the summarizer may read: at least one that contains
	 * something to read.
	 */
	private int readable(List<List<SessionItem>> turns, long maxTokens) {
		Set<Long> read = this.summarized.stream().map(SessionItem::sequence).collect(Collectors.toSet());
		long tokens = 0;
		for (int i = 0; i < turns.size(); i++) {
			long before = tokens;
			tokens += tokens(turns.get(i), read);
			if (before > 0 && tokens > maxTokens) {
				return i;
			}
		}
		return turns.size();
	}

	/** Returns the estimated number of tokens of those items of a turn that are read. */
	private static long tokens(List<SessionItem> turn, Set<Long> read) {
		long tokens = 0;
		for (SessionItem item : turn) {
			tokens += read.contains(item.sequence()) ? item.tokens() : 0;
		}
		return tokens;
	}

	/**
	 * Returns the turns without those at the end whose calls have no results yet. If the
	 * application runs the tools itself, a turn ends with calls and the next one begins
	 * with their results.
	 */
	private static List<List<SessionItem>> withoutOpenCalls(List<List<SessionItem>> turns) {
		int end = turns.size();
		while (end > 0 && endsWithCalls(turns.get(end - 1))) {
			end--;
		}
		return turns.subList(0, end);
	}

	private static boolean endsWithCalls(List<SessionItem> turn) {
		return turn.get(turn.size() - 1).message() instanceof AssistantMessage reply && reply.hasToolCalls();
	}

	boolean isEmpty() {
		return this.summarized.isEmpty();
	}

	/** Returns the last turn that the summary covers. */
	long lastTurn() {
		return this.items.get(this.items.size() - 1).turn();
	}

	int turns() {
		return (int) this.items.stream().mapToLong(SessionItem::turn).distinct().count();
	}

	/** Returns the estimated number of tokens that the summarizer reads. */
	long tokens() {
		return this.summarized.stream().mapToLong(SessionItem::tokens).sum();
	}

	ViewTotals totals() {
		return new ViewTotals(turns(), this.items.size(), this.items.stream().mapToLong(SessionItem::tokens).sum());
	}

	List<Message> messages() {
		return this.summarized.stream().map(SessionItem::message).toList();
	}

	/**
	 * Returns whether a view still begins with what was read, so that the summary is true
	 * of it.
	 */
	boolean isBeginningOf(SessionView view) {
		String id = (this.before != null) ? this.before.id() : null;
		if (!Objects.equals(id, view.session().summaryId()) || view.items().size() < this.items.size()) {
			return false;
		}
		for (int i = 0; i < this.items.size(); i++) {
			if (view.items().get(i).sequence() != this.items.get(i).sequence()) {
				return false;
			}
		}
		return true;
	}

}
