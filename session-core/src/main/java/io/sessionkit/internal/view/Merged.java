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
 * What a merge has made of history and input, and what of it is new.
 *
 * @param messages what is sent, without system text
 * @param input those of them that are new
 */
public record Merged(List<Message> messages, List<Message> input) {

	public Merged {
		messages = List.copyOf(messages);
		input = List.copyOf(input);
	}

	/**
	 * Asks the merge.
	 * @throws IllegalStateException if what it returns cannot be sent
	 */
	public static Merged of(HistoryMerge merge, HookContext context, List<Message> history, List<Message> input) {
		Merged merged = asked(merge, context, history, input);
		check(context.key(), InputRule.fault(merged.input(), merged.messages(), input));
		return merged;
	}

	/**
	 * Asks the merge about a turn that goes on: what of the history is sent, and behind
	 * it the turn as it is stored. Whatever is new by the merge was new before, and is in
	 * there.
	 * @param said what the caller said in the turn
	 * @throws IllegalStateException if it returns no list of messages
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
	 * Whether it is the one behind the other, as without a merge.
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
	 * The same with messages in front of the first that is new.
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
	 * The messages from the first on that belongs to the current turn: what trimming
	 * leaves alone.
	 * @param carried those of the history that do
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
		 * Which of the merged messages are new: by identity where that says it, else by
		 * what they say, where each message that was given counts once.
		 * @param past what stands in the list of the history now
		 * @param now what stands in the list of the input now
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

		/**
		 * What stands at the end and says what the input says is the input, although an
		 * older question may have said the same.
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
		 * What says what a message of the history says that was not returned is that one.
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
	 * How often something is said. Who makes a message anew seldom takes over the
	 * metadata that a provider has put there.
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
		 * @return whether it was left
		 */
		boolean take(Message message) {
			Integer count = this.left.computeIfPresent(content(message), (content, left) -> left - 1);
			return count != null && count >= 0;
		}

		/**
		 * What a message says. The one of Spring AI that compares messages leaves out the
		 * media of a user.
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
