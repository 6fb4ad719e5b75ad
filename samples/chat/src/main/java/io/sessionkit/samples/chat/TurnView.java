package io.sessionkit.samples.chat;

import java.time.Duration;
import java.time.Instant;
import java.util.List;

import io.sessionkit.SessionItem;
import io.sessionkit.Snapshot;
import io.sessionkit.TokenUsage;
import io.sessionkit.Turn;
import io.sessionkit.TurnStatus;
import org.jspecify.annotations.Nullable;

import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.ToolResponseMessage;

/**
 * A turn as the page shows it.
 *
 * @param millis the time it took; null while it is open
 * @param tokens the tokens that the provider counted
 * @param history what the model was shown of the turns before; null if it was not called
 */
record TurnView(String id, long number, TurnStatus status, @Nullable String model, int rounds, TokenUsage tokens,
		Instant startedAt, @Nullable Long millis, @Nullable HistoryView history, List<MessageView> messages) {

	static TurnView of(Turn turn, List<SessionItem> items) {
		Instant end = turn.endedAt();
		return new TurnView(turn.id(), turn.number(), turn.status(), turn.model(), turn.rounds().size(), turn.usage(),
				turn.startedAt(), (end != null) ? Duration.between(turn.startedAt(), end).toMillis() : null,
				(turn.snapshot() != null) ? HistoryView.of(turn.snapshot()) : null,
				items.stream().map((item) -> MessageView.of(item.message())).toList());
	}

	/**
	 * @param messages the number of its messages, the two of a summary included
	 * @param summarized whether it began with a summary
	 */
	record HistoryView(int messages, boolean summarized) {

		static HistoryView of(Snapshot snapshot) {
			return new HistoryView(snapshot.parts().stream().mapToInt(Snapshot.Part::size).sum(),
					snapshot.parts().stream().anyMatch(Snapshot.Summary.class::isInstance));
		}

	}

	/**
	 * @param calls the tools that the model wants called, with their arguments
	 * @param results what those tools returned
	 */
	record MessageView(String role, @Nullable String text, List<ToolView> calls, List<ToolView> results) {

		static MessageView of(Message message) {
			return new MessageView(message.getMessageType().getValue(), message.getText(), calls(message),
					results(message));
		}

		private static List<ToolView> calls(Message message) {
			return (message instanceof AssistantMessage assistant) ? assistant.getToolCalls()
				.stream()
				.map((call) -> new ToolView(call.name(), call.arguments()))
				.toList() : List.of();
		}

		private static List<ToolView> results(Message message) {
			return (message instanceof ToolResponseMessage tools) ? tools.getResponses()
				.stream()
				.map((response) -> new ToolView(response.name(), response.responseData()))
				.toList() : List.of();
		}

	}

	record ToolView(String name, String data) {
	}

}
