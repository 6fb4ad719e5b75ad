package io.sessionkit.internal.turn;

import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;

import io.sessionkit.context.InvalidSequenceException;
import io.sessionkit.hook.SessionRefusedException;
import io.sessionkit.internal.attribute.JoiningInput;
import io.sessionkit.internal.commit.TurnHold;
import io.sessionkit.internal.lease.HeldReply;
import io.sessionkit.internal.opening.ContinuedTurn;
import io.sessionkit.internal.opening.TurnRequest;
import io.sessionkit.internal.round.HookRun;
import io.sessionkit.internal.round.InputCheck;
import org.jspecify.annotations.Nullable;

import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.model.ChatResponse;

/**
 * What is said to one turn: the input of its call, or the messages that callers have
 * queued while it waited. The hooks check it and the merge joins it with the history,
 * once.
 */
final class TurnInput {

	private final TurnParts parts;

	private final AtomicBoolean taken = new AtomicBoolean();

	/** The check of the input by guards that run beside the model. */
	private volatile InputCheck check = InputCheck.PASSED;

	/** The answer that a hook gave before the tool loop; null if there is none. */
	private @Nullable ChatResponse answer;

	TurnInput(TurnParts parts) {
		this.parts = parts;
	}

	InputCheck check() {
		return this.check;
	}

	@Nullable ChatResponse answer() {
		return this.answer;
	}

	/**
	 * Runs the hooks on the input, which is to become part of another turn.
	 * @see OpenedTurn#toJoin
	 */
	@Nullable JoiningInput toJoin() {
		if (this.parts.hooks().isEmpty()) {
			return JoiningInput.unchecked(this.parts.prompt().input());
		}
		try {
			return this.parts.checks().joining(this.parts.prompt().input());
		}
		finally {
			this.parts.use().children().end();
		}
	}

	/**
	 * Checks that everything that the caller has passed can be sent.
	 * @throws InvalidSequenceException if it cannot
	 */
	void checkPassed() {
		TurnRequest request = this.parts.start().request();
		if (!request.onlyAsks() || request.start().isGiven()) {
			this.parts.prompt().checkPassed();
		}
	}

	/**
	 * Runs the hooks on the input of a new turn, and asks the merge for the messages to
	 * send. If the hooks do not let the input pass, nothing of it is kept; if the merge
	 * fails, it is kept as it was.
	 */
	void begin() {
		if (!this.parts.hooks().isEmpty()) {
			checkInput();
			this.parts.context().begin();
		}
		TurnMerge merge = this.parts.merge();
		if (merge != null && this.answer == null) {
			merge.begin(this.parts.setup().codec());
		}
	}

	private void checkInput() {
		TurnPrompt prompt = this.parts.prompt();
		try {
			InputChecks checks = this.parts.checks();
			HookRun.Passed<List<Message>> passed = checks.begin(prompt.input());
			this.check = checks.besideModel(passed.value());
			if (passed.replaced()) {
				prompt.changed(passed.value());
			}
			if (passed.answer() != null) {
				this.check.pass();
				this.answer = this.parts.rounds().answer(passed.answer());
			}
		}
		catch (Throwable ex) {
			prompt.input(List.of());
			throw ex;
		}
	}

	/**
	 * Takes the messages that callers have queued while the turn waited, and runs the
	 * hooks on them that were not asked before. Then asks the merge which part of the
	 * history to send; the messages of the turn stay as they are stored. A history that
	 * the call has brought which opened the turn is sent as it is.
	 * @param continued the turn as it was left open
	 * @throws SessionRefusedException if a hook refuses the messages; nothing has changed
	 * @throws IllegalStateException if a hook answers them
	 */
	void again(ContinuedTurn continued, TurnHold hold) {
		takeOnce();
		List<JoiningInput> queued = queued(hold);
		if (!queued.isEmpty()) {
			join(this.parts.checks().queued(queued), hold);
		}
		TurnMerge merge = this.parts.merge();
		if (merge != null && !this.parts.prompt().isGiven()) {
			merge.again(continued);
		}
	}

	/**
	 * Takes the messages that callers have queued into a turn that is to end without the
	 * model.
	 * @return how many calls have queued messages that are left out
	 * @see RunningTurn#takeQueued
	 */
	int takeQueued(TurnHold hold) {
		takeOnce();
		List<JoiningInput> queued = queued(hold);
		if (queued.isEmpty()) {
			return 0;
		}
		List<JoiningInput> passed = this.parts.checks().acceptable(queued);
		join(passed, hold);
		return queued.size() - passed.size();
	}

	/**
	 * Notes that the turn takes what is said to it, which would be in the history twice
	 * otherwise.
	 * @throws IllegalStateException if it has done so
	 */
	void takeOnce() {
		if (!this.taken.compareAndSet(false, true)) {
			throw new IllegalStateException("The turn on session " + this.parts.start().key() + " has begun already.");
		}
	}

	private static List<JoiningInput> queued(TurnHold hold) {
		HeldReply held = hold.reply();
		return (held != null) ? held.queued() : List.of();
	}

	private void join(List<JoiningInput> passed, TurnHold hold) {
		hold.queued(passed);
		this.parts.rounds().queue(passed.stream().flatMap((each) -> each.messages().stream()).toList());
	}

}
