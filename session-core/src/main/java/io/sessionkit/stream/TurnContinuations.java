package io.sessionkit.stream;

import java.time.Duration;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;

import io.sessionkit.NothingWaitsException;
import io.sessionkit.SessionConflictException;
import io.sessionkit.SessionKey;
import io.sessionkit.ShuttingDownException;
import io.sessionkit.TurnHandedOverException;
import io.sessionkit.TurnInProgressException;
import io.sessionkit.advisor.SessionAdvisor;
import io.sessionkit.approval.ResumeRefusedException;
import io.sessionkit.conversation.Approvals;
import io.sessionkit.conversation.Conversations;
import io.sessionkit.internal.DurationText;
import io.sessionkit.internal.LookingThread;
import io.sessionkit.internal.OwnThreads;
import io.sessionkit.internal.Renewals;
import io.sessionkit.internal.binding.ActingCaller;
import io.sessionkit.internal.door.InnerParts;
import io.sessionkit.internal.ledger.Continuations;
import io.sessionkit.internal.ledger.Continuations.Situation;
import io.sessionkit.internal.ledger.Continuations.Task;
import io.sessionkit.internal.ledger.Delivery;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.ai.chat.client.ChatClient.ChatClientRequestSpec;

/**
 * Continues turns once all of their tool calls are decided or have expired, on threads of
 * its own, until it is closed. The approvals must store
 * {@linkplain Approvals.Builder#continuations notices} of decisions: a notice is stored
 * before the decision, so that the turn continues although the process that decided has
 * died.
 * <p>
 * A turn is continued at least once, by one process at a time. A call that somebody else
 * makes in the meantime does no harm, since the lease of the turn lets one work and each
 * approved tool call runs at most once. The notice stays until the turn has ended or
 * waits again: if the process dies, another one goes on when the lease of the turn has
 * run out. If the call fails, it is made again after a second, then each time after twice
 * as long, up to an hour; after {@value #MAX_ATTEMPTS} attempts that is given up, with a
 * warning, and the turn waits for a call.
 * <p>
 * The call is made in the name of the owner of the session, who has no authorities there.
 * If its stream is stopped by a reader, that is its end, and the turn waits for a call or
 * another decision. A process that shuts down begins no such call, and leaves those at
 * work to others as it does with any turn.
 */
public final class TurnContinuations implements AutoCloseable {

	/** The maximum number of attempts to continue a turn. */
	public static final int MAX_ATTEMPTS = Delivery.MAX_ATTEMPTS;

	private static final Log logger = LogFactory.getLog(TurnContinuations.class);

	/** The time for which a turn is left to the call that works on it. */
	private static final Duration PAUSE = Duration.ofSeconds(10);

	/** The maximum time that closing waits for calls. */
	private static final Duration PATIENCE = Duration.ofSeconds(10);

	private static final Duration IDLE = Duration.ofSeconds(30);

	private static final int MOST_DECIDED = 1_000;

	/** The number of looks in a row at which no thread is free, before that is logged. */
	private static final int LOOKS_UNTIL_WARNING = 10;

	private final Continuations continuations;

	private final TurnContinuation continuation;

	/** Keeps the streams of the calls; null if nobody can read them. */
	private final @Nullable TurnStreams streams;

	private final Delivery<Task> delivery;

	private final int most;

	private final Duration interval;

	private final Semaphore free;

	private final ExecutorService threads;

	private final LookingThread looking;

	private final Renewals renewals = new Renewals();

	/** Turns of this process whose notices need not be looked for. */
	private final Queue<Decided> decided = new ArrayBlockingQueue<>(MOST_DECIDED);

	private final BiConsumer<SessionKey, String> runner = (key, turnId) -> {
		// if there are too many, the notice is found among those of other processes
		this.decided.offer(new Decided(key, turnId));
		wake();
	};

	/** True if notices were left because no thread was free. */
	private boolean left;

	/** The number of looks in a row, one for each interval, at which none was. */
	private int looksWithoutThread;

	/** A turn that was decided on in this process. */
	private record Decided(SessionKey key, String turnId) {
	}

	private TurnContinuations(Builder builder) {
		this.continuations = InnerParts.of(builder.approvals, Continuations.class);
		this.continuation = builder.continuation;
		this.streams = builder.streams;
		this.delivery = new Delivery<>(this.continuations,
				Objects.requireNonNullElseGet(builder.lease, this.continuations::claim), new Warnings());
		this.most = builder.threads;
		this.interval = builder.interval;
		this.free = new Semaphore(builder.threads);
		this.threads = threads(builder.threads);
		this.looking = new LookingThread("sessionkit-continuations", "Notices of decisions", this::look,
				builder.interval);
	}

	/** A thread that has just ended its work may not be free yet, so there is a queue. */
	private static ExecutorService threads(int most) {
		ThreadPoolExecutor threads = new ThreadPoolExecutor(most, most, IDLE.toSeconds(), TimeUnit.SECONDS,
				new LinkedBlockingQueue<>(), OwnThreads.numbered("sessionkit-continuation-"));
		threads.allowCoreThreadTimeOut(true);
		return threads;
	}

	/**
	 * Creates a builder.
	 * @param conversations the sessions
	 * @param approvals the approvals on these sessions, which store notices of decisions
	 * @param continuation supplies the calls
	 * @return the builder
	 */
	public static Builder builder(Conversations conversations, Approvals approvals, TurnContinuation continuation) {
		return new Builder(conversations, approvals, continuation);
	}

	private void wake() {
		this.looking.wake();
	}

	// finding turns

	private void look() {
		if (this.looking.isDue()) {
			warnIfHeld();
		}
		takeDecided();
		if (this.left || this.looking.isDue()) {
			this.left = false;
			this.continuations.each((task) -> !this.delivery.isDue(task) || begin(task));
		}
	}

	/** A model without a timeout may hold a thread for good. */
	private void warnIfHeld() {
		this.looksWithoutThread = (this.free.availablePermits() == 0) ? this.looksWithoutThread + 1 : 0;
		if (this.looksWithoutThread == LOOKS_UNTIL_WARNING) {
			logger.warn("The calls that continue turns have held all " + this.most + " threads at "
					+ LOOKS_UNTIL_WARNING + " looks in a row, one each " + DurationText.of(this.interval)
					+ ", so others wait. If they hang, set timeouts for their model and tools; if they are many, raise"
					+ " the number of threads.");
		}
	}

	/** Decisions of this process need not wait. */
	private void takeDecided() {
		while (mayBegin() && this.free.availablePermits() > 0) {
			Decided next = this.decided.poll();
			if (next == null) {
				return;
			}
			Task task = this.continuations.find(next.key(), next.turnId());
			if (task != null) {
				begin(task);
			}
		}
	}

	private boolean mayBegin() {
		return !this.looking.isClosed() && this.continuations.mayBegin();
	}

	/** Begins to work on a notice, and returns whether to look for more of them. */
	private boolean begin(Task task) {
		if (!mayBegin()) {
			return false;
		}
		if (!this.free.tryAcquire()) {
			this.left = true;
			return false;
		}
		boolean begun = false;
		try {
			Task claimed = this.delivery.claim(task);
			if (claimed != null) {
				this.threads.execute(() -> work(claimed));
				begun = true;
			}
		}
		catch (RuntimeException ex) {
			// a session that cannot be written now must not keep the others waiting
			logger.debug("The notice of turn " + task.turnId() + " of session " + task.key() + " could not be claimed: "
					+ ex.getClass().getName());
		}
		finally {
			if (!begun) {
				this.free.release();
			}
		}
		return true;
	}

	// continuing a turn

	private void work(Task claimed) {
		try {
			Situation now = this.continuations.situation(claimed);
			switch (now.state()) {
				case OVER -> this.continuations.remove(claimed);
				case AT_WORK -> this.delivery.giveBack(claimed, pause());
				case WAITS -> this.continuations.waits(claimed, now.undecided());
				case DECIDED ->
					attempt(claimed, new DecidedTurn(claimed.key(), claimed.turnId(), now.calls(), now.parameters()));
			}
		}
		catch (Throwable ex) {
			// the notice is due again when the time is over for which it is claimed
			logger.warn("The state of turn " + claimed.turnId() + " of session " + claimed.key()
					+ " could not be read or written: " + ex.getClass().getName() + ". This is tried again.");
		}
		finally {
			this.free.release();
			wake();
		}
	}

	private void attempt(Task claimed, DecidedTurn turn) {
		if (!this.delivery.mayTry(claimed, "its process has died each time")) {
			return;
		}
		@Nullable Throwable thrown = null;
		NoticeClaim claim = new NoticeClaim(this.delivery, claimed, this.renewals);
		try {
			goOn(turn);
		}
		catch (Exception | LinkageError | AssertionError ex) {
			thrown = ex;
		}
		finally {
			claim.close();
		}
		ended(claim.task(), thrown);
	}

	private void ended(Task claimed, @Nullable Throwable thrown) {
		if (thrown == null || thrown instanceof NothingWaitsException) {
			// in the second case, another call has continued it
			this.continuations.remove(claimed);
		}
		else if (thrown instanceof TurnInProgressException) {
			this.delivery.giveBack(claimed, pause());
		}
		else if (thrown instanceof ShuttingDownException || thrown instanceof TurnHandedOverException) {
			this.delivery.giveBack(claimed, Duration.ZERO);
		}
		else {
			this.delivery.failed(claimed, why(thrown));
		}
	}

	private void goOn(DecidedTurn turn) {
		ActingCaller.asOwner(turn.key(), () -> {
			ChatClientRequestSpec call = call(turn);
			if (this.streams != null) {
				this.streams.complete(call);
			}
			else {
				call.call().chatResponse();
			}
			return turn;
		});
	}

	private ChatClientRequestSpec call(DecidedTurn turn) {
		ChatClientRequestSpec call = this.continuation.call(turn);
		if (call == null) {
			throw new UnfitContinuationException("The TurnContinuation has returned null. Return the call.");
		}
		return call.advisors(SessionAdvisor.session(turn.key())).advisors(new ContinuationCheck());
	}

	private Duration pause() {
		Duration lease = this.delivery.lease();
		return (lease.compareTo(PAUSE) < 0) ? lease : PAUSE;
	}

	/**
	 * Returns the text of an exception that quotes nothing, and the class of any other.
	 */
	private static String why(Throwable ex) {
		if (ex instanceof UnfitContinuationException) {
			return String.valueOf(ex.getMessage());
		}
		boolean quotesNothing = ex instanceof ResumeRefusedException || ex instanceof SessionConflictException;
		return ex.getClass().getName() + (quotesNothing ? ": " + ex.getMessage() : ".");
	}

	/**
	 * Lets nothing more begin, and waits for the calls at work, for 10 seconds at most.
	 * Nothing is interrupted. Call {@link Conversations#drain} before, so that turns stop
	 * at their next step.
	 */
	@Override
	public void close() {
		this.continuations.removeRunner(this.runner);
		this.looking.close();
		this.threads.shutdown();
		try {
			this.threads.awaitTermination(PATIENCE.toMillis(), TimeUnit.MILLISECONDS);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
		finally {
			this.renewals.close();
		}
	}

	/** Says which turns could not be continued. */
	private static final class Warnings implements Delivery.Report<Task> {

		@Override
		public void triedAgain(Task claimed, String why) {
			logger.warn("Turn " + claimed.turnId() + " of session " + claimed.key()
					+ ", whose calls are decided, could not be continued: " + why + " This is tried again.");
		}

		@Override
		public void givenUp(Task claimed, String why) {
			logger.warn("Turn " + claimed.turnId() + " of session " + claimed.key()
					+ ", whose calls are decided, was given up after " + MAX_ATTEMPTS + " attempts to continue it: "
					+ why + " A call without a message continues it, or says why it cannot.");
		}

	}

	/**
	 * Builds {@link TurnContinuations}. Not safe for use by many threads.
	 */
	public static final class Builder {

		private final Conversations conversations;

		private final Approvals approvals;

		private final TurnContinuation continuation;

		private Duration interval = Duration.ofSeconds(10);

		private int threads = 4;

		private @Nullable TurnStreams streams;

		/** The time for which a notice is claimed; null for the lease of its turn. */
		private @Nullable Duration lease;

		private Builder(Conversations conversations, Approvals approvals, TurnContinuation continuation) {
			this.conversations = conversations;
			this.approvals = approvals;
			this.continuation = continuation;
		}

		/**
		 * Sets the time after which to look for decisions of other processes, and for
		 * turns that are to be tried again. The default is ten seconds.
		 * @param interval the time, positive
		 * @return this builder
		 * @throws IllegalArgumentException if the interval is not positive
		 */
		public Builder interval(Duration interval) {
			if (interval.isNegative() || interval.isZero()) {
				throw new IllegalArgumentException(
						"Turns are continued with an interval above zero, not " + interval + ".");
			}
			this.interval = interval;
			return this;
		}

		/**
		 * Sets how many turns this process continues at the same time. The default is
		 * four.
		 * @param threads the number, 1 or more
		 * @return this builder
		 * @throws IllegalArgumentException if the number is less than 1
		 */
		public Builder threads(int threads) {
			if (threads < 1) {
				throw new IllegalArgumentException("Turns are continued with 1 thread or more, not " + threads + ".");
			}
			this.threads = threads;
			return this;
		}

		/**
		 * Lets pages read the calls as they are made, by {@link TurnStreams#running}, and
		 * stop them. The calls are streamed then. Without it, or with streams that cannot
		 * be resumed, they are not.
		 * @param streams the streams
		 * @return this builder
		 */
		public Builder streams(TurnStreams streams) {
			this.streams = streams.areResumable() ? streams : null;
			return this;
		}

		Builder lease(@Nullable Duration lease) {
			this.lease = lease;
			return this;
		}

		/**
		 * Starts to continue turns.
		 * @return the running continuations
		 * @throws UnsupportedOperationException if the store does not list records of all
		 * owners
		 */
		public TurnContinuations start() {
			TurnContinuations started = new TurnContinuations(this);
			started.continuations.checkListed();
			warnUnlessStored(started.continuations);
			started.continuations.addRunner(started.runner);
			started.looking.start();
			return started;
		}

		private static void warnUnlessStored(Continuations continuations) {
			if (!continuations.areStored()) {
				logger
					.warn("The Approvals store no notices of decisions, so turns that are decided in this process wait"
							+ " for a call. Build them with Approvals.Builder.continuations(true).");
			}
		}

	}

}
