package io.sessionkit.store.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.regex.Pattern;

import org.jspecify.annotations.Nullable;

/**
 * Runs statements on threads that nobody interrupts. H2 writes its file through a
 * channel, which an interrupt of the writing thread closes, and the database with it, for
 * everybody. Whoever calls waits for the end, and is still interrupted afterwards.
 */
final class Uninterrupted {

	/**
	 * In no file of this process, or in one that is not written through such a channel.
	 */
	private static final Pattern SAFE = Pattern.compile("jdbc:h2:(mem|tcp|ssl|async|retry):.*");

	private static final ExecutorService threads = Executors.newCachedThreadPool((task) -> {
		Thread thread = new Thread(task, "sessionkit-h2");
		thread.setDaemon(true);
		return thread;
	});

	private Uninterrupted() {
	}

	/**
	 * Whether an interrupt would close the database at the other end.
	 */
	static boolean isNeeded(Connection connection) throws SQLException {
		String url = connection.getMetaData().getURL();
		String lower = (url != null) ? url.toLowerCase(Locale.ROOT) : "";
		return lower.startsWith("jdbc:h2:") && !SAFE.matcher(lower).matches();
	}

	/**
	 * Runs work, and waits for it however often this thread is interrupted.
	 */
	static <T extends @Nullable Object> T call(Callable<T> work) throws SQLException {
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

	/**
	 * Runs work on this thread.
	 */
	static <T extends @Nullable Object> T here(Callable<T> work) throws SQLException {
		try {
			return work.call();
		}
		catch (Exception ex) {
			throw rethrown(ex);
		}
	}

	private static SQLException rethrown(@Nullable Throwable cause) {
		if (cause instanceof Error error) {
			throw error;
		}
		if (cause instanceof RuntimeException failure) {
			throw failure;
		}
		return (cause instanceof SQLException failure) ? failure : new SQLException(cause);
	}

}
