package io.sessionkit.internal.round;

import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;

import io.sessionkit.TurnHandedOverException;
import io.sessionkit.TurnStatus;
import org.jspecify.annotations.Nullable;

/**
 * The end of a turn: its status and, if it failed, the reason.
 */
public record TurnEnd(TurnStatus status, @Nullable String failure) {

	public static final TurnEnd COMPLETED = new TurnEnd(TurnStatus.COMPLETED, null);

	public static final TurnEnd CANCELLED = new TurnEnd(TurnStatus.CANCELLED, null);

	public static TurnEnd failed(String failure) {
		return new TurnEnd(TurnStatus.FAILED, failure);
	}

	/**
	 * Returns the end of a turn that failed with an exception, or of a call that has
	 * handed its turn over. What only says that another thread threw it, as the streams
	 * of some providers do, is left out of the reason.
	 */
	public static TurnEnd failed(Throwable cause) {
		Throwable thrown = cause;
		while ((thrown instanceof CompletionException || thrown instanceof ExecutionException)
				&& thrown.getCause() != null) {
			thrown = thrown.getCause();
		}
		return (thrown instanceof TurnHandedOverException)
				? new TurnEnd(TurnStatus.INCOMPLETE, thrown.getClass().getName()) : failed(thrown.getClass().getName());
	}

}
