package io.sessionkit.internal;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicReference;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

class LookingThreadTests {

	private static final Duration INTERVAL = Duration.ofSeconds(6);

	private final AtomicReference<LookingThread> thread = new AtomicReference<>();

	private final List<Long> due = new CopyOnWriteArrayList<>();

	private final List<Long> woken = new CopyOnWriteArrayList<>();

	/** Otherwise a pause here would put off what other processes wait for. */
	@Test
	void wakingDoesNotPutOffTheNextLookThatIsDue() throws InterruptedException {
		try (LookingThread looking = started(INTERVAL)) {
			await().until(() -> this.due.size() == 1);
			Thread.sleep(INTERVAL.multipliedBy(5).dividedBy(6).toMillis());
			long waking = System.nanoTime();
			looking.wake();
			await().atMost(Duration.ofSeconds(30)).until(() -> this.due.size() == 2);
			assertThat(Duration.ofNanos(this.due.get(1) - waking)).isLessThan(INTERVAL);
		}
		assertThat(Duration.ofNanos(this.due.get(1) - this.due.get(0))).isGreaterThanOrEqualTo(INTERVAL);
	}

	@Test
	void longestIntervalIsOneToo() {
		try (LookingThread looking = started(Duration.ofSeconds(Long.MAX_VALUE))) {
			await().until(() -> this.due.size() == 1);
			looking.wake();
			await().until(() -> this.woken.size() == 1);
		}
	}

	private LookingThread started(Duration interval) {
		LookingThread looking = new LookingThread("looking", "Nothing", this::look, interval);
		this.thread.set(looking);
		looking.start();
		return looking;
	}

	private void look() {
		LookingThread looking = this.thread.get();
		if (!looking.isClosed()) {
			(looking.isDue() ? this.due : this.woken).add(System.nanoTime());
		}
	}

}
