package io.sessionkit.internal.stream;

import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.stream.Collectors;

import io.sessionkit.SessionConflictException;
import io.sessionkit.SessionKey;
import io.sessionkit.internal.Attempts;
import io.sessionkit.internal.ShortLife;
import io.sessionkit.internal.stream.FinishedStreams.Finished;
import io.sessionkit.internal.stream.StreamChunk.Mark;
import io.sessionkit.store.Commit;
import io.sessionkit.store.HeaderChange;
import io.sessionkit.store.RecordWrite;
import io.sessionkit.store.SessionRecord;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.StoreUnavailableException;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/**
 * The streams that the sessions of a store keep. A stream is a row of chunks, each of
 * them a record of its session that nobody changes. Safe for use by many threads.
 */
public final class StreamLogs {

	private static final Log logger = LogFactory.getLog(StreamLogs.class);

	/** The kind of the records that hold chunks. */
	public static final String KIND = "stream";

	/** Between the name of a stream and the number of a chunk. */
	private static final char BEFORE_NUMBER = '.';

	private final SessionStore store;

	private final Duration life;

	private final FinishedStreams finished = new FinishedStreams();

	/**
	 * Creates the streams of a store.
	 * @param life how long this process may be silent while it works before it counts as
	 * gone
	 */
	public StreamLogs(SessionStore store, Duration life) {
		this.store = store;
		this.life = life;
	}

	/**
	 * Begins a stream. A session that is absent is created.
	 * @param stream the name of the stream, which no other one has
	 * @param limits how much of it is kept
	 * @param request the digest of the name of the request that the call makes; null if
	 * it has none
	 * @param endsWithTurn whether a session that is created is erased with a call
	 * @return the writer of its events
	 */
	public StreamWriter begin(SessionKey key, String stream, StreamLimits limits, @Nullable String request,
			boolean endsWithTurn) {
		RecordWrite write = first(key, stream, limits, request);
		HeaderChange header = endsWithTurn
				? HeaderChange.NONE.timeToLive(ShortLife.within(this.store.options().timeToLive())) : HeaderChange.NONE;
		Commit creating = Commit.first(key).header(header).records(List.of(write));
		boolean begun = Attempts.FEW.until(() -> this.store.put(key, write) || this.store.commit(creating).isStored());
		if (!begun) {
			throw new SessionConflictException("The stream of a call on session " + key
					+ " could not begin: others create and erase the session all the time. Try again.", null);
		}
		return new StreamWriter(this, key, stream, limits, request);
	}

	/**
	 * Begins a stream of a call that cannot begin a session. If the session is absent,
	 * the call fails, and nothing of its stream is written.
	 * @param stream the name of the stream, which no other one has
	 * @param limits how much of it is kept
	 * @param request the digest of the name of the request that the call makes; null if
	 * it has none
	 * @return the writer of its events
	 */
	public StreamWriter beginInExisting(SessionKey key, String stream, StreamLimits limits, @Nullable String request) {
		this.store.put(key, first(key, stream, limits, request));
		return new StreamWriter(this, key, stream, limits, request);
	}

	private RecordWrite first(SessionKey key, String stream, StreamLimits limits, @Nullable String request) {
		StreamChunk first = new StreamChunk(0, 0, List.of(), Mark.NONE, request, this.life);
		return write(key, stream, first).timeToLive(limits.timeToLive());
	}

	/**
	 * Returns the reader of a stream, which has read nothing yet.
	 * @param stream the name of the stream
	 * @param after the number of the last event that the reader has; -1 for none
	 * @param timeToLive how long the chunks of a stream live
	 * @param missing makes the exception for a stream that does not have what comes next
	 */
	public StreamReader reader(SessionKey key, String stream, long after, Duration timeToLive,
			Supplier<? extends RuntimeException> missing) {
		return new StreamReader(this, key, stream, after, timeToLive, missing);
	}

	/**
	 * Records that the process that works on a stream is to stop.
	 * @param stream the name of the stream
	 * @param timeToLive how long the chunks of a stream live
	 * @param missing makes the exception that is thrown if there is no such stream
	 * @return whether it is recorded: false if the stream has ended
	 */
	public boolean stop(SessionKey key, String stream, Duration timeToLive,
			Supplier<? extends RuntimeException> missing) {
		return Attempts.MANY.make(() -> stopped(key, stream, timeToLive, missing)).orElse(false);
	}

	private Optional<Boolean> stopped(SessionKey key, String stream, Duration timeToLive,
			Supplier<? extends RuntimeException> missing) {
		List<StreamChunk> chunks = chunks(key, stream);
		if (chunks.isEmpty()) {
			throw missing.get();
		}
		StreamChunk last = chunks.get(chunks.size() - 1);
		if (last.isLast() || chunks.stream().anyMatch((chunk) -> chunk.mark() == Mark.STOP)) {
			return Optional.of(!last.isLast());
		}
		StreamChunk stop = StreamChunk.of(last.number() + 1, last.next(), Mark.STOP);
		return append(key, stream, stop, timeToLive) ? Optional.of(true) : Optional.empty();
	}

	/**
	 * Returns the streams of a session that have no end yet, the newest last. One whose
	 * process has died is among them until a reader has found out.
	 */
	public List<KeptStream> unfinished(SessionKey key) {
		Map<String, List<SessionRecord>> streams = this.store.records(key, KIND)
			.stream()
			.collect(Collectors.groupingBy((record) -> record.id().substring(0, record.id().indexOf(BEFORE_NUMBER))));
		return streams.entrySet()
			.stream()
			.filter((stream) -> !isOver(stream.getValue()))
			.sorted(Comparator.comparing((stream) -> begun(stream.getValue())))
			.map((stream) -> new KeptStream(stream.getKey(), chunks(stream.getKey(), stream.getValue())))
			.toList();
	}

	/**
	 * Returns the {@link #unfinished} streams for a call that waits, and looks again
	 * soon.
	 * @return none also if the store is away
	 */
	public List<KeptStream> unfinishedIfReachable(SessionKey key) {
		try {
			return unfinished(key);
		}
		catch (StoreUnavailableException ex) {
			logger.debug("The streams of session " + key + " could not be read: " + ex.getClass().getName());
			return List.of();
		}
	}

	/** Reads the last chunk alone: the others of a stream that is over may be large. */
	private boolean isOver(List<SessionRecord> stream) {
		return stream.stream().max(Comparator.comparingLong(StreamLogs::number)).map(this::read).orElseThrow().isLast();
	}

	private static Instant begun(List<SessionRecord> stream) {
		return stream.stream().map(SessionRecord::writtenAt).min(Comparator.naturalOrder()).orElse(Instant.MIN);
	}

	/** Returns what is there of a stream, in order. */
	List<StreamChunk> chunks(SessionKey key, String stream) {
		return chunks(stream, this.store.records(key, KIND));
	}

	private List<StreamChunk> chunks(String stream, List<SessionRecord> records) {
		String prefix = stream + BEFORE_NUMBER;
		return records.stream()
			.filter((record) -> record.id().startsWith(prefix))
			.map(this::read)
			.sorted(Comparator.comparingLong(StreamChunk::number))
			.toList();
	}

	/** Returns one chunk of a stream; null if it is not there. */
	@Nullable StreamChunk chunk(SessionKey key, String stream, long number) {
		return this.store.record(key, KIND, stream + BEFORE_NUMBER + number).map(this::read).orElse(null);
	}

	private StreamChunk read(SessionRecord record) {
		return StreamChunk.read(record, number(record), this.store.options().codec());
	}

	private static long number(SessionRecord record) {
		return Long.parseLong(record.id().substring(record.id().indexOf(BEFORE_NUMBER) + 1));
	}

	/** Returns whether the session is there that keeps the streams. */
	boolean hasSession(SessionKey key) {
		return this.store.find(key).isPresent();
	}

	/**
	 * Writes a chunk that is not there yet.
	 * @return false if it is there, or if the session is absent
	 */
	boolean append(SessionKey key, String stream, StreamChunk chunk, Duration timeToLive) {
		return put(key, write(key, stream, chunk).timeToLive(timeToLive));
	}

	boolean put(SessionKey key, RecordWrite write) {
		return this.store.put(key, write);
	}

	/**
	 * Takes note of a stream that this process has written to its end, and deletes those
	 * of the session before it that are too many.
	 */
	void finished(SessionKey key, Finished stream) {
		this.finished.add(key, stream).forEach((old) -> delete(key, old));
	}

	/**
	 * The end is deleted last, so that what is left never looks as if it were at work.
	 */
	private void delete(SessionKey key, Finished stream) {
		for (long number = 0; number < stream.chunks(); number++) {
			put(key, new RecordWrite(KIND, stream.name() + BEFORE_NUMBER + number, RecordWrite.ANY, null, null));
		}
	}

	RecordWrite write(SessionKey key, String stream, StreamChunk chunk) {
		return RecordWrite.create(KIND, stream + BEFORE_NUMBER + chunk.number(),
				chunk.payload(key, this.store.options().codec()));
	}

	Duration life() {
		return this.life;
	}

}
