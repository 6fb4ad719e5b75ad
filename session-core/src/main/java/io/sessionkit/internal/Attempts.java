package io.sessionkit.internal;

import java.util.Optional;
import java.util.function.Supplier;

/**
 * Numbers of attempts at a change that is based on what was read before, while others
 * write.
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
	 * Tries until an attempt has a result.
	 * @param attempt reads, writes on condition that nothing has changed since, and
	 * returns a result, or empty if another writer was first
	 * @return the result; empty if another writer was first each time
	 */
	public <T> Optional<T> make(Supplier<Optional<T>> attempt) {
		for (int i = 0; i < this.most; i++) {
			Optional<T> result = attempt.get();
			if (result.isPresent()) {
				return result;
			}
		}
		return Optional.empty();
	}

}
