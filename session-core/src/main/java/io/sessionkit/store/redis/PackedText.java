package io.sessionkit.store.redis;

import java.nio.charset.StandardCharsets;

import org.jspecify.annotations.Nullable;

/**
 * Reads a text of numbers, and of texts whose sizes come before them. Reading throws
 * {@link IndexOutOfBoundsException} or {@link IllegalArgumentException} if the text is
 * not packed like that.
 */
final class PackedText {

	private final byte[] bytes;

	private int at;

	PackedText(byte[] bytes) {
		this.bytes = bytes;
	}

	boolean isAtEnd() {
		return this.at == this.bytes.length;
	}

	/** Reads a number and the one character behind it. */
	long number() {
		Long number = numberOrNull();
		if (number == null) {
			throw new IllegalArgumentException("There is no number.");
		}
		return number;
	}

	/**
	 * Reads a number and the one character behind it.
	 * @return the number; null if there is only that character
	 */
	@Nullable Long numberOrNull() {
		boolean negative = this.bytes[this.at] == '-';
		int start = this.at + (negative ? 1 : 0);
		long number = 0;
		for (this.at = start; this.bytes[this.at] >= '0' && this.bytes[this.at] <= '9'; this.at++) {
			number = 10 * number + this.bytes[this.at] - '0';
		}
		boolean none = this.at == start;
		if (this.bytes[this.at] != ' ' && this.bytes[this.at] != '\n' || none && negative) {
			throw new IllegalArgumentException("There is no number.");
		}
		this.at++;
		return none ? null : Long.valueOf(negative ? -number : number);
	}

	int size() {
		long size = number();
		if (size < 0 || size > this.bytes.length) {
			throw new IllegalArgumentException("A size is out of range.");
		}
		return (int) size;
	}

	/** Reads a text up to the next space, and that space. */
	String word() {
		int end = this.at;
		while (this.bytes[end] != ' ') {
			end++;
		}
		String word = text(end - this.at);
		this.at++;
		return word;
	}

	String text(int size) {
		String text = new String(this.bytes, this.at, size, StandardCharsets.UTF_8);
		this.at += size;
		return text;
	}

	/** Reads a text; null if it is empty. */
	@Nullable String textOrNull(int size) {
		String text = text(size);
		return text.isEmpty() ? null : text;
	}

	/** Reads a number of fixed size, with nothing behind it. */
	long digits(int size) {
		return Long.parseLong(text(size));
	}

	void skip(int size) {
		if (size < 0 || size > this.bytes.length - this.at) {
			throw new IndexOutOfBoundsException(size);
		}
		this.at += size;
	}

}
