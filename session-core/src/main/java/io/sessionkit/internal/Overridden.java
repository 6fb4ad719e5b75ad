package io.sessionkit.internal;

import java.lang.reflect.Method;

/**
 * Finds out whether a class has a method of its own instead of the default one of an
 * interface. If that cannot be determined, the class is assumed to have one.
 */
public final class Overridden {

	private Overridden() {
	}

	/**
	 * Returns whether a class overrides a public method.
	 * @param type the class
	 * @param given the interface that has the default method
	 * @param name the name of the method
	 * @param parameters the types of its parameters
	 */
	public static boolean isIn(Class<?> type, Class<?> given, String name, Class<?>... parameters) {
		try {
			Method method = type.getMethod(name, parameters);
			return method.getDeclaringClass() != given;
		}
		catch (ReflectiveOperationException | Error ex) {
			// a native image has no metadata for the class
			return true;
		}
	}

}
