package io.sessionkit.internal.turn;

import java.util.List;

import io.sessionkit.SessionItem;
import io.sessionkit.Turn;

import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.Message;

/**
 * An open turn that another call goes on with.
 *
 * @param turn the turn as it was stored
 * @param items what is stored of it
 * @param pause the reply that it holds back
 * @param lease says that this call works on it
 */
record ContinuedTurn(Turn turn, List<SessionItem> items, PauseRecord pause, TurnLease lease) {

	List<Message> messages() {
		return this.items.stream().map(SessionItem::message).toList();
	}

	/**
	 * What the caller has said, of the messages of the turn: all before the first reply
	 * that called tools, without which the turn would have ended.
	 */
	List<Message> input(List<Message> messages) {
		int end = 0;
		while (end < messages.size()
				&& !(messages.get(end) instanceof AssistantMessage reply && reply.hasToolCalls())) {
			end++;
		}
		return messages.subList(0, end);
	}

}
