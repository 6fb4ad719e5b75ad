package io.sessionkit.conversation;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;

import io.sessionkit.hook.Trim;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.MessageType;

/**
 * Keeps a request within {@code trim.max-messages} while the tool loop makes the current
 * turn longer, by leaving out the oldest turns of the history. The statement that read
 * the history has done it for the first model call. Not safe for use by many threads.
 */
final class ViewTrimmer {

	private static final Log logger = LogFactory.getLog(ViewTrimmer.class);

	private final List<Message> history = new ArrayList<>();

	/** The index of the first message of each turn in the history. */
	private final List<Integer> turns = new ArrayList<>();

	private final Trim trim;

	private boolean overLimit;

	ViewTrimmer(List<ViewLine> view, Trim trim) {
		this.trim = trim;
		long turn = -1;
		for (ViewLine line : view) {
			if (line.turn() != turn) {
				turn = line.turn();
				this.turns.add(this.history.size());
			}
			this.history.add(line.message());
		}
	}

	List<Message> history() {
		return this.history;
	}

	boolean isOverLimit() {
		return this.overLimit;
	}

	/**
	 * The request as it may be sent: a valid sequence with as many of the newest turns as
	 * fit. The guard has a say in what fits, since a repair can add messages.
	 */
	List<Message> fit(List<Message> request, UnaryOperator<List<Message>> guard) {
		int system = countSystem(request);
		return fit(request, guard, () -> startsWithHistory(request, system) ? cuts() : List.of());
	}

	/**
	 * The same for a request that hooks have changed: what of it is a turn is seen by the
	 * user messages.
	 * @param current where the current turn begins, which stays
	 */
	List<Message> fitChanged(List<Message> request, int current, UnaryOperator<List<Message>> guard) {
		return fit(request, guard, () -> cuts(request, current));
	}

	private List<Message> fit(List<Message> request, UnaryOperator<List<Message>> guard, Supplier<List<Integer>> cuts) {
		List<Message> sent = guard.apply(request);
		if (isOver(sent)) {
			int system = countSystem(request);
			for (int cut : cuts.get()) {
				sent = guard.apply(without(request, system, cut));
				if (!isOver(sent)) {
					return sent;
				}
			}
			report(size(sent));
		}
		return sent;
	}

	private static List<Integer> cuts(List<Message> request, int end) {
		int system = countSystem(request);
		List<Integer> cuts = new ArrayList<>();
		for (int i = system + 1; i < end; i++) {
			if (request.get(i).getMessageType() == MessageType.USER) {
				cuts.add(i - system);
			}
		}
		if (end > system) {
			cuts.add(end - system);
		}
		return cuts;
	}

	/**
	 * How many of the oldest messages can go, in whole turns, fewest first.
	 */
	private List<Integer> cuts() {
		List<Integer> cuts = new ArrayList<>(this.turns);
		cuts.add(this.history.size());
		cuts.remove(0);
		return cuts;
	}

	private boolean isOver(List<Message> request) {
		return size(request) > this.trim.maxMessages();
	}

	private static int size(List<Message> request) {
		return request.size() - countSystem(request);
	}

	private static List<Message> without(List<Message> request, int system, int cut) {
		List<Message> shorter = new ArrayList<>(request.subList(0, system));
		shorter.addAll(request.subList(system + cut, request.size()));
		return shorter;
	}

	/**
	 * An advisor between ours may have changed the history; what it made of it is not
	 * ours to cut.
	 */
	private boolean startsWithHistory(List<Message> request, int system) {
		return request.size() >= system + this.history.size()
				&& request.subList(system, system + this.history.size()).equals(this.history);
	}

	private void report(int messages) {
		if (!this.overLimit) {
			logger.warn("A request has " + messages + " messages although trim.max-messages is "
					+ this.trim.maxMessages() + ": the current turn alone is larger, and it is sent whole.");
		}
		this.overLimit = true;
	}

	private static int countSystem(List<Message> request) {
		int count = 0;
		while (count < request.size() && request.get(count).getMessageType() == MessageType.SYSTEM) {
			count++;
		}
		return count;
	}

}
