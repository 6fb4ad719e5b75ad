package io.sessionkit.internal.turn;

import java.util.List;
import java.util.function.Supplier;

import io.sessionkit.OnCancel;
import io.sessionkit.SessionConflictException;
import io.sessionkit.SessionKey;
import io.sessionkit.SessionLostException;
import io.sessionkit.TurnResult;
import io.sessionkit.hook.HookFailedException;
import io.sessionkit.hook.SessionRefusedException;
import io.sessionkit.internal.attribute.TurnAttributes;
import io.sessionkit.internal.commit.TurnHold;
import io.sessionkit.internal.line.Admission;
import io.sessionkit.internal.line.Answer;
import io.sessionkit.internal.line.Drain;
import io.sessionkit.internal.line.Offering;
import io.sessionkit.internal.opening.ContinuedTurn;
import io.sessionkit.internal.opening.TurnPlace;
import io.sessionkit.internal.opening.TurnRequest;
import io.sessionkit.internal.opening.TurnStart;
import io.sessionkit.internal.round.HookedTurn;
import io.sessionkit.internal.round.InputCheck;
import io.sessionkit.internal.round.TurnGate;
import io.sessionkit.observation.ObservedCall;
import io.sessionkit.store.CommitFailedException;
import io.sessionkit.store.RecordWrite;
import io.sessionkit.store.SessionRecord;
import org.jspecify.annotations.Nullable;

import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.model.ChatResponse;

/**
 * A turn between its question and its end. The first of {@link #complete}, {@link #fail},
 * {@link #cancel}, {@link #pause}, {@link #abandon} and {@link #giveUp} ends the work of
 * this call on it. After that, {@code complete} and {@code pause} throw, and the others
 * do nothing. The call leaves the line, if it stands in one, when that work ends.
 * <p>
 * Safe for use by many threads, as streams require: what arrives after {@link #freeze} or
 * after the end is ignored or refused.
 */
public final class RunningTurn {

	private final TurnStart start;

	private final TurnParts parts;

	private final TurnInput input;

	private final ToolLoop loop;

	private final TurnEnding ending;

	/** Null until the turn may hold a reply back. */
	private @Nullable TurnHold hold;

	/**
	 * Creates a turn that begins with an input, which is still to be checked.
	 */
	RunningTurn(TurnParts parts, TurnInput input) {
		this.start = parts.start();
		this.parts = parts;
		this.input = input;
		this.loop = new ToolLoop(parts.prompt(), parts.rounds(), parts.hooks(), parts.events(), input::check);
		this.ending = new TurnEnding(parts, input);
		Admission admission = parts.use().admission();
		if (admission != null) {
			workInLine(admission);
		}
	}

	/**
	 * Creates a turn that goes on behind what earlier calls have stored of it.
	 */
	RunningTurn(TurnParts parts) {
		this(parts, new TurnInput(parts));
	}

	private void workInLine(Admission admission) {
		admission.working(new Answer(this.start.id(), this.start.firstNumber()));
		Offering offering = admission.offering();
		if (offering != null && followsSession()) {
			this.loop.steering(new TurnSteering(offering, this.start.agent(), this.start.turns(), this.parts.rounds(),
					this.parts.checks()));
		}
	}

	/**
	 * Returns whether messages of other calls may join the turn: it is sent the history
	 * that they would be sent as turns of their own.
	 */
	private boolean followsSession() {
		TurnPlace place = this.start.place();
		return place.becomesHead() && (!this.parts.prompt().isGiven() || place.startsAnew());
	}

	/**
	 * Begins the turn: checks that everything that the caller has passed can be sent,
	 * runs the hooks on it, and asks the merge for the messages to send.
	 */
	void begin() {
		observed().opened(id());
		this.input.checkPassed();
		try {
			this.input.begin();
		}
		catch (Throwable ex) {
			fail(ex);
			throw ex;
		}
	}

	/**
	 * Goes on with a continued turn: runs the hooks on the messages that were queued
	 * while it waited, and asks the merge which part of the history to send.
	 * @throws SessionRefusedException if a hook refuses the messages; nothing has changed
	 */
	void goOn() {
		ContinuedTurn continued = this.start.continued();
		if (continued != null) {
			this.input.again(continued, holding());
		}
	}

	/**
	 * Takes the messages that callers have queued into a turn that is to end without the
	 * model. Those that a hook refuses or answers are left out.
	 * @return how many calls have queued messages that are left out. If a hook throws
	 * anything else, it is thrown as it is, and nothing has changed
	 */
	public int takeQueued() {
		return this.input.takeQueued(holding());
	}

	/**
	 * Returns whether a continued turn still stands on the head of the session, so that
	 * it can become history.
	 * @return false if the session has moved on, and for a new turn
	 */
	public boolean isOnHead() {
		return this.start.isOnHead();
	}

	/**
	 * Returns whether the history is there that the call has brought which opened the
	 * turn.
	 * @return true also for a turn whose call has brought none
	 */
	boolean hasItsHistory() {
		return this.start.hasItsHistory();
	}

	/**
	 * Returns the tool loop of the turn.
	 * @return the same object each time
	 */
	public ToolLoop loop() {
		return this.loop;
	}

	/**
	 * Returns the check of the input by guards that run beside the model.
	 * @return the check; one that has passed if there are no such guards
	 */
	public InputCheck inputCheck() {
		return this.input.check();
	}

	/**
	 * Returns the key of the session that the turn belongs to.
	 * @return the key
	 */
	public SessionKey key() {
		return this.start.key();
	}

	/**
	 * Returns the turn as its tools see it.
	 * @return the turn to bind to them
	 */
	public HookedTurn running() {
		return this.parts.context().running();
	}

	/**
	 * Returns the attributes of the session as this turn has them.
	 * @return the same object each time
	 */
	public TurnAttributes attributes() {
		return this.parts.attributes();
	}

	/**
	 * Returns the messages that follow the system text when the turn begins.
	 * @return the history and the input, or what a merge has made of them
	 */
	public List<Message> messages() {
		return this.parts.prompt().messages();
	}

	/**
	 * Returns the answer that a hook gave before the tool loop. If there is one, the loop
	 * need not run.
	 * @return the answer; null if there is none
	 */
	public @Nullable ChatResponse answer() {
		return this.input.answer();
	}

	/**
	 * Returns the id of the turn.
	 * @return the id
	 */
	public String id() {
		return this.start.id();
	}

	/**
	 * Returns the observer of the call.
	 * @return the observer; one that observes nothing if there is none
	 */
	public ObservedCall observed() {
		return request().observed();
	}

	/**
	 * Returns the data with which the turn starts.
	 * @return the request of the call that opened or continues the turn
	 */
	public TurnRequest request() {
		return this.start.request();
	}

	/**
	 * Returns the name of the agent that handles this turn.
	 * @return the agent that was named by the call that opened the turn; null if it named
	 * none
	 */
	public @Nullable String agent() {
		return this.start.agent();
	}

	/**
	 * Returns whether another call could continue the turn if this one stopped at a step.
	 * @return false if the turn is not stored, if a transaction of the caller may roll
	 * back what is stored, or if the turn has messages to forget, which are not kept with
	 * a part of it
	 */
	public boolean canBeHandedOver() {
		return request().isStored() && this.parts.forgotten().isEmpty() && !this.parts.setup().store().mayRollBack();
	}

	/**
	 * Returns whether this call continues a turn that another call has left open.
	 * @return false if the turn is a new one
	 */
	public boolean isContinued() {
		return this.start.isContinued();
	}

	/**
	 * Returns the exception for a session that was erased or has expired since the turn
	 * was opened.
	 * @return the exception; null if the session is there
	 */
	public @Nullable SessionLostException lost() {
		return this.parts.keeper().lost(null);
	}

	/**
	 * Returns the reply that the turn holds back, and the lease under which its tools
	 * run.
	 * @return the same object each time
	 */
	public synchronized TurnHold holding() {
		TurnHold known = this.hold;
		if (known == null) {
			TurnSetup setup = this.parts.setup();
			known = new TurnHold(this.ending, setup.codec(), this.parts.rounds(), this.parts.keeper(), setup.leases(),
					this.parts.use().lease(), this.start.held());
			this.hold = known;
		}
		return known;
	}

	/**
	 * Sets the work of this process that ends when the call ends. As long as it lasts,
	 * the session does not expire.
	 * @param counted the work
	 */
	public void atWork(Drain.Work counted) {
		this.parts.use().atWork(counted);
	}

	/** Notes that the turn stops at a step, since its process shuts down. */
	public void handedOver() {
		this.parts.use().handedOver();
	}

	/**
	 * Returns the records of one kind that were read with the turn that this call
	 * continues.
	 * @param kind one of the kinds that are read to continue a turn
	 * @return the records; none for a new turn
	 */
	public List<SessionRecord> records(String kind) {
		return this.start.records(kind);
	}

	/**
	 * Returns the number of model calls in the turn, including those of earlier calls.
	 * @return the number
	 */
	public int roundNumber() {
		return this.start.earlierRounds() + this.parts.rounds().rounds().size();
	}

	/**
	 * Registers the gate that checks replies before their tools run.
	 * @param gate the gate
	 */
	public void gate(TurnGate gate) {
		holding();
		this.parts.rounds().gate().register(gate);
		alongside(gate::records);
	}

	/**
	 * Registers what supplies the gate of a turn that has none, while its process shuts
	 * down.
	 * @param supplier supplies the gate; null to continue
	 */
	public void stopping(Supplier<@Nullable TurnGate> supplier) {
		this.parts.rounds().gate().stopping(supplier);
	}

	/**
	 * Registers records to write together with the next part of the turn, in addition to
	 * those of its gate.
	 * @param records supplies the records when the part is written
	 */
	public void alongside(Supplier<List<RecordWrite>> records) {
		this.parts.keeper().alongside(records);
	}

	/**
	 * Stops recording: the caller has disconnected, and what arrives now only results
	 * from that.
	 */
	public void freeze() {
		this.ending.freeze();
	}

	/**
	 * Stores the turn as history, or as failed if there is no answer. Without an answer,
	 * a turn of which a part is stored stays open.
	 * @param answer the response that the caller is about to get; null if it is not
	 * delivered
	 * @return the turn as it is stored
	 * @throws IllegalStateException if the turn is over
	 * @throws SessionConflictException if another writer changed the session; the
	 * exception says what is kept of the turn, and carries the answer
	 * @throws io.sessionkit.SessionLostException if the session was erased or has
	 * expired; the exception carries the answer
	 * @throws CommitFailedException if the store failed; the exception carries the answer
	 * @throws SessionRefusedException if a hook refused what is to be stored; the turn is
	 * kept beside the history, without the answer
	 * @throws HookFailedException if a hook failed on what is to be stored; the turn is
	 * kept in the same way
	 */
	public TurnResult complete(@Nullable ChatResponse answer) {
		return this.ending.complete(answer);
	}

	/**
	 * Ends this call on a turn that waits. This call writes nothing more of the turn.
	 * @return the turn as it is stored
	 * @throws IllegalStateException if the turn is over
	 */
	public TurnResult pause() {
		return this.ending.pause();
	}

	/**
	 * Abandons the turn before this call has started working on it; nothing further is
	 * stored.
	 * @param cause the reason why this call does not work on the turn
	 */
	public void abandon(Throwable cause) {
		this.ending.abandon(cause);
	}

	/**
	 * Ends a turn that waits as cancelled, beside the history.
	 */
	public void giveUp() {
		this.ending.giveUp();
	}

	/**
	 * Keeps the turn with what was recorded of it: as refused if a refusal ended it,
	 * otherwise as failed. It does not become history, so a retry sends the question only
	 * once. A turn of which a part is stored stays open, unless it was refused or no
	 * other call could continue it; if the lease was lost, another one may do so already.
	 * @param cause the cause of the end; errors that occur here are added to it as
	 * suppressed
	 */
	public void fail(Throwable cause) {
		this.ending.fail(cause);
	}

	/**
	 * Keeps the turn of a caller that has disconnected: as completed if the answer was
	 * complete, otherwise as cancelled with what was recorded. If replies are held back
	 * or guards are still checking the input, the caller has seen nothing yet, so the
	 * turn is cancelled in any case. Errors are logged, because no caller is left to
	 * report them to.
	 */
	public void cancel() {
		cancel(OnCancel.DISCARD);
	}

	/**
	 * Keeps the turn of a caller that has disconnected, like {@link #cancel()}, but with
	 * {@link OnCancel#KEEP} also as completed if a part of the answer was handed to the
	 * caller. If that part cannot become history, because a hook refuses it, another
	 * writer was first or the store fails, the turn is kept as cancelled.
	 * @param onCancel the rule for such a part
	 */
	public void cancel(OnCancel onCancel) {
		this.ending.cancel(onCancel);
	}

	/**
	 * Drops the turn of a caller that has disconnected before anything was done with it.
	 * A new turn has stored nothing yet, so only a continued turn is cancelled.
	 */
	public void drop() {
		this.ending.drop();
	}

}
