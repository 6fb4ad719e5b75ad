package io.sessionkit.docs;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.sessionkit.SessionItem;
import io.sessionkit.Summary;
import io.sessionkit.TokenUsage;
import io.sessionkit.Turn;
import io.sessionkit.context.SentHistory;
import io.sessionkit.conversation.Conversation;
import io.sessionkit.store.Tail;

import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.Message;
import org.springframework.util.StringUtils;

/**
 * The code of {@code docs/from-other-systems.md}.
 */
final class OtherSystemsSnippets {

	private OtherSystemsSnippets() {
	}

	static TokenUsage usage(Conversation conversation) {
		// tag::usage
		Stream<TokenUsage> turns = conversation.turns(Tail.ALL)
			.stream()
			.filter((turn) -> !turn.parameters().containsKey(Turn.ADOPTED)) // a copy
			.map(Turn::usage);
		Stream<TokenUsage> summaries = conversation.summaries().stream().map(Summary::usage);
		return Stream.concat(turns, summaries).reduce(TokenUsage.NONE, TokenUsage::plus);
		// end::usage
	}

	// tag::examples
	record Example(List<Message> history, List<Message> turn) {

		static List<Example> of(Conversation conversation) {
			Map<Long, Turn> turns = conversation.turns(Tail.ALL)
				.stream()
				.collect(Collectors.toMap(Turn::number, Function.identity()));
			Deque<Example> examples = new ArrayDeque<>();
			for (Turn turn = conversation.head().orElse(null); turn != null; turn = turns.get(turn.parent())) {
				SentHistory sent = conversation.snapshot(turn.number()).orElse(null);
				List<Message> said = conversation.items(turn.number()).stream().map(SessionItem::message).toList();
				if (sent != null && isAnswered(said)) {
					examples.addFirst(new Example(sent.messages(), said));
				}
			}
			return List.copyOf(examples);
		}

		private static boolean isAnswered(List<Message> said) {
			return !said.isEmpty() && said.get(said.size() - 1) instanceof AssistantMessage reply
					&& StringUtils.hasText(reply.getText()) && !reply.getMetadata().containsKey(Turn.CUT_SHORT);
		}

	}
	// end::examples

}
