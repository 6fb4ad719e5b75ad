package io.sessionkit.context;

import java.util.HashSet;
import java.util.Set;

import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.MessageType;

/**
 * The messages of the history that stay in the request when older ones are left out. They
 * stay with the whole turn that they belong to, since a question without its answer is of
 * no use as history.
 * <p>
 * Pinned messages count towards every limit. They are left out last, if the limit cannot
 * be met otherwise. A summary and {@link Prune} leave pinned turns as they are.
 *
 * @param firstUserMessage true if the first user message of the session is pinned; behind
 * a reset that keeps no seed, the first one since then. One that is in a summary already
 * is not
 * @param roles the roles whose messages are pinned
 * @param metadata the names of metadata entries that pin a message, unless the value is
 * false
 */
public record Pins(boolean firstUserMessage, Set<MessageType> roles, Set<String> metadata) {

	/** Pins nothing. */
	public static final Pins NONE = new Pins(false, Set.of(), Set.of());

	public Pins {
		roles = Set.copyOf(roles);
		metadata = Set.copyOf(metadata);
	}

	/**
	 * Returns pins for the first user message of the session, or of its newest start.
	 * @return the pins
	 */
	public static Pins firstUser() {
		return new Pins(true, Set.of(), Set.of());
	}

	/**
	 * Returns these pins and all messages of a role.
	 * @param role the role
	 * @return a new instance
	 */
	public Pins andRole(MessageType role) {
		Set<MessageType> more = new HashSet<>(this.roles);
		more.add(role);
		return new Pins(this.firstUserMessage, more, this.metadata);
	}

	/**
	 * Returns these pins and all messages with a metadata entry of a name.
	 * @param name the name
	 * @return a new instance
	 */
	public Pins andMetadata(String name) {
		Set<String> more = new HashSet<>(this.metadata);
		more.add(name);
		return new Pins(this.firstUserMessage, this.roles, more);
	}

	/**
	 * Returns whether nothing can be pinned.
	 * @return true if there is no rule
	 */
	public boolean isEmpty() {
		return !this.firstUserMessage && this.roles.isEmpty() && this.metadata.isEmpty();
	}

	/**
	 * Returns whether a message is pinned by its role or its metadata.
	 * @param message the message
	 * @return true if the message is pinned
	 */
	public boolean pins(Message message) {
		return this.roles.contains(message.getMessageType()) || isPinnedByMetadata(message);
	}

	private boolean isPinnedByMetadata(Message message) {
		for (String name : this.metadata) {
			Object value = message.getMetadata().get(name);
			if (value != null && !"false".equalsIgnoreCase(value.toString())) {
				return true;
			}
		}
		return false;
	}

}
