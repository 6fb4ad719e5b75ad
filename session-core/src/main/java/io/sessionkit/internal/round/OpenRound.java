package io.sessionkit.internal.round;

import java.util.List;
import java.util.Optional;

import io.sessionkit.SessionKey;
import io.sessionkit.context.UnfinishedReplyException;
import io.sessionkit.hook.HookFailedException;
import io.sessionkit.hook.SessionRefusedException;
import org.jspecify.annotations.Nullable;

import org.springframework.ai.chat.model.ChatResponse;

/**
 * One model call of a turn that is in progress. It ends once, with a whole reply, with a
 * streamed one, or without any. What arrives after that is ignored. Safe for use by many
 * threads.
 */
public final class OpenRound {

	private final Recorder recorder;

	private final Runnable inputCheck;

	private final ReplyAggregator reply = new ReplyAggregator();

	/**
	 * Creates a round.
	 * @param recorder records what the round brings
	 * @param inputCheck returns when the input has passed, which is before any reply is
	 * used
	 */
	OpenRound(Recorder recorder, Runnable inputCheck) {
		this.recorder = recorder;
		this.inputCheck = inputCheck;
	}

	/**
	 * Records the outcomes of rounds.
	 */
	interface Recorder {

		void chunk(OpenRound round, ChatResponse chunk);

		Optional<List<ChatResponse>> afterStreamed(OpenRound round);

		@Nullable ChatResponse afterWhole(OpenRound round, @Nullable ChatResponse response);

		void afterFailed(OpenRound round);

	}

	ReplyAggregator reply() {
		return this.reply;
	}

	/**
	 * Records a chunk of a streamed reply.
	 * @param chunk the chunk
	 * @return the responses to hand on instead of it
	 */
	public List<ChatResponse> chunk(ChatResponse chunk) {
		this.recorder.chunk(this, chunk);
		return ReplyAggregator.parts(chunk);
	}

	/**
	 * Checks that a streamed reply that has ended has a finish reason.
	 * @param key the session
	 * @throws UnfinishedReplyException if it has none
	 * @throws SessionRefusedException if the input has not passed
	 */
	public void checkFinished(SessionKey key) {
		this.inputCheck.run();
		if (!this.reply.isFinished()) {
			throw new UnfinishedReplyException(key);
		}
	}

	/**
	 * Runs the hooks on a streamed reply that is complete and records it, before its
	 * tools run.
	 * @return the responses to hand on instead of the chunks that were held back, which
	 * may be none; empty if those chunks may be handed on
	 * @throws IllegalStateException if the round is over
	 * @throws SessionRefusedException if a hook refuses
	 * @throws HookFailedException if a hook fails
	 */
	public Optional<List<ChatResponse>> afterStreamed() {
		this.inputCheck.run();
		return this.recorder.afterStreamed(this);
	}

	/**
	 * Runs the hooks on a reply that arrived as a whole and records it, before its tools
	 * run.
	 * @param response the response of the model; null and a response without generations
	 * count as no reply
	 * @return the response to hand on
	 * @throws IllegalStateException if the round is over
	 * @throws SessionRefusedException if a hook refuses
	 * @throws HookFailedException if a hook fails
	 */
	public @Nullable ChatResponse afterWhole(@Nullable ChatResponse response) {
		this.inputCheck.run();
		return this.recorder.afterWhole(this, response);
	}

	/**
	 * Ends the round if it is still in progress, because its model call has failed or was
	 * cancelled. Another may follow in the same turn.
	 */
	public void afterFailed() {
		this.recorder.afterFailed(this);
	}

}
