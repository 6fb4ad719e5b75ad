package io.sessionkit.conversation;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;

import io.sessionkit.SessionKey;
import io.sessionkit.hook.HistoryMerge;
import org.jspecify.annotations.Nullable;

import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.SystemMessage;
import org.springframework.ai.chat.messages.ToolResponseMessage;
import org.springframework.ai.content.Media;
import org.springframework.ai.content.MediaContent;

/**
 * What a merge has made of history and input, and what of it is new.
 *
 * @param messages what is sent, without system text
 * @param input those of them that are new
 */
record Merged(List<Message> messages, List<Message> input) {

	Merged {
		messages = List.copyOf(messages);
		input = List.copyOf(input);
	}

	/**
	 * Asks the merge.
	 * @throws IllegalStateException if what it returns cannot be sent
	 */
	static Merged of(SessionKey key, HistoryMerge merge, List<Message> history, List<Message> input) {
		Copies copies = new Copies();
		Origins origins = new Origins(copies.give(history), copies.give(input));
		List<Message> past = new ArrayList<>(origins.history());
		List<Message> now = new ArrayList<>(origins.input());
		List<Message> returned = merge.merge(past, now);
		check(key, returned != null, "null");
		List<Message> merged = new ArrayList<>(returned);
		check(key, !merged.contains(null), "a list with null in it");
		List<Boolean> news = origins.areNew(merged, past, now);
		List<Message> messages = copies.take(merged);
		List<Message> fresh = new ArrayList<>();
		for (int i = 0; i < messages.size(); i++) {
			if (news.get(i)) {
				fresh.add(messages.get(i));
			}
		}
		check(key, fresh.stream().noneMatch(SystemMessage.class::isInstance), "new system text");
		check(key, !fresh.isEmpty(), "no message that is new");
		check(key, !RequestView.canBeAnswered(input) || RequestView.canBeAnswered(messages),
				"a list that does not end with a user message or tool results");
		return new Merged(messages, fresh);
	}

	private static void check(SessionKey key, boolean right, String returned) {
		if (!right) {
			throw new IllegalStateException("The HistoryMerge of a turn on session " + key + " returned " + returned
					+ ". Return what is sent without system text: history as you like, and at least one message of the"
					+ " input, with the one to be answered at the end.");
		}
	}

	/**
	 * Whether it is the one behind the other, as without a merge.
	 */
	boolean isPlain(List<Message> history, List<Message> before) {
		List<Message> plain = new ArrayList<>(history);
		plain.addAll(before);
		if (plain.size() != this.messages.size() || before.size() != this.input.size()) {
			return false;
		}
		for (int i = 0; i < plain.size(); i++) {
			if (plain.get(i) != this.messages.get(i)) {
				return false;
			}
		}
		return true;
	}

	/**
	 * The messages from the first that is new on: what trimming leaves alone.
	 */
	List<Message> current() {
		int first = 0;
		while (this.messages.get(first) != this.input.get(0)) {
			first++;
		}
		return this.messages.subList(first, this.messages.size());
	}

	/**
	 * The copies that a merge was given.
	 */
	private record Origins(List<Message> history, List<Message> input) {

		/**
		 * Which of the merged messages are new: by identity where that says it, else by
		 * what they say, where each message that was given counts once.
		 * @param past what stands in the list of the history now
		 * @param now what stands in the list of the input now
		 */
		List<Boolean> areNew(List<Message> merged, List<Message> past, List<Message> now) {
			List<@Nullable Boolean> known = known(merged, past, now);
			if (!known.contains(null)) {
				return known.stream().map(Boolean.TRUE::equals).toList();
			}
			Map<Object, Integer> left = counts(this.history);
			for (int i = 0; i < merged.size(); i++) {
				if (Boolean.FALSE.equals(known.get(i))) {
					take(left, merged.get(i));
				}
			}
			List<Boolean> news = new ArrayList<>();
			for (int i = 0; i < merged.size(); i++) {
				Boolean isNew = known.get(i);
				news.add((isNew != null) ? isNew : !take(left, merged.get(i)));
			}
			return news;
		}

		/**
		 * By identity. What was given counts for more than where it stands now: who adds
		 * the input to the list of the history has not made history of it.
		 */
		private List<@Nullable Boolean> known(List<Message> merged, List<Message> past, List<Message> now) {
			Map<Message, Boolean> known = new IdentityHashMap<>();
			past.forEach((message) -> known.put(message, false));
			now.forEach((message) -> known.put(message, true));
			this.input.forEach((message) -> known.put(message, true));
			this.history.forEach((message) -> known.put(message, false));
			List<@Nullable Boolean> result = new ArrayList<>();
			merged.forEach((message) -> result.add(known.get(message)));
			return result;
		}

	}

	private static Map<Object, Integer> counts(List<Message> messages) {
		Map<Object, Integer> counts = new HashMap<>();
		messages.forEach((message) -> counts.merge(content(message), 1, Integer::sum));
		return counts;
	}

	private static boolean take(Map<Object, Integer> counts, Message message) {
		Object content = content(message);
		int count = counts.getOrDefault(content, 0);
		counts.put(content, Math.max(0, count - 1));
		return count > 0;
	}

	/**
	 * What a message says. The one of Spring AI that compares messages leaves out the
	 * media of a user.
	 */
	private static Object content(Message message) {
		Object tools = List.of();
		if (message instanceof AssistantMessage reply) {
			tools = reply.getToolCalls();
		}
		if (message instanceof ToolResponseMessage results) {
			tools = results.getResponses();
		}
		Collection<Media> media = (message instanceof MediaContent content) ? content.getMedia() : List.of();
		return Arrays.asList(message.getMessageType(), message.getText(), message.getMetadata(), tools,
				media.stream().map(Merged::content).toList());
	}

	private static Object content(Media media) {
		Object data = (media.getData() instanceof byte[] bytes) ? ByteBuffer.wrap(bytes) : media.getData();
		return List.of(media.getMimeType(), data);
	}

}
