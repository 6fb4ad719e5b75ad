package io.sessionkit.internal.row;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;

import com.github.benmanes.caffeine.cache.Scheduler;
import io.sessionkit.SessionKey;
import io.sessionkit.codec.JsonMessageCodec;
import io.sessionkit.store.Window;
import org.junit.jupiter.api.Test;

import org.springframework.util.unit.DataSize;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests how long a process remembers what it has read.
 */
class ViewCacheTests {

	private final AtomicLong nanos = new AtomicLong();

	/** The tasks to run, each with its time. */
	private final Deque<Task> tasks = new ArrayDeque<>();

	private record Task(long at, Runnable work) {
	}

	/** Nobody reads or writes meanwhile, which would drop it too. */
	@Test
	void viewThatNobodyUsesIsDroppedWhereNothingElseIsUsed() {
		Scheduler scheduler = (executor, work, delay, unit) -> {
			this.tasks.add(new Task(this.nanos.get() + unit.toNanos(delay), work));
			return CompletableFuture.completedFuture(null);
		};
		ViewCache views = new ViewCache(DataSize.ofMegabytes(1), JsonMessageCodec.create(), this.nanos::get, scheduler);
		views.absent(SessionKey.of("t1"), Window.turns(10));
		pass(Duration.ofMinutes(9));
		assertThat(views.size()).isEqualTo(1);
		pass(Duration.ofMinutes(1).plusSeconds(10));
		assertThat(views.size()).isZero();
	}

	private void pass(Duration time) {
		this.nanos.addAndGet(time.toNanos());
		while (!this.tasks.isEmpty() && this.tasks.peek().at() <= this.nanos.get()) {
			this.tasks.remove().work().run();
		}
	}

}
