package io.sessionkit.approval;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import io.sessionkit.SessionKey;
import io.sessionkit.approval.ApprovalScenario.Participant;
import io.sessionkit.internal.lease.TurnRecords;
import io.sessionkit.store.RecordWrite;
import io.sessionkit.store.SessionStore;
import io.sessionkit.test.TestStores;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A call has taken the lease of a turn, and is held up before it reads what waits, until
 * the lease is another's.
 */
@Timeout(120)
class LateLeaseTests {

	private final ApprovalScenario scenario = ApprovalScenario.ofOneCall();

	private final SessionKey key = SessionKey.of(UUID.randomUUID().toString());

	private final AtomicInteger effects = new AtomicInteger();

	private final CountDownLatch taken = new CountDownLatch(1);

	private final CountDownLatch lost = new CountDownLatch(1);

	private final CountDownLatch told = new CountDownLatch(1);

	@ParameterizedTest
	@EnumSource(names = { "MEMORY", "H2", "POSTGRESQL", "REDIS" })
	void callThatReadsWhatAnotherRunsIsToldSo(TestStores kind) throws Exception {
		SessionStore store = kind.create();
		try (Participant late = this.scenario.takePart(heldUp(store), (id) -> {
		}, (id) -> this.effects.incrementAndGet()); Participant other = this.scenario.takePart(store, (id) -> {
			this.lost.countDown();
			await(this.told);
		}, (id) -> this.effects.incrementAndGet())) {
			other.pauseAndApprove(this.key, this.scenario);
			CompletableFuture<String> heard = CompletableFuture.supplyAsync(() -> late.resumed(this.key));
			await(this.taken);
			Awaitility.await()
				.atMost(Duration.ofSeconds(20))
				.until(() -> store.records(this.key, TurnRecords.LEASE).isEmpty());
			CompletableFuture<String> answer = CompletableFuture.supplyAsync(() -> other.resumed(this.key));
			assertThat(heard.get(60, TimeUnit.SECONDS)).isEqualTo("TurnInProgressException");
			this.told.countDown();
			assertThat(answer.get(60, TimeUnit.SECONDS)).isEqualTo("done");
		}
		assertThat(this.effects).hasValue(1);
	}

	/**
	 * A store that does not come back from taking a lease until the lease is lost. It is
	 * not renewed meanwhile, as in a process that is stopped.
	 */
	private SessionStore heldUp(SessionStore store) {
		return (SessionStore) Proxy.newProxyInstance(SessionStore.class.getClassLoader(),
				new Class<?>[] { SessionStore.class }, (proxy, method, arguments) -> {
					Object result = call(store, method, arguments);
					if (method.getName().equals("put") && arguments[1] instanceof RecordWrite write
							&& write.kind().equals(TurnRecords.LEASE) && write.expected() == 0) {
						this.taken.countDown();
						await(this.lost);
					}
					return result;
				});
	}

	private static Object call(SessionStore store, Method method, Object[] arguments) throws Throwable {
		try {
			return method.invoke(store, arguments);
		}
		catch (InvocationTargetException ex) {
			throw ex.getCause();
		}
	}

	private static void await(CountDownLatch latch) {
		try {
			assertThat(latch.await(60, TimeUnit.SECONDS)).isTrue();
		}
		catch (InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
	}

}
