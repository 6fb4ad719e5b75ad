package io.sessionkit.autoconfigure.internal;

/**
 * Says how long what the store of the auto-configuration keeps can last, if that depends
 * on where it is.
 */
@FunctionalInterface
public interface StoreLife {

	/**
	 * Returns whether all sessions are gone when the process ends.
	 * @return true if they are
	 */
	boolean endsWithProcess();

}
