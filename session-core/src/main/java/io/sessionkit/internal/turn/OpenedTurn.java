package io.sessionkit.internal.turn;

import java.util.List;

import io.sessionkit.SessionKey;
import io.sessionkit.Turn;
import io.sessionkit.hook.SessionRefusedException;
import io.sessionkit.internal.attribute.JoiningInput;
import io.sessionkit.internal.line.Admission;
import io.sessionkit.internal.line.Answer;
import io.sessionkit.internal.opening.TurnRequest;
import io.sessionkit.internal.round.HookedTurn;
import io.sessionkit.store.RecordWrite;
import org.jspecify.annotations.Nullable;

/**
 * A turn that was read and has not begun: {@link Turns#begin} begins it, once. Until then
 * nothing has to be done to end it.
 */
public final class OpenedTurn {

	private final TurnParts parts;

	private final TurnInput input;

	OpenedTurn(TurnParts parts) {
		this.parts = parts;
		this.input = new TurnInput(parts);
	}

	/**
	 * Returns the key of the session that the turn belongs to.
	 * @return the key
	 */
	public SessionKey key() {
		return this.parts.start().key();
	}

	/**
	 * Returns the data with which the turn starts.
	 * @return the request of the call
	 */
	public TurnRequest request() {
		return this.parts.start().request();
	}

	/**
	 * Returns the turn as those see it for which it waits.
	 * @return the turn to bind to them
	 */
	public HookedTurn running() {
		return this.parts.context().running();
	}

	/**
	 * Returns the number of the open turn of the session, which keeps this one from
	 * beginning.
	 * @return the number; 0 if there is no open turn
	 */
	public long openTurn() {
		return this.parts.start().openTurn();
	}

	/**
	 * Returns the name of the branch whose history the turn follows.
	 */
	String branch() {
		return this.parts.start().branch();
	}

	/**
	 * Runs the hooks on the input, which is to become part of another turn than this one.
	 * @return what may be stored of it until then; null if a hook answers it, so that
	 * nothing but a turn of its own can have the answer
	 * @throws SessionRefusedException if a hook refuses it; what a hook throws is thrown
	 * as it is
	 */
	public @Nullable JoiningInput toJoin() {
		return this.input.toJoin();
	}

	/**
	 * Creates the writes that store that another turn answers the request of this call.
	 * @param other the turn that waits
	 * @return the writes; none if the client of the call cannot repeat it
	 */
	List<RecordWrite> answeredBy(Turn other) {
		Admission admission = this.parts.use().admission();
		return (admission != null) ? admission.answeredBy(new Answer(other.id(), other.number())) : List.of();
	}

	RunningTurn begin() {
		this.input.takeOnce();
		RunningTurn turn = new RunningTurn(this.parts, this.input);
		turn.begin();
		return turn;
	}

}
