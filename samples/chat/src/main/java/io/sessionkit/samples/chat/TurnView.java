package io.sessionkit.samples.chat;

import java.time.Duration;
import java.time.Instant;
import java.util.List;

import io.sessionkit.Round;
import io.sessionkit.SessionItem;
import io.sessionkit.Snapshot;
import io.sessionkit.TokenUsage;
import io.sessionkit.Turn;
import io.sessionkit.Verdict;
import org.jspecify.annotations.Nullable;

import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.ToolResponseMessage;

/**
 * A turn as the page shows it.
 *
 * @param parent the number of the turn that it follows; 0 for the first
 * @param millis the time it took; null while it is open
 * @param failure why it failed, as it is stored: the name of a class or a few words; null
 * if it did not
 * @param tokens the tokens that the provider counted
 * @param roundList one entry for each answer of the model
 * @param history what the model was shown of the turns before; null if it was not called
 * @param cutShort whether somebody stopped reading the answer, which ends there
 */
record TurnView(String id, long number, long parent, String status, @Nullable String agent, @Nullable String model,
		int rounds, List<RoundView> roundList, TokenUsage tokens, Instant startedAt, @Nullable Instant endedAt,
		@Nullable Long millis, @Nullable String failure, List<VerdictView> verdicts, @Nullable HistoryView history,
		boolean cutShort, List<MessageView> messages) {

	static TurnView of(Turn turn, List<SessionItem> items) {
		Instant end = turn.endedAt();
		return new TurnView(turn.id(), turn.number(), turn.parent(), turn.status().name(), turn.agent(), turn.model(),
				turn.rounds().size(), turn.rounds().stream().map(RoundView::of).toList(), turn.usage(),
				turn.startedAt(), end, (end != null) ? Duration.between(turn.startedAt(), end).toMillis() : null,
				turn.failure(), turn.verdicts().stream().map(VerdictView::of).toList(),
				(turn.snapshot() != null) ? HistoryView.of(turn.snapshot()) : null,
				items.stream().anyMatch((item) -> isCutShort(item.message())),
				items.stream().map((item) -> MessageView.of(item.message())).toList());
	}

	private static boolean isCutShort(Message message) {
		return Boolean.TRUE.equals(message.getMetadata().get(Turn.CUT_SHORT));
	}

	record RoundView(@Nullable String model, TokenUsage tokens) {

		static RoundView of(Round round) {
			return new RoundView(round.model(), round.usage());
		}

	}

	/**
	 * A decision or a note of a hook.
	 */
	record VerdictView(String hook, String phase, String kind, @Nullable String reason) {

		static VerdictView of(Verdict verdict) {
			return new VerdictView(verdict.hook(), String.valueOf(verdict.phase()), String.valueOf(verdict.kind()),
					verdict.reason());
		}

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
	 * @param reasoning what the model thought before it answered; null for none
	 * @param calls the tools that the model wants called, with their arguments
	 * @param results what those tools returned
	 */
	record MessageView(String role, @Nullable String text, @Nullable String reasoning, List<ToolView> calls,
			List<ToolView> results) {

		static MessageView of(Message message) {
			return new MessageView(message.getMessageType().getValue(), Reasoning.textOf(message),
					Reasoning.of(message), calls(message), results(message));
		}

		private static List<ToolView> calls(Message message) {
			return (message instanceof AssistantMessage assistant) ? assistant.getToolCalls()
				.stream()
				.map((call) -> new ToolView(call.id(), call.name(), call.arguments()))
				.toList() : List.of();
		}

		private static List<ToolView> results(Message message) {
			return (message instanceof ToolResponseMessage tools) ? tools.getResponses()
				.stream()
				.map((response) -> new ToolView(response.id(), response.name(), response.responseData()))
				.toList() : List.of();
		}

	}

	/**
	 * @param id the id of the call; a result has that of its call
	 */
	record ToolView(String id, String name, String data) {
	}

}
