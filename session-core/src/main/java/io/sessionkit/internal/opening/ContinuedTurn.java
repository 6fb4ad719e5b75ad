package io.sessionkit.internal.opening;

import java.util.List;

import io.sessionkit.SessionItem;
import io.sessionkit.Snapshot;
import io.sessionkit.Turn;
import io.sessionkit.internal.lease.PauseRecord;
import io.sessionkit.internal.lease.TurnLease;
import io.sessionkit.internal.tree.StoredQuestion;
import io.sessionkit.store.TurnView;

import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.UserMessage;

/**
 * An open turn that another call continues.
 *
 * @param opened the session as this call has opened it
 * @param stored the turn as it was stored, and the records that were read with it
 * @param pause the pause, with the reply that the turn holds back
 * @param lease the lease under which this call works on the turn
 */
public record ContinuedTurn(OpenedView opened, TurnView stored, PauseRecord pause, TurnLease lease) {

	public Turn turn() {
		return this.stored.turn();
	}

	public List<SessionItem> items() {
		return this.stored.items();
	}

	/**
	 * Returns whether the history is there that the call has brought which opened the
	 * turn.
	 * @return false if some of what the model was sent of it is not there any more, or if
	 * it was sent none of it as messages, so that nothing is left to continue behind
	 */
	public boolean hasItsHistory() {
		if (!(turn().parameters().get(Turn.GIVEN_HISTORY) instanceof Number given)) {
			return true;
		}
		Snapshot snapshot = turn().snapshot();
		int sent = (snapshot != null) ? snapshot.parts().stream().mapToInt(Snapshot.Part::size).sum()
				: given.intValue();
		OpenedView.Brought there = this.opened.brought();
		return there != null && there.lines().size() == sent && (sent > 0 || given.intValue() == 0);
	}

	/**
	 * Returns those messages of the turn that are the caller's input: all messages before
	 * the first reply to its question that called tools. There always is such a reply,
	 * because the turn would have ended otherwise.
	 */
	public List<Message> input(List<Message> messages) {
		int end = behindQuestion();
		while (end < messages.size()
				&& !(messages.get(end) instanceof AssistantMessage reply && reply.hasToolCalls())) {
			end++;
		}
		return messages.subList(0, end);
	}

	/**
	 * Returns the index behind the last question of the input, before which are examples,
	 * with tool calls of their own. All of the input has the time at which the turn was
	 * opened, unlike a message that has joined the turn later, or that a hook has put in
	 * the place of another one.
	 */
	private int behindQuestion() {
		int end = 0;
		List<SessionItem> items = StoredQuestion.isRewritten(turn()) ? List.of() : items();
		for (int i = 0; i < items.size() && items.get(i).at().equals(turn().startedAt()); i++) {
			end = (items.get(i).message() instanceof UserMessage) ? i + 1 : end;
		}
		return end;
	}

}
