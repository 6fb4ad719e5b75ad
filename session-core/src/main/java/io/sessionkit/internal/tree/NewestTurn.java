package io.sessionkit.internal.tree;

import java.util.List;

import io.sessionkit.SessionItem;
import io.sessionkit.store.SessionView;
import org.jspecify.annotations.Nullable;

import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.ToolResponseMessage;
import org.springframework.ai.chat.messages.UserMessage;

/**
 * The newest turn of a view: a call without a message asks its question again if that is
 * all there is of it. Only then has nothing been done for the question. Messages that
 * were queued stand behind the results of tools, so the last message does not say it.
 *
 * @param number its number
 * @param messages what is left of it, which is at least one message
 */
public record NewestTurn(long number, List<Message> messages) {

	/** Returns null if the view has no messages. */
	public static @Nullable NewestTurn of(SessionView view) {
		List<SessionItem> items = view.items();
		if (items.isEmpty()) {
			return null;
		}
		long number = items.get(items.size() - 1).turn();
		return new NewestTurn(number,
				items.stream().filter((item) -> item.turn() == number).map(SessionItem::message).toList());
	}

	/**
	 * Returns whether the turn is a question without an answer: the answer was deleted.
	 */
	public boolean isQuestion() {
		return last() instanceof UserMessage
				&& this.messages.stream().noneMatch((message) -> message instanceof AssistantMessage);
	}

	/**
	 * Says why a call on a session without an open turn has nothing to do.
	 */
	public static String answered(SessionView view) {
		NewestTurn newest = of(view);
		return "there is no open turn" + ((newest != null) ? newest.answered()
				: ". Add .user(..) to the call, or SessionAdvisor.regenerating() to ask the newest question again.");
	}

	private String answered() {
		if (last() instanceof AssistantMessage reply && !reply.hasToolCalls()) {
			return ", and the newest question has its answer. Add .user(..) to the call, or"
					+ " SessionAdvisor.regenerating() for another answer.";
		}
		return ", and the newest turn is more than a question"
				+ (hasCalled() ? ": its tools were called already. " : ". ")
				+ "Add .user(..) to the call, or SessionAdvisor.regenerating() to ask its question again"
				+ (hasCalled() ? ", for which tools may run again." : ".");
	}

	private boolean hasCalled() {
		return this.messages.stream()
			.anyMatch((message) -> message instanceof ToolResponseMessage
					|| (message instanceof AssistantMessage reply && reply.hasToolCalls()));
	}

	private Message last() {
		return this.messages.get(this.messages.size() - 1);
	}

}
