package io.sessionkit.hook;

import java.util.Set;

import org.jspecify.annotations.Nullable;

/**
 * The turn behind a {@link SessionContext}. For SessionKit's own packages; applications
 * use the context.
 */
public interface TurnAccess {

	/**
	 * Returns the current view of the turn, with the attributes that were written so far.
	 * @return the context
	 */
	HookContext context();

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
	 * Writes an attribute, as {@link SessionContext#putAttribute} does.
	 * @param name the attribute
	 * @param value its value
	 */
	void putAttribute(String name, Object value);

	/**
	 * Removes an attribute, as {@link SessionContext#removeAttribute} does.
	 * @param name the attribute
	 * @return whether it was there
	 */
	boolean removeAttribute(String name);

	/**
	 * Returns where the messages begin that can be forgotten, as
	 * {@link SessionContext#forgettableFrom} does.
	 * @return the index of the first one
	 */
	int forgettableFrom();

	/**
	 * Forgets messages of the history, as {@link SessionContext#forget} does.
	 * @param from the index of the first one
	 * @param to the index behind the last one
	 */
	void forget(int from, int to);

}
