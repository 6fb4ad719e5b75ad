package io.sessionkit.internal.binding;

import java.util.concurrent.Callable;
import java.util.function.Supplier;

import io.sessionkit.SessionKey;
import org.jspecify.annotations.Nullable;

/**
 * Names the caller for whom a thread works if that is neither the owner of its turn nor
 * the one who is signed in. The check at the doors to sessions asks for it.
 */
public final class ActingCaller {

	private static final ThreadLocal<@Nullable ActingCaller> acting = new ThreadLocal<>();

	/** The caller of the check, which alone knows what that is, or a session's owner. */
	private final Object caller;

	/** The turn inside of which the work began; null for none. */
	private final @Nullable TurnAccess turn;

	private ActingCaller(Object caller, @Nullable TurnAccess turn) {
		this.caller = caller;
		this.turn = turn;
	}

	/**
	 * Returns the caller for whom this thread works, unless a turn has begun since.
	 * @param turn the turn that this thread runs for; null for none
	 * @return what {@link #as} was given, or the key of {@link #asOwner}; null if there
	 * is none
	 */
	public static @Nullable Object of(@Nullable TurnAccess turn) {
		ActingCaller now = acting.get();
		return (now != null && (turn == null || now.turn == turn)) ? now.caller : null;
	}

	/**
	 * Does work on this thread for the owner of a session, as its tools do theirs.
	 * @param key the session
	 * @param work the work
	 * @param <T> the type of the result
	 * @return the result of the work
	 */
	public static <T extends @Nullable Object> T asOwner(SessionKey key, Supplier<T> work) {
		return as(key, work);
	}

	/**
	 * Does work on this thread for a caller.
	 * @param caller the caller
	 * @param work the work
	 * @param <T> the type of the result
	 * @return the result of the work
	 */
	public static <T extends @Nullable Object> T as(Object caller, Supplier<T> work) {
		ActingCaller before = replace(new ActingCaller(caller, TurnBinding.running()));
		try {
			return work.get();
		}
		finally {
			replace(before);
		}
	}

	/**
	 * Wraps work for another thread, so that it has the caller there that it would have
	 * on this one. The turn is to be carried too, around this.
	 * @param work the work
	 * @param <T> the type of the result
	 * @return the wrapped work, which may run on any thread
	 */
	public static <T extends @Nullable Object> Callable<T> carrying(Callable<T> work) {
		Object caller = of(TurnBinding.running());
		if (caller == null) {
			return work;
		}
		return () -> {
			ActingCaller before = replace(new ActingCaller(caller, TurnBinding.running()));
			try {
				return work.call();
			}
			finally {
				replace(before);
			}
		};
	}

	/** Returns what was there before. */
	private static @Nullable ActingCaller replace(@Nullable ActingCaller now) {
		ActingCaller before = acting.get();
		if (now != null) {
			acting.set(now);
		}
		else {
			acting.remove();
		}
		return before;
	}

}
