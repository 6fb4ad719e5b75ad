package io.sessionkit.internal.view;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.Function;
import java.util.function.ToLongFunction;

import io.sessionkit.SessionItem;
import io.sessionkit.store.SessionView;
import io.sessionkit.store.Window;

import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.ToolResponseMessage;

/**
 * Finds the turns that the current turn continues. If the application runs the tools
 * itself, a turn ends with calls and the next one begins with their results. To the model
 * both are one turn, and so are all earlier turns that are linked in this way.
 */
public final class CarriedTurns {

	private CarriedTurns() {
	}

	/**
	 * Returns how many of the last turns the current one continues.
	 * @param turns the messages of each turn, oldest first
	 * @param input the messages that the current turn begins with
	 */
	static int count(List<List<Message>> turns, List<Message> input) {
		int count = 0;
		List<Message> next = input;
		while (count < turns.size() && beginsWithResults(next)) {
			List<Message> turn = turns.get(turns.size() - 1 - count);
			if (!endsWithCalls(turn)) {
				break;
			}
			count++;
			next = turn;
		}
		return count;
	}

	/**
	 * Returns the index of the first line that belongs to the turns that the current one
	 * continues.
	 * @param head the head of the session; if a summary covers it, the last line may
	 * belong to an older turn that was pinned
	 * @return the index; the number of lines if the current turn continues none
	 */
	static int start(List<ViewLine> view, long head, List<Message> input) {
		if (!beginsWithResults(input) || view.isEmpty() || view.get(view.size() - 1).turn() != head) {
			return view.size();
		}
		List<List<Message>> turns = turns(view, ViewLine::turn, ViewLine::message);
		int count = count(turns, input);
		return view.size() - turns.subList(turns.size() - count, turns.size()).stream().mapToInt(List::size).sum();
	}

	/**
	 * Returns whether a view contains all of the turns that the current one continues.
	 */
	static boolean areIn(SessionView view, List<Message> input) {
		if (!beginsWithResults(input) || view.items().size() >= view.session().totals().items()) {
			return true;
		}
		List<List<Message>> turns = turns(view.items(), SessionItem::turn, SessionItem::message);
		return !turns.isEmpty() && count(turns, input) < turns.size();
	}

	/**
	 * Returns whether a part of a view has fewer turns than a limit leaves, since it
	 * begins in the middle of linked turns, or since linked turns count as one.
	 * @param turns how many turns were read at most
	 * @param limit what the limits leave; linked turns are one
	 */
	static boolean areCut(SessionView view, int turns, Window limit) {
		List<SessionItem> items = view.items();
		if (items.isEmpty() || items.size() >= view.session().totals().items()) {
			return false;
		}
		if (items.get(0).message() instanceof ToolResponseMessage) {
			return true;
		}
		return limit.turns() != Integer.MAX_VALUE && items.size() < limit.items() && hasTooFew(items, turns, limit);
	}

	private static boolean hasTooFew(List<SessionItem> items, int turns, Window limit) {
		int read = 1;
		int links = 0;
		for (int i = 1; i < items.size(); i++) {
			if (items.get(i - 1).turn() != items.get(i).turn()) {
				read++;
				links += areLinked(items.get(i - 1).message(), items.get(i).message()) ? 1 : 0;
			}
		}
		return links > 0 && read >= turns && read - links < limit.turns();
	}

	private static <T> List<List<Message>> turns(List<T> items, ToLongFunction<T> turn, Function<T, Message> message) {
		List<List<Message>> turns = new ArrayList<>();
		long last = -1;
		for (T item : items) {
			if (turn.applyAsLong(item) != last) {
				turns.add(new ArrayList<>());
			}
			turns.get(turns.size() - 1).add(message.apply(item));
			last = turn.applyAsLong(item);
		}
		return turns;
	}

	public static boolean beginsWithResults(List<Message> messages) {
		return !messages.isEmpty() && messages.get(0) instanceof ToolResponseMessage;
	}

	private static boolean endsWithCalls(List<Message> messages) {
		return !messages.isEmpty() && messages.get(messages.size() - 1) instanceof AssistantMessage reply
				&& reply.hasToolCalls();
	}

	/**
	 * Returns whether a turn continues the one before it, because its first message has a
	 * result of a call of the last one before. The two turns stay or go together. If only
	 * one of them were sent, its results could answer a call of an older turn, since some
	 * providers give all calls the same id, or none.
	 * @param last the last message of the turn before
	 * @param first the first message of the turn
	 */
	public static boolean areLinked(Message last, Message first) {
		if (!(last instanceof AssistantMessage reply) || !(first instanceof ToolResponseMessage results)) {
			return false;
		}
		for (ToolResponseMessage.ToolResponse result : results.getResponses()) {
			if (reply.getToolCalls().stream().anyMatch((call) -> isOf(result, call))) {
				return true;
			}
		}
		return false;
	}

	private static boolean isOf(ToolResponseMessage.ToolResponse result, AssistantMessage.ToolCall call) {
		return Objects.equals(result.id(), call.id());
	}

}
