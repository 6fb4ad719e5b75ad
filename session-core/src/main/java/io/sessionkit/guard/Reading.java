package io.sessionkit.guard;

import java.util.Arrays;

import io.sessionkit.guard.Detector.Span;
import io.sessionkit.internal.Invisible;
import org.jspecify.annotations.Nullable;

/**
 * A text in its decoded form, with the place that each of its characters comes from.
 * Escapes with backslashes, of JSON and of programming languages, are undone, however
 * often they were escaped themselves, and so are those with percent signs. Invisible and
 * control characters are omitted. Digits of any script and wide forms are replaced by the
 * plain ones. Percent signs are undone for visible ASCII only.
 */
final class Reading {

	private static final int PERCENT = "%00".length();

	private static final int HEX = 16;

	private static final int DECIMAL = 10;

	private static final int FIRST_WIDE = 0xFF01;

	private static final int LAST_WIDE = 0xFF5E;

	private static final int LAST_ASCII = 0x7E;

	private final String written;

	private final char[] characters;

	private final int[] starts;

	private final int[] ends;

	private int length;

	private String text = "";

	private Reading(String written) {
		this.written = written;
		this.characters = new char[written.length()];
		this.starts = new int[written.length()];
		this.ends = new int[written.length()];
	}

	/**
	 * Decodes a text.
	 * @return the decoded text; null if it is the same as the text as written
	 */
	static @Nullable Reading of(String written) {
		if (written.chars().allMatch((c) -> c <= LAST_ASCII && c != '\\' && c != '%' && !Invisible.isControl(c))) {
			return null;
		}
		Reading reading = new Reading(written);
		reading.unescape();
		reading.fold();
		reading.text = new String(reading.characters, 0, reading.length);
		return reading.text.equals(written) ? null : reading;
	}

	/**
	 * Returns a text with its backslash escapes undone, and otherwise as it is written.
	 */
	static String unescaped(String written) {
		if (written.indexOf('\\') < 0) {
			return written;
		}
		Reading reading = new Reading(written);
		reading.unescape();
		return new String(reading.characters, 0, reading.length);
	}

	/**
	 * Returns the first match in a part of the text.
	 * @param from the start of the part in the text as written
	 * @param to the end of the part there, exclusive
	 * @return the place of the match in the text as written; null if there is none
	 */
	@Nullable Span find(Detector detector, int from, int to) {
		Span match = detector.find(this.text, index(from), index(to));
		return (match != null) ? new Span(this.starts[match.start()], this.ends[match.end() - 1]) : null;
	}

	/**
	 * Returns the decoded form of a part.
	 * @param match the place of the part in the text as written
	 */
	String text(Span match) {
		return this.text.substring(index(match.start()), index(match.end()));
	}

	/**
	 * Returns the index of the first decoded character that is written at or behind the
	 * position.
	 */
	private int index(int position) {
		int index = Arrays.binarySearch(this.starts, 0, this.length, position);
		return (index >= 0) ? index : -index - 1;
	}

	private void unescape() {
		int i = 0;
		while (i < this.written.length()) {
			int end = backslashes(i);
			if (end == i) {
				add(this.written.charAt(i), i, i + 1);
				i++;
			}
			else {
				i = unescape(i, end);
			}
		}
	}

	/**
	 * Returns the end of a run of backslashes, including escapes that stand for a
	 * backslash.
	 */
	private int backslashes(int from) {
		int end = from;
		while (end < this.written.length()) {
			if (this.written.charAt(end) == '\\') {
				end++;
				continue;
			}
			Escape escape = (end > from) ? Escape.at(this.written, end) : null;
			if (escape == null || escape.point() != '\\') {
				break;
			}
			end = escape.end();
		}
		return end;
	}

	/**
	 * Decodes an escape behind a run of backslashes. Returns the end of the escape.
	 */
	private int unescape(int start, int backslashes) {
		Escape escape = Escape.at(this.written, backslashes);
		if (escape == null) {
			add('\\', start, backslashes);
			return backslashes;
		}
		char[] meant = Character.toChars(escape.point());
		for (int k = 0; k < meant.length; k++) {
			add(meant[k], start + k, escape.end());
		}
		return escape.end();
	}

	/**
	 * Decodes percent signs and folds characters, in place, since the text gets no
	 * longer.
	 */
	private void fold() {
		String read = new String(this.characters, 0, this.length);
		this.length = 0;
		int i = 0;
		while (i < read.length()) {
			i = fold(read, i);
		}
	}

	/**
	 * Decodes a percent sign or folds a character. Returns the end of what was read.
	 */
	private int fold(String read, int start) {
		int point = read.codePointAt(start);
		int percent = (point == '%') ? Escape.number(read, start + 1, start + PERCENT, HEX) : -1;
		if (percent >= ' ' && percent <= LAST_ASCII) {
			add((char) percent, this.starts[start], this.ends[start + PERCENT - 1]);
			return start + PERCENT;
		}
		if (!Invisible.is(point) && !Invisible.isControl(point)) {
			addFolded(point, start);
		}
		return start + Character.charCount(point);
	}

	private void addFolded(int point, int from) {
		char[] folded = Character.toChars(folded(point));
		int last = from + Character.charCount(point) - 1;
		for (int k = 0; k < folded.length; k++) {
			add(folded[k], this.starts[from + k], this.ends[(folded.length == 1) ? last : from + k]);
		}
	}

	private void add(char character, int start, int end) {
		this.characters[this.length] = character;
		this.starts[this.length] = start;
		this.ends[this.length] = end;
		this.length++;
	}

	private static int folded(int point) {
		int digit = Character.digit(point, DECIMAL);
		if (digit >= 0) {
			return '0' + digit;
		}
		return (point >= FIRST_WIDE && point <= LAST_WIDE) ? point - FIRST_WIDE + '!' : point;
	}

}
