package io.sessionkit.internal.turn;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.LongSupplier;

import io.sessionkit.Verdict.Phase;
import io.sessionkit.hook.HookContext;
import io.sessionkit.internal.attribute.TurnAttributes;
import io.sessionkit.internal.binding.TurnAccess;
import io.sessionkit.internal.binding.TurnBinding;
import io.sessionkit.internal.binding.TurnSession;
import io.sessionkit.internal.message.Copies;
import io.sessionkit.internal.round.HookedTurn;
import io.sessionkit.internal.round.Rounds;
import io.sessionkit.internal.view.ForgottenItems;
import org.jspecify.annotations.Nullable;

import org.springframework.ai.chat.messages.Message;

/**
 * One turn as its hooks, its merge and its tools see it. Safe for use by many threads.
 */
final class TurnContext {

	private final Map<String, Object> parameters;

	private final String id;

	private final @Nullable String agent;

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
	 * @param parameters the parameters of the call, which hooks see
	 * @param session the session of the turn
	 * @param stored supplies the number of the turn; 0 if nothing of it is stored
	 * @param agent the agent of the turn, which is not always that of the call; null if
	 * it has none
	 * @param forgotten the items that the turn forgets
	 * @param children the sessions that end with the call
	 * @param begun whether the messages of the turn are shown already
	 */
	TurnContext(Map<String, Object> parameters, TurnSession session, LongSupplier stored, String id,
			@Nullable String agent, TurnPrompt prompt, Rounds rounds, TurnAttributes attributes,
			ForgottenItems forgotten, TurnChildren children, boolean begun) {
		this.parameters = parameters;
		this.session = session;
		this.stored = stored;
		this.id = id;
		this.agent = agent;
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
	 * Returns the turn inside of which this one was begun; null if there is none.
	 */
	@Nullable TurnAccess outer() {
		return this.outer;
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
		return new HookContext(this.session.key(), this.id, this.agent, Copies.lazy(history),
				this.prompt.turnStarts(history.size()), Copies.lazy(turn()), Copies.values(used.values()),
				this.parameters);
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
