package io.sessionkit.internal.message;

import java.util.AbstractList;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;

import org.jspecify.annotations.Nullable;

import org.springframework.ai.chat.messages.AbstractMessage;
import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.SystemMessage;
import org.springframework.ai.chat.messages.ToolResponseMessage;
import org.springframework.ai.chat.messages.UserMessage;
import org.springframework.ai.content.Media;

/**
 * The copies of messages that one hook is given, and the way back to the originals. A
 * copy that a hook returns stands for the message that it was made from, whatever the
 * hook has done to the copy.
 */
public final class Copies {

	/** The classes of which nothing is missing in the content of a message. */
	private static final Set<Class<?>> PLAIN = Set.of(UserMessage.class, AssistantMessage.class, SystemMessage.class,
			ToolResponseMessage.class);

	private final Map<Message, Message> originals = new IdentityHashMap<>();

	public Message give(Message message) {
		Message copy = fixed(message);
		this.originals.put(copy, message);
		return copy;
	}

	public List<Message> give(List<Message> messages) {
		return messages.stream().map(this::give).toList();
	}

	/**
	 * Returns the original of a copy, or a copy of a new message. The hook can change
	 * nothing in the result later.
	 */
	public Message take(Message returned) {
		Message original = this.originals.get(returned);
		return (original != null) ? original : fixed(returned);
	}

	public List<Message> take(List<Message> returned) {
		return returned.stream().map(this::take).toList();
	}

	/**
	 * Returns the messages as a list that creates a copy at each read, so that it costs
	 * nothing until it is read.
	 */
	public static List<Message> lazy(List<Message> messages) {
		return new AbstractList<>() {

			@Override
			public Message get(int index) {
				return fixed(messages.get(index));
			}

			@Override
			public int size() {
				return messages.size();
			}

		};
	}

	public static boolean areAlike(List<Message> some, List<Message> others) {
		if (some.size() != others.size()) {
			return false;
		}
		for (int i = 0; i < some.size(); i++) {
			if (!areAlike(some.get(i), others.get(i))) {
				return false;
			}
		}
		return true;
	}

	/**
	 * Compares messages by value: with the media of user messages, which {@code equals}
	 * ignores, and with media and arrays by what they hold, which have no {@code equals}.
	 */
	public static boolean areAlike(Message one, Message other) {
		if (one == other) {
			return true;
		}
		if (one.getClass() != other.getClass() || !Objects.equals(one.getText(), other.getText())) {
			return false;
		}
		return one.equals(other)
				? !(one instanceof UserMessage user)
						|| MessageContent.isSame(user.getMedia(), ((UserMessage) other).getMedia())
				: PLAIN.contains(one.getClass()) && MessageContent.of(one).isSameAs(MessageContent.of(other));
	}

	/**
	 * Returns a copy of values. The map can be changed, and what is inside of the values
	 * cannot.
	 */
	public static Map<String, Object> values(Map<String, ? extends @Nullable Object> values) {
		return values(values, true);
	}

	@SuppressWarnings("NullAway") // a provider may put null into the metadata
	private static Map<String, Object> values(Map<String, ? extends @Nullable Object> values, boolean fixed) {
		Map<String, Object> copy = new LinkedHashMap<>();
		values.forEach((name, value) -> copy.put(name, value(value, fixed)));
		return copy;
	}

	private static @Nullable Object value(@Nullable Object value, boolean fixed) {
		if (value instanceof byte[] bytes) {
			return bytes.clone();
		}
		if (value instanceof List<?> list) {
			List<@Nullable Object> copy = new ArrayList<>(list.size());
			list.forEach((each) -> copy.add(value(each, fixed)));
			return fixed ? Collections.unmodifiableList(copy) : copy;
		}
		if (value instanceof Set<?> set) {
			Set<@Nullable Object> copy = new LinkedHashSet<>();
			set.forEach((each) -> copy.add(value(each, fixed)));
			return fixed ? Collections.unmodifiableSet(copy) : copy;
		}
		if (value instanceof Map<?, ?> map) {
			Map<Object, @Nullable Object> copy = new LinkedHashMap<>();
			map.forEach((key, each) -> copy.put(key, value(each, fixed)));
			return fixed ? Collections.unmodifiableMap(copy) : copy;
		}
		return value;
	}

	/**
	 * Returns whether {@link #copy} leaves nothing out: a subclass may have more than the
	 * class that it extends.
	 */
	public static boolean isWhole(Message message) {
		return PLAIN.contains(message.getClass());
	}

	/**
	 * Returns a copy of a message, with which its reader can do as it likes. A message of
	 * a class that is not known here is returned as it is.
	 */
	public static Message copy(Message message) {
		return copy(message, false);
	}

	/**
	 * Returns copies of messages that nobody else can change.
	 * @param messages the messages
	 * @return one copy for each
	 */
	public static List<Message> of(List<? extends Message> messages) {
		return messages.stream().map(Copies::copy).toList();
	}

	/**
	 * Returns a copy for a hook, which is to return what it wants to be different: what
	 * is inside of its metadata cannot be changed.
	 */
	private static Message fixed(Message message) {
		return copy(message, true);
	}

	private static Message copy(Message message, boolean fixed) {
		Message plain = plain(message);
		if (plain != null) {
			return plain;
		}
		if (!MessageContent.knows(message)) {
			return message;
		}
		MessageContent content = MessageContent.of(message);
		return new MessageContent(content.type(), content.text(), new HashMap<>(values(content.metadata(), fixed)),
				List.copyOf(content.calls()), List.copyOf(content.responses()),
				content.media().stream().map(Copies::medium).toList())
			.message();
	}

	/**
	 * Returns a copy of a message that only has a text, as most have; null for any other.
	 */
	private static @Nullable Message plain(Message message) {
		if (message.getMetadata().size() != 1
				|| message.getMetadata().get(AbstractMessage.MESSAGE_TYPE) != message.getMessageType()) {
			return null;
		}
		if (message.getClass() == UserMessage.class && ((UserMessage) message).getMedia().isEmpty()) {
			return new UserMessage(message.getText());
		}
		if (message.getClass() == AssistantMessage.class) {
			AssistantMessage reply = (AssistantMessage) message;
			return (reply.getToolCalls().isEmpty() && reply.getMedia().isEmpty())
					? new AssistantMessage(reply.getText()) : null;
		}
		return null;
	}

	private static Media medium(Media medium) {
		if (!(medium.getData() instanceof byte[] bytes)) {
			return medium;
		}
		Media.Builder copy = Media.builder().mimeType(medium.getMimeType()).data(bytes.clone()).name(medium.getName());
		return (medium.getId() != null) ? copy.id(medium.getId()).build() : copy.build();
	}

}
