package io.sessionkit.internal.stream;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;

import io.sessionkit.SessionKey;
import io.sessionkit.internal.Attempts;
import io.sessionkit.internal.DurationText;
import io.sessionkit.internal.Renewals;
import io.sessionkit.internal.stream.FinishedStreams.Finished;
import io.sessionkit.internal.stream.StreamChunk.Mark;
import io.sessionkit.store.RecordWrite;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/**
 * Writes the events of a stream, many at a time. Whoever writes a chunk must find its
 * number free, so the writer learns what others have said there when it writes; if it has
 * nothing to write, it looks. Safe for use by many threads: adding an event never waits
 * for the store.
 */
public final class StreamWriter {

	private static final Log logger = LogFactory.getLog(StreamWriter.class);

	/** The time between two writes while nobody else reads the events. */
	private static final Duration UNREAD = Duration.ofSeconds(2);

	/** The time between two writes once somebody reads the events in another process. */
	private static final Duration READ = Duration.ofMillis(500);

	/** The time between two looks at what others have said, with nothing to write. */
	private static final Duration LOOK = Duration.ofSeconds(1);

	private final StreamLogs logs;

	private final SessionKey key;

	private final String stream;

	private final StreamLimits limits;

	private final @Nullable String request;

	/** Events that are not written yet; guarded by itself. */
	private final List<Map<String, @Nullable Object>> waiting = new ArrayList<>();

	/** Held while the store is called; guards all that follows. */
	private final Lock writing = new ReentrantLock();

	/** The number of the first event that waits. */
	private long first;

	/** The number of the next chunk. */
	private long next = 1;

	private long size;

	private long written = System.nanoTime();

	private long looked = System.nanoTime();

	private boolean read;

	private boolean stop;

	private volatile boolean over;

	StreamWriter(StreamLogs logs, SessionKey key, String stream, StreamLimits limits, @Nullable String request) {
		this.logs = logs;
		this.key = key;
		this.stream = stream;
		this.limits = limits;
		this.request = request;
	}

	/** Adds an event, which is written later, unless the stream is over. */
	public void add(Map<String, @Nullable Object> event) {
		if (this.over) {
			return;
		}
		synchronized (this.waiting) {
			this.waiting.add(event);
		}
	}

	/**
	 * Writes what is due, or looks what others have said. To be called often; it does
	 * nothing most times.
	 * @return whether somebody has said that the process is to stop
	 */
	public boolean work() {
		this.writing.lock();
		try {
			long now = System.nanoTime();
			if (!this.over && now - this.written >= interval().toNanos()) {
				write(Mark.NONE);
			}
			else if (!this.over && now - Math.max(this.written, this.looked) >= LOOK.toNanos()) {
				look();
			}
			return this.stop;
		}
		finally {
			this.writing.unlock();
		}
	}

	/**
	 * Returns whether the store has taken something since.
	 * @param nanoTime a moment by {@link System#nanoTime}
	 */
	public boolean hasWrittenSince(long nanoTime) {
		this.writing.lock();
		try {
			return this.written - nanoTime > 0;
		}
		finally {
			this.writing.unlock();
		}
	}

	/** Returns how long readers wait for this process, and for a store that is away. */
	public Duration life() {
		return this.logs.life();
	}

	/** Writes what waits, since somebody is going to read it elsewhere. */
	public void writeNow() {
		this.writing.lock();
		try {
			if (!this.over && !waiting().isEmpty()) {
				write(Mark.NONE);
			}
		}
		finally {
			this.writing.unlock();
		}
	}

	/** Writes what is left, and that the stream is complete. */
	public void end() {
		endWith(Mark.END);
	}

	/** Writes what is left, and that there will be no more of the stream. */
	public void breakOff() {
		endWith(Mark.LOST);
	}

	private void endWith(Mark mark) {
		this.writing.lock();
		try {
			if (!this.over) {
				write(mark);
			}
		}
		finally {
			this.writing.unlock();
		}
	}

	/**
	 * Deletes older streams of the session that this process has written to their end, if
	 * there are many. To be called once, when the call of this stream is over and its end
	 * is written.
	 */
	public void deleteOlder() {
		this.logs.finished(this.key, new Finished(this.stream, chunks(), System.nanoTime(), this.limits.timeToLive()));
	}

	private long chunks() {
		this.writing.lock();
		try {
			return this.next;
		}
		finally {
			this.writing.unlock();
		}
	}

	/** A process without events shows that it is there. */
	private Duration interval() {
		synchronized (this.waiting) {
			return this.waiting.isEmpty() ? Renewals.period(this.logs.life()) : this.read ? READ : UNREAD;
		}
	}

	private void look() {
		this.looked = System.nanoTime();
		StreamChunk other = this.logs.chunk(this.key, this.stream, this.next);
		if (other != null) {
			said(other, Mark.NONE);
		}
	}

	/** Others write too, so a chunk may need several attempts. */
	private void write(Mark mark) {
		Attempts.MANY.until(() -> this.over || isWritten(mark));
	}

	private boolean isWritten(Mark mark) {
		StreamChunk chunk = new StreamChunk(this.next, this.first, waiting(), mark, this.request, this.logs.life());
		RecordWrite write = this.logs.write(this.key, this.stream, chunk);
		if (this.size + length(write) > this.limits.maxSize()) {
			chunk = StreamChunk.of(this.next, this.first, Mark.LOST);
			write = this.logs.write(this.key, this.stream, chunk);
		}
		boolean stored = this.logs.put(this.key, write.timeToLive(this.limits.timeToLive()));
		if (stored) {
			this.size += length(write);
			this.written = System.nanoTime();
			done(chunk);
		}
		else {
			othersWrote(chunk.mark());
		}
		return stored;
	}

	private void othersWrote(Mark own) {
		StreamChunk other = this.logs.chunk(this.key, this.stream, this.next);
		this.over = other == null;
		if (other != null) {
			said(other, own);
		}
	}

	private static int length(RecordWrite write) {
		String payload = write.payload();
		return (payload != null) ? payload.length() : 0;
	}

	private List<Map<String, @Nullable Object>> waiting() {
		synchronized (this.waiting) {
			return List.copyOf(this.waiting);
		}
	}

	/**
	 * Takes note of a chunk at the place of the next one: of somebody else, or of this
	 * writer if the answer to its write was lost.
	 * @param own what this writer wanted to say there
	 */
	private void said(StreamChunk other, Mark own) {
		this.stop |= other.mark() == Mark.STOP;
		this.read |= other.mark() == Mark.READER;
		if (!other.events().isEmpty()) {
			// nobody else writes events
			this.size += length(this.logs.write(this.key, this.stream, other));
		}
		if (other.mark() == Mark.LOST && own != Mark.LOST) {
			logger.warn("The stream of a call on session " + this.key
					+ " was given up by a reader: its process did not show for " + DurationText.of(this.logs.life())
					+ " that it is there. The call continues without it.");
		}
		done(other);
	}

	private void done(StreamChunk chunk) {
		this.next = chunk.number() + 1;
		this.over = chunk.isLast();
		synchronized (this.waiting) {
			long stored = Math.min(this.waiting.size(), Math.max(0, chunk.next() - this.first));
			this.waiting.subList(0, (int) stored).clear();
			this.first += stored;
		}
	}

}
