package io.sessionkit.samples.chat;

import io.sessionkit.context.Compaction;
import io.sessionkit.conversation.Conversations;
import org.jspecify.annotations.Nullable;

import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RestController;

/**
 * Changes what the model sees of a thread: makes a summary now.
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
	CompactionView summarize(@PathVariable String id) {
		Compaction compaction = this.conversations.get(id).compact(true);
		return new CompactionView(compaction.status(), compaction.turns(), compaction.failure());
	}

	/**
	 * @param turns the number of turns that the summary took in
	 * @param failure why there is none, in a few words
	 */
	record CompactionView(Compaction.Status outcome, int turns, @Nullable String failure) {
	}

}
