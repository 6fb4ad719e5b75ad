package io.sessionkit.stream;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Predicate;

import io.sessionkit.SessionKey;
import io.sessionkit.TurnInProgressException;
import io.sessionkit.access.SessionAccess;
import io.sessionkit.access.SessionDoor;
import io.sessionkit.advisor.SessionAdvisor;
import io.sessionkit.conversation.Conversations;
import io.sessionkit.internal.Sha256;
import io.sessionkit.internal.ShortestTime;
import io.sessionkit.internal.call.StreamStart;
import io.sessionkit.internal.call.WaitingThread;
import io.sessionkit.internal.door.InnerParts;
import io.sessionkit.internal.stream.KeptStream;
import io.sessionkit.internal.stream.StreamLimits;
import io.sessionkit.internal.stream.StreamLogs;
import io.sessionkit.internal.stream.StreamReader;
import io.sessionkit.internal.stream.StreamWriter;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;
import reactor.core.Exceptions;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.util.context.Context;

import org.springframework.ai.chat.client.ChatClient.ChatClientRequestSpec;
import org.springframework.util.unit.DataSize;

/**
 * Streams calls as events to readers who may come back. The process reads the call
 * itself, and keeps the events in the store for a while. So a reader who disconnects
 * misses nothing: {@link #resume} gives it the rest, in any process on the same store.
 * Safe for use by many threads.
 */
public final class TurnStreams implements SessionDoor, AutoCloseable {

	/** The default time that the chunks of a stream are kept. */
	public static final Duration DEFAULT_TIME_TO_LIVE = Duration.ofMinutes(10);

	/** The default limit on what is kept of a stream. */
	public static final DataSize DEFAULT_MAX_SIZE = DataSize.ofMegabytes(1);

	private static final Log logger = LogFactory.getLog(TurnStreams.class);

	private static final Duration LONGEST_CLOSE = Duration.ofSeconds(10);

	private static final Duration LONGEST_TELL = Duration.ofSeconds(1);

	private final boolean resumable;

	private final OnDisconnect onDisconnect;

	private final StreamLimits limits;

	private final StreamLogs logs;

	private final SessionAccess access;

	private final Map<String, RunningStream> running = new ConcurrentHashMap<>();

	private final RunningStream.Place place = new RunningStream.Place() {

		@Override
		public StreamWriter begin(StreamStart.Opening opening, RunningStream stream, @Nullable String request) {
			StreamLogs logs = TurnStreams.this.logs;
			StreamLimits limits = TurnStreams.this.limits;
			// before the store is asked, so that a stop finds it meanwhile
			TurnStreams.this.running.put(stream.name(), stream);
			try {
				return opening.mayBegin()
						? logs.begin(opening.key(), stream.name(), limits, request, opening.endsWithTurn())
						: logs.beginInExisting(opening.key(), stream.name(), limits, request);
			}
			catch (RuntimeException | Error ex) {
				TurnStreams.this.running.remove(stream.name());
				throw ex;
			}
		}

		@Override
		public @Nullable String working(SessionKey key, String request) {
			return here((stream) -> stream.isOf(key, request) && !stream.isOver()).map(RunningStream::name)
				.or(() -> newest(TurnStreams.this.logs.unfinishedIfReachable(key),
						(stream) -> stream.isOf(request) && stream.isWhole()))
				.orElse(null);
		}

		@Override
		public void over(RunningStream stream) {
			TurnStreams.this.running.remove(stream.name());
		}

	};

	private TurnStreams(Builder builder) {
		this.resumable = builder.resumable;
		this.onDisconnect = builder.onDisconnect;
		this.limits = new StreamLimits(builder.timeToLive, builder.maxSize.toBytes());
		this.logs = InnerParts.of(builder.conversations, StreamLogs.class);
		this.access = builder.conversations.access();
	}

	/**
	 * Creates a builder. By default streams can be resumed.
	 * @param conversations the sessions
	 * @return the builder
	 */
	public static Builder builder(Conversations conversations) {
		return new Builder(conversations);
	}

	/**
	 * Returns the events of a call, which is made when they are subscribed to. What
	 * becomes of the call when the subscriber cancels is what was configured.
	 * @param call the call on a session, not executed yet
	 * @return the events as {@link CallEvents#of} describes them, for one subscriber
	 */
	public Flux<StreamEvent> start(ChatClientRequestSpec call) {
		return start(call, this.onDisconnect);
	}

	/**
	 * Returns the events of a call, which is made when they are subscribed to.
	 * @param call the call on a session, not executed yet
	 * @param onDisconnect what becomes of the call when its readers disconnect; streams
	 * that cannot be resumed are cancelled in any case
	 * @return the events as {@link CallEvents#of} describes them, for one subscriber
	 */
	public Flux<StreamEvent> start(ChatClientRequestSpec call, OnDisconnect onDisconnect) {
		if (!this.resumable) {
			return CallEvents.of(call).map((event) -> new StreamEvent("", event));
		}
		AtomicBoolean used = new AtomicBoolean();
		return Flux.deferContextual((context) -> {
			if (!used.compareAndSet(false, true)) {
				return Flux.error(CallEvents.usedTwice());
			}
			RunningStream stream = new RunningStream(this.place, onDisconnect);
			stream.start(call, context);
			return stream.events(0)
				.onErrorResume(RunningStream.WorkingElsewhere.class, (ex) -> whole(ex.key(), ex.stream()));
		});
	}

	/**
	 * Makes a call that others may read, and waits until it has ended. What it throws is
	 * thrown as it is, also if that is after the first event.
	 * @throws TurnInProgressException if a call that makes the same request is at work,
	 * or if this one still is when these streams are closed
	 */
	void complete(ChatClientRequestSpec call) {
		RunningStream stream = new RunningStream(this.place, OnDisconnect.CONTINUE);
		stream.start(call, Context.empty());
		try {
			stream.events(0).blockLast();
		}
		catch (RunningStream.WorkingElsewhere ex) {
			throw new TurnInProgressException("Another call makes the same request on session " + ex.key()
					+ " at this moment. Nothing was run by this one.");
		}
		if (stream.isBrokenOff()) {
			throw new TurnInProgressException("The call is still at work in a process that shuts down.");
		}
		Throwable failure = stream.failure();
		if (failure != null) {
			throw Exceptions.propagate(failure);
		}
	}

	boolean areResumable() {
		return this.resumable;
	}

	private Flux<StreamEvent> whole(SessionKey key, String stream) {
		RunningStream here = here(key, stream);
		return (here != null) ? here.events(0) : elsewhere(key, stream, -1);
	}

	/**
	 * Returns the events of a stream that a reader lacks: first those that it has missed,
	 * then the others as they happen. A stream at work in another process is looked at
	 * about three times per second, and no thread is held in between. If that process has
	 * not shown for a lease that it is there, the last event is {@link CallEvent.Lost}.
	 * @param key the session of the stream, as its caller names it
	 * @param lastEventId the id of the last event that the reader has, as the client has
	 * sent it
	 * @return the events; the error is a {@link StreamNotFoundException} if there is no
	 * such event in a stream of this session, or if what comes next has expired, and a
	 * {@link io.sessionkit.SessionNotFoundException} if the caller does not reach the
	 * session
	 */
	public Flux<StreamEvent> resume(SessionKey key, @Nullable String lastEventId) {
		return Flux.deferContextual((context) -> this.access.caller(context)
			.flatMapMany((caller) -> resumed(SessionAccess.key(key, caller), lastEventId)));
	}

	private Flux<StreamEvent> resumed(SessionKey key, @Nullable String lastEventId) {
		StreamId last = StreamId.parse(key, lastEventId);
		RunningStream here = here(key, last.stream());
		if (here != null && !here.has(last.number())) {
			throw new StreamNotFoundException(key);
		}
		return (here != null) ? here.events(last.number() + 1) : elsewhere(key, last.stream(), last.number());
	}

	/**
	 * Returns the events of the call that works on a session now, from its first event
	 * on, in whichever process it is at work: for a page that is opened while an agent
	 * works. If several do, it is the one that was begun last. Calls that wait in line do
	 * not count. A call in another process is found about two seconds after it has begun,
	 * unless more has happened than is kept of its stream.
	 * @param key the session, as its caller names it
	 * @return the events; none if no call whose stream can be resumed is at work there;
	 * the error is a {@link io.sessionkit.SessionNotFoundException} if the caller does
	 * not reach the session
	 */
	public Flux<StreamEvent> running(SessionKey key) {
		return Flux.deferContextual((context) -> this.access.caller(context)
			.flatMapMany((caller) -> working(SessionAccess.key(key, caller))));
	}

	private Flux<StreamEvent> working(SessionKey key) {
		return here((stream) -> stream.isOf(key) && stream.isAtWork()).map((stream) -> stream.events(0))
			.orElseGet(() -> WaitingThread
				.run(() -> newest(key, (stream) -> stream.isWhole() && stream.has(EventForm::isBegun)))
				.flatMapMany((found) -> found.map((stream) -> whole(key, stream)).orElseGet(Flux::empty)));
	}

	private Optional<String> newest(SessionKey key, Predicate<KeptStream> wanted) {
		return newest(this.logs.unfinished(key), wanted);
	}

	private static Optional<String> newest(List<KeptStream> streams, Predicate<KeptStream> wanted) {
		return streams.stream().filter(wanted).map(KeptStream::name).reduce((first, last) -> last);
	}

	/** Returns how many streams are at work in this process. */
	int count() {
		return this.running.size();
	}

	/** Returns the newest, as {@link #newest} does for those of other processes. */
	private Optional<RunningStream> here(Predicate<RunningStream> wanted) {
		return this.running.values().stream().filter(wanted).reduce(RunningStream::newest);
	}

	private @Nullable RunningStream here(SessionKey key, String stream) {
		RunningStream known = this.running.get(stream);
		return (known != null && known.isOf(key)) ? known : null;
	}

	private Flux<StreamEvent> elsewhere(SessionKey key, String stream, long after) {
		StreamReader reader = this.logs.reader(key, stream, after, this.limits.timeToLive(),
				() -> new StreamNotFoundException(key));
		AtomicBoolean looked = new AtomicBoolean();
		return Mono
			.defer(() -> looked.getAndSet(true) ? Mono.delay(StreamReader.PAUSE).then(WaitingThread.run(reader::read))
					: WaitingThread.run(reader::read))
			.repeat(() -> !reader.isOver())
			.concatMapIterable((events) -> events)
			.map((each) -> event(stream, each))
			.takeUntil((each) -> each.event() instanceof CallEvent.Lost);
	}

	private static StreamEvent event(String stream, StreamReader.Numbered each) {
		CallEvent event = (each.values() != null) ? EventForm.read(each.values()) : new CallEvent.Lost();
		return StreamId.numbered(stream, each.number(), event);
	}

	/**
	 * Stops the call of a stream, in whichever process it is at work. The decision is
	 * stored, unless that is this process; the process obeys it within about a second,
	 * and cancels the call as if a subscriber had cancelled it. All readers get the end.
	 * A stream that is {@link CallEvent.Lost} for readers elsewhere is stopped in its own
	 * process alone. Blocks while the store answers.
	 * @param key the session of the stream, as its caller names it
	 * @param eventId the id of any of its events
	 * @return whether the stream was not over yet
	 * @throws StreamNotFoundException if there is no such stream in this session
	 * @throws io.sessionkit.SessionNotFoundException if the caller does not reach the
	 * session
	 */
	public boolean stop(SessionKey key, @Nullable String eventId) {
		return stopped(this.access.key(key), eventId);
	}

	private boolean stopped(SessionKey key, @Nullable String eventId) {
		String stream = StreamId.parse(key, eventId).stream();
		RunningStream here = here(key, stream);
		return (here != null) ? stopped(here) : stoppedElsewhere(key, stream);
	}

	private boolean stoppedElsewhere(SessionKey key, String stream) {
		return this.logs.stop(key, stream, this.limits.timeToLive(), () -> new StreamNotFoundException(key));
	}

	private static boolean stopped(RunningStream here) {
		boolean over = here.isOver();
		here.stop();
		return !over;
	}

	/**
	 * Stops the call that makes a request, as {@link #stop} does: for a client that has
	 * no event of it yet. A call that waits in line leaves it. Not found is one that only
	 * waits for the answer of a call with the same request whose stream is not kept, and
	 * one that has not begun its stream yet: ask again after a moment.
	 * @param key the session of the call, as its caller names it
	 * @param request the name of the request, as the call has it by
	 * {@link SessionAdvisor#idempotencyKey}
	 * @return whether there was such a call that was not over yet
	 * @throws io.sessionkit.SessionNotFoundException if the caller does not reach the
	 * session
	 */
	public boolean stopRequest(SessionKey key, String request) {
		return requestStopped(this.access.key(key), Sha256.of(request));
	}

	private boolean requestStopped(SessionKey key, String request) {
		return here((stream) -> stream.isOf(key, request) && !stream.isOver()).map(TurnStreams::stopped)
			.orElseGet(
					() -> newest(key, (stream) -> stream.isOf(request)).map((stream) -> stoppedElsewhere(key, stream))
						.orElse(false));
	}

	@Override
	public SessionAccess access() {
		return this.access;
	}

	/**
	 * Waits until the streams of calls that have ended in this process are written to
	 * their end, so that readers in other processes miss nothing.
	 * @param limit how long to wait at most
	 * @return whether no stream is at work in this process any more
	 */
	public boolean awaitWritten(Duration limit) {
		long begun = System.nanoTime();
		try {
			while (!this.running.isEmpty() && System.nanoTime() - begun < limit.toNanos()) {
				Thread.sleep(10);
			}
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
		return this.running.isEmpty();
	}

	/**
	 * Tells the readers of streams that are at work in this process that there will be no
	 * more: those in this process at once, and those in others by the store, which must
	 * still be there. If it does not take that in 10 s, they find out when the lease is
	 * over. The calls go on.
	 */
	@Override
	public void close() {
		close(LONGEST_CLOSE);
	}

	/** A store that does not answer must not keep the process from ending. */
	void close(Duration limit) {
		List<RunningStream> streams = List.copyOf(this.running.values());
		List<Runnable> ends = streams.stream().map(RunningStream::breakingOff).toList();
		List<Mono<Boolean>> here = streams.stream().map(TurnStreams::breakOffHere).toList();
		Future<?> told = Mono.whenDelayError(here).toFuture();
		if (!ends.isEmpty()) {
			write(ends, limit);
		}
		awaitReaders(told);
		this.running.clear();
	}

	/**
	 * Readers are code of the application, which must not keep the ends from the store.
	 */
	private static Mono<Boolean> breakOffHere(RunningStream stream) {
		return WaitingThread.run(() -> {
			stream.breakOffHere();
			return true;
		});
	}

	private static void awaitReaders(Future<?> told) {
		try {
			told.get(LONGEST_TELL.toNanos(), TimeUnit.NANOSECONDS);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
		catch (ExecutionException | TimeoutException ex) {
			logger.warn("Readers in this process could not be told that their streams are over: "
					+ ex.getClass().getName());
		}
	}

	private static void write(List<Runnable> ends, Duration limit) {
		long begun = System.nanoTime();
		Future<?> written = WaitingThread.runAtStore(() -> {
			ends.stream().takeWhile((end) -> System.nanoTime() - begun < limit.toNanos()).forEach(Runnable::run);
			return true;
		}).toFuture();
		try {
			written.get(limit.toNanos(), TimeUnit.NANOSECONDS);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
		catch (ExecutionException | TimeoutException ex) {
			logger.warn("The ends of streams that were at work when this process ended could not be written. Readers in"
					+ " other processes lose them when the lease is over: " + ex.getClass().getName());
		}
	}

	/**
	 * Builds {@link TurnStreams}. Not safe for use by many threads.
	 */
	public static final class Builder {

		private final Conversations conversations;

		private boolean resumable = true;

		private OnDisconnect onDisconnect = OnDisconnect.CONTINUE;

		private Duration timeToLive = DEFAULT_TIME_TO_LIVE;

		private DataSize maxSize = DEFAULT_MAX_SIZE;

		private Builder(Conversations conversations) {
			this.conversations = conversations;
		}

		/**
		 * Sets whether streams can be resumed. If not, nothing of them is stored, their
		 * events have no ids, and a reader who disconnects cancels the call. The default
		 * is true.
		 * @param resumable false not to store streams
		 * @return this builder
		 */
		public Builder resumable(boolean resumable) {
			this.resumable = resumable;
			return this;
		}

		/**
		 * Sets what becomes of a call whose readers disconnect. The default is
		 * {@link OnDisconnect#CONTINUE}.
		 * @param onDisconnect the rule
		 * @return this builder
		 */
		public Builder onDisconnect(OnDisconnect onDisconnect) {
			this.onDisconnect = onDisconnect;
			return this;
		}

		/**
		 * Sets how long each chunk of a stream is kept. The default is ten minutes.
		 * @param timeToLive the time, at least one second
		 * @return this builder
		 * @throws IllegalArgumentException if it is shorter than one second
		 */
		public Builder timeToLive(Duration timeToLive) {
			if (ShortestTime.isAbove(timeToLive)) {
				throw new IllegalArgumentException(
						"The chunks of a stream must be kept for at least one second, not " + timeToLive + ".");
			}
			this.timeToLive = timeToLive;
			return this;
		}

		/**
		 * Sets how much of a stream is kept. Readers in other processes get no more than
		 * that; the call continues. The default is 1 MB.
		 * @param maxSize the limit, one byte for each character of the events as the
		 * codec encodes them
		 * @return this builder
		 * @throws IllegalArgumentException if it is below one byte
		 */
		public Builder maxSize(DataSize maxSize) {
			if (maxSize.toBytes() < 1) {
				throw new IllegalArgumentException(
						"The size of a stream must be at least one byte, not " + maxSize + ".");
			}
			this.maxSize = maxSize;
			return this;
		}

		/**
		 * Builds the streams.
		 * @return new streams
		 */
		public TurnStreams build() {
			return new TurnStreams(this);
		}

	}

}
