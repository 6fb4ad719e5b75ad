package io.sessionkit.internal.round;

import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;

import io.sessionkit.internal.Thrown;
import org.jspecify.annotations.Nullable;

/**
 * Runs the guards that check the input beside the first model call. They run once, on the
 * thread that needs their result first; every later caller gets the same result. Safe for
 * use by many threads.
 */
public final class InputCheck {

	/** Nothing has to be checked beside the model. */
	public static final InputCheck PASSED = new InputCheck();

	private final FutureTask<@Nullable Void> question;

	private volatile boolean passed;

	private InputCheck() {
		this.question = new FutureTask<>(() -> null);
		this.passed = true;
	}

	/**
	 * Creates the check without running the guards.
	 * @param question returns if the guards let the input pass, and throws if they do not
	 */
	public InputCheck(Runnable question) {
		this.question = new FutureTask<>(() -> {
			question.run();
			this.passed = true;
			return null;
		});
	}

	/**
	 * Returns whether guards have not let the input pass yet. No answer may be handed on
	 * before {@link #pass}.
	 * @return false if there are no such guards, or if all have let the input pass
	 */
	public boolean isPending() {
		return !this.passed;
	}

	/**
	 * Returns whether a guard has refused the input or thrown. The model must not be
	 * called again in that case: {@link #pass} throws.
	 * @return false until the guards have finished
	 */
	public boolean isRefused() {
		return this.question.isDone() && !this.passed;
	}

	/**
	 * Waits until the guards have let the input pass, and runs them on this thread if no
	 * other thread has. Does nothing if there are none, or if all have let it pass.
	 * @throws io.sessionkit.hook.SessionRefusedException if one refuses; what a guard
	 * throws is thrown as it is
	 * @throws IllegalStateException if this thread is interrupted while it waits
	 */
	public void pass() {
		if (this.passed) {
			return;
		}
		this.question.run();
		try {
			this.question.get();
		}
		catch (ExecutionException ex) {
			throw Thrown.unchecked(ex.getCause());
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new IllegalStateException("The call was interrupted while it waited for the guards on its input.",
					ex);
		}
	}

}
