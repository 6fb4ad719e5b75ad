package io.sessionkit.advisor;

import io.sessionkit.SessionKey;

/**
 * A session that belongs to another one, for a call that an agent makes to a further
 * agent. Its key is {@link SessionKey#child} of its parent's. By default it has a history
 * of its own alone, and stays.
 *
 * @param name the name of the child, under the rules of {@link SessionKey#child}
 * @param readsParent whether the history of the parent is sent in front of the child's
 * own
 * @param endsWithTurn whether it is erased when the call on the parent ends
 */
public record ChildSession(String name, boolean readsParent, boolean endsWithTurn) {

	public ChildSession {
		SessionKey.checkChild(name);
	}

	/**
	 * Creates a child session with a history of its own, which stays.
	 * @param name the name of the child, under the rules of {@link SessionKey#child}
	 * @return the child session
	 * @throws io.sessionkit.InvalidSessionKeyException if the name breaks a rule
	 */
	public static ChildSession of(String name) {
		return new ChildSession(name, false, false);
	}

	/**
	 * Returns this child session with the history of the parent in front of its own. That
	 * is what the turn has read inside of which the call is made, or else what the store
	 * has. It is not stored in the child, except for the snapshots of its turns. A call
	 * that brings a history itself is refused.
	 * @return a copy
	 */
	public ChildSession readingParent() {
		return new ChildSession(this.name, true, this.endsWithTurn);
	}

	/**
	 * Returns this child session as one for a single turn of the parent. It is shared by
	 * the calls that are made inside of that turn, and erased when the call that works on
	 * the turn ends, in whatever way, also if the turn begins to wait. If the process is
	 * killed, it expires within a day. Its key is that of a child of this name, followed
	 * by a slash and the id of the turn.
	 * @return a copy
	 */
	public ChildSession forThisTurn() {
		return new ChildSession(this.name, this.readsParent, true);
	}

	/**
	 * Returns the key of the child session.
	 * @param turnId the turn that it is for
	 */
	SessionKey key(SessionKey parent, String turnId) {
		SessionKey key = parent.child(this.name);
		return this.endsWithTurn ? key.child(turnId) : key;
	}

}
