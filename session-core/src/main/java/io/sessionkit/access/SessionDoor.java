package io.sessionkit.access;

/**
 * A way by which applications come to sessions. A bean that is one is refused where
 * sessions belong to callers and the check is not around it.
 */
public interface SessionDoor {

	/**
	 * Returns the check of callers.
	 * @return the access; {@link SessionAccess#unlimited} if everybody reaches all
	 * sessions here
	 */
	SessionAccess access();

}
