package io.sessionkit.hook;

import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;

import io.sessionkit.TurnStatus;
import org.jspecify.annotations.Nullable;

import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.ToolResponseMessage;
import org.springframework.ai.chat.messages.UserMessage;

/**
 * The messages of a turn that are about to be stored, and the state of the turn at that
 * moment.
 * <p>
 * A turn is stored once, when it is over, unless one of its tool calls waits for an
 * approval or {@code durability=step} is set. In that case it is stored in parts, and
 * each message belongs to exactly one part. Only the last part has a reply.
 *
 * @param number the number of the part in the turn, from 1
 * @param status the status that the turn is stored with: {@code COMPLETED} if it becomes
 * history with this part, {@code AWAITING_APPROVAL} or {@code INCOMPLETE} if more of it
 * follows, {@code FAILED}, {@code CANCELLED} or {@code REFUSED} if it ends without
 * becoming history
 * @param messages all messages that are stored with this part, in order, as the hooks
 * that ran before have left them; empty if such a hook has removed them all
 * @param input the messages of the caller among them: the same objects
 * @param reply the one of the messages that the caller gets as the answer: the reply of a
 * model, a cache or a hook, or the results of a tool that returns directly. Only messages
 * that the caller has sent while the turn waited can follow it. Null if there is no
 * answer: in a part that is not the last, and in a turn that failed or was cancelled
 * before it had one
 */
public record TurnPart(int number, TurnStatus status, List<Message> messages, List<Message> input,
		@Nullable Message reply) {

	public TurnPart {
		if (number < 1) {
			throw new IllegalArgumentException("The number of a part must be at least 1, not " + number + ".");
		}
		messages = List.copyOf(messages);
		input = List.copyOf(input);
		if (reply != null && messages.stream().noneMatch((message) -> message == reply)) {
			throw new IllegalArgumentException("The reply must be one of the messages. Use null for no reply.");
		}
	}

	/**
	 * Returns a turn that is stored once, for tests of a hook. Its user messages are the
	 * input. The last message of a completed turn is the reply, unless it is a user
	 * message.
	 * @param status the status that the turn is stored with
	 * @param messages the messages of the turn, in order
	 * @return the only part of the turn
	 */
	public static TurnPart of(TurnStatus status, List<Message> messages) {
		List<Message> input = messages.stream().filter(UserMessage.class::isInstance).toList();
		Message last = messages.isEmpty() ? null : messages.get(messages.size() - 1);
		boolean answered = status == TurnStatus.COMPLETED && !(last instanceof UserMessage);
		return new TurnPart(1, status, messages, input, answered ? last : null);
	}

	/**
	 * Returns whether the turn begins and ends with this part.
	 * @return false if a part of the turn was stored before, or another one follows
	 */
	public boolean isWhole() {
		return this.number == 1 && !this.status.isOpen();
	}

	/**
	 * Returns the tool rounds of this part, in order. If a tool returns directly, its
	 * results are the reply, and are also the results of the last round.
	 * @return the rounds; none if no tool was called
	 */
	public List<ToolRound> rounds() {
		Set<Message> others = Collections.newSetFromMap(new IdentityHashMap<>());
		others.addAll(this.input);
		if (this.reply != null) {
			others.add(this.reply);
		}
		List<ToolRound> rounds = new ArrayList<>();
		for (int i = 0; i < this.messages.size(); i++) {
			if (this.messages.get(i) instanceof AssistantMessage calls && calls.hasToolCalls()
					&& !others.contains(calls)) {
				boolean answered = i + 1 < this.messages.size()
						&& this.messages.get(i + 1) instanceof ToolResponseMessage;
				rounds.add(new ToolRound(calls, answered ? (ToolResponseMessage) this.messages.get(i + 1) : null));
			}
		}
		return List.copyOf(rounds);
	}

	/**
	 * Returns a description without the texts, which may be secret.
	 * @return the number, the status and the number of messages
	 */
	@Override
	public String toString() {
		return "TurnPart[" + this.number + ", " + this.status + ", " + this.messages.size() + " messages]";
	}

}
