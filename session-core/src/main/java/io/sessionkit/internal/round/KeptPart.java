package io.sessionkit.internal.round;

import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

import io.sessionkit.TurnStatus;
import io.sessionkit.hook.TurnPart;
import io.sessionkit.internal.message.Copies;
import io.sessionkit.internal.message.ToolGroups;
import org.jspecify.annotations.Nullable;

import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.SystemMessage;
import org.springframework.ai.chat.messages.UserMessage;

/**
 * One part of a turn on its way to the store. It knows the role of each message, even
 * after hooks have replaced some of them. Used by one thread.
 */
public final class KeptPart {

	private enum Role {

		INPUT, REPLY, OTHER

	}

	private final int number;

	private final TurnStatus status;

	private final List<Message> before;

	private List<Message> messages;

	private Map<Message, Role> roles = new IdentityHashMap<>();

	/**
	 * Creates a part as it is before the hooks run.
	 * @param number the number of the part, from 1
	 * @param messages all messages of the part
	 * @param input those of them that are the caller's input
	 * @param reply the one of them that is the answer; null if there is none
	 */
	public KeptPart(int number, TurnStatus status, List<Message> messages, List<Message> input,
			@Nullable Message reply) {
		this.number = number;
		this.status = status;
		this.before = messages;
		this.messages = messages;
		messages.forEach((message) -> this.roles.put(message, Role.OTHER));
		input.forEach((message) -> this.roles.put(message, Role.INPUT));
		if (reply != null) {
			this.roles.put(reply, Role.REPLY);
		}
	}

	List<Message> messages() {
		return this.messages;
	}

	/**
	 * Returns what is wrong with messages that are to replace the current ones, worded to
	 * follow "returned"; null if nothing is. A turn that does not become history may
	 * break off anywhere.
	 */
	@Nullable String fault(List<Message> replacement) {
		if (replacement.isEmpty()) {
			return (this.number == 1) ? "no message" : null;
		}
		if (replacement.stream().anyMatch(SystemMessage.class::isInstance)) {
			return "system text, which is not kept with a turn";
		}
		boolean history = this.status == TurnStatus.COMPLETED || this.status.isOpen();
		return history ? ToolGroups.fault(replacement, this.before) : null;
	}

	/**
	 * Returns the part as the next hook sees it.
	 */
	TurnPart part(Copies copies) {
		List<Message> given = copies.give(this.messages);
		List<Message> input = with(Role.INPUT).stream().map((place) -> given.get(place)).toList();
		List<Integer> reply = with(Role.REPLY);
		return new TurnPart(this.number, this.status, given, input, reply.isEmpty() ? null : given.get(reply.get(0)));
	}

	private List<Integer> with(Role role) {
		return IntStream.range(0, this.messages.size())
			.filter((place) -> this.roles.get(this.messages.get(place)) == role)
			.boxed()
			.toList();
	}

	/**
	 * Replaces the messages by those that a hook has returned. If there are as many as
	 * before, a new message gets the role of the one that it replaces. If there are more
	 * or fewer, new user messages are input, and the last of the other messages becomes
	 * the reply if the reply is gone. In doubt a guard checks too much rather than too
	 * little.
	 */
	void replaced(List<Message> replacement) {
		Map<Message, Role> now = new IdentityHashMap<>();
		boolean inPlace = replacement.size() == this.messages.size();
		boolean hadReply = this.roles.containsValue(Role.REPLY);
		for (int i = 0; i < replacement.size(); i++) {
			Message message = replacement.get(i);
			Role known = this.roles.get(message);
			Role other = inPlace ? this.roles.getOrDefault(this.messages.get(i), Role.OTHER)
					: (message instanceof UserMessage) ? Role.INPUT : Role.OTHER;
			now.put(message, (known != null) ? known : other);
		}
		if (hadReply && !inPlace && !now.containsValue(Role.REPLY)) {
			Message last = lastNew(replacement);
			if (last != null) {
				now.put(last, Role.REPLY);
			}
		}
		this.roles = now;
		this.messages = replacement;
	}

	/**
	 * Returns the last message that is not a user message, if it is new, otherwise null.
	 */
	private @Nullable Message lastNew(List<Message> replacement) {
		for (int i = replacement.size() - 1; i >= 0; i--) {
			Message message = replacement.get(i);
			if (!(message instanceof UserMessage)) {
				return this.roles.containsKey(message) ? null : message;
			}
		}
		return null;
	}

}
