package io.sessionkit.internal;

import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

import org.jspecify.annotations.Nullable;

/**
 * Writes that must be done or not done, on threads that nobody interrupts. Whoever calls
 * waits for the end, however often he is interrupted, and is interrupted afterwards.
 */
public final class QuietThread {

	private static final ExecutorService threads = Executors.newCachedThreadPool((task) -> {
		Thread thread = new Thread(task, "sessionkit-ledger");
		thread.setDaemon(true);
		return thread;
	});

	private QuietThread() {
	}

	/**
	 * Does a piece of work.
	 * @param work the work
	 * @param <T> what it returns
	 * @return what it returned
	 */
	public static <T extends @Nullable Object> T call(Callable<T> work) {
		Future<T> result = threads.submit(work);
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
			throw rethrown(ex.getCause());
		}
		finally {
			if (interrupted) {
				Thread.currentThread().interrupt();
			}
		}
	}

	private static RuntimeException rethrown(@Nullable Throwable cause) {
		if (cause instanceof Error error) {
			throw error;
		}
		return (cause instanceof RuntimeException failure) ? failure : new IllegalStateException(cause);
	}

}
