package io.sessionkit.internal.stream;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;

import io.sessionkit.SessionConflictException;
import io.sessionkit.SessionKey;
import io.sessionkit.internal.stream.StreamChunk.Mark;
import io.sessionkit.store.StoreUnavailableException;
import org.jspecify.annotations.Nullable;

/**
 * Reads a stream in a process that does not work on it, from the event on that its reader
 * lacks. It looks from time to time, since no store tells it that there is more. Used by
 * one thread at a time.
 */
public final class StreamReader {

	/** The time between two looks. */
	public static final Duration PAUSE = Duration.ofMillis(300);

	/**
	 * The number of looks without anything new after which the reader looks whether the
	 * session was erased: the process that works cannot write that anywhere.
	 */
	private static final int LOOKS_IN_VAIN = 10;

	/** A process that works writes at least so often in each life. */
	private static final int SIGNS_OF_LIFE = 3;

	/**
	 * An event with its number in the stream.
	 *
	 * @param number the number, from 0; that of the next event if the rest is lost
	 * @param values the event; null if the rest of the stream is lost
	 */
	public record Numbered(long number, @Nullable Map<String, @Nullable Object> values) {
	}

	/**
	 * More events than that never wait to be written; whoever asks for later ones
	 * guesses.
	 */
	private static final long MOST_UNWRITTEN = 100_000;

	private final StreamLogs logs;

	private final SessionKey key;

	private final String stream;

	private final Duration timeToLive;

	/** Makes the exception for a stream that does not have what comes next. */
	private final Supplier<? extends RuntimeException> missing;

	/** The number of the next event that the reader lacks. */
	private long event;

	/** The number of the event after all that were read. */
	private long known;

	/** The number of the next chunk; -1 before the first look. */
	private long next = -1;

	/** The time at which the process that works has last shown that it is there. */
	private long alive = System.nanoTime();

	/** The end of the last look. */
	private long looked = this.alive;

	/** True once a look that took long counts as a suspension in this silence. */
	private boolean spared;

	/** The longest silence of the process that works. */
	private Duration life;

	/** The number of looks since the last one that has found something new. */
	private int inVain;

	/** The time at which the store has begun to fail; null while it answers. */
	private @Nullable Long failing;

	private boolean announced;

	private boolean over;

	StreamReader(StreamLogs logs, SessionKey key, String stream, long after, Duration timeToLive,
			Supplier<? extends RuntimeException> missing) {
		this.logs = logs;
		this.key = key;
		this.stream = stream;
		this.event = after + 1;
		this.timeToLive = timeToLive;
		this.missing = missing;
		this.life = logs.life();
	}

	/** Returns whether there is no more to read. */
	public boolean isOver() {
		return this.over;
	}

	/**
	 * Reads what is there. A store that fails after the first look is waited for as long
	 * as a process may be silent; so is one that other writers keep from answering.
	 * @return the events that the reader lacks; none if there is nothing new, or nothing
	 * can be read
	 * @throws RuntimeException what is made for a stream that does not have them
	 * @throws StoreUnavailableException if the store fails at the first look, or for too
	 * long
	 * @throws SessionConflictException if that is since others write
	 */
	public List<Numbered> read() {
		long begun = System.nanoTime();
		try {
			List<Numbered> events = look(begun);
			this.failing = null;
			return events;
		}
		catch (StoreUnavailableException | SessionConflictException ex) {
			long now = System.nanoTime();
			this.failing = (this.failing != null) ? this.failing : now;
			if (this.next < 0 || now - this.failing > this.life.toNanos()) {
				throw ex;
			}
			// the process that works could not show that it is there
			this.alive = now;
			return List.of();
		}
		finally {
			this.looked = System.nanoTime();
		}
	}

	private List<Numbered> look(long begun) {
		List<Numbered> events = new ArrayList<>();
		if (this.next < 0) {
			begin(events);
		}
		else {
			StreamChunk chunk = this.logs.chunk(this.key, this.stream, this.next);
			spareIfSuspended(begun);
			if (chunk != null) {
				take(chunk, events);
			}
			else {
				wait(begun, events);
			}
		}
		return events;
	}

	private void begin(List<Numbered> events) {
		List<StreamChunk> chunks = this.logs.chunks(this.key, this.stream);
		if (chunks.isEmpty() || chunks.get(0).first() > this.event) {
			throw this.missing.get();
		}
		this.alive = System.nanoTime();
		this.next = chunks.get(0).number();
		for (StreamChunk chunk : chunks) {
			checkFollows(chunk);
			if (!this.over) {
				take(chunk, events);
			}
		}
		if (this.event > this.known + MOST_UNWRITTEN) {
			throw this.missing.get();
		}
	}

	/** A chunk between may have expired, or been deleted with a message. */
	private void checkFollows(StreamChunk chunk) {
		if (chunk.number() != this.next) {
			throw this.missing.get();
		}
	}

	private void take(StreamChunk chunk, List<Numbered> events) {
		this.next = chunk.number() + 1;
		this.inVain = 0;
		this.announced |= chunk.mark() == Mark.READER;
		this.life = (chunk.life() != null) ? chunk.life() : this.life;
		if (chunk.isSignOfLife()) {
			this.alive = System.nanoTime();
			this.spared = false;
		}
		for (int i = 0; i < chunk.events().size(); i++) {
			if (chunk.first() + i == this.event) {
				events.add(new Numbered(this.event++, chunk.events().get(i)));
			}
		}
		this.known = chunk.next();
		if (chunk.isLast()) {
			end(chunk.mark(), events);
		}
	}

	/**
	 * Ends with what was read. A reader may have more events than were stored before the
	 * process died.
	 */
	private void end(Mark mark, List<Numbered> events) {
		this.over = true;
		if (mark == Mark.LOST) {
			events.add(new Numbered(this.event, null));
		}
		else if (this.event > this.known) {
			throw this.missing.get();
		}
	}

	/**
	 * Gives the process that works a whole life again if this one was suspended: so may
	 * that have been, with this machine. A look that takes long may be one of a slow
	 * store instead, which may have looked at once. So of those in one silence the first
	 * is a suspension.
	 */
	private void spareIfSuspended(long begun) {
		long now = System.nanoTime();
		if (isLong(begun - this.looked)) {
			this.alive = begun;
		}
		if (isLong(now - begun) && !this.spared) {
			this.spared = true;
			this.alive = now;
		}
	}

	/** Returns whether signs of life were due in that time. */
	private boolean isLong(long nanos) {
		return nanos > this.life.toNanos() / SIGNS_OF_LIFE + PAUSE.toNanos();
	}

	/**
	 * Says to the process that somebody reads here, or that it is given up since it has
	 * not shown for a whole life, up to the beginning of this look, that it is there.
	 */
	private void wait(long begun, List<Numbered> events) {
		if (begun - this.alive > this.life.toNanos()) {
			giveUp(events);
		}
		else if (++this.inVain % LOOKS_IN_VAIN == 0 && !this.logs.hasSession(this.key)) {
			end(Mark.LOST, events);
		}
		else if (!this.announced && append(Mark.READER)) {
			this.announced = true;
			this.next++;
		}
	}

	private void giveUp(List<Numbered> events) {
		checkNothingFollows();
		boolean gone = append(Mark.LOST) || this.logs.chunk(this.key, this.stream, this.next) == null;
		if (gone) {
			end(Mark.LOST, events);
		}
	}

	/** A hole is no silence: the process that works is further on. */
	private void checkNothingFollows() {
		List<StreamChunk> later = this.logs.chunks(this.key, this.stream)
			.stream()
			.filter((chunk) -> chunk.number() >= this.next)
			.toList();
		if (!later.isEmpty() && later.get(0).number() > this.next) {
			throw this.missing.get();
		}
	}

	private boolean append(Mark mark) {
		return this.logs.append(this.key, this.stream, StreamChunk.of(this.next, this.known, mark), this.timeToLive);
	}

}
