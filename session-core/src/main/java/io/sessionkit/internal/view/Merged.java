package io.sessionkit.internal.view;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.IntStream;

import io.sessionkit.SessionKey;
import io.sessionkit.hook.HistoryMerge;
import io.sessionkit.hook.HookContext;
import io.sessionkit.internal.message.Copies;
import io.sessionkit.internal.message.InputRule;
import io.sessionkit.internal.message.MessageContent;
import org.jspecify.annotations.Nullable;

import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.content.Media;

/**
 * The result of a merge of history and input, and which part of it is new.
 *
 * @param messages the messages to send, without system text
 * @param input the new messages among them
 */
public record Merged(List<Message> messages, List<Message> input) {

	public Merged {
		messages = List.copyOf(messages);
		input = List.copyOf(input);
	}

	/**
	 * Runs the merge for a new turn.
	 * @throws IllegalStateException if its result cannot be sent
	 */
	public static Merged of(HistoryMerge merge, HookContext context, List<Message> history, List<Message> input) {
		Merged merged = asked(merge, context, history, input);
		check(context.key(), InputRule.fault(merged.input(), merged.messages(), input));
		return merged;
	}

	/**
	 * Runs the merge again for a turn that continues. The result is the part of the
	 * history that the merge returns, followed by the turn as it is stored. Every message
	 * that is new in the merge's result was new before and is among the stored ones.
	 * @param said the messages that the caller sent in the turn
	 * @param stored the messages of the turn as it is stored
	 * @throws IllegalStateException if the merge returns no list of messages
	 */
	public static Merged again(HistoryMerge merge, HookContext context, List<Message> history, List<Message> said,
			List<Message> stored) {
		Merged merged = asked(merge, context, history, said);
		Set<Message> fresh = Collections.newSetFromMap(new IdentityHashMap<>());
		fresh.addAll(merged.input());
		List<Message> whole = new ArrayList<>(merged.messages());
		whole.removeIf(fresh::contains);
		whole.addAll(stored);
		return new Merged(whole, stored);
	}

	private static Merged asked(HistoryMerge merge, HookContext context, List<Message> history, List<Message> input) {
		Copies copies = new Copies();
		Origins origins = new Origins(copies.give(history), copies.give(input));
		List<Message> past = new ArrayList<>(origins.history());
		List<Message> now = new ArrayList<>(origins.input());
		List<Message> returned = merge.merge(context, past, now);
		check(context.key(), (returned != null) ? null : "null");
		List<Message> merged = new ArrayList<>(returned);
		check(context.key(), merged.contains(null) ? "a list with null in it" : null);
		List<Boolean> news = origins.areNew(merged, past, now);
		List<Message> messages = copies.take(merged);
		List<Message> fresh = IntStream.range(0, messages.size()).filter(news::get).mapToObj(messages::get).toList();
		return new Merged(messages, fresh);
	}

	private static void check(SessionKey key, @Nullable String fault) {
		if (fault != null) {
			throw new IllegalStateException("The HistoryMerge of a turn on session " + key + " returned " + fault
					+ ". Return what is sent without system text: history as you like, and at least one message of the"
					+ " input, with the one to be answered at the end.");
		}
	}

	/**
	 * Returns whether the result is the history followed by the input, as without a
	 * merge.
	 */
	public boolean isPlain(List<Message> history, List<Message> before) {
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
	 * Returns the same result with messages inserted before the first new one.
	 */
	public Merged behind(List<Message> carried) {
		if (carried.isEmpty()) {
			return this;
		}
		List<Message> whole = new ArrayList<>(this.messages);
		whole.addAll(indexOf(this.input.get(0)), carried);
		return new Merged(whole, this.input);
	}

	/**
	 * Returns the messages from the first one on that belongs to the current turn.
	 * Trimming never removes them.
	 * @param carried the messages of the history that belong to the current turn
	 */
	public List<Message> current(List<Message> carried) {
		int first = indexOf(carried.isEmpty() ? this.input.get(0) : carried.get(0));
		return this.messages.subList(first, this.messages.size());
	}

	private int indexOf(Message message) {
		int first = 0;
		while (this.messages.get(first) != message) {
			first++;
		}
		return first;
	}

	/**
	 * The copies that a merge was given.
	 */
	private record Origins(List<Message> history, List<Message> input) {

		/**
		 * Returns for each merged message whether it is new. This is decided by identity
		 * if possible, and otherwise by content. Each message that was given counts once.
		 * @param past the messages that are in the list of the history now
		 * @param now the messages that are in the list of the input now
		 */
		List<Boolean> areNew(List<Message> merged, List<Message> past, List<Message> now) {
			List<@Nullable Boolean> news = known(merged, past, now);
			if (news.contains(null)) {
				markInput(news, merged);
				markHistory(news, merged, Sayings.exact());
				markHistory(news, merged, Sayings.withoutMetadata());
			}
			return news.stream().map((isNew) -> !Boolean.FALSE.equals(isNew)).toList();
		}

		/**
		 * Returns for each merged message whether it is new by identity; null if identity
		 * does not show it. The list in which a message was given counts for more than
		 * the list in which it is now: a merge that adds the input to the list of the
		 * history does not make it history.
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

		/**
		 * Marks as input the messages at the end that have the content of the input, even
		 * if an older question had the same content.
		 */
		private void markInput(List<@Nullable Boolean> news, List<Message> merged) {
			Sayings left = Sayings.withoutMetadata();
			left.add(this.input);
			Set<Message> returned = identities(merged);
			this.input.stream().filter(returned::contains).forEach(left::take);
			for (int i = merged.size() - 1; i >= 0; i--) {
				if (news.get(i) == null) {
					if (!left.take(merged.get(i))) {
						return;
					}
					news.set(i, true);
				}
			}
		}

		/**
		 * Marks as history each message that has the content of a history message that
		 * was not itself returned.
		 */
		private void markHistory(List<@Nullable Boolean> news, List<Message> merged, Sayings left) {
			left.add(this.history);
			identities(IntStream.range(0, merged.size())
				.filter((place) -> Boolean.FALSE.equals(news.get(place)))
				.mapToObj(merged::get)
				.toList()).forEach(left::take);
			for (int i = 0; i < merged.size(); i++) {
				if (news.get(i) == null && left.take(merged.get(i))) {
					news.set(i, false);
				}
			}
		}

		private static Set<Message> identities(List<Message> messages) {
			Set<Message> identities = Collections.newSetFromMap(new IdentityHashMap<>());
			identities.addAll(messages);
			return identities;
		}

	}

	/**
	 * Counts how often each content occurs. A merge that rebuilds a message seldom copies
	 * the metadata that a provider has put there.
	 */
	private static final class Sayings {

		private final boolean metadata;

		private final Map<Object, Integer> left = new HashMap<>();

		private Sayings(boolean metadata) {
			this.metadata = metadata;
		}

		static Sayings exact() {
			return new Sayings(true);
		}

		static Sayings withoutMetadata() {
			return new Sayings(false);
		}

		void add(List<Message> messages) {
			messages.forEach((message) -> this.left.merge(content(message), 1, Integer::sum));
		}

		/**
		 * Takes away one occurrence of a message's content.
		 * @return whether one was left
		 */
		boolean take(Message message) {
			Integer count = this.left.computeIfPresent(content(message), (content, left) -> left - 1);
			return count != null && count >= 0;
		}

		/**
		 * Returns the content of a message. Spring AI's own comparison of messages
		 * ignores the media of a user message.
		 */
		private Object content(Message message) {
			MessageContent content = MessageContent.of(message);
			return Arrays.asList(content.type(), Objects.toString(content.text(), ""), content.calls(),
					content.responses(), content.media().stream().map(Sayings::content).toList(),
					this.metadata ? content.metadata() : null);
		}

		private static Object content(Media media) {
			Object data = (media.getData() instanceof byte[] bytes) ? ByteBuffer.wrap(bytes) : media.getData();
			return List.of(media.getMimeType(), data);
		}

	}

}
