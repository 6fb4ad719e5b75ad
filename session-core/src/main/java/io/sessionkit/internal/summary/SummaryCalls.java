package io.sessionkit.internal.summary;

import java.time.Duration;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

import io.sessionkit.TokenUsage;
import io.sessionkit.internal.DurationText;
import io.sessionkit.internal.Invisible;
import io.sessionkit.internal.OwnThreads;
import io.sessionkit.internal.message.Replies;
import org.jspecify.annotations.Nullable;

import org.springframework.ai.chat.messages.UserMessage;
import org.springframework.ai.chat.model.ChatModel;
import org.springframework.ai.chat.model.ChatResponse;
import org.springframework.ai.chat.model.Generation;
import org.springframework.ai.chat.prompt.Prompt;

/**
 * Calls summarizers on threads of its own, each call for a limited time. A call that does
 * not return keeps its thread; when all threads are taken, further calls fail at once.
 * Safe for use by many threads.
 */
public final class SummaryCalls implements AutoCloseable {

	/**
	 * The reply of a summarizer.
	 */
	public record Reply(String text, @Nullable String model, TokenUsage usage) {
	}

	/**
	 * Thrown if there is no summary. The message is the reason and quotes nothing.
	 */
	public static final class FailedException extends Exception {

		FailedException(String reason) {
			super(reason, null, false, false);
		}

		/** Returns the reason, which quotes nothing. */
		public String reason() {
			return String.valueOf(getMessage());
		}

	}

	/**
	 * The finish reasons of the providers for a text that is not what was asked for: cut
	 * off, filtered, refused, broken off by a fault, or written before calling tools.
	 */
	private static final Set<String> UNFINISHED = Set.of("LENGTH", "MAX_TOKENS", "MODEL_LENGTH",
			"MODEL_CONTEXT_WINDOW_EXCEEDED", "ERROR_LIMIT", "CONTENT_FILTER", "CONTENT_FILTERED",
			"GUARDRAIL_INTERVENED", "REFUSAL", "SAFETY", "RECITATION", "LANGUAGE", "BLOCKLIST", "PROHIBITED_CONTENT",
			"SPII", "ERROR_TOXIC", "MALFORMED_MODEL_OUTPUT", "MALFORMED_RESPONSE", "ERROR", "OTHER",
			"INSUFFICIENT_SYSTEM_RESOURCE", "TOOL_CALLS", "TOOL_CALL", "TOOL_USE", "FUNCTION_CALL");

	private static final int MOST_THREADS = 32;

	private final ExecutorService threads = threads("sessionkit-summary-", MOST_THREADS);

	static ThreadPoolExecutor threads(String name, int most) {
		return new ThreadPoolExecutor(0, most, 10, TimeUnit.SECONDS, new SynchronousQueue<>(),
				OwnThreads.numbered(name));
	}

	/**
	 * Asks the model and waits for its reply.
	 * @throws FailedException if the call throws, takes too long, or returns nothing
	 * useful
	 */
	public Reply ask(ChatModel model, String prompt, Duration timeout) throws FailedException {
		return await(submit(model, prompt), timeout);
	}

	private Future<@Nullable ChatResponse> submit(ChatModel model, String prompt) throws FailedException {
		try {
			return this.threads.submit(() -> model.call(new Prompt(new UserMessage(prompt))));
		}
		catch (RejectedExecutionException ex) {
			throw new FailedException(this.threads.isShutdown() ? "the application ends"
					: "no thread is free: other summaries do not end");
		}
	}

	private static Reply await(Future<@Nullable ChatResponse> call, Duration timeout) throws FailedException {
		try {
			return reply(call.get(timeout.toMillis(), TimeUnit.MILLISECONDS));
		}
		catch (TimeoutException ex) {
			call.cancel(true);
			throw new FailedException("took longer than " + DurationText.of(timeout));
		}
		catch (InterruptedException ex) {
			call.cancel(true);
			Thread.currentThread().interrupt();
			throw new FailedException("was interrupted");
		}
		catch (ExecutionException ex) {
			Throwable cause = (ex.getCause() != null) ? ex.getCause() : ex;
			throw new FailedException(cause.getClass().getName());
		}
	}

	private static Reply reply(@Nullable ChatResponse response) throws FailedException {
		Generation chosen = (response != null) ? Replies.chosen(response) : null;
		String text = (chosen != null && !Replies.isThought(chosen.getOutput())) ? chosen.getOutput().getText() : null;
		if (response == null || chosen == null || text == null || Invisible.isBlank(text)) {
			throw new FailedException("no text");
		}
		if (chosen.getOutput().hasToolCalls()) {
			throw new FailedException("the model called tools");
		}
		checkFinished(chosen);
		return new Reply(text.strip(), response.getMetadata().getModel(),
				Replies.usage(response.getMetadata().getUsage()));
	}

	private static void checkFinished(Generation chosen) throws FailedException {
		String reason = chosen.getMetadata().getFinishReason();
		if (reason != null && UNFINISHED.contains(reason.toUpperCase(Locale.ROOT))) {
			throw new FailedException("finish reason " + reason);
		}
	}

	@Override
	public void close() {
		this.threads.shutdownNow();
	}

}
