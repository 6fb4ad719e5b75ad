package io.sessionkit.autoconfigure.observation;

import java.net.URL;
import java.net.URLClassLoader;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;

import io.sessionkit.codec.JsonMessageCodec;
import io.sessionkit.store.StoreOptions;
import io.sessionkit.store.memory.InMemorySessionStore;
import io.sessionkit.test.ObservedStore;
import io.sessionkit.test.ObservedStore.Fault;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.Status;

import static org.assertj.core.api.Assertions.assertThat;

class SessionStoreHealthTests {

	private final ObservedStore store = new ObservedStore(
			new InMemorySessionStore(StoreOptions.of(JsonMessageCodec.create())));

	private final AtomicInteger calls = new AtomicInteger();

	@Test
	void storeThatAnswersIsUpAfterOneCall() {
		this.store.beforeOpen(this.calls::incrementAndGet);
		Health health = indicator(Duration.ofSeconds(10)).health();
		assertThat(health.getStatus()).isEqualTo(Status.UP);
		assertThat(health.getDetails()).containsOnlyKeys("store");
		assertThat(this.calls).hasValue(1);
	}

	@Test
	void storeThatFailsIsDownAndItsMessageIsNotShown() {
		this.store.beforeOpen(() -> {
			throw new IllegalStateException("password=hunter2");
		});
		Health health = indicator(Duration.ofSeconds(10)).health();
		assertThat(health.getStatus()).isEqualTo(Status.DOWN);
		assertThat(health.getDetails()).containsEntry("error", "java.lang.IllegalStateException");
		assertThat(health.toString()).doesNotContain("hunter2");
		this.store.beforeOpen(() -> {
		});
		this.store.failAt(Fault.OPEN);
		assertThat(indicator(Duration.ofSeconds(10)).health().getDetails().get("error").toString())
			.endsWith("StoreUnavailableException");
	}

	/** The health is that of all users, with the key of none. */
	@Test
	void storeIsAskedWithNothingOfWhoeverAsksForItsHealth() {
		InheritableThreadLocal<String> tenant = new InheritableThreadLocal<>();
		ClassLoader loader = Thread.currentThread().getContextClassLoader();
		List<Optional<String>> tenants = new CopyOnWriteArrayList<>();
		List<ClassLoader> loaders = new CopyOnWriteArrayList<>();
		this.store.beforeOpen(() -> {
			tenants.add(Optional.ofNullable(tenant.get()));
			loaders.add(Thread.currentThread().getContextClassLoader());
		});
		ClassLoader application = new URLClassLoader(new URL[0], loader);
		tenant.set("acme");
		Thread.currentThread().setContextClassLoader(application);
		try {
			indicator(Duration.ofSeconds(10)).health();
		}
		finally {
			tenant.remove();
			Thread.currentThread().setContextClassLoader(loader);
		}
		assertThat(tenants).containsExactly(Optional.empty());
		assertThat(loaders).containsExactly(application);
	}

	@Test
	void storeThatHangsIsDownInTimeAndHoldsOneThread() {
		CountDownLatch hanging = new CountDownLatch(1);
		this.store.beforeOpen(() -> {
			this.calls.incrementAndGet();
			await(hanging);
		});
		SessionStoreHealthIndicator indicator = indicator(Duration.ofMillis(50));
		for (int i = 0; i < 5; i++) {
			Health health = indicator.health();
			assertThat(health.getStatus()).isEqualTo(Status.DOWN);
			assertThat(health.getDetails().get("error").toString()).isEqualTo("no answer within 50ms");
		}
		assertThat(this.calls).hasValue(1);
		hanging.countDown();
		Awaitility.await().until(() -> indicator.health().getStatus().equals(Status.UP));
	}

	/** The connection of the first may be dead, and others not. */
	@Test
	void callThatHangsForLongIsGivenUpAndAFewHoldAThread() {
		CountDownLatch hanging = new CountDownLatch(1);
		AtomicInteger dead = new AtomicInteger(2);
		this.store.beforeOpen(() -> {
			this.calls.incrementAndGet();
			if (dead.getAndDecrement() > 0) {
				await(hanging);
			}
		});
		SessionStoreHealthIndicator indicator = indicator(Duration.ofMillis(50));
		Awaitility.await().until(() -> indicator.health().getStatus().equals(Status.UP));
		int answered = this.calls.get();
		assertThat(answered).isGreaterThanOrEqualTo(3);
		dead.set(Integer.MAX_VALUE);
		Awaitility.await().until(() -> indicator.health().getStatus().equals(Status.DOWN));
		Awaitility.await()
			.during(Duration.ofMillis(600))
			.until(() -> indicator.health().getStatus().equals(Status.DOWN));
		assertThat(this.calls).hasValue(answered + 1);
		hanging.countDown();
		Awaitility.await().until(() -> indicator.health().getStatus().equals(Status.UP));
	}

	private static void await(CountDownLatch latch) {
		try {
			latch.await();
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

	private SessionStoreHealthIndicator indicator(Duration timeout) {
		return new SessionStoreHealthIndicator(this.store, timeout);
	}

}
