package io.sessionkit.store;

import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;

import io.sessionkit.internal.Names;
import org.jspecify.annotations.Nullable;

/**
 * A record to write, if it is still as the writer saw it.
 *
 * @param kind what it is: 1 to {@value #MAX_NAME_LENGTH} characters, none of those that
 * {@link Names#flaw} names
 * @param id its name within the kind, under the same rule
 * @param expected the revision that must be there: 0 for none, {@link #ANY} for whatever
 * is there
 * @param payload its new content, without U+0000 and lone surrogates, which some stores
 * cannot keep; null deletes it
 * @param timeToLive how long it is to live, by the store's clock; null: as long as the
 * session
 * @param first the revision that the record begins with if this write creates it; 1 to
 * 2<sup>52</sup>
 */
public record RecordWrite(String kind, String id, long expected, @Nullable String payload,
		@Nullable Duration timeToLive, long first) {

	/** The longest kind and the longest id, in characters. */
	public static final int MAX_NAME_LENGTH = 64;

	/** Write whatever is there. */
	public static final long ANY = -1;

	/** Exact as a floating-point number too, as is what some writes add to it. */
	private static final long LARGEST_FIRST = 1L << 52;

	public RecordWrite {
		if (kind.isBlank() || kind.length() > MAX_NAME_LENGTH || id.isBlank() || id.length() > MAX_NAME_LENGTH) {
			throw new IllegalArgumentException("The kind and the id of a record must have 1 to " + MAX_NAME_LENGTH
					+ " characters: kind '" + kind + "', id of " + id.length() + " characters.");
		}
		check("The kind of a record", Names.flaw(kind));
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
	 * A write whose record, if it creates one, begins with a random revision. So a
	 * revision that was read says which record it was, too: one that was deleted or has
	 * expired, with its session or alone, and was created again, has another one.
	 * @param kind what it is
	 * @param id its name within the kind
	 * @param expected the revision that must be there: 0 for none, {@link #ANY} for
	 * whatever is there
	 * @param payload its new content; null deletes it
	 * @param timeToLive how long it is to live, by the store's clock; null: as long as
	 * the session
	 */
	public RecordWrite(String kind, String id, long expected, @Nullable String payload, @Nullable Duration timeToLive) {
		this(kind, id, expected, payload, timeToLive, ThreadLocalRandom.current().nextLong(1, LARGEST_FIRST));
	}

	/**
	 * A record that must not be there yet.
	 * @param kind what it is
	 * @param id its name within the kind
	 * @param payload its content
	 * @return the write
	 */
	public static RecordWrite create(String kind, String id, String payload) {
		return new RecordWrite(kind, id, 0, payload, null);
	}

	/**
	 * A new content for a record that was read, if nobody else wrote it since.
	 * @param seen the record as it was read
	 * @param payload its new content
	 * @return the write
	 */
	public static RecordWrite replace(SessionRecord seen, String payload) {
		return new RecordWrite(seen.kind(), seen.id(), seen.revision(), payload, null);
	}

	/**
	 * A record, whether or not it is there.
	 * @param kind what it is
	 * @param id its name within the kind
	 * @param payload its content
	 * @return the write
	 */
	public static RecordWrite put(String kind, String id, String payload) {
		return new RecordWrite(kind, id, ANY, payload, null);
	}

	/**
	 * Returns the revision that the record has once this write is stored, for a write
	 * that names the revision it expects.
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
	 * This write with a life of its own.
	 * @param timeToLive how long the record is to live
	 * @return a copy with it
	 */
	public RecordWrite livingFor(Duration timeToLive) {
		return new RecordWrite(this.kind, this.id, this.expected, this.payload, timeToLive, this.first);
	}

}
