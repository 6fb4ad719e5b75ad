package io.sessionkit.internal;

import java.lang.reflect.UndeclaredThrowableException;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;

import org.jspecify.annotations.Nullable;
import reactor.core.Exceptions;

/**
 * Finds the exception that says what has happened. Threads, streams and proxies put
 * others around it, which only say where it came by.
 */
public final class Thrown {

	private Thrown() {
	}

	/**
	 * Returns what was thrown, without the exceptions that only carry it: those of
	 * futures, of Reactor and of proxies, and a {@link RuntimeException} of no class of
	 * its own.
	 * @param ex an exception as it arrives
	 * @return its cause, or the cause of that, and so on; the same one if it carries none
	 */
	public static Throwable cause(Throwable ex) {
		Throwable thrown = Exceptions.unwrap(ex);
		Throwable cause = thrown.getCause();
		return (cause != null && isCarrier(thrown)) ? cause(cause) : thrown;
	}

	/**
	 * Returns what was thrown as an exception that needs no declaration: the same one, or
	 * one around it. Throws an error as it is.
	 * @param thrown what another thread has thrown
	 */
	public static RuntimeException unchecked(@Nullable Throwable thrown) {
		if (thrown instanceof Error error) {
			throw error;
		}
		return (thrown instanceof RuntimeException failure) ? failure : new IllegalStateException(thrown);
	}

	private static boolean isCarrier(Throwable thrown) {
		return thrown instanceof CarriedError || thrown instanceof CompletionException
				|| thrown instanceof ExecutionException || thrown instanceof UndeclaredThrowableException
				|| thrown.getClass() == RuntimeException.class;
	}

}
