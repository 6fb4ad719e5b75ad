package io.sessionkit.internal.turn;

import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;

import org.jspecify.annotations.Nullable;

/**
 * Runs the guards that check the input beside the first model call. They run once, on the
 * thread that needs their result first; every later caller gets the same result. Safe for
 * use by many threads.
 */
final class InputCheck {

	private final FutureTask<@Nullable Void> question;

	private volatile boolean passed;

	/**
	 * Creates the check without running the guards.
	 * @param question returns if the guards let the input pass, and throws if they do not
	 */
	InputCheck(Runnable question) {
		this.question = new FutureTask<>(() -> {
			question.run();
			this.passed = true;
			return null;
		});
	}

	/**
	 * Returns whether the guards have let the input pass.
	 * @return false also until they have finished
	 */
	boolean isPassed() {
		return this.passed;
	}

	/**
	 * Returns whether the guards have refused the input or failed.
	 * @return false until they have finished
	 */
	boolean isRefused() {
		return this.question.isDone() && !this.passed;
	}

	/**
	 * Waits until the guards have finished, and runs them on this thread if no other
	 * thread has.
	 * @throws IllegalStateException if this thread is interrupted while it waits; what
	 * the guards throw is thrown as it is
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
