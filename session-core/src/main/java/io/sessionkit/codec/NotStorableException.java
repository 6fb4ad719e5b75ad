package io.sessionkit.codec;

import org.jspecify.annotations.Nullable;

/**
 * Thrown while writing if a part cannot be stored. It says which part and why, and quotes
 * none of the part's text. It never leaves the package.
 */
final class NotStorableException extends RuntimeException {

	private final String part;

	private final String reason;

	private final String className;

	NotStorableException(String part, String reason, @Nullable Class<?> type) {
		this(part, reason, (type != null) ? type.getName() : "null");
	}

	private NotStorableException(String part, String reason, String className) {
		super(part + " " + reason, null, false, false);
		this.part = part;
		this.reason = reason;
		this.className = className;
	}

	static NotStorableException unknownClass(String part, Class<?> type) {
		return new NotStorableException(part, "holds a " + type.getName(), type);
	}

	static NotStorableException loneSurrogate(String part) {
		return new NotStorableException(part, "holds a lone surrogate, which is no Unicode text", String.class);
	}

	/**
	 * Returns an exception with the same reason for the part that the value belongs to.
	 */
	NotStorableException in(String outer) {
		return new NotStorableException(outer, this.reason, this.className);
	}

	String part() {
		return this.part;
	}

	String reason() {
		return this.reason;
	}

	String className() {
		return this.className;
	}

}
