package io.sessionkit.internal.attribute;

import java.util.HashMap;
import java.util.Map;
import java.util.Objects;

import io.sessionkit.SessionKey;
import io.sessionkit.codec.MessageCodec;
import io.sessionkit.codec.UnstorableMessageException;
import io.sessionkit.internal.Names;
import io.sessionkit.internal.message.PlainValues;
import org.jspecify.annotations.Nullable;

import org.springframework.util.unit.DataSize;

/**
 * The rules for the attributes of one session. A map of them is never modified; each
 * change returns a new one.
 *
 * @param key the session
 * @param codec the codec that must be able to store the values
 * @param maxSize the largest size of all attributes, counting one byte for each encoded
 * character
 */
public record AttributeRules(SessionKey key, MessageCodec codec, DataSize maxSize) {

	public static final DataSize DEFAULT_MAX_SIZE = DataSize.ofKilobytes(64);

	private static final int MAX_NAME = SessionKey.MAX_LENGTH;

	/**
	 * Returns the attributes with one added or replaced. The value is copied.
	 */
	public Map<String, Object> with(Map<String, Object> attributes, String name, Object value) {
		check(name);
		checkUnits(name);
		if (value == null) {
			throw new IllegalArgumentException(
					attribute(name) + " must not be null. Use removeAttribute(name) to take it away.");
		}
		Map<String, Object> changed = new HashMap<>(attributes);
		changed.put(name, copy(name, value));
		int size = this.codec.encodeValues(this.key, changed).length();
		if (size > this.maxSize.toBytes()) {
			throw new IllegalArgumentException(attribute(name) + " would make the attributes " + size
					+ " characters long, and it may have " + this.maxSize.toBytes()
					+ ". Keep large things elsewhere and a reference here, or raise sessionkit.attributes.max-size.");
		}
		return Map.copyOf(changed);
	}

	/**
	 * Returns the attributes without one.
	 */
	public Map<String, Object> without(Map<String, Object> attributes, String name) {
		check(name);
		Map<String, Object> changed = new HashMap<>(attributes);
		changed.remove(name);
		return Map.copyOf(changed);
	}

	/**
	 * Returns whether two maps of attributes are certainly equal. Arrays inside sets are
	 * compared by identity, so the result may be false although nothing differs.
	 */
	public static boolean areEqual(Map<String, Object> one, Map<String, Object> other) {
		return PlainValues.equal(one, other);
	}

	/**
	 * Returns the value as it will be read back from the store.
	 */
	private Object copy(String name, Object value) {
		try {
			String payload = this.codec.encodeValues(this.key, Map.of(name, value));
			return Objects.requireNonNull(this.codec.decodeValues(this.key, payload).get(name));
		}
		catch (UnstorableMessageException ex) {
			throw new UnstorableMessageException(
					attribute(name) + " of " + value.getClass().getName() + " cannot be stored. " + ex.getMessage());
		}
	}

	private void check(@Nullable String name) {
		if (name == null || name.isBlank()) {
			throw new IllegalArgumentException("The name of an attribute of session " + this.key
					+ " must not be null or blank. Write 1 to " + MAX_NAME + " characters.");
		}
		if (name.length() > MAX_NAME) {
			throw new IllegalArgumentException("The name of an attribute of session " + this.key + " may have at most "
					+ MAX_NAME + " characters; this one has " + name.length() + ".");
		}
		if (Names.isOwn(name)) {
			throw new IllegalArgumentException(attribute(name) + " has a name of SessionKit's own. Choose one that does"
					+ " not start with '" + Names.OWN + "'.");
		}
	}

	/** Nothing is stored of a name that is only removed. */
	private void checkUnits(String name) {
		String flaw = Names.flaw(name);
		if (flaw != null) {
			throw new IllegalArgumentException("The name of an attribute of session " + this.key + " " + flaw + ".");
		}
	}

	/** A model may have chosen the name. */
	private String attribute(String name) {
		return "The attribute " + Names.quoted(name) + " of session " + this.key;
	}

}
