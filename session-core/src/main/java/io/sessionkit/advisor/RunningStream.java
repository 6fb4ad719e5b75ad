package io.sessionkit.advisor;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.Predicate;

import io.sessionkit.OnDisconnect;
import io.sessionkit.SessionKey;
import io.sessionkit.internal.stream.StreamWriter;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;
import reactor.core.Disposable;
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

	/** The time between two looks whether something is to be written. */
	private static final Duration TICK = Duration.ofMillis(250);

	/** The longest time that the end of a call that is told to stop may take. */
	private static final Duration LONGEST_STOP = Duration.ofSeconds(10);

	/**
	 * The largest number of times that the end is written if the store fails: readers
	 * wait for it that long.
	 */
	private static final int ATTEMPTS = 30;

	private static final Duration BETWEEN_ATTEMPTS = Duration.ofSeconds(1);

	/** The surroundings of the stream. */
	interface Place {

		/** Begins to write the stream. */
		StreamWriter begin(SessionKey key, RunningStream stream);

		/** Forgets the stream, which has been written to its end. */
		void over(RunningStream stream);

	}

	private final String name = StreamId.newStream();

	private final Place place;

	private final OnDisconnect onDisconnect;

	private final Sinks.Many<StreamEvent> events = Sinks.many().replay().all();

	private final AtomicInteger readers = new AtomicInteger();

	private final AtomicBoolean ended = new AtomicBoolean();

	private final AtomicBoolean stopping = new AtomicBoolean();

	private volatile @Nullable SessionKey key;

	private volatile @Nullable StreamWriter writer;

	private volatile @Nullable CallReader call;

	private volatile @Nullable Disposable work;

	/** The number of events so far. */
	private volatile long number;

	RunningStream(Place place, OnDisconnect onDisconnect) {
		this.place = place;
		this.onDisconnect = onDisconnect;
	}

	String name() {
		return this.name;
	}

	boolean isOf(SessionKey session) {
		return session.equals(this.key);
	}

	/**
	 * Makes the call.
	 * @param context the context of its first reader
	 */
	void start(ChatClientRequestSpec spec, ContextView context) {
		Flux.<CallEvent>create((sink) -> {
			CallReader reader = new CallReader(sink);
			this.call = reader;
			reader.read(spec.advisors((advisors) -> advisors.param(SessionParameters.STREAM, this)));
		}).contextWrite(context).subscribe(this::happened, this::failed, this::completed);
	}

	@Override
	public synchronized void opening(SessionKey session, boolean stored) {
		if (this.writer != null) {
			return;
		}
		if (!stored) {
			throw new IllegalStateException("The turn of this call on session " + session
					+ " is not stored, so its stream cannot be resumed. Use CallEvents.of(..) for it.");
		}
		this.key = session;
		this.writer = this.place.begin(session, this);
		this.work = Flux.interval(TICK, Schedulers.parallel())
			.onBackpressureDrop()
			.concatMap((tick) -> writing(StreamWriter::work))
			.subscribe();
		if (this.ended.get()) {
			// its reader has left while the store was asked
			writeEnd(StreamWriter::end);
		}
	}

	/** Returns whether there is an event with this number. */
	boolean has(long event) {
		return event < this.number;
	}

	/** If the store does not take it now, it is written the next time. */
	private Mono<Boolean> writing(Predicate<StreamWriter> work) {
		return WaitingThread.run(() -> {
			StreamWriter known = this.writer;
			if (known != null && work.test(known)) {
				stop();
			}
			return true;
		}).onErrorResume((ex) -> {
			logger.warn("The stream of a call could not be written: " + ex.getClass().getName());
			return Mono.just(false);
		});
	}

	/** Returns whether the call has ended. */
	boolean isOver() {
		return this.ended.get();
	}

	/** Cancels the call. Its events end when the turn is stored. */
	void stop() {
		CallReader reader = this.call;
		if (reader == null || !this.stopping.compareAndSet(false, true)) {
			return;
		}
		if (reader.stop()) {
			Mono.delay(LONGEST_STOP).subscribe((waited) -> reader.stopped());
		}
		else {
			reader.stopped();
		}
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
		StreamWriter known = this.writer;
		if (known == null && !this.stopping.get()) {
			throw new IllegalStateException("The client of this call has no session advisor, so its stream cannot be"
					+ " resumed. Add .defaultAdvisors(sessionAdvisor) to the client.");
		}
		if (known != null) {
			known.add(EventForm.write(event));
		}
		StreamId id = new StreamId(this.name, this.number);
		this.number = id.number() + 1;
		this.events.tryEmitNext(new StreamEvent(id.toString(), event));
	}

	private void completed() {
		this.events.tryEmitComplete();
		end(StreamWriter::end);
	}

	private void failed(Throwable ex) {
		this.events.tryEmitError(ex);
		end(StreamWriter::end);
	}

	/** Says that there will be no more, in a process that ends. */
	void breakOff() {
		if (this.ended.compareAndSet(false, true)) {
			stopWriting();
			written(StreamWriter::breakOff);
		}
	}

	private void end(Consumer<StreamWriter> last) {
		if (this.ended.compareAndSet(false, true)) {
			writeEnd(last);
		}
	}

	/** A store that is away for a moment gets the end when it is back. */
	private void writeEnd(Consumer<StreamWriter> last) {
		stopWriting();
		Mono.defer(() -> WaitingThread.run(() -> written(last)))
			.filter((done) -> done)
			.repeatWhenEmpty(ATTEMPTS, (tries) -> tries.delayElements(BETWEEN_ATTEMPTS))
			.onErrorComplete()
			.doFinally((signal) -> this.place.over(this))
			.subscribe();
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
			}
			return true;
		}
		catch (RuntimeException ex) {
			logger.warn("The end of the stream of a call could not be written: " + ex.getClass().getName());
			return false;
		}
	}

}
