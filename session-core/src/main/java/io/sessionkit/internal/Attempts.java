package io.sessionkit.internal;

import java.util.Optional;
import java.util.function.Function;

import org.jspecify.annotations.Nullable;

/**
 * Attempts at a change that is based on what was read before, while others write, and at
 * a read that others must not come between.
 */
public enum Attempts {

	/** For a change whose caller can be told to try again. */
	FEW(5),

	/** For a change that reads much first, and that callers do not expect to fail. */
	SOME(20),

	/** For a change that would be lost: nobody tries it again. */
	MANY(100);

	private final int most;

	Attempts(int most) {
		this.most = most;
	}

	/**
	 * Returns the largest number of attempts.
	 */
	public int most() {
		return this.most;
	}

	/**
	 * Tries until an attempt has succeeded.
	 * @param attempt reads, writes on condition that nothing has changed since, and
	 * returns whether that is done, or not needed
	 * @return false if another writer was first each time
	 */
	public <X extends Exception> boolean until(Check<X> attempt) throws X {
		boolean done = false;
		for (int i = 0; i < this.most && !done; i++) {
			done = attempt.isDone();
		}
		return done;
	}

	/**
	 * Tries until an attempt has a result.
	 * @param attempt reads, writes on condition that nothing has changed since, and
	 * returns a result, or empty if another writer was first
	 * @return the result; empty if another writer was first each time
	 */
	public <T, X extends Exception> Optional<T> make(Attempt<T, X> attempt) throws X {
		Optional<T> result = Optional.empty();
		for (int i = 0; i < this.most && result.isEmpty(); i++) {
			result = attempt.make();
		}
		return result;
	}

	/**
	 * Tries until an attempt has a result, or says that no other would have one.
	 * @param first what was read before
	 * @param attempt writes on condition that nothing has changed since it was read what
	 * it is given
	 * @return the result; empty if no attempt had one
	 */
	public <S, T> Optional<T> make(S first, Function<S, Step<S, T>> attempt) {
		Step<S, T> step = Step.stop();
		@Nullable S next = first;
		for (int i = 0; i < this.most && next != null; i++) {
			step = attempt.apply(next);
			next = step.next();
		}
		return Optional.ofNullable(step.result());
	}

	/**
	 * An attempt that has succeeded or not.
	 *
	 * @param <X> what it throws
	 */
	public interface Check<X extends Exception> {

		boolean isDone() throws X;

	}

	/**
	 * An attempt that has a result, or none.
	 *
	 * @param <T> the result
	 * @param <X> what it throws
	 */
	public interface Attempt<T, X extends Exception> {

		Optional<T> make() throws X;

	}

	/**
	 * The end of an attempt: a result, or what the next one begins with, or neither if
	 * another one makes no sense.
	 *
	 * @param <S> what an attempt begins with
	 * @param <T> the result
	 * @param next what the next attempt begins with; null if there is none
	 * @param result the result; null if there is none
	 */
	public record Step<S, T>(@Nullable S next, @Nullable T result) {

		/** Returns the end of an attempt that has succeeded. */
		public static <S, T> Step<S, T> done(T result) {
			return new Step<>(null, result);
		}

		/**
		 * Returns the end of an attempt after which another one is made.
		 * @param next what it begins with; null if it makes no sense
		 */
		public static <S, T> Step<S, T> again(@Nullable S next) {
			return new Step<>(next, null);
		}

		/** Returns the end of an attempt after which no other one is made. */
		public static <S, T> Step<S, T> stop() {
			return new Step<>(null, null);
		}

	}

}
