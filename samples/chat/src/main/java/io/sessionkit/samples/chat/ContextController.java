package io.sessionkit.samples.chat;

import java.util.List;

import io.sessionkit.context.SentHistory;
import io.sessionkit.context.SummaryResult;
import io.sessionkit.conversation.Conversations;
import io.sessionkit.samples.chat.TurnView.MessageView;
import org.jspecify.annotations.Nullable;

import org.springframework.http.HttpStatus;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.server.ResponseStatusException;

/**
 * Shows what the model sees of a thread: makes a summary now, and returns what a turn was
 * shown at the time.
 */
@RestController
@RequestMapping("/api/threads/{id}")
final class ContextController {

	private final Conversations conversations;

	ContextController(Conversations conversations) {
		this.conversations = conversations;
	}

	/**
	 * Summarizes everything older than the turns that stay, even if a summary is not due
	 * yet.
	 */
	@PostMapping("/summaries")
	SummaryResultView summarize(@PathVariable String id) {
		SummaryResult made = this.conversations.get(id).summarize(true);
		return new SummaryResultView(made.status(), made.turns(), made.failure());
	}

	@GetMapping("/turns/{number}/history")
	SentView history(@PathVariable String id, @PathVariable long number) {
		return this.conversations.get(id)
			.snapshot(number)
			.map(SentView::of)
			.orElseThrow(() -> new ResponseStatusException(HttpStatus.NOT_FOUND,
					"There is no turn " + number + " in this thread for which the model was called."));
	}

	/**
	 * @param turns the number of turns that the summary took in
	 * @param failure why there is none, in a few words
	 */
	record SummaryResultView(SummaryResult.Status outcome, int turns, @Nullable String failure) {
	}

	/**
	 * @param missing the number of messages deleted since
	 */
	record SentView(List<MessageView> messages, int missing, boolean complete) {

		static SentView of(SentHistory sent) {
			return new SentView(sent.messages().stream().map(MessageView::of).toList(), sent.missing(),
					sent.isComplete());
		}

	}

}
