package io.sessionkit.codec;

import org.jspecify.annotations.Nullable;
import tools.jackson.core.SerializableString;
import tools.jackson.core.io.CharacterEscapes;
import tools.jackson.core.io.SerializedString;

/**
 * Escapes the characters that JSON requires and every other control character too (U+007F
 * to U+009F), so that no store, log or editor receives a raw one.
 */
final class ControlEscapes extends CharacterEscapes {

	private static final long serialVersionUID = 1;

	private static final char DELETE = 0x7F;

	private static final char FIRST_C1 = 0x80;

	private static final char LAST_C1 = 0x9F;

	private static final SerializableString[] C1 = c1();

	private final int[] ascii = ascii();

	@Override
	public int[] getEscapeCodesForAscii() {
		return this.ascii;
	}

	@Override
	public @Nullable SerializableString getEscapeSequence(int character) {
		return (character >= FIRST_C1 && character <= LAST_C1) ? C1[character - FIRST_C1] : null;
	}

	private static int[] ascii() {
		int[] codes = standardAsciiEscapesForJSON();
		codes[DELETE] = ESCAPE_STANDARD;
		return codes;
	}

	private static SerializableString[] c1() {
		SerializableString[] escapes = new SerializableString[LAST_C1 - FIRST_C1 + 1];
		for (int i = 0; i < escapes.length; i++) {
			escapes[i] = new SerializedString(String.format("\\u%04X", FIRST_C1 + i));
		}
		return escapes;
	}

}
