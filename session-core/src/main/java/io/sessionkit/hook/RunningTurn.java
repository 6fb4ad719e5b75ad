package io.sessionkit.hook;

/**
 * The turn behind a {@link SessionContext}. SessionKit implements it; applications use
 * the context.
 */
public interface RunningTurn {

	/**
	 * What is known of the turn now, with what was written to its state so far.
	 * @return the context
	 */
	HookContext context();

	/**
	 * See {@link SessionContext#put}.
	 * @param name the attribute
	 * @param value its value
	 */
	void put(String name, Object value);

	/**
	 * See {@link SessionContext#remove}.
	 * @param name the attribute
	 */
	void remove(String name);

}
