package io.sessionkit.conversation;

import io.sessionkit.TurnStatus;
import org.jspecify.annotations.Nullable;

/**
 * How a turn ended: its status and, if it failed, why.
 */
record TurnEnd(TurnStatus status, @Nullable String failure) {

	static final TurnEnd COMPLETED = new TurnEnd(TurnStatus.COMPLETED, null);

	static final TurnEnd CANCELLED = new TurnEnd(TurnStatus.CANCELLED, null);

	static TurnEnd failed(String failure) {
		return new TurnEnd(TurnStatus.FAILED, failure);
	}

	static TurnEnd failed(Throwable cause) {
		return failed(cause.getClass().getName());
	}

}
