package io.sessionkit.conversation;

import java.util.List;

import io.sessionkit.SessionItem;
import io.sessionkit.Turn;

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

}
