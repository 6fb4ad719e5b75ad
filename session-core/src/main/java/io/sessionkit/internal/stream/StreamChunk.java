package io.sessionkit.internal.stream;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

import io.sessionkit.SessionKey;
import io.sessionkit.codec.MessageCodec;
import io.sessionkit.store.SessionRecord;
import org.jspecify.annotations.Nullable;

/**
 * A piece of a stream that is written at one time: the events since the previous chunk,
 * or a mark of another writer. Each chunk is a record of its own, whose name is its
 * number, so two writers cannot both have the same one.
 *
 * @param number its number in the stream, from 0
 * @param first the number of its first event; that of the next one if it has none
 * @param events the events, each as named values
 * @param mark the mark that the chunk carries besides
 * @param request the digest of the name of the request that the call makes; null if it
 * has none, and in a chunk of another writer
 * @param life how long the process at work may be silent; null in a chunk of another
 * writer
 */
public record StreamChunk(long number, long first, List<Map<String, @Nullable Object>> events, Mark mark,
		@Nullable String request, @Nullable Duration life) {

	private static final int VERSION = 2;

	/** A word that a chunk says besides its events. */
	public enum Mark {

		/** Nothing: the process works. */
		NONE,

		/** The stream is complete. */
		END,

		/** There is no more of the stream, although it is not complete. */
		LOST,

		/** The process is to stop. */
		STOP,

		/** Somebody reads the stream in another process. */
		READER

	}

	public StreamChunk {
		events = List.copyOf(events);
	}

	static StreamChunk of(long number, long first, Mark mark) {
		return new StreamChunk(number, first, List.of(), mark, null, null);
	}

	/**
	 * Returns the chunk that a record holds. With one of another form the rest of the
	 * stream is lost.
	 */
	static StreamChunk read(SessionRecord record, long number, MessageCodec codec) {
		Map<String, @Nullable Object> values = codec.decodeValues(record.key(), record.payload());
		if (!(values.get("version") instanceof Number version) || version.longValue() != VERSION) {
			return of(number, 0, Mark.LOST);
		}
		long first = (values.get("first") instanceof Number value) ? value.longValue() : 0;
		return new StreamChunk(number, first, events(values.get("events")), mark(values.get("mark")),
				Objects.toString(values.get("request"), null), life(values.get("life")));
	}

	private static @Nullable Duration life(@Nullable Object value) {
		return (value instanceof String text) ? Duration.parse(text) : null;
	}

	@SuppressWarnings("unchecked")
	private static List<Map<String, @Nullable Object>> events(@Nullable Object value) {
		List<Map<String, @Nullable Object>> events = new ArrayList<>();
		if (value instanceof List<?> list) {
			list.forEach((event) -> events.add((Map<String, @Nullable Object>) event));
		}
		return events;
	}

	/** Returns that the rest is lost if a later version has written another mark. */
	private static Mark mark(@Nullable Object value) {
		for (Mark mark : Mark.values()) {
			if (mark.name().equals(value)) {
				return mark;
			}
		}
		return (value == null) ? Mark.NONE : Mark.LOST;
	}

	String payload(SessionKey key, MessageCodec codec) {
		Map<String, Object> values = new HashMap<>();
		values.put("version", VERSION);
		values.put("first", this.first);
		values.put("events", this.events);
		if (this.mark != Mark.NONE) {
			values.put("mark", this.mark.name());
		}
		if (this.request != null) {
			values.put("request", this.request);
		}
		if (this.life != null) {
			values.put("life", this.life.toString());
		}
		return codec.encodeValues(key, values);
	}

	/** Returns the number of the event after this chunk. */
	long next() {
		return this.first + this.events.size();
	}

	/** Returns whether no chunk comes after this one. */
	boolean isLast() {
		return this.mark == Mark.END || this.mark == Mark.LOST;
	}

	/** Returns whether the process that works has written it. */
	boolean isSignOfLife() {
		return this.mark == Mark.NONE || this.mark == Mark.END;
	}

}
