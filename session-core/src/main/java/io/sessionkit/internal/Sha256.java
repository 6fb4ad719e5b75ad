package io.sessionkit.internal;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/**
 * A SHA-256 digest of texts. Not safe for use by many threads.
 */
public final class Sha256 {

	private final MessageDigest digest = digest();

	private static MessageDigest digest() {
		try {
			return MessageDigest.getInstance("SHA-256");
		}
		catch (NoSuchAlgorithmException ex) {
			throw new IllegalStateException("This Java has no SHA-256.", ex);
		}
	}

	/**
	 * Returns the digest of a text.
	 * @return 64 hexadecimal digits, of the text in UTF-8
	 */
	public static String of(String text) {
		return new Sha256().add(text).hex();
	}

	/**
	 * Adds a text, in UTF-8. One with lone surrogates is added as it is: UTF-8 has none,
	 * and each would be a question mark.
	 */
	public Sha256 add(String text) {
		if (LoneSurrogates.in(text)) {
			// no text in UTF-8 begins with this byte
			add(0xff);
			text.chars().forEach((unit) -> add(unit >> 8).add(unit));
			return this;
		}
		return add(text.getBytes(StandardCharsets.UTF_8));
	}

	/**
	 * Adds bytes.
	 */
	public Sha256 add(byte[] bytes) {
		this.digest.update(bytes);
		return this;
	}

	/**
	 * Adds a byte, which keeps two texts apart.
	 */
	public Sha256 add(int mark) {
		this.digest.update((byte) mark);
		return this;
	}

	/**
	 * Returns the digest, and begins anew.
	 * @return 64 hexadecimal digits
	 */
	public String hex() {
		return HexFormat.of().formatHex(this.digest.digest());
	}

}
