package io.sessionkit.internal.row;

import java.nio.charset.StandardCharsets;
import java.util.Base64;

import io.sessionkit.internal.Names;
import io.sessionkit.store.SessionStore;
import org.jspecify.annotations.Nullable;

/**
 * A place among the records of one kind of all owners, oldest first.
 *
 * @param at when the record before it was written, in microseconds
 * @param tie what orders records of the same moment; empty for the beginning
 */
public record RecordPlace(long at, String tie) {

	/** The place before all records. */
	public static final RecordPlace BEGINNING = new RecordPlace(-1, "");

	/**
	 * Returns the place that a text names.
	 * @throws IllegalArgumentException if the kind is not indexed, the limit is less than
	 * 1, or the text is not from {@link #text()}
	 */
	public static RecordPlace of(String kind, @Nullable String text, int limit) {
		if (!SessionStore.SHARED_KINDS.contains(kind)) {
			throw new IllegalArgumentException(
					"Records of kind '" + kind + "' are listed by owner only; those of all owners are of one of "
							+ SessionStore.SHARED_KINDS + ".");
		}
		if (limit < 1) {
			throw new IllegalArgumentException("A page of records must have a limit of 1 or more, not " + limit + ".");
		}
		return (text != null) ? of(text) : BEGINNING;
	}

	private static RecordPlace of(String text) {
		try {
			int dot = text.indexOf('.');
			long at = Long.parseLong(text.substring(0, dot));
			byte[] tie = Base64.getUrlDecoder().decode(text.substring(dot + 1));
			return new RecordPlace(at, new String(tie, StandardCharsets.UTF_8));
		}
		catch (IllegalArgumentException | IndexOutOfBoundsException ex) {
			throw unknown(text, ex);
		}
	}

	/**
	 * Returns the exception for a place that no page of the store has named.
	 */
	public IllegalArgumentException unknown(RuntimeException cause) {
		return unknown(text(), cause);
	}

	private static IllegalArgumentException unknown(String text, RuntimeException cause) {
		return new IllegalArgumentException("There is no place " + Names.quoted(text)
				+ " among records. Use the one that the page before has named.", cause);
	}

	/** Returns the place as a text that fits into an address. */
	public String text() {
		byte[] bytes = this.tie.getBytes(StandardCharsets.UTF_8);
		return this.at + "." + Base64.getUrlEncoder().withoutPadding().encodeToString(bytes);
	}

}
