package io.sessionkit.internal.turn;

import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;

import org.jspecify.annotations.Nullable;

/**
 * The question to the guards that check the input beside the first model call. It is
 * asked once, on the thread of whoever needs the answer first; whoever comes later gets
 * the same answer. Safe for use by many threads.
 */
final class InputCheck {

	private final FutureTask<@Nullable Void> question;

	private volatile boolean passed;

	/**
	 * @param question returns if the guards let the input pass, and throws if not
	 */
	InputCheck(Runnable question) {
		this.question = new FutureTask<>(() -> {
			question.run();
			this.passed = true;
			return null;
		});
	}

	/**
	 * Whether the guards have let the input pass.
	 * @return false also as long as they think
	 */
	boolean isPassed() {
		return this.passed;
	}

	/**
	 * Whether the guards have not let the input pass.
	 * @return false as long as they think
	 */
	boolean isRefused() {
		return this.question.isDone() && !this.passed;
	}

	/**
	 * Waits for the answer, and asks for it if nobody has done so.
	 */
	void pass() {
		this.question.run();
		try {
			this.question.get();
		}
		catch (ExecutionException ex) {
			throw rethrown(ex.getCause());
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new IllegalStateException("The call was interrupted while it waited for the guards on its input.",
					ex);
		}
	}

	private static RuntimeException rethrown(@Nullable Throwable cause) {
		if (cause instanceof Error error) {
			throw error;
		}
		return (cause instanceof RuntimeException failure) ? failure : new IllegalStateException(cause);
	}

}
