package io.sessionkit.internal.turn;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.LongSupplier;

import io.sessionkit.Verdict.Phase;
import io.sessionkit.hook.HookContext;
import io.sessionkit.internal.attribute.TurnAttributes;
import io.sessionkit.internal.binding.TurnAccess;
import io.sessionkit.internal.binding.TurnBinding;
import io.sessionkit.internal.binding.TurnSession;
import io.sessionkit.internal.message.Copies;
import io.sessionkit.internal.opening.TurnStart;
import io.sessionkit.internal.round.HookedTurn;
import io.sessionkit.internal.round.Rounds;
import io.sessionkit.internal.view.ForgottenItems;
import org.jspecify.annotations.Nullable;

import org.springframework.ai.chat.messages.Message;

/**
 * One turn as its hooks, its merge and its tools see it. Safe for use by many threads.
 */
final class TurnContext {

	private final TurnStart start;

	private final TurnPrompt prompt;

	private final Rounds rounds;

	private final TurnAttributes attributes;

	private final ForgottenItems forgotten;

	private final TurnSession session;

	private final LongSupplier stored;

	private final Set<TurnSession> sessions;

	private final @Nullable TurnAccess outer;

	private final TurnChildren children;

	/**
	 * True once hooks have let the input pass, except for guards that run beside the
	 * model.
	 */
	private volatile boolean begun;

	/** True once code that runs for the turn has erased its session. */
	private volatile boolean erased;

	/**
	 * Creates the context.
	 * @param session the session of the turn
	 * @param stored supplies the number of the turn; 0 if nothing of it is stored
	 * @param forgotten the items that the turn forgets
	 * @param children the sessions that end with the call
	 * @param begun whether the messages of the turn are shown already
	 */
	TurnContext(TurnStart start, TurnSession session, LongSupplier stored, TurnPrompt prompt, Rounds rounds,
			TurnAttributes attributes, ForgottenItems forgotten, TurnChildren children, boolean begun) {
		this.start = start;
		this.session = session;
		this.stored = stored;
		this.prompt = prompt;
		this.rounds = rounds;
		this.attributes = attributes;
		this.forgotten = forgotten;
		this.children = children;
		this.begun = begun;
		this.outer = TurnBinding.running();
		this.sessions = TurnBinding.sessions(session);
	}

	/**
	 * Shows the messages of the turn from now on.
	 */
	void begin() {
		this.begun = true;
	}

	/**
	 * Returns whether code that runs for the turn has erased its session, also if that
	 * was rolled back. A session that begins with this turn is not there yet, so the
	 * store cannot tell.
	 */
	boolean isErased() {
		return this.erased;
	}

	/**
	 * Lets the turn around this one, if there is one, end its session.
	 * @param erasing erases the session
	 */
	void endWithOuter(Runnable erasing) {
		if (this.outer != null) {
			this.outer.endsWith(this.session, erasing);
		}
	}

	/**
	 * Returns the turn as its tools see it.
	 */
	HookedTurn running() {
		return bound(false);
	}

	/**
	 * Returns the turn as hooks of a phase see it.
	 */
	HookedTurn running(Phase phase) {
		return bound(phase == Phase.BEFORE_SAVE);
	}

	/**
	 * Returns the turn as hooks see it that are asked about a message which becomes part
	 * of it.
	 * @param apart the attributes that they read and write
	 */
	HookedTurn joined(TurnAttributes apart) {
		return bound(apart, this.forgotten, false);
	}

	/**
	 * Returns the turn as hooks see it that are asked about a message which may not
	 * become part of it.
	 * @param apart the attributes that they read and write
	 */
	HookedTurn offered(TurnAttributes apart) {
		return bound(apart, this.forgotten.refusing(), false);
	}

	private HookedTurn bound(boolean saving) {
		return bound(this.attributes, this.forgotten, saving);
	}

	private HookedTurn bound(TurnAttributes used, ForgottenItems items, boolean saving) {
		return new BoundTurn(() -> of(this.prompt.history(), used), this.session, this.stored, this.sessions,
				this.outer, this.children, () -> this.erased = true, used, items, saving);
	}

	/**
	 * Returns the context for a hook or merge that is given the beginning of the history.
	 */
	HookContext of(List<Message> history) {
		return of(history, this.attributes);
	}

	private HookContext of(List<Message> history, TurnAttributes used) {
		return new HookContext(this.session.key(), this.start.id(), this.start.agent(), Copies.lazy(history),
				this.prompt.turnStarts(history.size()), Copies.lazy(turn()), Copies.values(used.values()),
				this.start.request().parameters());
	}

	/**
	 * Returns the messages of the turn so far; none while hooks are still checking its
	 * input.
	 */
	private List<Message> turn() {
		if (!this.begun) {
			return List.of();
		}
		List<Message> turn = new ArrayList<>(this.prompt.input());
		this.rounds.entries().forEach((entry) -> turn.add(entry.message()));
		return turn;
	}

}
