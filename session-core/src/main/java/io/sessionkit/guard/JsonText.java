package io.sessionkit.guard;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Locale;
import java.util.function.UnaryOperator;

import org.jspecify.annotations.Nullable;

/**
 * A JSON text of which only the strings, including the names of members, and the numbers
 * are of interest. The rest stays as it was written. Since a model's JSON is not always
 * strict, control characters in strings and leading zeros are accepted.
 */
final class JsonText {

	private static final String WHITE_SPACE = " \t\n\r";

	private static final String ESCAPED = "\"\\/bfnrt";

	private static final String MEANT = "\"\\/\b\f\n\r\t";

	private static final int HEX_DIGITS = 4;

	private static final int HEX = 16;

	/**
	 * A string with its quotes, or a number.
	 */
	private record Token(int start, int end, boolean string) {
	}

	private enum Next {

		VALUE, VALUE_OR_END, NAME, NAME_OR_END, COMMA_OR_END

	}

	private final String text;

	private final List<Token> tokens = new ArrayList<>();

	private final Deque<Character> open = new ArrayDeque<>();

	private int position;

	private JsonText(String text) {
		this.text = text;
	}

	/**
	 * Parses a text as JSON.
	 * @return the parsed text; null if it is not JSON
	 */
	static @Nullable JsonText parse(String text) {
		JsonText json = new JsonText(text);
		return json.scan() ? json : null;
	}

	/**
	 * Returns the values of the strings and numbers.
	 */
	List<String> values() {
		return this.tokens.stream().map(this::value).toList();
	}

	/**
	 * Returns the text with changed strings and numbers. A number that is changed becomes
	 * a string.
	 */
	String map(UnaryOperator<String> change) {
		StringBuilder result = new StringBuilder(this.text.length());
		int done = 0;
		for (Token token : this.tokens) {
			String value = value(token);
			String changed = change.apply(value);
			if (!changed.equals(value)) {
				result.append(this.text, done, token.start());
				appendString(result, changed);
				done = token.end();
			}
		}
		return result.append(this.text, done, this.text.length()).toString();
	}

	/**
	 * Returns the character that a letter or sign behind a backslash stands for.
	 * @return the character; -1 if there is none
	 */
	static int meant(char escape) {
		int known = ESCAPED.indexOf(escape);
		return (known >= 0) ? MEANT.charAt(known) : -1;
	}

	private String value(Token token) {
		return token.string() ? unescaped(this.text.substring(token.start() + 1, token.end() - 1))
				: this.text.substring(token.start(), token.end());
	}

	private static String unescaped(String string) {
		if (string.indexOf('\\') < 0) {
			return string;
		}
		StringBuilder result = new StringBuilder(string.length());
		int done = 0;
		for (int escape = string.indexOf('\\'); escape >= 0; escape = string.indexOf('\\', done)) {
			result.append(string, done, escape);
			done = appendMeant(result, string, escape + 1);
		}
		return result.append(string, done, string.length()).toString();
	}

	/**
	 * Appends the character that an escape stands for.
	 * @param start the index behind the backslash
	 * @return the index behind the escape
	 */
	private static int appendMeant(StringBuilder result, String string, int start) {
		char escape = string.charAt(start);
		if (escape != 'u') {
			result.append(MEANT.charAt(ESCAPED.indexOf(escape)));
			return start + 1;
		}
		int end = start + 1 + HEX_DIGITS;
		result.append((char) Integer.parseInt(string.substring(start + 1, end), HEX));
		return end;
	}

	/**
	 * Appends a string. Surrogates are escaped, so that no escape yields half a
	 * character, which no store could keep.
	 */
	private static void appendString(StringBuilder result, String value) {
		result.append('"');
		for (int i = 0; i < value.length(); i++) {
			appendEscaped(result, value.charAt(i));
		}
		result.append('"');
	}

	private static void appendEscaped(StringBuilder result, char c) {
		int known = MEANT.indexOf(c);
		if (known >= 0 && c != '/') {
			result.append('\\').append(ESCAPED.charAt(known));
		}
		else if (c < ' ' || Character.isSurrogate(c)) {
			result.append(String.format(Locale.ROOT, "\\u%04x", (int) c));
		}
		else {
			result.append(c);
		}
	}

	private boolean scan() {
		Next next = Next.VALUE;
		skipWhiteSpace();
		while (this.position < this.text.length()) {
			next = step(next, this.text.charAt(this.position));
			if (next == null) {
				return false;
			}
			skipWhiteSpace();
		}
		return next == Next.COMMA_OR_END && this.open.isEmpty();
	}

	/**
	 * Reads the next element. Returns the kinds of element that may follow, or null if
	 * this one is not allowed here.
	 */
	private @Nullable Next step(Next next, char c) {
		return switch (next) {
			case VALUE_OR_END -> (c == ']') ? close('[') : value(c);
			case VALUE -> value(c);
			case NAME_OR_END -> (c == '}') ? close('{') : name();
			case NAME -> name();
			case COMMA_OR_END -> switch (c) {
				case ',' -> comma();
				case ']' -> close('[');
				case '}' -> close('{');
				default -> null;
			};
		};
	}

	private @Nullable Next value(char c) {
		if (c == '{' || c == '[') {
			this.position++;
			this.open.push(c);
			return (c == '{') ? Next.NAME_OR_END : Next.VALUE_OR_END;
		}
		return scalar(c) ? Next.COMMA_OR_END : null;
	}

	/**
	 * Reads a string, a number or a literal. The first character decides which, so that
	 * nothing is read on behind the start of a number.
	 */
	private boolean scalar(char c) {
		if (c == '"') {
			return string();
		}
		return (c == '-' || isDigit(c)) ? number() : literal("true") || literal("false") || literal("null");
	}

	private @Nullable Next name() {
		if (!string()) {
			return null;
		}
		skipWhiteSpace();
		return skip(':') ? Next.VALUE : null;
	}

	private @Nullable Next comma() {
		Character in = this.open.peek();
		if (in == null) {
			return null;
		}
		this.position++;
		return (in == '{') ? Next.NAME : Next.VALUE;
	}

	private @Nullable Next close(char opened) {
		Character in = this.open.poll();
		this.position++;
		return (in != null && in == opened) ? Next.COMMA_OR_END : null;
	}

	private boolean string() {
		int start = this.position;
		boolean read = skip('"') && skipToClosingQuote();
		if (read) {
			this.tokens.add(new Token(start, this.position, true));
		}
		return read;
	}

	private boolean skipToClosingQuote() {
		while (this.position < this.text.length()) {
			char c = this.text.charAt(this.position++);
			if (c == '"') {
				return true;
			}
			if (c == '\\' && !escape()) {
				return false;
			}
		}
		return false;
	}

	private boolean escape() {
		if (skip('u')) {
			return hexDigits();
		}
		return this.position < this.text.length() && ESCAPED.indexOf(this.text.charAt(this.position++)) >= 0;
	}

	private boolean hexDigits() {
		int end = this.position + HEX_DIGITS;
		while (this.position < end) {
			if (this.position >= this.text.length() || !isHexDigit(this.text.charAt(this.position))) {
				return false;
			}
			this.position++;
		}
		return true;
	}

	private boolean number() {
		int start = this.position;
		skip('-');
		if (!digits() || (skip('.') && !digits()) || (skipExponentSign() && !digits())) {
			return false;
		}
		this.tokens.add(new Token(start, this.position, false));
		return true;
	}

	private boolean skipExponentSign() {
		boolean there = skip('e') || skip('E');
		if (there && !skip('+')) {
			skip('-');
		}
		return there;
	}

	private boolean digits() {
		int start = this.position;
		while (this.position < this.text.length() && isDigit(this.text.charAt(this.position))) {
			this.position++;
		}
		return this.position > start;
	}

	private boolean literal(String literal) {
		boolean there = this.text.startsWith(literal, this.position);
		this.position += there ? literal.length() : 0;
		return there;
	}

	private boolean skip(char c) {
		boolean there = this.position < this.text.length() && this.text.charAt(this.position) == c;
		this.position += there ? 1 : 0;
		return there;
	}

	private void skipWhiteSpace() {
		while (this.position < this.text.length() && WHITE_SPACE.indexOf(this.text.charAt(this.position)) >= 0) {
			this.position++;
		}
	}

	private static boolean isDigit(char c) {
		return c >= '0' && c <= '9';
	}

	private static boolean isHexDigit(char c) {
		return isDigit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
	}

}
