package io.sessionkit.internal;

/**
 * An exception whose message quotes no text of a session, so that it is told even where
 * messages of exceptions are left out. Applications know it by its class, or by its
 * superclass if that is internal.
 */
public interface Told {

	/**
	 * Returns the type by which applications know an exception.
	 */
	static Class<?> type(Throwable thrown) {
		String internal = Told.class.getPackageName();
		Class<?> type = thrown.getClass();
		while (Told.class.isAssignableFrom(type) && type.getPackageName().startsWith(internal)) {
			type = type.getSuperclass();
		}
		return type;
	}

	/**
	 * Returns what a log may say of an exception: its type, and its message if that
	 * quotes no text of a session.
	 */
	static String of(Throwable thrown) {
		String type = type(thrown).getName();
		return (thrown instanceof Told) ? type + ": " + thrown.getMessage() : type;
	}

}
