package io.sessionkit.internal;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

/**
 * Lets the threads of one call write a record one after the other, so that they do not
 * refuse each other's writes. None waits for a write that hangs: it then goes on beside
 * it, and the store decides by the revision which of the two counts. So what the threads
 * share must not rely on this object. Safe for use by many threads.
 */
public final class OneAfterAnother {

	/** Not a monitor, so that no thread holds one while the store is asked. */
	private final Lock writing = new ReentrantLock();

	private final Duration patience;

	/** The time at which the work began that others wait for. */
	private volatile long begun = System.nanoTime();

	/**
	 * Creates the order of the writes of one record.
	 * @param life the time after which what the record holds is lost unless it is renewed
	 */
	public OneAfterAnother(Duration life) {
		this.patience = Renewals.patience(life);
	}

	/** Does work after the work that has begun before, unless that hangs. */
	public <T extends @Nullable Object> T call(Supplier<T> work) {
		boolean alone = isAlone();
		try {
			return work.get();
		}
		finally {
			if (alone) {
				this.writing.unlock();
			}
		}
	}

	/** Does work after the work that has begun before, unless that hangs. */
	public void run(Runnable work) {
		call(() -> {
			work.run();
			return true;
		});
	}

	private boolean isAlone() {
		boolean alone = this.writing.tryLock() || isAloneSoon();
		if (alone) {
			this.begun = System.nanoTime();
		}
		return alone;
	}

	/** A thread that is interrupted does not wait. */
	private boolean isAloneSoon() {
		long left = this.begun + this.patience.toNanos() - System.nanoTime();
		try {
			return this.writing.tryLock(left, TimeUnit.NANOSECONDS);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			return false;
		}
	}

}
