package io.sessionkit.internal.round;

import io.sessionkit.TurnHandedOverException;
import io.sessionkit.TurnStatus;
import io.sessionkit.internal.Thrown;
import io.sessionkit.internal.Told;
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
	 * handed its turn over. The reason is the exception that says what has happened.
	 */
	public static TurnEnd failed(Throwable cause) {
		Throwable thrown = Thrown.cause(cause);
		return (thrown instanceof TurnHandedOverException)
				? new TurnEnd(TurnStatus.INCOMPLETE, thrown.getClass().getName()) : failed(Told.type(thrown).getName());
	}

}
