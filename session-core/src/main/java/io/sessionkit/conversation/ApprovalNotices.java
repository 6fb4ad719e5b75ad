package io.sessionkit.conversation;

import java.time.Duration;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;

import io.sessionkit.approval.ApprovalNotice;
import io.sessionkit.approval.ToolApproval;
import io.sessionkit.codec.UnreadablePayloadException;
import io.sessionkit.codec.UnsupportedVersionException;
import io.sessionkit.internal.LookingThread;
import io.sessionkit.internal.ledger.Delivery;
import io.sessionkit.internal.ledger.Notices;
import io.sessionkit.internal.ledger.Notices.Outgoing;
import io.sessionkit.store.SessionRecord;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/**
 * Delivers the notices that tool calls wait, of all sessions, to a listener on a thread
 * of its own, until it is closed. The approvals must
 * {@linkplain Approvals.Builder#notices store notices}: a notice is stored with the pause
 * itself, so that it is delivered although the process that paused has died.
 * <p>
 * A notice is delivered at least once. It is removed when the listener has returned. If
 * the listener throws, it is delivered again at the first look after a second, then each
 * time after twice as long, up to an hour; after {@value #MAX_ATTEMPTS} attempts it is
 * given up, with a warning. If the process dies meanwhile, or the listener takes longer
 * than {@link #LEASE}, another process delivers the notice again. The
 * {@linkplain ApprovalNotice#id() id} tells a repetition. A notice goes with its session.
 * It may come late, for calls that are decided or have expired by then.
 * <p>
 * Several processes may deliver the notices of one store; each notice goes to one of
 * them. A pause of this process wakes the delivery at once; all others are found within
 * the interval. A slow listener delays other notices of this process, and no turn; one
 * that never returns stops the delivery of this process, so it must limit its time. The
 * listener runs without a caller.
 */
public final class ApprovalNotices implements AutoCloseable {

	/** The time after which another process delivers a notice again. */
	public static final Duration LEASE = Delivery.LEASE;

	/** The maximum number of deliveries of a notice. */
	public static final int MAX_ATTEMPTS = Delivery.MAX_ATTEMPTS;

	private static final int MOST_REQUESTED = 1_000;

	private static final Log logger = LogFactory.getLog(ApprovalNotices.class);

	private final Approvals approvals;

	private final Notices notices;

	private final Consumer<? super ApprovalNotice> listener;

	private final Delivery<Outgoing> delivery;

	private final LookingThread thread;

	/** Calls of this process whose notices need not be looked for. */
	private final Queue<ToolApproval> requested = new ArrayBlockingQueue<>(MOST_REQUESTED);

	private ApprovalNotices(Builder builder) {
		this.approvals = builder.approvals;
		this.notices = builder.approvals.notices();
		this.listener = builder.listener;
		this.delivery = new Delivery<>(this.notices, builder.lease, new Warnings());
		this.thread = new LookingThread("sessionkit-notices", "Notices of calls that wait", this::look,
				builder.interval);
	}

	/**
	 * Creates a builder.
	 * @param approvals the approvals whose pauses are stored with notices
	 * @param listener receives the notices, one after another
	 * @return the builder
	 */
	public static Builder builder(Approvals approvals, Consumer<? super ApprovalNotice> listener) {
		return new Builder(approvals, listener);
	}

	/**
	 * Has the notice of a call delivered that waits now, before those of other processes.
	 * If there are too many, it is found among those.
	 */
	void requested(ToolApproval call) {
		this.requested.offer(call);
		this.thread.wake();
	}

	private void look() {
		deliverRequested();
		if (this.thread.isDue()) {
			deliverAll();
		}
	}

	/** A notice has the id of the first call of its reply. */
	private void deliverRequested() {
		for (ToolApproval call = this.requested.poll(); call != null
				&& !this.thread.isClosed(); call = this.requested.poll()) {
			this.notices.find(call.key(), call.id()).ifPresent(this::deliver);
		}
	}

	/** A session that cannot be written now must keep no others waiting. */
	private void deliverAll() {
		AtomicReference<@Nullable RuntimeException> failure = new AtomicReference<>();
		this.notices.each((record) -> {
			if (!this.thread.isClosed()) {
				deliverNext(record).ifPresent(failure::set);
			}
			return !this.thread.isClosed();
		});
		RuntimeException last = failure.get();
		if (last != null && !this.thread.isClosed()) {
			throw last;
		}
	}

	/** Returns why a notice could not be claimed or finished. */
	private Optional<RuntimeException> deliverNext(SessionRecord record) {
		try {
			deliverRequested();
			deliver(record);
			return Optional.empty();
		}
		catch (RuntimeException ex) {
			logger.debug("Notice " + record.id() + " of session " + record.key() + " could not be claimed or finished: "
					+ ex.getClass().getName());
			return Optional.of(ex);
		}
	}

	private void deliver(SessionRecord record) {
		Outgoing seen = read(record);
		Outgoing claimed = (seen != null && this.delivery.isDue(seen)) ? this.delivery.claim(seen) : null;
		if (claimed != null && this.delivery.mayTry(claimed,
				"its process has died, or its listener has taken too long, each time")) {
			deliver(claimed);
		}
	}

	/**
	 * Returns null for a notice that is not to be delivered. One that this version cannot
	 * read waits for one that can.
	 */
	private @Nullable Outgoing read(SessionRecord record) {
		try {
			return this.notices.read(record);
		}
		catch (UnreadablePayloadException | UnsupportedVersionException ex) {
			logger.debug("Notice " + record.id() + " of session " + record.key() + " cannot be read here: "
					+ ex.getClass().getName());
			return null;
		}
	}

	private void deliver(Outgoing claimed) {
		try {
			this.listener.accept(claimed.notice());
		}
		catch (Exception | LinkageError | AssertionError ex) {
			this.delivery.failed(claimed, "its listener threw " + ex.getClass().getName());
			return;
		}
		this.notices.delivered(claimed);
	}

	/**
	 * Stops the delivery and waits for the listener, for 10 seconds at most. Nothing is
	 * interrupted, because an interrupt would break some databases.
	 */
	@Override
	public void close() {
		this.approvals.listeners().remove(this);
		this.thread.close();
	}

	/** Says which notices could not be delivered. */
	private static final class Warnings implements Delivery.Report<Outgoing> {

		@Override
		public void triedAgain(Outgoing claimed, String why) {
			logger.warn("Notice " + claimed.notice().id() + " of session " + claimed.notice().key()
					+ " was not delivered: " + why + ". It is delivered again.");
		}

		@Override
		public void givenUp(Outgoing claimed, String why) {
			logger.warn("Notice " + claimed.notice().id() + " of session " + claimed.notice().key()
					+ " was given up after " + MAX_ATTEMPTS + " attempts: " + why + ". The inbox still has its calls.");
		}

	}

	/**
	 * Builds {@link ApprovalNotices}. Not safe for use by many threads.
	 */
	public static final class Builder {

		private final Approvals approvals;

		private final Consumer<? super ApprovalNotice> listener;

		private Duration interval = Duration.ofSeconds(10);

		private Duration lease = LEASE;

		private Builder(Approvals approvals, Consumer<? super ApprovalNotice> listener) {
			this.approvals = approvals;
			this.listener = listener;
		}

		/**
		 * Sets the time after which to look for notices of other processes, and for those
		 * that are to be tried again. The default is ten seconds.
		 * @param interval the time, positive
		 * @return this builder
		 * @throws IllegalArgumentException if the interval is not positive
		 */
		public Builder interval(Duration interval) {
			if (interval.isNegative() || interval.isZero()) {
				throw new IllegalArgumentException(
						"Notices need a time above zero after which to look for more, not " + interval + ".");
			}
			this.interval = interval;
			return this;
		}

		Builder lease(Duration lease) {
			this.lease = lease;
			return this;
		}

		/**
		 * Starts to deliver notices.
		 * @return the running delivery
		 * @throws UnsupportedOperationException if the store does not list records of all
		 * owners
		 */
		public ApprovalNotices start() {
			ApprovalNotices delivery = new ApprovalNotices(this);
			delivery.notices.checkListed();
			warnUnlessStored(this.approvals);
			this.approvals.listeners().register(delivery);
			delivery.thread.start();
			return delivery;
		}

		/** Those of other processes are delivered all the same. */
		private static void warnUnlessStored(Approvals approvals) {
			if (!approvals.storesNotices()) {
				logger.warn(
						"The Approvals store no notices, so nobody is told of calls that wait in this process. Build them"
								+ " with Approvals.Builder.notices(true).");
			}
		}

	}

}
