package io.sessionkit.store.redis;

import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * Reads the one text that a script answers with: the token of the request, the length of
 * the rest, a line feed, then a list, packed by Redis' {@code cmsgpack}, or a text of
 * <code>open.lua</code> instead. Any other text is not the answer to the request, or not
 * the whole of it.
 */
final class PackedAnswer {

	/** The limit of nested lists; the scripts nest them less deep. */
	private static final int DEEPEST = 8;

	private final ByteBuffer packed;

	private PackedAnswer(ByteBuffer packed) {
		this.packed = packed;
	}

	/**
	 * Returns the answer of a script.
	 * @param answer the text; null for none
	 * @param token the token of the request
	 * @return the list: each value is a number, bytes, another list, or null for none
	 * @throws BrokenAnswerException if it is not the whole answer to that request
	 */
	static Reply read(byte @Nullable [] answer, String token) {
		if (answer == null) {
			throw new BrokenAnswerException("there was none");
		}
		try {
			return read(ByteBuffer.wrap(answer), token);
		}
		catch (BufferUnderflowException ex) {
			throw new BrokenAnswerException("it ends too early");
		}
	}

	private static Reply read(ByteBuffer bytes, String token) {
		checkToken(bytes, token);
		checkLength(bytes);
		if (isText(bytes)) {
			return new Reply(List.of(new PackedText(bytes.array(), bytes.position(), bytes.limit())), "a session");
		}
		Object values = new PackedAnswer(bytes).value(0);
		if (values instanceof List<?> list && !bytes.hasRemaining()) {
			return new Reply(list, "a session");
		}
		throw new BrokenAnswerException("it has more than one list");
	}

	/** Returns whether it begins with a character that no packed list begins with. */
	private static boolean isText(ByteBuffer bytes) {
		byte first = bytes.hasRemaining() ? bytes.get(bytes.position()) : 0;
		return first == '=' || first == '+' || first == '~';
	}

	private static void checkToken(ByteBuffer bytes, String token) {
		for (int i = 0; i < token.length(); i++) {
			if (bytes.get() != token.charAt(i)) {
				throw new BrokenAnswerException("it is that of another request");
			}
		}
		if (bytes.get() != ' ') {
			throw new BrokenAnswerException("it is that of another request");
		}
	}

	private static void checkLength(ByteBuffer bytes) {
		long length = 0;
		for (byte digit = bytes.get(); digit != '\n'; digit = bytes.get()) {
			if (digit < '0' || digit > '9' || length > Integer.MAX_VALUE) {
				throw new BrokenAnswerException("its length is not a number");
			}
			length = 10 * length + digit - '0';
		}
		if (length != bytes.remaining()) {
			throw new BrokenAnswerException("it has " + bytes.remaining() + " bytes in place of " + length);
		}
	}

	private @Nullable Object value(int depth) {
		int type = this.packed.get() & 0xff;
		if (type <= 0x7f || type >= 0xe0) {
			return (long) (byte) type;
		}
		if (type >= 0xa0 && type <= 0xbf) {
			return bytes(type & 0x1f);
		}
		if (type >= 0x90 && type <= 0x9f) {
			return list(type & 0x0f, depth);
		}
		return switch (type) {
			case 0xc0, 0xc2 -> null;
			case 0xc4, 0xd9 -> bytes(this.packed.get() & 0xff);
			case 0xc5, 0xda -> bytes(this.packed.getShort() & 0xffff);
			case 0xc6, 0xdb -> bytes(this.packed.getInt());
			case 0xdc -> list(this.packed.getShort() & 0xffff, depth);
			case 0xdd -> list(this.packed.getInt(), depth);
			default -> number(type);
		};
	}

	private Long number(int type) {
		return switch (type) {
			case 0xcc -> this.packed.get() & 0xffL;
			case 0xcd -> this.packed.getShort() & 0xffffL;
			case 0xce -> this.packed.getInt() & 0xffff_ffffL;
			case 0xcf, 0xd3 -> this.packed.getLong();
			case 0xd0 -> (long) this.packed.get();
			case 0xd1 -> (long) this.packed.getShort();
			case 0xd2 -> (long) this.packed.getInt();
			default -> throw new BrokenAnswerException("it has a value of type " + type);
		};
	}

	private byte[] bytes(int length) {
		byte[] bytes = new byte[room(length)];
		this.packed.get(bytes);
		return bytes;
	}

	private List<@Nullable Object> list(int length, int depth) {
		if (depth > DEEPEST) {
			throw new BrokenAnswerException("its lists are nested too deep");
		}
		List<@Nullable Object> values = new ArrayList<>(room(length));
		for (int i = 0; i < length; i++) {
			values.add(value(depth + 1));
		}
		return values;
	}

	/**
	 * Returns the length, checked: nothing is longer than the rest of the text, whatever
	 * it claims.
	 */
	private int room(int length) {
		if (length < 0 || length > this.packed.remaining()) {
			throw new BrokenAnswerException("it ends too early");
		}
		return length;
	}

}
