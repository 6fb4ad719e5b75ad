package io.sessionkit.autoconfigure.observation;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;

import io.sessionkit.SessionKey;
import io.sessionkit.autoconfigure.internal.WrittenTime;
import io.sessionkit.store.SessionStore;
import org.jspecify.annotations.Nullable;

import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.HealthIndicator;

/**
 * The health of the session store: it is up if it answers in time that a session does not
 * exist, which is one call of the store. Only one such call is under way, so a store that
 * does not answer holds one thread, however often its health is asked. A call that hangs
 * for long is given up, since its connection may be dead and others not; a few threads at
 * most hang like that.
 */
final class SessionStoreHealthIndicator implements HealthIndicator {

	/** A session that no application has, so nothing of a conversation is read. */
	static final SessionKey PROBE = SessionKey.of("sessionkit-health");

	private static final String STORE = "store";

	private static final String ERROR = "error";

	/** The number of timeouts after which a call is given up. */
	private static final int PATIENCE = 10;

	/** The largest number of threads that wait for the store. */
	private static final int MOST_THREADS = 3;

	private final SessionStore store;

	private final Duration timeout;

	private final AtomicInteger threads = new AtomicInteger();

	/** The newest call; null before the first one. */
	private @Nullable CompletableFuture<Boolean> probe;

	/** The time at which the newest call began. */
	private long begun;

	SessionStoreHealthIndicator(SessionStore store, Duration timeout) {
		this.store = store;
		this.timeout = timeout;
	}

	@Override
	public Health health() {
		try {
			probe().get(this.timeout.toMillis(), TimeUnit.MILLISECONDS);
			return health(Health.up()).build();
		}
		catch (TimeoutException ex) {
			return health(Health.down()).withDetail(ERROR, "no answer within " + WrittenTime.of(this.timeout)).build();
		}
		catch (ExecutionException ex) {
			Throwable cause = (ex.getCause() != null) ? ex.getCause() : ex;
			// its message may have an address or a statement
			return health(Health.down()).withDetail(ERROR, cause.getClass().getName()).build();
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			return health(Health.unknown()).build();
		}
	}

	private Health.Builder health(Health.Builder builder) {
		return builder.withDetail(STORE, this.store.getClass().getSimpleName());
	}

	private synchronized CompletableFuture<Boolean> probe() {
		CompletableFuture<Boolean> running = this.probe;
		if (running == null || running.isDone() || isGivenUp()) {
			running = new CompletableFuture<>();
			this.probe = running;
			this.begun = System.nanoTime();
			ask(running);
		}
		return running;
	}

	private boolean isGivenUp() {
		return this.threads.get() < MOST_THREADS
				&& System.nanoTime() - this.begun > this.timeout.multipliedBy(PATIENCE).toNanos();
	}

	private void ask(CompletableFuture<Boolean> answer) {
		CallOfStore.start("sessionkit-health", () -> {
			try {
				answer.complete(this.store.find(PROBE).isPresent());
			}
			catch (Throwable ex) {
				answer.completeExceptionally(ex);
			}
			finally {
				this.threads.decrementAndGet();
			}
		});
		this.threads.incrementAndGet();
	}

}
