package io.sessionkit.store;

import java.time.Duration;

import io.sessionkit.internal.Names;
import io.sessionkit.internal.RandomNumbers;
import org.jspecify.annotations.Nullable;

/**
 * A record to write, provided that it is still as the writer last saw it.
 *
 * @param kind the kind of the record: 1 to {@value #MAX_NAME_LENGTH} characters, none of
 * those that the {@linkplain io.sessionkit.SessionKey id of a session} may not have, and
 * no white space at the end
 * @param id its name within the kind: 1 to {@value #MAX_NAME_LENGTH} characters, none of
 * those that the id of a session may not have
 * @param expected the revision that must be stored: 0 if there must be no such record,
 * {@link #ANY} for any or none
 * @param payload its new content, without U+0000 and lone surrogates, which some stores
 * cannot keep; null deletes the record
 * @param timeToLive how long the record lives, by the store's clock; null: as long as the
 * session
 * @param first the revision that the record begins with if this write creates it; 1 to
 * 2<sup>52</sup>
 */
public record RecordWrite(String kind, String id, long expected, @Nullable String payload,
		@Nullable Duration timeToLive, long first) {

	/** The maximum length of a kind and of an id, in characters. */
	public static final int MAX_NAME_LENGTH = 64;

	/** The expectation that any record may be stored, or none. */
	public static final long ANY = -1;

	/**
	 * The limit up to which a first revision, and the increments of later writes, are
	 * exact as a floating-point number too.
	 */
	private static final long LARGEST_FIRST = 1L << 52;

	public RecordWrite {
		if (kind.isBlank() || kind.length() > MAX_NAME_LENGTH || id.isBlank() || id.length() > MAX_NAME_LENGTH) {
			throw new IllegalArgumentException("The kind and the id of a record must have 1 to " + MAX_NAME_LENGTH
					+ " characters: kind '" + kind + "', id of " + id.length() + " characters.");
		}
		check("The kind of a record", Names.flaw(kind));
		if (Character.isWhitespace(kind.charAt(kind.length() - 1))) {
			throw new IllegalArgumentException("The kind of a record must not end with white space: '" + kind + "'.");
		}
		check("The id of a record", Names.flaw(id));
		check("The payload of record '" + id + "' of kind '" + kind + "'",
				(payload != null) ? Names.flawOfText(payload) : null);
		timeToLive = Lives.kept(timeToLive);
		if (first < 1 || first > LARGEST_FIRST) {
			throw new IllegalArgumentException(
					"The first revision of a record must be 1 to " + LARGEST_FIRST + ", not " + first + ".");
		}
	}

	private static void check(String what, @Nullable String flaw) {
		if (flaw != null) {
			throw new IllegalArgumentException(what + " " + flaw + ".");
		}
	}

	/**
	 * Creates a write with a random first revision for the record that it may create. A
	 * revision therefore also identifies the record that it was read from: a record that
	 * was deleted or has expired, with its session or alone, and was created again, has
	 * another revision.
	 * @param kind the kind of the record
	 * @param id its name within the kind
	 * @param expected the revision that must be stored: 0 if there must be no such
	 * record, {@link #ANY} for any or none
	 * @param payload its new content; null deletes the record
	 * @param timeToLive how long the record lives, by the store's clock; null: as long as
	 * the session
	 */
	public RecordWrite(String kind, String id, long expected, @Nullable String payload, @Nullable Duration timeToLive) {
		this(kind, id, expected, payload, timeToLive, RandomNumbers.upTo(LARGEST_FIRST));
	}

	/**
	 * Creates a write of a record that must not exist yet.
	 * @param kind the kind of the record
	 * @param id its name within the kind
	 * @param payload its content
	 * @return the write
	 */
	public static RecordWrite create(String kind, String id, String payload) {
		return new RecordWrite(kind, id, 0, payload, null);
	}

	/**
	 * Creates a write that replaces the content of a record that was read, provided that
	 * nobody else has written it since.
	 * @param seen the record as it was read
	 * @param payload its new content
	 * @return the write
	 */
	public static RecordWrite replace(SessionRecord seen, String payload) {
		return new RecordWrite(seen.kind(), seen.id(), seen.revision(), payload, null);
	}

	/**
	 * Creates a write of a record, whether or not it exists.
	 * @param kind the kind of the record
	 * @param id its name within the kind
	 * @param payload its content
	 * @return the write
	 */
	public static RecordWrite put(String kind, String id, String payload) {
		return new RecordWrite(kind, id, ANY, payload, null);
	}

	/**
	 * Returns the revision of the record once this write is stored. The write must name
	 * the revision that it expects.
	 * @return the revision
	 * @throws IllegalStateException if it expects {@link #ANY}
	 */
	public long next() {
		if (this.expected == ANY) {
			throw new IllegalStateException("A write that expects any revision does not know the next one.");
		}
		return (this.expected > 0) ? this.expected + 1 : this.first;
	}

	/**
	 * Returns a copy of this write with a time to live of its own.
	 * @param timeToLive how long the record lives
	 * @return the copy
	 */
	public RecordWrite timeToLive(Duration timeToLive) {
		return new RecordWrite(this.kind, this.id, this.expected, this.payload, timeToLive, this.first);
	}

}
