package io.sessionkit.stream;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.function.Predicate;

import io.sessionkit.SessionKey;
import io.sessionkit.internal.DurationText;
import io.sessionkit.internal.Sha256;
import io.sessionkit.internal.call.SessionParameters;
import io.sessionkit.internal.call.StreamStart;
import io.sessionkit.internal.call.WaitingThread;
import io.sessionkit.internal.stream.StreamWriter;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.core.scheduler.Schedulers;
import reactor.util.context.ContextView;

import org.springframework.ai.chat.client.ChatClient.ChatClientRequestSpec;

/**
 * The stream of a call that is at work in this process. It reads the call itself, so
 * readers come and go. They get its events from memory; for those in other processes they
 * are written. Safe for use by many threads.
 */
final class RunningStream implements StreamStart {

	private static final Log logger = LogFactory.getLog(RunningStream.class);

	/** The time between two checks for events to write. */
	private static final Duration TICK = Duration.ofMillis(250);

	/** The longest time that the end of a call that is told to stop may take. */
	private static final Duration LONGEST_STOP = Duration.ofSeconds(10);

	/** The time between two attempts to write the end if the store fails. */
	private static final Duration BETWEEN_ATTEMPTS = Duration.ofSeconds(1);

	/** The surroundings of the stream. */
	interface Place {

		/**
		 * Begins to write the stream.
		 * @param request the digest of the name of the request; null for none
		 */
		StreamWriter begin(Opening opening, RunningStream stream, @Nullable String request);

		/**
		 * Returns the stream that is at work for a request in any process.
		 * @param request the digest of the name of the request
		 * @return the name of the stream; null if there is none, or if the store is away
		 */
		@Nullable String working(SessionKey key, String request);

		/** Forgets the stream, which has been written to its end. */
		void over(RunningStream stream);

	}

	/**
	 * Says to the readers that another stream is at work for the same request.
	 */
	static final class WorkingElsewhere extends RuntimeException {

		private static final long serialVersionUID = 1L;

		private final transient SessionKey key;

		private final String stream;

		private WorkingElsewhere(SessionKey key, String stream) {
			super("The request on session " + key + " is at work already.", null, false, false);
			this.key = key;
			this.stream = stream;
		}

		SessionKey key() {
			return this.key;
		}

		String stream() {
			return this.stream;
		}

	}

	/** The first time between two searches for the stream of the same request. */
	private static final Duration FIRST_SEARCH = Duration.ofSeconds(1);

	private final String name = StreamId.newStream();

	private final Place place;

	private final OnDisconnect onDisconnect;

	private final Sinks.Many<StreamEvent> events = Sinks.many().replay().all();

	private final AtomicInteger readers = new AtomicInteger();

	private final AtomicBoolean ended = new AtomicBoolean();

	private final AtomicBoolean stopping = new AtomicBoolean();

	private final long begun = System.nanoTime();

	/**
	 * The time from the beginning to the first failure of the store, in nanoseconds,
	 * until something is written again; 0 as long as it does not fail.
	 */
	private final AtomicLong failedAt = new AtomicLong();

	private volatile @Nullable SessionKey key;

	/** The digest of the name of the request; null for none. */
	private volatile @Nullable String request;

	private volatile @Nullable StreamWriter writer;

	private volatile @Nullable KeptEvents kept;

	private volatile @Nullable CallReader call;

	private volatile @Nullable Disposable work;

	/** What writes the end, once the call has ended. */
	private volatile Consumer<StreamWriter> last = StreamWriter::breakOff;

	/** True if the process ends. */
	private volatile boolean closed;

	/** True if the process ends before the call does. */
	private volatile boolean brokenOff;

	/** The call as it is read. */
	private final Disposable.Swap reading = Disposables.swap();

	/**
	 * The time of the next search for the stream of the same request; guarded by this.
	 */
	private long search = System.nanoTime();

	/** The time after that until it is searched again; guarded by this. */
	private Duration pause = FIRST_SEARCH;

	/** True if the call works on a turn. */
	private volatile boolean works;

	/** The number of events so far. */
	private volatile long number;

	RunningStream(Place place, OnDisconnect onDisconnect) {
		this.place = place;
		this.onDisconnect = onDisconnect;
	}

	String name() {
		return this.name;
	}

	/** Returns the one of two streams of this process that was begun last. */
	static RunningStream newest(RunningStream one, RunningStream other) {
		return (one.begun - other.begun > 0) ? one : other;
	}

	boolean isOf(SessionKey session) {
		return session.equals(this.key);
	}

	boolean isOf(SessionKey session, String asked) {
		return isOf(session) && asked.equals(this.request);
	}

	/** Returns whether the call works on a turn, and is neither in line nor over. */
	boolean isAtWork() {
		return this.works && !isOver();
	}

	/**
	 * Makes the call.
	 * @param context the context of its first reader
	 */
	void start(ChatClientRequestSpec spec, ContextView context) {
		this.reading.update(CallReader.events((reader) -> {
			this.call = reader;
			reader.read(spec
				.advisors((advisors) -> advisors.param(SessionParameters.STREAM, this).advisors(new StreamCheck())));
		}).contextWrite(context).subscribe(this::happened, this::failed, this::completed));
	}

	@Override
	public synchronized void opening(Opening opening) {
		if (this.writer != null) {
			return;
		}
		if (!opening.isStored()) {
			throw new IllegalStateException("The turn of this call on session " + opening.key()
					+ " is not stored, so its stream cannot be resumed. Use CallEvents.of(..) for it.");
		}
		String asked = opening.request();
		String digest = (asked != null) ? Sha256.of(asked) : null;
		this.key = opening.key();
		this.request = digest;
		StreamWriter begun = this.place.begin(opening, this, digest);
		this.kept = new KeptEvents(begun, opening.isEdited());
		this.writer = begun;
		this.work = Flux.interval(TICK, Schedulers.parallel())
			.onBackpressureDrop()
			.concatMap((tick) -> writing(StreamWriter::work))
			.subscribe();
		if (this.ended.get()) {
			// it was given up while the store was asked: what its readers got is not kept
			writeEnd(StreamWriter::breakOff);
		}
	}

	/**
	 * Hands the readers over to the stream that is at work for the same request. As long
	 * as there is none, the call waits for the answer, and looks less and less often.
	 */
	@Override
	public synchronized void repeating(SessionKey session, String asked) {
		if (this.writer != null || System.nanoTime() - this.search < 0) {
			return;
		}
		String working = this.place.working(session, Sha256.of(asked));
		if (working != null && this.ended.compareAndSet(false, true)) {
			this.reading.dispose();
			this.events.tryEmitError(new WorkingElsewhere(session, working));
		}
		this.search = System.nanoTime() + this.pause.toNanos();
		this.pause = this.pause.multipliedBy(2);
	}

	/** Returns whether there is an event with this number. */
	boolean has(long event) {
		return event < this.number;
	}

	/** If the store does not take it now, it is written the next time. */
	private Mono<Boolean> writing(Predicate<StreamWriter> work) {
		return WaitingThread.runAtStore(() -> {
			StreamWriter known = this.writer;
			if (known != null && work.test(known)) {
				stopSoon();
			}
			if (known != null) {
				worked(known);
			}
			return true;
		}).onErrorResume((ex) -> {
			failed("The stream", ex);
			return Mono.just(false);
		});
	}

	/** Many streams may be at work while the store is away, so each says so once. */
	private void failed(String what, Throwable ex) {
		if (this.failedAt.compareAndSet(0, Math.max(1, System.nanoTime() - this.begun))) {
			logger.warn(what + " of a call on session " + this.key + " could not be written, "
					+ (this.closed ? "and this process ends: " : "which is tried again: ") + ex.getClass().getName());
		}
	}

	private void worked(StreamWriter known) {
		long failed = this.failedAt.get();
		if (failed != 0 && known.hasWrittenSince(this.begun + failed) && this.failedAt.compareAndSet(failed, 0)) {
			logger.info("The stream of a call on session " + this.key + " is written again.");
		}
	}

	/**
	 * Returns the exception of a call that has failed after its first event; else null.
	 */
	@Nullable Throwable failure() {
		CallReader reader = this.call;
		return (reader != null) ? reader.failure() : null;
	}

	/** Returns whether the call has ended. */
	boolean isOver() {
		return this.ended.get();
	}

	/** Cancels the call. Its events end when the turn is stored. */
	void stop() {
		CallReader reader = beginToStop();
		if (reader != null && !reader.stop()) {
			soon(reader::stopped);
		}
	}

	/**
	 * An advisor of the application that delays the cancel must not delay the writing.
	 */
	private void stopSoon() {
		CallReader reader = beginToStop();
		if (reader != null) {
			soon(() -> {
				if (!reader.stop()) {
					reader.stopped();
				}
			});
		}
	}

	/** Returns the reader of the call to stop; null if there is none, or no longer. */
	private @Nullable CallReader beginToStop() {
		CallReader reader = this.call;
		if (reader == null || !this.stopping.compareAndSet(false, true)) {
			return null;
		}
		// before the cancel, which an advisor of the application may delay
		Mono.delay(LONGEST_STOP).subscribe((waited) -> reader.lost());
		return reader;
	}

	private void soon(Runnable work) {
		WaitingThread.run(() -> {
			work.run();
			return this;
		}).subscribe();
	}

	/**
	 * Returns the events from one on, for a reader in this process.
	 * @param from the number of the first event
	 */
	Flux<StreamEvent> events(long from) {
		return Flux.defer(() -> {
			this.readers.incrementAndGet();
			return this.events.asFlux().skip(from).doOnCancel(this::left);
		});
	}

	/** A reader who has disconnected may come back anywhere. */
	private void left() {
		if (this.readers.decrementAndGet() > 0) {
			return;
		}
		if (this.onDisconnect == OnDisconnect.CANCEL) {
			stop();
		}
		else {
			writing((known) -> {
				known.writeNow();
				return false;
			}).subscribe();
		}
	}

	private void happened(CallEvent event) {
		KeptEvents known = this.kept;
		if (known == null && !this.stopping.get() && !this.brokenOff) {
			throw new IllegalStateException("An advisor outside of the session has answered this call, so its stream"
					+ " cannot be resumed. Use CallEvents.of(..) for it.");
		}
		if (known != null && !this.brokenOff) {
			CallReader reader = this.call;
			known.add(event, (reader != null) ? reader.result() : null);
		}
		this.works |= event instanceof CallEvent.Begun;
		long next = this.number;
		this.number = next + 1;
		this.events.tryEmitNext(StreamId.numbered(this.name, next, event));
		if (this.brokenOff && CallReader.isLast(event)) {
			this.events.tryEmitComplete();
		}
	}

	private void completed() {
		this.events.tryEmitComplete();
		KeptEvents known = this.kept;
		end((known != null && known.areLost()) ? StreamWriter::breakOff : StreamWriter::end);
	}

	private void failed(Throwable ex) {
		this.events.tryEmitError(ex);
		// a reader elsewhere must not take a call without events for an empty answer
		end((this.number == 0) ? StreamWriter::breakOff : StreamWriter::end);
	}

	/**
	 * Ends the stream in a process that ends.
	 * @return what says to the readers that there will be no more. It waits for an end
	 * that is being written, unless the store has failed before
	 */
	Runnable breakingOff() {
		this.closed = true;
		if (this.ended.compareAndSet(false, true)) {
			this.brokenOff = true;
			stopWriting();
			return () -> written(StreamWriter::breakOff);
		}
		return () -> {
			if (this.failedAt.get() == 0) {
				written(this.last);
			}
		};
	}

	/**
	 * Tells the readers in this process, once it is {@link #breakingOff breaking off},
	 * that they will see no more of a call that is still at work.
	 */
	void breakOffHere() {
		CallReader reader = this.call;
		if (this.brokenOff && reader != null) {
			reader.breakOff();
		}
	}

	/** Returns whether this process ends before the call does, which is still at work. */
	boolean isBrokenOff() {
		return this.brokenOff;
	}

	private void end(Consumer<StreamWriter> last) {
		if (this.ended.compareAndSet(false, true)) {
			writeEnd(last);
		}
	}

	/** A store that is away for a while gets the end when it is back. */
	private void writeEnd(Consumer<StreamWriter> last) {
		stopWriting();
		this.last = last;
		long since = System.nanoTime();
		Mono.defer(() -> WaitingThread.runAtStore(() -> written(last) || isGivenUp(since)))
			.filter((done) -> done)
			.repeatWhenEmpty((tries) -> tries.delayElements(BETWEEN_ATTEMPTS))
			.onErrorComplete()
			.doFinally((signal) -> over())
			.subscribe();
	}

	/** Readers elsewhere wait no longer than that for a store that is away. */
	private boolean isGivenUp(long since) {
		StreamWriter known = this.writer;
		if (known == null || this.closed) {
			return true;
		}
		boolean over = System.nanoTime() - since > known.life().toNanos();
		if (over) {
			logger.warn("The end of the stream of a call on session " + this.key + " could not be written for "
					+ DurationText.of(known.life()) + " and is given up. Readers in other processes lose it.");
		}
		return over;
	}

	/** Ends the stream. Chunks that cannot be deleted, since the store fails, expire. */
	private void over() {
		this.place.over(this);
		StreamWriter known = this.writer;
		if (known != null) {
			WaitingThread.runAtStore(() -> {
				known.deleteOlder();
				return true;
			}).onErrorComplete().subscribe();
		}
	}

	private void stopWriting() {
		Disposable known = this.work;
		if (known != null) {
			known.dispose();
		}
	}

	private boolean written(Consumer<StreamWriter> last) {
		StreamWriter known = this.writer;
		try {
			if (known != null) {
				last.accept(known);
				worked(known);
			}
			return true;
		}
		catch (RuntimeException ex) {
			failed("The end of the stream", ex);
			return false;
		}
	}

}
