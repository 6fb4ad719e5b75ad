package io.sessionkit.docs;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

import io.sessionkit.SessionItem;
import io.sessionkit.Summary;
import io.sessionkit.TokenUsage;
import io.sessionkit.Turn;
import io.sessionkit.TurnStatus;
import io.sessionkit.context.SentHistory;
import io.sessionkit.conversation.Conversation;
import io.sessionkit.store.Tail;

import org.springframework.ai.chat.messages.Message;

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
			List<Example> examples = new ArrayList<>();
			for (Turn turn : conversation.turns(Tail.ALL)) {
				SentHistory sent = (turn.status() == TurnStatus.COMPLETED)
						? conversation.snapshot(turn.number()).orElse(null) : null;
				if (sent != null && turn.items() > 0) {
					List<Message> said = conversation.items(turn.number()).stream().map(SessionItem::message).toList();
					examples.add(new Example(sent.messages(), said));
				}
			}
			return examples;
		}

	}
	// end::examples

}
