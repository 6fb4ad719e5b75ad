package io.sessionkit.advisor;

import io.sessionkit.SessionKey;
import io.sessionkit.internal.binding.TurnAccess;
import io.sessionkit.internal.opening.TurnRequest;
import org.jspecify.annotations.Nullable;

/**
 * The place of a child session: its parent, and the turn inside of which it is called.
 *
 * @param turn the turn of the parent that calls it; null if the call names the parent
 * @param enclosing the turn inside of which the call is made, of whatever session; null
 * if it is made outside of any
 */
record ChildPlace(ChildSession child, SessionKey parent, @Nullable TurnAccess turn, @Nullable TurnAccess enclosing) {

	ChildPlace {
		if (child.endsWithTurn() && enclosing == null) {
			throw new IllegalStateException("The child session '" + child.name() + "' of session " + parent
					+ " is for one turn, and the call is made outside of any. Leave forThisTurn() out, or make the call"
					+ " inside of a tool or hook of a turn.");
		}
	}

	/** Returns the place of a child of the session whose turn calls it. */
	static ChildPlace ofTurn(ChildSession child, TurnAccess turn) {
		return new ChildPlace(child, turn.session().key(), turn, turn);
	}

	/**
	 * Returns the place of a child of a session that the call names.
	 * @param parent the session; null if the call names none
	 * @throws SessionRequiredException if it names none
	 */
	static ChildPlace of(ChildSession child, @Nullable SessionKey parent, @Nullable TurnAccess enclosing) {
		if (parent == null) {
			throw new SessionRequiredException("The call asks for the child session '" + child.name()
					+ "', and has no session that could be its parent. Add .advisors(SessionAdvisor.session(..)), or"
					+ " make the call inside of a tool or hook of a turn.");
		}
		return new ChildPlace(child, parent, null, enclosing);
	}

	SessionKey key() {
		return this.child.key(this.parent, (this.enclosing != null) ? this.enclosing.facts().turnId() : "");
	}

	/** Returns what the turn on the child is told of it. */
	TurnRequest.ChildOf asked() {
		return new TurnRequest.ChildOf(this.parent, this.turn, this.child.readsParent(), this.child.endsWithTurn());
	}

}
