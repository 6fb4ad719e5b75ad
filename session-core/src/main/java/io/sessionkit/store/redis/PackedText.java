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

	private final int end;

	private int at;

	PackedText(byte[] bytes) {
		this(bytes, 0, bytes.length);
	}

	/** Creates a reader of a piece of a text. */
	PackedText(byte[] bytes, int from, int end) {
		this.bytes = bytes;
		this.at = from;
		this.end = end;
	}

	boolean isAtEnd() {
		return this.at == this.end;
	}

	/** Returns the piece of the given size that begins here, and skips it. */
	PackedText piece(int size) {
		int from = this.at;
		skip(size);
		return new PackedText(this.bytes, from, this.at);
	}

	/** Returns a reader that begins here. */
	PackedText copy() {
		return new PackedText(this.bytes, this.at, this.end);
	}

	/** Reads a number and the one character behind it. */
	long number() {
		if (isNone()) {
			throw new IllegalArgumentException("There is no number.");
		}
		return digits();
	}

	/**
	 * Reads a number and the one character behind it.
	 * @return the number; null if there is only that character
	 */
	@Nullable Long numberOrNull() {
		if (isNone()) {
			this.at++;
			return null;
		}
		return digits();
	}

	private boolean isNone() {
		return isBehindNumber(this.bytes[this.at]);
	}

	private static boolean isBehindNumber(byte character) {
		return character == ' ' || character == '\n';
	}

	private long digits() {
		boolean negative = this.bytes[this.at] == '-';
		int start = this.at + (negative ? 1 : 0);
		long number = 0;
		for (this.at = start; this.bytes[this.at] >= '0' && this.bytes[this.at] <= '9'; this.at++) {
			number = 10 * number + this.bytes[this.at] - '0';
		}
		if (!isNone() || this.at == start) {
			throw new IllegalArgumentException("There is no number.");
		}
		this.at++;
		return negative ? -number : number;
	}

	/** Skips a word or number, which may be empty, and the one character behind it. */
	void skipWord() {
		while (!isNone()) {
			this.at++;
		}
		this.at++;
	}

	/** Reads one character of ASCII. */
	char character() {
		return (char) this.bytes[this.at++];
	}

	int size() {
		long size = number();
		if (size < 0 || size > this.end - this.at) {
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
		int from = this.at;
		skip(size);
		return (size > 0) ? new String(this.bytes, from, size, StandardCharsets.UTF_8) : "";
	}

	/** Reads a text; null if it is empty. */
	@Nullable String textOrNull(int size) {
		String text = text(size);
		return text.isEmpty() ? null : text;
	}

	/** Reads a number of fixed size, with nothing behind it. */
	long digits(int size) {
		long number = 0;
		for (int end = this.at + size; this.at < end; this.at++) {
			int digit = this.bytes[this.at] - '0';
			if (digit < 0 || digit > 9) {
				throw new IllegalArgumentException("There is no number.");
			}
			number = 10 * number + digit;
		}
		return number;
	}

	void skip(int size) {
		if (size < 0 || size > this.end - this.at) {
			throw new IndexOutOfBoundsException(size);
		}
		this.at += size;
	}

}
