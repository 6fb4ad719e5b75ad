package io.sessionkit.internal.approval;

import java.util.function.Consumer;

import io.sessionkit.NestedTurnException;
import io.sessionkit.SessionKey;
import io.sessionkit.approval.ApprovalEvent;
import io.sessionkit.internal.binding.TurnAccess;
import io.sessionkit.internal.binding.TurnBinding;
import io.sessionkit.internal.binding.TurnSession;
import io.sessionkit.internal.opening.TurnRequest;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.StoreLayer;

/**
 * Recognizes calls on a session that are made inside of a turn which waits for them:
 * these may read it at most.
 */
final class NestedCalls {

	private final SessionStore store;

	NestedCalls(SessionStore store) {
		this.store = store;
	}

	/**
	 * Returns a request as the place requires in which its call is made.
	 * @see GatedTurns#allowedHere
	 */
	TurnRequest readingIfNested(TurnRequest request) {
		if (!request.isStored() || !isNested(request.key())) {
			return request;
		}
		if (request.start().kind() != TurnRequest.Start.Kind.HEAD || request.input().isEmpty()) {
			throw nested(request.key());
		}
		return request.start(TurnRequest.Start.READING);
	}

	/**
	 * Checks that a call is not made inside a turn on the same session: neither turn
	 * could become history, or each would wait for the other.
	 * @throws NestedTurnException if it is
	 */
	void check(SessionKey key) {
		if (isNested(key)) {
			throw nested(key);
		}
	}

	/**
	 * Returns what tells listeners of the calls of a turn. The call that works on it
	 * waits for them, so they must not wait for it, and are part of no turn.
	 */
	static Consumer<ApprovalEvent> listening(TurnAccess turn, Consumer<ApprovalEvent> events) {
		return (event) -> {
			try (TurnBinding binding = TurnBinding.listening(turn.sessions())) {
				events.accept(event);
			}
		};
	}

	private boolean isNested(SessionKey key) {
		return TurnBinding.sessions().contains(session(key));
	}

	private TurnSession session(SessionKey key) {
		return new TurnSession(StoreLayer.beneath(this.store), key);
	}

	private NestedTurnException nested(SessionKey key) {
		String by = TurnBinding.enclosing()
			.map((turn) -> "A tool or hook of turn " + turn.turnId() + " on session " + turn.key())
			.orElse("A listener or summary trigger");
		TurnAccess turn = TurnBinding.running();
		boolean isSame = turn != null && turn.session().equals(session(key));
		return new NestedTurnException(by + " made a call on "
				+ (isSame ? "the same session " : "a session whose turn waits for it, ") + key
				+ ", which would have to be stored there. It may only read that session: give it a message, and no"
				+ " history to store, branch or turn to take the place of. Or give it a session of its own with"
				+ " SessionAdvisor.child(..), or none with SessionAdvisor.none().");
	}

}
