package io.sessionkit.internal;

import java.util.Map;
import java.util.Optional;

import org.springframework.util.ClassUtils;

/**
 * Reads an attribute as the class that its reader expects.
 */
public final class TypedValue {

	private TypedValue() {
	}

	/**
	 * Returns the value of an attribute.
	 * @param attributes the attributes
	 * @param name the attribute
	 * @param type the class of the value, or a supertype of it
	 * @param session the session, for the message
	 * @param <T> the type
	 * @return the value; empty if the attribute is absent
	 * @throws IllegalArgumentException if the value is of another class
	 */
	@SuppressWarnings("unchecked") // Class.cast fails for a primitive class
	public static <T> Optional<T> find(Map<String, Object> attributes, String name, Class<T> type, Object session) {
		Object value = attributes.get(name);
		if (value != null && !ClassUtils.isAssignableValue(type, value)) {
			throw new IllegalArgumentException("The attribute " + Names.quoted(name) + " of session " + session
					+ " is a " + value.getClass().getName() + ", not a " + type.getName()
					+ ". Ask for the class that was put.");
		}
		return Optional.ofNullable((T) value);
	}

}
