package io.sessionkit.context;

import java.util.HashSet;
import java.util.Set;

import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.MessageType;

/**
 * Which messages of the history stay in the request when older ones are left out: with
 * the turn that they belong to, since a question without its answer is no history.
 * <p>
 * What is pinned counts under every limit. It is the last to go when the limit cannot
 * hold otherwise. A summary leaves pinned turns as they are.
 *
 * @param firstUserMessage whether the first user message of the thread is pinned
 * @param roles the roles whose messages are pinned
 * @param metadata names in the metadata of a message that pin it, unless the value is
 * false
 */
public record Pins(boolean firstUserMessage, Set<MessageType> roles, Set<String> metadata) {

	/** Nothing is pinned. */
	public static final Pins NONE = new Pins(false, Set.of(), Set.of());

	public Pins {
		roles = Set.copyOf(roles);
		metadata = Set.copyOf(metadata);
	}

	/**
	 * The first user message of the thread.
	 * @return the pins
	 */
	public static Pins firstUser() {
		return new Pins(true, Set.of(), Set.of());
	}

	/**
	 * These and all messages of a role.
	 * @param role the role
	 * @return a copy with it
	 */
	public Pins andRole(MessageType role) {
		Set<MessageType> more = new HashSet<>(this.roles);
		more.add(role);
		return new Pins(this.firstUserMessage, more, this.metadata);
	}

	/**
	 * These and all messages with a name in their metadata.
	 * @param name the name
	 * @return a copy with it
	 */
	public Pins andMetadata(String name) {
		Set<String> more = new HashSet<>(this.metadata);
		more.add(name);
		return new Pins(this.firstUserMessage, this.roles, more);
	}

	/**
	 * Whether nothing can be pinned.
	 * @return true if there is no rule
	 */
	public boolean isEmpty() {
		return !this.firstUserMessage && this.roles.isEmpty() && this.metadata.isEmpty();
	}

	/**
	 * Whether a message is pinned by its role or its metadata.
	 * @param message the message
	 * @return true if it is
	 */
	public boolean pins(Message message) {
		return this.roles.contains(message.getMessageType()) || this.metadata.stream().anyMatch((name) -> {
			Object value = message.getMetadata().get(name);
			return value != null && !Boolean.FALSE.equals(value);
		});
	}

}
