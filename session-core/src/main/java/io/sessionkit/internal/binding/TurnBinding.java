package io.sessionkit.internal.binding;

import java.util.HashSet;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.function.BooleanSupplier;
import java.util.function.UnaryOperator;

import io.sessionkit.NestedTurnException;
import io.sessionkit.TurnOpenException;
import org.jspecify.annotations.Nullable;
import reactor.util.context.Context;

/**
 * Binds a turn to the code that runs for it, so that a <code>SessionContext</code> finds
 * it: to a thread between {@link #of} and {@link #close}, or to the tools of a stream by
 * its Reactor context.
 * <p>
 * A binding must be closed by the thread that created it, the newest first. Closing it
 * restores the binding before it.
 */
public final class TurnBinding implements AutoCloseable {

	private static final Object KEY = TurnAccess.class;

	private static final ThreadLocal<@Nullable TurnBinding> bound = new ThreadLocal<>();

	private final @Nullable TurnAccess turn;

	/** The sessions whose turns wait, also for a listener, which is part of no turn. */
	private final Set<TurnSession> waiting;

	private final @Nullable TurnBinding before;

	private TurnBinding(@Nullable TurnAccess turn, Set<TurnSession> waiting) {
		this.turn = turn;
		this.waiting = waiting;
		this.before = bound.get();
		bound.set(this);
	}

	/**
	 * Binds a turn to this thread.
	 * @param turn the turn
	 * @return the binding, which the caller must close
	 */
	public static TurnBinding of(TurnAccess turn) {
		return new TurnBinding(turn, turn.sessions());
	}

	/**
	 * Hides the current binding from the code that runs next on this thread.
	 * @return the binding, which the caller must close
	 */
	public static TurnBinding none() {
		return listening(Set.of());
	}

	/**
	 * Hides the current binding from the code that runs next on this thread, but for the
	 * sessions that it must not write: from a listener, or a trigger of summaries.
	 * @param waiting the sessions whose turns wait for that code
	 * @return the binding, which the caller must close
	 */
	public static TurnBinding listening(Set<TurnSession> waiting) {
		return new TurnBinding(null, waiting);
	}

	/**
	 * Binds a turn to those tools of a stream that an advisor has added inside of the
	 * session advisor: Spring AI shows them the context of their subscriber. The other
	 * tools are bound where they run.
	 * @param turn the turn
	 * @param context the context of the subscriber
	 * @return the context with the turn
	 */
	public static Context write(TurnAccess turn, Context context) {
		return context.put(KEY, turn);
	}

	/**
	 * Returns the turn that this thread runs for: the turn that is bound to it, else the
	 * turn of the stream whose tool it runs.
	 * @return the turn; null if there is neither
	 */
	public static @Nullable TurnAccess running() {
		TurnBinding binding = bound.get();
		return (binding != null) ? binding.turn : ToolStreamContext.current().<TurnAccess>getOrEmpty(KEY).orElse(null);
	}

	/**
	 * Wraps work for another thread, so that it runs as part of the turn that runs on
	 * this thread.
	 * @param work the work
	 * @param <T> the type of the result
	 * @return the wrapped work, which may run on any thread
	 */
	public static <T> Callable<T> carrying(Callable<T> work) {
		TurnAccess turn = running();
		// work that a listener passes on may run after the turn has ended
		Set<TurnSession> waiting = (turn != null) ? sessions() : Set.of();
		return () -> {
			try (TurnBinding binding = new TurnBinding(turn, waiting)) {
				return work.call();
			}
		};
	}

	/**
	 * Wraps a run of a tool for another thread, so that it runs there as part of the turn
	 * that runs on this thread, and with the context of the stream whose tool runs here.
	 * @param work the run of the tool
	 * @param seen returns the turn as the tool sees it
	 * @param <T> the type of the result
	 * @return the wrapped work, which may run on any thread
	 */
	public static <T> Callable<T> carryingTool(Callable<T> work, UnaryOperator<TurnAccess> seen) {
		TurnAccess turn = running();
		Set<TurnSession> waiting = sessions();
		Callable<T> inStream = ToolStreamContext.carrying(work);
		return () -> {
			try (TurnBinding binding = new TurnBinding((turn != null) ? seen.apply(turn) : null, waiting)) {
				return inStream.call();
			}
		};
	}

	/**
	 * Returns the turn that the code on this thread is part of.
	 * @return the turn as it is now; empty if there is none
	 */
	public static Optional<TurnFacts> enclosing() {
		return Optional.ofNullable(running()).map(TurnAccess::facts);
	}

	/**
	 * Returns the turn on a session that the code on this thread is part of.
	 * @param session the session
	 * @return the innermost such turn as it is now; empty if there is none
	 */
	public static Optional<TurnFacts> enclosing(TurnSession session) {
		TurnAccess turn = running();
		while (turn != null) {
			if (turn.session().equals(session)) {
				return Optional.of(turn.facts());
			}
			turn = turn.outer();
		}
		return Optional.empty();
	}

	/**
	 * Returns the sessions whose turns wait for the code on this thread.
	 * @return the sessions; none outside of all turns
	 */
	public static Set<TurnSession> sessions() {
		TurnBinding binding = bound.get();
		if (binding != null) {
			return binding.waiting;
		}
		TurnAccess turn = running();
		return (turn != null) ? turn.sessions() : Set.of();
	}

	/**
	 * Returns the sessions whose turns wait for a turn that the code on this thread
	 * begins.
	 * @param begun the session of that turn
	 * @return the sessions, with that of the turn itself
	 */
	public static Set<TurnSession> sessions(TurnSession begun) {
		Set<TurnSession> enclosing = sessions();
		if (enclosing.isEmpty()) {
			return Set.of(begun);
		}
		Set<TurnSession> all = new HashSet<>(enclosing);
		all.add(begun);
		return Set.copyOf(all);
	}

	/**
	 * Checks that no turn of a session waits for the code on this thread: if that code
	 * moved the head of the session, the turn would lose a conflict.
	 * @param session the session whose head is about to move
	 * @throws NestedTurnException if one does
	 */
	public static void checkMoves(TurnSession session) {
		if (sessions().contains(session)) {
			throw new NestedTurnException(
					"A " + code() + " of a turn on session " + session.key() + " cannot move the head of that session:"
							+ " the turn could not become history. Nothing was changed. "
							+ instead("Move it when the call has returned, or outside of the turn."));
		}
	}

	/**
	 * Checks that no turn of a session waits for the code on this thread: what that code
	 * writes beside its turn counts as a change by another caller, with which the turn
	 * would lose a conflict.
	 * @param session the session that is about to be written
	 * @param what the change as a past participle, as "popped" in "it cannot be popped"
	 * @param instead the alternative, as a sentence
	 * @throws NestedTurnException if one does
	 */
	public static void checkWrites(TurnSession session, String what, String instead) {
		if (sessions().contains(session)) {
			throw new NestedTurnException("Session " + session.key() + " cannot be " + what + " by a " + code()
					+ " of a turn that is on it: the turn could not become history. Nothing was changed. "
					+ instead(instead));
		}
	}

	/**
	 * Notes that the code on this thread has erased a session. Of the turns on it that
	 * this code is part of, one that has found no session stores nothing any more. Of all
	 * others the store knows, also if the erasure is rolled back.
	 * @param session the session that was erased
	 */
	public static void erased(TurnSession session) {
		for (TurnAccess turn = running(); turn != null; turn = turn.outer()) {
			if (turn.session().equals(session)) {
				turn.erased();
			}
		}
	}

	/**
	 * Clears a session. If a turn is open on it, that is refused, since it would be lost
	 * to those who wait for it, but not to the code of that turn itself.
	 * @param session the session
	 * @param clear clears it unless a turn is open, and returns whether there was one
	 * @param erase erases it whatever waits, and returns whether there was one
	 * @return whether there was such a session
	 * @throws TurnOpenException if a turn is open that the code on this thread is no part
	 * of
	 */
	public static boolean clear(TurnSession session, BooleanSupplier clear, BooleanSupplier erase) {
		boolean cleared;
		try {
			cleared = clear.getAsBoolean();
		}
		catch (TurnOpenException ex) {
			if (!isPartOf(session, ex.turn())) {
				throw ex;
			}
			cleared = erase.getAsBoolean();
		}
		erased(session);
		return cleared;
	}

	private static boolean isPartOf(TurnSession session, long number) {
		for (TurnAccess turn = running(); turn != null; turn = turn.outer()) {
			if (turn.session().equals(session) && turn.number() == number) {
				return true;
			}
		}
		return false;
	}

	private static String code() {
		return (running() != null) ? "tool or hook" : "listener or summary trigger";
	}

	private static String instead(String ofToolOrHook) {
		return (running() != null) ? ofToolOrHook
				: "Do it when the turn has ended, in SessionListener.committed(..) or on another thread.";
	}

	/**
	 * Restores the binding that was in place before this one.
	 */
	@Override
	public void close() {
		if (this.before != null) {
			bound.set(this.before);
		}
		else {
			bound.remove();
		}
	}

}
