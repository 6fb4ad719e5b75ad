package io.sessionkit.internal.turn;

import java.util.List;
import java.util.Objects;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;

import io.sessionkit.OnCancel;
import io.sessionkit.Session;
import io.sessionkit.SessionKey;
import io.sessionkit.Turn;
import io.sessionkit.TurnResult;
import io.sessionkit.TurnStatus;
import io.sessionkit.internal.commit.RecordedTurn;
import io.sessionkit.internal.commit.TurnHold;
import io.sessionkit.internal.commit.TurnKeeper;
import io.sessionkit.internal.opening.TurnPlace;
import io.sessionkit.internal.opening.TurnRequest;
import io.sessionkit.internal.opening.TurnStart;
import io.sessionkit.internal.round.Rounds;
import io.sessionkit.internal.round.Transcript;
import io.sessionkit.internal.round.TurnEvents;
import io.sessionkit.observation.ObservedCall;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.ai.chat.model.ChatResponse;

/**
 * Ends the work of one call on a turn, once: the first of {@link #complete},
 * {@link #fail}, {@link #cancel}, {@link #pause}, {@link #abandon} and {@link #giveUp}
 * does. After that, {@code complete} and {@code pause} throw, and the others do nothing.
 * Safe for use by many threads.
 */
final class TurnEnding implements TurnHold.Held {

	/** What is said of a turn is found under one name. */
	private static final Log logger = LogFactory.getLog(RunningTurn.class);

	private final TurnParts parts;

	private final TurnInput input;

	private final TurnPrompt prompt;

	private final Rounds rounds;

	private final TurnEvents events;

	private boolean closed;

	/** Held while a part is stored; guards whether the turn is closed. */
	private final Lock ending = new ReentrantLock();

	TurnEnding(TurnParts parts, TurnInput input) {
		this.parts = parts;
		this.input = input;
		this.prompt = parts.prompt();
		this.rounds = parts.rounds();
		this.events = parts.events();
	}

	private TurnKeeper keeper() {
		return this.parts.keeper();
	}

	@Override
	public SessionKey key() {
		return this.parts.start().key();
	}

	/**
	 * Returns what was recorded of the turn. It contains no messages while guards have
	 * not let the input pass.
	 */
	@Override
	public RecordedTurn recorded() {
		if (this.input.check().isPending()) {
			return new RecordedTurn(List.of(), List.of(), this.rounds.rounds(), false, null, this.prompt.isOverLimit());
		}
		Transcript.Recording said = this.rounds.recording();
		boolean isStored = keeper().stored() != null;
		return new RecordedTurn(isStored ? List.of() : this.prompt.asked(this.parts.start().startedAt()),
				said.entriesFrom(keeper().storedEntries()), said.rounds(), said.answered(), said.reply(),
				this.prompt.isOverLimit());
	}

	@Override
	public boolean isClosed() {
		this.ending.lock();
		try {
			return this.closed;
		}
		finally {
			this.ending.unlock();
		}
	}

	/** A thread that ends the turn meanwhile waits for the work. */
	@Override
	public void alone(Runnable work) {
		this.ending.lock();
		try {
			work.run();
		}
		finally {
			this.ending.unlock();
		}
	}

	private boolean close() {
		boolean first = closeOnce();
		ObservedCall observed = this.parts.start().request().observed();
		if (first && this.prompt.isAsked() && observed != ObservedCall.NONE) {
			observed.viewed(this.prompt.tokens(), this.prompt.isTrimmed());
		}
		return first;
	}

	private boolean closeOnce() {
		this.ending.lock();
		try {
			boolean first = !this.closed;
			this.closed = true;
			freeze();
			return first;
		}
		finally {
			this.ending.unlock();
		}
	}

	private void closeOrThrow() {
		if (!close()) {
			throw new IllegalStateException("The turn on session " + key() + " is over already.");
		}
	}

	void freeze() {
		this.rounds.freeze();
		this.parts.attributes().endRunning();
		this.parts.forgotten().endRunning();
	}

	/** @see RunningTurn#pause */
	TurnResult pause() {
		closeOrThrow();
		Turn stored = Objects.requireNonNull(keeper().stored());
		endUnwritten();
		this.events.paused(stored);
		return new TurnResult(key(), stored, keeper().items(), this.prompt.isOverLimit());
	}

	/** @see RunningTurn#abandon */
	void abandon(Throwable cause) {
		if (close()) {
			try {
				keeper().abandon(cause);
			}
			finally {
				this.parts.endUse();
			}
		}
	}

	/** @see RunningTurn#giveUp */
	void giveUp() {
		if (close()) {
			try {
				keeper().giveUp(recorded());
			}
			finally {
				this.parts.endUse();
			}
		}
	}

	/** @see RunningTurn#complete */
	TurnResult complete(@Nullable ChatResponse answer) {
		closeOrThrow();
		try {
			TurnResult result = keeper().complete(recorded(), answer);
			if (result.turn().status() == TurnStatus.COMPLETED) {
				committed(result.turn());
			}
			return result;
		}
		finally {
			endStored();
		}
	}

	private void committed(Turn turn) {
		TurnStart start = this.parts.start();
		TurnRequest request = start.request();
		TurnPlace place = start.place();
		boolean follows = request.isStored() && place.becomesHead() && !place.startsAnew();
		Session before = follows ? start.base() : null;
		this.parts.setup().views().committed(before, turn, this.events::summarized);
	}

	/** A turn that is still open may know more of its tools than is stored. */
	private void endStored() {
		if (keeper().isOpen()) {
			endUnwritten();
		}
		else {
			this.parts.endUse();
		}
	}

	/**
	 * Ends the work of this call on the turn: stores what is still known of its tools and
	 * gives the lease back. Nothing more of the turn itself is written.
	 */
	private void endUnwritten() {
		if (keeper().isOpen() && !this.parts.forgotten().isEmpty()) {
			logger.warn("The turn on session " + key() + " stays open, and the messages that it was to forget stay"
					+ " too: only the call that ends a turn forgets any.");
		}
		try {
			this.rounds.gate().ending();
		}
		catch (RuntimeException ex) {
			logger.warn("What is known of the tools of the open turn on session " + key() + " could not be stored: "
					+ ex.getClass().getName());
		}
		finally {
			this.parts.endUse();
		}
	}

	/** @see RunningTurn#fail */
	void fail(Throwable cause) {
		if (close()) {
			try {
				keepPartialReply(cause::addSuppressed);
				keeper().fail(recorded(), cause,
						this.parts.use().lease().isHeld() && this.rounds.gate().endsTurn(cause));
			}
			finally {
				endUnwritten();
			}
		}
	}

	/** @see RunningTurn#cancel(OnCancel) */
	void cancel(OnCancel onCancel) {
		freeze();
		if (!close()) {
			return;
		}
		try {
			if (!completeUnseen(onCancel)) {
				keepPartialReply(this::partialReplyIsLost);
				keeper().cancel(recorded());
			}
		}
		catch (RuntimeException ex) {
			logger.warn("The cancelled turn on session " + key() + " could not be stored: " + ex.getClass().getName());
		}
		finally {
			this.events.over();
			endUnwritten();
		}
	}

	/**
	 * Records the partial reply. If it cannot be stored, the turn is kept without it.
	 */
	private void keepPartialReply(Consumer<RuntimeException> failed) {
		try {
			this.rounds.keepPartialReply();
		}
		catch (RuntimeException ex) {
			failed.accept(ex);
		}
	}

	private void partialReplyIsLost(RuntimeException ex) {
		logger.warn("What was said in the cancelled turn on session " + key() + " could not be stored: "
				+ ex.getClass().getName());
	}

	/**
	 * Completes the turn of a caller that has disconnected, if it has an answer that no
	 * hook still has to check.
	 * @return whether the turn is history now
	 */
	private boolean completeUnseen(OnCancel onCancel) {
		if (this.parts.hooks().checksReplies() || this.input.check().isPending()) {
			return false;
		}
		return isStoredUnseen(onCancel);
	}

	/** A turn that cannot be stored as completed is kept as cancelled, if that can be. */
	private boolean isStoredUnseen(OnCancel onCancel) {
		try {
			boolean answered = this.rounds.isAnswerWhole()
					|| (onCancel == OnCancel.KEEP && this.rounds.answerWithDelivered());
			return answered && keeper().completeUnseen(recorded());
		}
		catch (RuntimeException ex) {
			logger.warn("What was said in the cancelled turn on session " + key()
					+ " could not be stored as its answer: " + ex.getClass().getName());
			return false;
		}
	}

	/** @see RunningTurn#drop */
	void drop() {
		if (this.parts.start().isContinued()) {
			cancel(OnCancel.DISCARD);
		}
		else {
			this.events.over();
		}
		this.parts.endUse();
	}

}
