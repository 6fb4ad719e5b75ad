package io.sessionkit.internal.commit;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;

import io.sessionkit.SessionConflictException;
import io.sessionkit.SessionKey;
import io.sessionkit.TurnStatus;
import io.sessionkit.codec.MessageCodec;
import io.sessionkit.hook.HookFailedException;
import io.sessionkit.hook.SessionRefusedException;
import io.sessionkit.internal.attribute.JoiningInput;
import io.sessionkit.internal.lease.HeldLease;
import io.sessionkit.internal.lease.HeldReply;
import io.sessionkit.internal.lease.ToolLease;
import io.sessionkit.internal.lease.TurnLeases;
import io.sessionkit.internal.round.Rounds;
import io.sessionkit.internal.round.Transcript;
import io.sessionkit.store.RecordWrite;
import io.sessionkit.store.StoreUnavailableException;
import org.jspecify.annotations.Nullable;

import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.ToolResponseMessage.ToolResponse;

/**
 * The reply that one open turn holds back, and the lease under which its tools run. Safe
 * for use by many threads.
 */
public final class TurnHold {

	/**
	 * The turn, as far as holding it needs to know.
	 */
	public interface Held {

		SessionKey key();

		/** Returns what is recorded of the turn. */
		RecordedTurn recorded();

		/** Returns whether the turn is over for this call. */
		boolean isClosed();

		/** Runs work while nobody else ends the turn. */
		void alone(Runnable work);

	}

	private final Held turn;

	private final MessageCodec codec;

	private final Rounds rounds;

	private final TurnKeeper keeper;

	private final TurnLeases leases;

	private final ToolLease lease;

	private @Nullable HeldReply held;

	public TurnHold(Held turn, MessageCodec codec, Rounds rounds, TurnKeeper keeper, TurnLeases leases, ToolLease lease,
			@Nullable HeldReply held) {
		this.turn = turn;
		this.codec = codec;
		this.rounds = rounds;
		this.keeper = keeper;
		this.leases = leases;
		this.lease = lease;
		this.held = held;
	}

	/**
	 * Returns the reply that the turn holds back.
	 * @return the reply; null if there is none
	 */
	public synchronized @Nullable HeldReply reply() {
		return this.held;
	}

	/**
	 * Sets what hooks have left of the queued messages. If the reply is stored again, so
	 * is what they have written for these, and they are not asked again.
	 * @param checked the messages
	 */
	public synchronized void queued(List<JoiningInput> checked) {
		HeldReply holding = Objects.requireNonNull(this.held);
		this.held = new HeldReply(holding.reply(), holding.notes(), checked);
	}

	/**
	 * Stores what was recorded of the turn and holds a reply back, so that any call that
	 * finds the turn can continue it.
	 * @param reply the reply
	 * @param notes the values that are kept with the reply
	 * @param status the status of the turn until it continues
	 * @param records the records that are written with it
	 * @param goesOn whether this call continues the turn at once
	 * @throws IllegalStateException if the turn is over
	 * @throws SessionRefusedException if a hook refuses what is to be stored
	 * @throws HookFailedException if a hook fails on it
	 * @throws SessionConflictException if another writer changed the session
	 */
	public void store(AssistantMessage reply, Map<String, Object> notes, TurnStatus status, List<RecordWrite> records,
			boolean goesOn) {
		HeldReply holding = new HeldReply((AssistantMessage) this.codec.storable(reply), notes, List.of());
		RecordedTurn recorded = this.turn.recorded();
		List<Transcript.Entry> left = this.keeper.askAboutPart(recorded, status);
		// a thread that ends the turn meanwhile waits, and then finds it stored
		this.turn.alone(() -> store(recorded, left, holding, status, records, goesOn));
	}

	/**
	 * Returns the newest reply, if its calls have been answered and nothing has been said
	 * since.
	 * @return the reply; null if the turn does not end with one
	 */
	public @Nullable AnsweredReply answered() {
		return AnsweredReply.last(this.turn.recorded().said());
	}

	/**
	 * Stores what was recorded of the turn before its newest reply, and holds that reply
	 * back although its calls have run, so that another call can continue the turn.
	 * @param answered the reply
	 * @param notes the values that are kept with the reply
	 * @param records the records that are written with it
	 * @throws IllegalStateException if the turn is over
	 * @throws SessionRefusedException if a hook refuses what is to be stored
	 * @throws HookFailedException if a hook fails on it
	 * @throws SessionConflictException if another writer changed the session
	 */
	public void storeAnswered(AnsweredReply answered, Map<String, Object> notes, List<RecordWrite> records) {
		HeldReply holding = new HeldReply((AssistantMessage) this.codec.storable(answered.reply()), notes, List.of());
		RecordedTurn recorded = this.turn.recorded().withoutAnswered();
		List<Transcript.Entry> left = this.keeper.askAboutPart(recorded, TurnStatus.INCOMPLETE);
		this.turn.alone(() -> store(recorded, left, holding, TurnStatus.INCOMPLETE, records, false));
	}

	/**
	 * Stores with the held reply what the turn has changed of the attributes, after its
	 * calls have run.
	 * @param notes the values that are kept with the reply in addition
	 * @throws SessionConflictException if another writer changed the turn
	 */
	public void storeAttributes(Map<String, Object> notes) {
		HeldReply holding = Objects.requireNonNull(reply()).noting(notes);
		this.turn.alone(() -> {
			this.lease.checkRunning(this.turn.isClosed());
			this.keeper.storeAttributes(holding);
		});
	}

	private void store(RecordedTurn recorded, List<Transcript.Entry> left, HeldReply holding, TurnStatus status,
			List<RecordWrite> records, boolean goesOn) {
		this.lease.checkRunning(this.turn.isClosed());
		TurnLeases.Taking taking = (goesOn && !this.lease.isTaken()) ? this.leases.beginning(this.turn.key()) : null;
		List<RecordWrite> all = new ArrayList<>(records);
		if (taking != null) {
			all.add(taking.write());
		}
		try {
			this.keeper.hold(recorded, left, holding, status, all);
		}
		catch (StoreUnavailableException ex) {
			if (taking != null) {
				this.leases.unanswered(this.turn.key(), taking, ex);
			}
			throw ex;
		}
		if (taking != null) {
			this.lease.take(taking.taken());
		}
		holds(holding);
	}

	private synchronized void holds(HeldReply holding) {
		this.held = holding;
	}

	/**
	 * Makes the held reply part of the turn. Its tools run next.
	 * @return the reply
	 */
	public AssistantMessage release() {
		HeldReply released = Objects.requireNonNull(reply());
		this.rounds.released(released.reply());
		return released.reply();
	}

	/**
	 * Makes the held reply and the answers to its calls part of the turn, which is given
	 * up and ends with them.
	 * @param results the answers
	 */
	public void giveUp(List<ToolResponse> results) {
		release();
		this.rounds.givenUp(results);
	}

	/**
	 * Runs work for this turn that must not run without its lease. The lease is kept
	 * until the work is done, even if the turn ends before.
	 * @param work the work
	 * @param <T> the type of the result
	 * @return the result of the work
	 * @throws IllegalStateException if the turn is over for this call
	 * @throws io.sessionkit.TurnInProgressException if the lease was lost; nothing was
	 * run
	 */
	public <T> T underLease(Function<HeldLease, T> work) {
		return this.lease.run(work);
	}

}
