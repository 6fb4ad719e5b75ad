package io.sessionkit.internal.sql;

import java.util.HashMap;
import java.util.Map;

import org.jspecify.annotations.Nullable;

/**
 * The values of a statement's parameters, by name.
 */
public final class Params {

	private final Map<String, @Nullable Object> values = new HashMap<>();

	public static Params of(String name, @Nullable Object value) {
		return new Params().with(name, value);
	}

	public Params with(String name, @Nullable Object value) {
		this.values.put(name, value);
		return this;
	}

	/** Adds a text of any length. */
	public Params text(String name, @Nullable String value) {
		return with(name, new Text(value));
	}

	/** Adds a number that may be absent. */
	public Params number(String name, @Nullable Long value) {
		return with(name, new Numeric(value));
	}

	public Params all(Params others) {
		this.values.putAll(others.values);
		return this;
	}

	public @Nullable Object get(String name) {
		if (!this.values.containsKey(name)) {
			throw new IllegalStateException("The statement needs a value for ':" + name + "'.");
		}
		return this.values.get(name);
	}

	/**
	 * A text that may be long, which some drivers do not accept as a string.
	 */
	public record Text(@Nullable String value) {
	}

	/**
	 * A number that may be absent: some databases take a null for a text unless it has a
	 * type.
	 */
	public record Numeric(@Nullable Long value) {
	}

}
