package io.sessionkit.hook;

import java.util.Set;

import io.sessionkit.SessionKey;

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
	 * Returns the sessions whose turns wait for this one: its own, and those of the turns
	 * inside of which it was begun.
	 * @return the keys
	 */
	Set<SessionKey> sessions();

	/**
	 * Writes an attribute, as {@link SessionContext#put} does.
	 * @param name the attribute
	 * @param value its value
	 */
	void put(String name, Object value);

	/**
	 * Removes an attribute, as {@link SessionContext#remove} does.
	 * @param name the attribute
	 */
	void remove(String name);

}
