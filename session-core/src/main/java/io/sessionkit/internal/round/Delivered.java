package io.sessionkit.internal.round;

import java.util.List;
import java.util.Set;

import org.jspecify.annotations.Nullable;

import org.springframework.ai.chat.metadata.ChatGenerationMetadata;
import org.springframework.ai.chat.model.ChatResponse;
import org.springframework.ai.chat.model.Generation;
import org.springframework.ai.model.tool.ToolCallLimitExceededException;
import org.springframework.ai.model.tool.ToolExecutionResult;

/**
 * Collects what a stream has handed to the caller, over all rounds. Not safe for use by
 * many threads.
 */
final class Delivered {

	/**
	 * The finish reasons of a loop that ends without a model call. What such a loop
	 * returns comes in one chunk.
	 */
	private static final Set<String> WITHOUT_ROUND = Set.of(ToolExecutionResult.FINISH_REASON,
			ToolCallLimitExceededException.FINISH_REASON);

	private final ReplyAggregator reply = new ReplyAggregator();

	/** The length of the text of the rounds before the newest one. */
	private int before;

	private @Nullable ChatResponse last;

	private List<Generation> withoutRound = List.of();

	void add(ChatResponse chunk) {
		this.last = chunk;
		this.reply.add(chunk);
		if (chunk.hasFinishReasons(WITHOUT_ROUND)) {
			this.withoutRound = chunk.getResults();
		}
	}

	/**
	 * Begins a round: what follows belongs to another reply.
	 */
	void begin() {
		this.before = this.reply.text().length();
	}

	/**
	 * Returns the text of the newest round.
	 */
	String newestText() {
		return this.reply.text().substring(this.before);
	}

	/**
	 * Returns the result of the loop, as a call without streaming would have returned it.
	 */
	List<Generation> generations() {
		if (!this.withoutRound.isEmpty() || this.reply.isEmpty()) {
			return this.withoutRound;
		}
		return List.of(new Generation(this.reply.message(), ChatGenerationMetadata.NULL));
	}

	/**
	 * Returns the whole answer, with the response metadata of the last chunk.
	 */
	@Nullable ChatResponse response() {
		ChatResponse end = this.last;
		return (end != null) ? ChatResponse.builder().from(end).generations(generations()).build() : null;
	}

}
