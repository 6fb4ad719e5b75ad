package io.sessionkit.autoconfigure;

import org.jspecify.annotations.Nullable;

/**
 * The application cannot start as it is configured. Holds what the failure report says:
 * what was wrong with which value, and what to write instead.
 */
final class ConfigurationRefusedException extends RuntimeException {

	private final String description;

	private final String action;

	ConfigurationRefusedException(String description, String action) {
		this(description, action, null);
	}

	ConfigurationRefusedException(String description, String action, @Nullable Throwable cause) {
		super(description + " " + action, cause);
		this.description = description;
		this.action = action;
	}

	/**
	 * Refuses the value of a property.
	 * @param property its name
	 * @param value what was written
	 * @param action what to write instead
	 * @return the exception
	 */
	static ConfigurationRefusedException of(String property, Object value, String action) {
		return new ConfigurationRefusedException("The property '" + property + "' is '" + value + "'.", action);
	}

	String description() {
		return this.description;
	}

	String action() {
		return this.action;
	}

}
