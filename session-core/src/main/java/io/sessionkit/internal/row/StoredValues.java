package io.sessionkit.internal.row;

import java.util.function.Supplier;

import io.sessionkit.codec.UnreadablePayloadException;

/**
 * Reads values that the codec has decoded. One that this version does not know is
 * unreadable: read as if it were absent, it would be lost with the next write.
 */
final class StoredValues {

	private StoredValues() {
	}

	static <T> T read(Supplier<T> reading) {
		try {
			return reading.get();
		}
		catch (IllegalArgumentException | ClassCastException ex) {
			// not with its cause, whose message may have what is stored
			throw new UnreadablePayloadException("It holds a value that cannot be, or that only a newer SessionKit"
					+ " knows. Use the version that wrote it.", null);
		}
	}

}
