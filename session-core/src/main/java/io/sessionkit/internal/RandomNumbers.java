package io.sessionkit.internal;

import java.security.NoSuchAlgorithmException;
import java.security.SecureRandom;
import java.util.UUID;

/**
 * Draws the random numbers by which writes are told apart. They come from the system,
 * since a process may be restored twice from one image: sources that keep their state in
 * the memory of the process then continue with the same numbers in both.
 */
public final class RandomNumbers {

	private static final SecureRandom source = ofTheSystem();

	private RandomNumbers() {
	}

	/**
	 * Returns the source that reads the random device and never waits for it. The one
	 * that Java takes by default may have only its seed from there, as it does with
	 * <code>java.security.egd=file:/dev/./urandom</code>.
	 */
	private static SecureRandom ofTheSystem() {
		try {
			return SecureRandom.getInstance("NativePRNGNonBlocking");
		}
		catch (NoSuchAlgorithmException ex) {
			// a system without that device
			return new SecureRandom();
		}
	}

	/**
	 * Returns a number from 1 to another one.
	 * @param largest the largest number to return
	 */
	public static long upTo(long largest) {
		return source.nextLong(largest) + 1;
	}

	/**
	 * Returns a random id, of the form of {@link UUID#randomUUID()}, which takes the
	 * default source of Java.
	 */
	public static UUID uuid() {
		long high = source.nextLong() & ~0xF000L | 0x4000L;
		long low = source.nextLong() & (-1L >>> 2) | Long.MIN_VALUE;
		return new UUID(high, low);
	}

	/**
	 * Returns random bytes.
	 */
	public static byte[] bytes(int count) {
		byte[] bytes = new byte[count];
		source.nextBytes(bytes);
		return bytes;
	}

}
