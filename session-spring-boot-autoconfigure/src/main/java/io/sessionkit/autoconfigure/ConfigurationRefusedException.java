package io.sessionkit.autoconfigure;

import java.time.Duration;

import io.sessionkit.autoconfigure.internal.WrittenTime;

import org.jspecify.annotations.Nullable;

/**
 * Thrown if the application cannot start with its configuration. Holds the text of the
 * failure report: the value that is wrong, and the value to write instead.
 */
public final class ConfigurationRefusedException extends RuntimeException {

	private final String description;

	private final String action;

	public ConfigurationRefusedException(String description, String action) {
		this(description, action, null);
	}

	public ConfigurationRefusedException(String description, String action, @Nullable Throwable cause) {
		super(description + " " + action, cause);
		this.description = description;
		this.action = action;
	}

	/**
	 * Creates the exception for the value of a property.
	 * @param property the name of the property
	 * @param value the value that was written
	 * @param action the instruction for the user, with the value to write instead
	 * @return the exception
	 */
	public static ConfigurationRefusedException of(String property, Object value, String action) {
		Object written = (value instanceof Duration time) ? WrittenTime.of(time) : value;
		return new ConfigurationRefusedException("The property '" + property + "' is '" + written + "'.", action);
	}

	public String description() {
		return this.description;
	}

	public String action() {
		return this.action;
	}

}
