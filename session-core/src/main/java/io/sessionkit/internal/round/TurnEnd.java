package io.sessionkit.internal.round;

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

	public static TurnEnd failed(Throwable cause) {
		return failed(cause.getClass().getName());
	}

}
