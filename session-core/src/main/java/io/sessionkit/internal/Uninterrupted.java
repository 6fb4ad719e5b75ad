package io.sessionkit.internal;

import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Future;

import org.jspecify.annotations.Nullable;

/**
 * Runs writes that must not be broken off halfway, on threads that nobody interrupts. The
 * caller waits for the end however often it is interrupted, and is interrupted
 * afterwards.
 */
public final class Uninterrupted {

	/**
	 * Something to do that may fail.
	 *
	 * @param <T> the type of the result
	 * @param <X> the checked exception; RuntimeException if there is none
	 */
	@FunctionalInterface
	public interface Work<T extends @Nullable Object, X extends Exception> {

		/**
		 * Does the work.
		 * @return the result
		 * @throws X if it fails
		 */
		T run() throws X;

	}

	private static final ExecutorService threads = SharedThreads.refusing("sessionkit-uninterrupted-",
			Integer.MAX_VALUE, Duration.ofMinutes(1));

	private Uninterrupted() {
	}

	/**
	 * Does a piece of work, and waits for its end.
	 * @param work the work
	 * @param <T> the type of the result
	 * @param <X> the checked exception of the work
	 * @return what it returned
	 * @throws X what it threw; unchecked exceptions and errors are thrown as they are
	 */
	public static <T extends @Nullable Object, X extends Exception> T call(Work<T, X> work) throws X {
		Future<T> result = threads.submit(work::run);
		boolean interrupted = false;
		try {
			while (true) {
				try {
					return result.get();
				}
				catch (InterruptedException ex) {
					interrupted = true;
				}
			}
		}
		catch (ExecutionException ex) {
			throw Uninterrupted.<X>thrown(ex.getCause());
		}
		finally {
			if (interrupted) {
				Thread.currentThread().interrupt();
			}
		}
	}

	/** The work can throw nothing else than X and what is unchecked. */
	@SuppressWarnings("unchecked")
	private static <X extends Exception> X thrown(@Nullable Throwable cause) {
		if (cause instanceof Error error) {
			throw error;
		}
		if (cause instanceof RuntimeException failure) {
			throw failure;
		}
		return (X) Objects.requireNonNull(cause);
	}

}
