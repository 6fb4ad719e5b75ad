package io.sessionkit.hook;

import java.util.Optional;
import java.util.concurrent.Callable;

import org.jspecify.annotations.Nullable;
import reactor.util.context.Context;

/**
 * Binds a turn to what runs for it, so that {@link SessionContext} finds it: a thread
 * between {@link #of} and {@link #close}, or the tools of a stream by its Reactor
 * context. SessionKit uses it; applications use {@link SessionContext#wrap}.
 * <p>
 * A binding is closed by the thread that made it, the newest first; what was bound before
 * is bound again then.
 */
public final class TurnBinding implements AutoCloseable {

	private static final Object KEY = RunningTurn.class;

	private static final ThreadLocal<@Nullable TurnBinding> bound = new ThreadLocal<>();

	private final @Nullable RunningTurn turn;

	private final @Nullable TurnBinding before;

	private TurnBinding(@Nullable RunningTurn turn) {
		this.turn = turn;
		this.before = bound.get();
		bound.set(this);
	}

	/**
	 * Binds a turn to this thread.
	 * @param turn the turn
	 * @return the binding, to be closed
	 */
	public static TurnBinding of(RunningTurn turn) {
		return new TurnBinding(turn);
	}

	/**
	 * Hides what is bound from what runs next on this thread.
	 * @return the binding, to be closed
	 */
	public static TurnBinding none() {
		return new TurnBinding(null);
	}

	/**
	 * Binds a turn to those tools of a stream that an advisor has added behind ours:
	 * Spring AI shows them the context of their subscriber. The other tools are bound
	 * where they run.
	 * @param turn the turn
	 * @param context the context of the subscriber
	 * @return the context with the turn
	 */
	public static Context write(RunningTurn turn, Context context) {
		return context.put(KEY, turn);
	}

	/**
	 * The turn that this thread runs for: the one that is bound to it, else that of the
	 * stream whose tool it runs.
	 */
	static @Nullable RunningTurn running() {
		TurnBinding binding = bound.get();
		return (binding != null) ? binding.turn : ToolStreamContext.current().<RunningTurn>getOrEmpty(KEY).orElse(null);
	}

	/**
	 * Work for another thread that is part of what runs on this one.
	 * @param work the work
	 * @param <T> what it returns
	 * @return the work, to be run wherever
	 */
	public static <T> Callable<T> carrying(Callable<T> work) {
		RunningTurn turn = running();
		return () -> {
			try (TurnBinding binding = new TurnBinding(turn)) {
				return work.call();
			}
		};
	}

	/**
	 * The turn that what runs on this thread is part of.
	 * @return the turn as it is now; empty if it is part of none
	 */
	public static Optional<HookContext> enclosing() {
		return Optional.ofNullable(running()).map(RunningTurn::context);
	}

	/**
	 * Binds again what was bound before.
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
