package io.sessionkit.internal.lease;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

import io.sessionkit.SessionKey;
import io.sessionkit.internal.Renewals;
import io.sessionkit.observation.CallObserver;
import io.sessionkit.observation.LeaseKind;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.StoreUnavailableException;
import io.sessionkit.test.AwayStores;
import io.sessionkit.test.ObservedStore;
import io.sessionkit.test.TestStores;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import org.springframework.ai.chat.messages.UserMessage;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Leases that run out while they are used.
 */
class TurnLeasesTests {

	private static final SessionKey KEY = SessionKey.of("ada", "t1");

	private static final Duration LIFE = Duration.ofMillis(300);

	/** So many tries at each third of its life would be too late for a lease. */
	private static final int FAILURES = 3;

	private final SessionStore memory = TestStores.MEMORY.create();

	private final AtomicBoolean away = new AtomicBoolean();

	private final SessionStore store = AwayStores.of(this.memory, this.away::get);

	private final List<LeaseKind> lost = new CopyOnWriteArrayList<>();

	private final Renewals renewals = new Renewals();

	private final TurnLeases leases = new TurnLeases(this.store, LIFE, this.renewals, new CallObserver() {
		@Override
		public void leaseLost(LeaseKind kind) {
			TurnLeasesTests.this.lost.add(kind);
		}
	});

	@BeforeEach
	void begin() {
		this.memory.add(KEY, List.of(new UserMessage("q")));
	}

	@AfterEach
	void close() {
		this.renewals.close();
	}

	@Test
	void leaseThatRunsOutWhileTheStoreIsAwayIsReportedOnce() {
		TurnLease lease = this.leases.take(KEY).orElseThrow();
		this.away.set(true);
		Awaitility.await().until(() -> !this.lost.isEmpty());
		assertThat(lease.isHeld()).isFalse();
		this.away.set(false);
		Awaitility.await().during(LIFE).until(() -> this.lost.equals(List.of(LeaseKind.TURN)));
	}

	/**
	 * Tried at each third of its life only, the lease would run out before it is renewed.
	 * It is long, so that it outlives seconds in which this process does nothing.
	 */
	@Test
	void leaseIsRenewedWhenTheStoreIsBackInTime() {
		Duration life = LIFE.multipliedBy(30);
		AtomicInteger failures = new AtomicInteger();
		SessionStore failing = AwayStores.of(this.memory,
				() -> this.away.get() && failures.getAndIncrement() < FAILURES);
		TurnLease lease = new TurnLeases(failing, life, this.renewals, CallObserver.NONE).take(KEY).orElseThrow();
		long taken = revision();
		this.away.set(true);
		Awaitility.await().atMost(life.multipliedBy(2)).until(() -> revision() > taken);
		assertThat(failures).hasValueGreaterThanOrEqualTo(FAILURES);
		assertThat(lease.isHeld()).isTrue();
		lease.leave();
		assertThat(this.memory.records(KEY, TurnRecords.LEASE)).isEmpty();
	}

	@Test
	void leaseIsGivenBackWhenTheStoreIsBack() {
		Duration life = Duration.ofSeconds(30);
		TurnLease lease = new TurnLeases(this.store, life, this.renewals, CallObserver.NONE).take(KEY).orElseThrow();
		this.away.set(true);
		lease.leave();
		assertThat(this.memory.records(KEY, TurnRecords.LEASE)).hasSize(1);
		this.away.set(false);
		Awaitility.await().until(() -> this.memory.records(KEY, TurnRecords.LEASE).isEmpty());
	}

	/** Nobody renews it, and each call that comes meanwhile would be told to wait. */
	@Test
	void leaseWhoseAnswerWasLostIsGivenBack() {
		ObservedStore losing = new ObservedStore(this.memory);
		losing.afterPut((record) -> {
			if (record.payload() != null) {
				throw new StoreUnavailableException("The answer was lost.", null);
			}
		});
		TurnLeases unheard = new TurnLeases(losing, Duration.ofSeconds(30), this.renewals, CallObserver.NONE);
		assertThatExceptionOfType(StoreUnavailableException.class).isThrownBy(() -> unheard.take(KEY));
		assertThatExceptionOfType(StoreUnavailableException.class)
			.isThrownBy(() -> unheard.rewinding(KEY, HeldLease::holder));
		assertThat(this.memory.records(KEY, TurnRecords.LEASE)).hasSize(1);
		assertThat(this.memory.records(KEY, TurnRecords.REWIND)).hasSize(1);
		Awaitility.await().until(() -> this.memory.records(KEY, TurnRecords.LEASE).isEmpty());
		Awaitility.await().until(() -> this.memory.records(KEY, TurnRecords.REWIND).isEmpty());
	}

	@Test
	void leaseThatWasNotTakenIsNotTakenFromAnother() {
		ObservedStore down = new ObservedStore(this.memory);
		down.beforePut((record) -> {
			throw new StoreUnavailableException("The store is down.", null);
		});
		Duration life = Duration.ofSeconds(12);
		TurnLeases failing = new TurnLeases(down, life, this.renewals, CallObserver.NONE);
		assertThatExceptionOfType(StoreUnavailableException.class).isThrownBy(() -> failing.take(KEY));
		down.beforePut((record) -> {
		});
		TurnLease held = new TurnLeases(this.memory, life, this.renewals, CallObserver.NONE).take(KEY).orElseThrow();
		// longer than it takes until what may be taken is given back
		Awaitility.await()
			.during(life.dividedBy(12))
			.until(() -> !this.memory.records(KEY, TurnRecords.LEASE).isEmpty());
		held.leave();
	}

	@Test
	void leaseOfASessionThatIsErasedIsNotReported() {
		TurnLease lease = this.leases.take(KEY).orElseThrow();
		this.memory.erase(KEY);
		Awaitility.await().until(() -> !lease.isHeld());
		assertThat(this.lost).isEmpty();
	}

	private long revision() {
		return this.memory.records(KEY, TurnRecords.LEASE).get(0).revision();
	}

}
