package io.sessionkit.internal.binding;

import java.util.Set;

import org.jspecify.annotations.Nullable;

/**
 * The turn behind a <code>SessionContext</code>.
 */
public interface TurnAccess {

	/**
	 * Returns what is known of the turn now, with the attributes that were written so
	 * far.
	 * @return the facts
	 */
	TurnFacts facts();

	/**
	 * Returns the session that the turn is on.
	 * @return the session
	 */
	TurnSession session();

	/**
	 * Returns the number of the turn if a part of it is stored.
	 * @return its number; 0 if nothing of it is stored yet
	 */
	long number();

	/**
	 * Returns the sessions whose turns wait for this one: its own, and those of the turns
	 * inside of which it was begun.
	 * @return the sessions
	 */
	Set<TurnSession> sessions();

	/**
	 * Returns the turn inside of which this one was begun.
	 * @return that turn; null if there is none
	 */
	@Nullable TurnAccess outer();

	/**
	 * Erases a session when the call that works on this turn ends, or at once if it has
	 * ended.
	 * @param child the session
	 * @param erasing erases it
	 */
	void endsWith(TurnSession child, Runnable erasing);

	/**
	 * Notes that code which runs for this turn has erased its session, so that nothing of
	 * the turn is stored if the session was to begin with it.
	 */
	void erased();

	/**
	 * Writes an attribute, as <code>SessionContext.putAttribute</code> does.
	 * @param name the attribute
	 * @param value its value
	 */
	void putAttribute(String name, Object value);

	/**
	 * Removes an attribute, as <code>SessionContext.removeAttribute</code> does.
	 * @param name the attribute
	 * @return whether it was there
	 */
	boolean removeAttribute(String name);

	/**
	 * Returns where the messages begin that can be forgotten, as
	 * <code>SessionContext.forgettableFrom</code> does.
	 * @return the index of the first one
	 */
	int forgettableFrom();

	/**
	 * Forgets messages of the history, as <code>SessionContext.forget</code> does.
	 * @param from the index of the first one
	 * @param to the index behind the last one
	 */
	void forget(int from, int to);

}
