package io.sessionkit.internal.line;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;

import io.sessionkit.Concurrency;
import io.sessionkit.SessionKey;
import io.sessionkit.ShuttingDownException;
import io.sessionkit.TurnInProgressException;
import io.sessionkit.codec.UnsupportedVersionException;
import io.sessionkit.internal.Renewals;
import io.sessionkit.internal.attribute.JoiningInput;
import io.sessionkit.observation.CallObserver;
import io.sessionkit.store.RecordWrite;
import io.sessionkit.store.SessionRecord;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.StoreUnavailableException;
import io.sessionkit.test.AwayStores;
import io.sessionkit.test.ObservedStore;
import io.sessionkit.test.TestStores;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.ai.chat.messages.UserMessage;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.catchThrowable;

/**
 * Places in line while the store is away for a moment, and those of processes with
 * different leases.
 */
class LinesTests {

	private static final SessionKey KEY = SessionKey.of("ada", "t1");

	/** So many tries at each third of its life would be too late for a place. */
	private static final int FAILURES = 3;

	private final SessionStore memory = TestStores.MEMORY.create();

	private final AtomicBoolean away = new AtomicBoolean();

	private final SessionStore store = AwayStores.of(this.memory, this.away::get);

	private final Renewals renewals = new Renewals();

	@BeforeEach
	void begin() {
		this.memory.add(KEY, List.of(new UserMessage("q")));
	}

	@AfterEach
	void close() {
		this.renewals.close();
	}

	/**
	 * Tried at each third of its life only, the place would run out before it is renewed.
	 * It lives long, so that it outlives seconds in which this process does nothing.
	 */
	@Test
	void aPlaceIsRenewedWhenTheStoreIsBackInTime() {
		Duration life = Duration.ofSeconds(9);
		AtomicInteger failures = new AtomicInteger();
		SessionStore failing = AwayStores.of(this.memory,
				() -> this.away.get() && failures.getAndIncrement() < FAILURES);
		Admission admission = arrive(new Lines(failing, life, this.renewals, CallObserver.NONE)).await();
		admission.working(new Answer("turn", 1));
		long taken = revision();
		this.away.set(true);
		Awaitility.await().atMost(life.multipliedBy(2)).until(() -> revision() > taken);
		assertThat(failures).hasValueGreaterThanOrEqualTo(FAILURES);
		assertThat(admission.isLost()).isFalse();
		admission.leave();
		assertThat(this.memory.records(KEY, "line")).isEmpty();
	}

	@Test
	void aPlaceIsGivenBackWhenTheStoreIsBack() {
		Admission admission = arrive(Duration.ofSeconds(30)).await();
		this.away.set(true);
		admission.leave();
		assertThat(this.memory.records(KEY, "line")).hasSize(1);
		this.away.set(false);
		Awaitility.await().until(() -> this.memory.records(KEY, "line").isEmpty());
	}

	@Test
	void aCallThatWaitedLeavesTheLineWhenTheStoreIsBack() {
		Admission first = arrive(Duration.ofSeconds(30)).await();
		Arrival second = arrive(Duration.ofSeconds(30));
		assertThat(second.look()).isNull();
		this.away.set(true);
		second.leave();
		this.away.set(false);
		first.leave();
		Awaitility.await().until(() -> this.memory.records(KEY, "line").isEmpty());
	}

	/** As all that wait in a busy chat while the store fails over. */
	@Test
	void aCallThatWaitsKeepsItsPlaceWhileTheStoreIsAwayForAMoment() {
		Admission first = arrive(Duration.ofSeconds(30)).await();
		Arrival second = arrive(Duration.ofSeconds(30));
		assertThat(second.look()).isNull();
		Arrival third = arrive(Duration.ofSeconds(30));
		assertThat(third.look()).isNull();
		this.away.set(true);
		assertThat(second.look()).isNull();
		assertThat(third.look()).isNull();
		assertThat(second.look()).isNull();
		this.away.set(false);
		first.leave();
		assertThat(third.look()).isNull();
		assertThat(second.look()).isNotNull();
	}

	@Test
	void aCallWhosePlaceRunsOutWhileTheStoreIsAwayFailsAsTheStoreDoes() {
		arrive(Duration.ofSeconds(30)).await();
		Arrival second = arrive(Duration.ofSeconds(1));
		assertThat(second.look()).isNull();
		this.away.set(true);
		Awaitility.await()
			.untilAsserted(() -> assertThatExceptionOfType(StoreUnavailableException.class).isThrownBy(second::look));
	}

	/** Its messages may have joined the turn at work. */
	@Test
	void aCallWhoseTimeEndsWhileTheStoreIsAwayIsNotToldThatNothingWasRun() {
		arrive(Duration.ofSeconds(30)).await();
		Arrival second = Objects.requireNonNull(lines(Duration.ofSeconds(30), this.renewals).arrive(KEY, null, null,
				Concurrency.SERIALIZE, Duration.ofSeconds(6), null, new Drain()));
		assertThat(second.look()).isNull();
		this.away.set(true);
		assertThat(thrownAtLast(second)).isInstanceOf(StoreUnavailableException.class);
	}

	@Test
	void aCallThatCannotTakeItsMessageBackWhenItsTimeEndsIsNotToldThatNothingWasRun() {
		Arrival second = steering(offer(), Duration.ofSeconds(6), new Drain());
		assertThat(thrownAtLast(second)).isInstanceOf(StoreUnavailableException.class);
	}

	@Test
	void aCallThatHasOfferedNothingIsToldThatNothingWasRunAlthoughItCannotLeaveTheLine() {
		Arrival second = steering(null, Duration.ofSeconds(6), new Drain());
		assertThat(thrownAtLast(second)).isInstanceOf(TurnInProgressException.class);
	}

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void aCallThatCannotTakeItsMessageBackWhenItIsInterruptedIsNotToldThatNothingWasRun(boolean offers) {
		Arrival second = steering(offers ? offer() : null, Duration.ofMinutes(5), new Drain());
		Thread.currentThread().interrupt();
		Throwable thrown = catchThrowable(second::await);
		assertThat(Thread.interrupted()).isTrue();
		assertThat(thrown).isInstanceOf(offers ? StoreUnavailableException.class : TurnInProgressException.class);
	}

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void aCallThatCannotTakeItsMessageBackWhenItsProcessShutsDownIsNotToldThatNothingWasRun(boolean offers) {
		Drain drain = new Drain();
		Arrival second = steering(offers ? offer() : null, Duration.ofMinutes(5), drain);
		drain.begin();
		assertThat(catchThrowable(second::look))
			.isInstanceOf(offers ? StoreUnavailableException.class : ShuttingDownException.class);
	}

	private static Offer offer() {
		return new Offer(JoiningInput.unchecked(List.of(new UserMessage("more"))), null, 0);
	}

	/** Returns a call in line behind another one, whose store takes nothing any more. */
	private Arrival steering(@Nullable Offer offer, Duration timeout, Drain drain) {
		ObservedStore failing = new ObservedStore(this.memory);
		Lines lines = new Lines(failing, Duration.ofSeconds(30), this.renewals, CallObserver.NONE);
		arrive(lines).await();
		Arrival second = Objects
			.requireNonNull(lines.arrive(KEY, null, () -> offer, Concurrency.STEER, timeout, null, drain));
		assertThat(second.look()).isNull();
		failing.beforePut((record) -> {
			throw new StoreUnavailableException("The store takes nothing.", null);
		});
		return second;
	}

	/** Looks until a look fails. */
	private static Throwable thrownAtLast(Arrival arrival) {
		AtomicReference<Throwable> thrown = new AtomicReference<>();
		Awaitility.await().atMost(Duration.ofSeconds(30)).until(() -> {
			thrown.set(catchThrowable(arrival::look));
			return thrown.get() != null;
		});
		return thrown.get();
	}

	/**
	 * The lease of the turn that it continues, which the process has kept, ends later.
	 */
	@Test
	void aCallThatWaitsForTheLeaseOfAKilledProcessKeepsItsPlaceWhileTheStoreIsAwayForAMoment() {
		Renewals killed = new Renewals();
		arrive(Duration.ofSeconds(1), killed).await();
		killed.close();
		AtomicInteger looks = new AtomicInteger();
		Arrival second = arrive(Duration.ofSeconds(30)).waitingWhile((answer) -> {
			if (this.away.get()) {
				throw new StoreUnavailableException("The store is down.", null);
			}
			return looks.incrementAndGet() == 1;
		});
		Awaitility.await().atMost(Duration.ofSeconds(30)).until(() -> {
			assertThat(second.look()).isNull();
			return looks.get() == 1;
		});
		this.away.set(true);
		assertThat(second.look()).isNull();
		assertThat(second.look()).isNull();
		this.away.set(false);
		assertThat(second.look()).isNotNull();
	}

	@Test
	void aCallThatWaitsForALeaseFailsAsTheStoreDoesWhenThatIsAwayForTheLifeOfItsPlace() {
		Renewals killed = new Renewals();
		arrive(Duration.ofSeconds(1), killed).await();
		killed.close();
		Arrival second = arrive(Duration.ofSeconds(1)).waitingWhile((answer) -> {
			throw new StoreUnavailableException("The store is down.", null);
		});
		assertThat(thrownAtLast(second)).isInstanceOf(StoreUnavailableException.class);
		assertThat(this.memory.records(KEY, "line")).isEmpty();
	}

	@Test
	void aCallIsGoneAfterItsOwnLife() {
		Renewals killed = new Renewals();
		arrive(Duration.ofSeconds(1), killed).await();
		killed.close();
		Arrival second = arrive(Duration.ofSeconds(30));
		long before = System.nanoTime();
		Awaitility.await().until(() -> second.look() != null);
		assertThat(Duration.ofNanos(System.nanoTime() - before)).isGreaterThan(Duration.ofSeconds(1));
	}

	/** It may say what this version would lose when it writes the line. */
	@Test
	void aLineInANewerFormIsRefusedAndStaysAsItIs() {
		String newer = this.memory.options()
			.codec()
			.encodeValues(KEY, Map.of("version", 2, "tickets", List.of("call 1"), "urgent", List.of("call")));
		this.memory.put(KEY, RecordWrite.create("line", LineName.SESSION.id(), newer));
		Arrival arrival = arrive(Duration.ofSeconds(30));
		assertThatExceptionOfType(UnsupportedVersionException.class).isThrownBy(arrival::look)
			.withMessageContaining("version 2")
			.withMessageContaining(KEY.toString());
		assertThat(this.memory.records(KEY, "line")).extracting(SessionRecord::payload).containsExactly(newer);
	}

	@Test
	void aCallThatShowsLessOftenIsNotGone() throws Exception {
		Admission first = arrive(Duration.ofSeconds(9)).await();
		Arrival second = arrive(Duration.ofSeconds(1));
		for (int i = 0; i < 20; i++) {
			assertThat(second.look()).isNull();
			Thread.sleep(100);
		}
		first.leave();
		assertThat(second.look()).isNotNull();
	}

	@Test
	void aLineLivesAsLongAsTheCallsInItWhoeverWritesIt() {
		arrive(Duration.ofSeconds(9)).await();
		Arrival second = arrive(Duration.ofSeconds(1));
		assertThat(second.look()).isNull();
		second.leave();
		SessionRecord line = this.memory.records(KEY, "line").get(0);
		assertThat(Duration.between(line.writtenAt(), line.expiresAt())).isEqualTo(Duration.ofSeconds(9));
	}

	/** As many calls do that come to a slow store. */
	@Test
	void placeIsRenewedAlthoughOthersWriteTheLineAllTheTime() {
		Duration life = Duration.ofSeconds(9);
		ObservedStore busy = new ObservedStore(this.memory);
		AtomicInteger others = new AtomicInteger(15);
		busy.beforePut((write) -> {
			if (write.expected() > 0 && others.getAndDecrement() > 0) {
				SessionRecord line = this.memory.records(KEY, "line").get(0);
				this.memory.put(KEY, RecordWrite.replace(line, line.payload()));
			}
		});
		new Lines(busy, life, this.renewals, CallObserver.NONE)
			.arrive(KEY, null, null, Concurrency.SERIALIZE, life, null, new Drain())
			.await();
		String before = this.memory.records(KEY, "line").get(0).payload();
		Awaitility.await()
			.atMost(life.multipliedBy(2))
			.until(() -> !this.memory.records(KEY, "line").get(0).payload().equals(before));
	}

	/** The hooks that check the messages may take longer than a renewal. */
	@Test
	void messagesOfACallThatHasLeftAreNotTakenAfterARenewalHasReadSo() {
		Duration life = Duration.ofSeconds(9);
		Admission first = steering(life).await();
		Arrival second = steering(life);
		assertThat(second.look()).isNull();
		Offering offering = Objects.requireNonNull(first.offering());
		List<String> waiting = offering.waiting();
		assertThat(waiting).hasSize(1);
		assertThat(second.leave()).isFalse();
		long left = revision();
		Awaitility.await().atMost(life.multipliedBy(2)).until(() -> revision() > left);
		assertThat(offering.take(waiting)).isFalse();
		assertThat(offering.waiting()).isEmpty();
	}

	private long revision() {
		return this.memory.records(KEY, "line").get(0).revision();
	}

	private Arrival steering(Duration life) {
		return Objects.requireNonNull(lines(life, this.renewals).arrive(KEY, null,
				() -> new Offer(JoiningInput.unchecked(List.of(new UserMessage("more"))), null, 0), Concurrency.STEER,
				Duration.ofSeconds(30), null, new Drain()));
	}

	@Test
	@Timeout(60)
	void aCallThatIsGivenUpWhileAHookIsAskedLeavesTheLineAfterwards() throws Exception {
		Admission first = arrive(Duration.ofSeconds(30)).await();
		CountDownLatch asked = new CountDownLatch(1);
		CountDownLatch answered = new CountDownLatch(1);
		Arrival second = lines(Duration.ofSeconds(30), this.renewals).arrive(KEY, null, () -> {
			asked.countDown();
			awaitOpen(answered);
			return null;
		}, Concurrency.STEER, Duration.ofSeconds(30), null, new Drain());
		Thread looking = new Thread(second::look);
		looking.start();
		asked.await();
		second.giveUp();
		answered.countDown();
		looking.join();
		first.leave();
		assertThat(this.memory.records(KEY, "line")).isEmpty();
		assertThat(second.look()).isNull();
	}

	@Test
	@Timeout(60)
	void aCallThatIsGivenUpWhileItsPauseIsAskedLeavesTheLine() throws Exception {
		Admission first = arrive(Duration.ofSeconds(30)).await();
		for (int i = 0; i < 50; i++) {
			giveUpBesides(Arrival::pause);
			giveUpBesides(Arrival::isRepeating);
		}
		first.leave();
		assertThat(this.memory.records(KEY, "line")).isEmpty();
	}

	private void giveUpBesides(Consumer<Arrival> asking) throws InterruptedException {
		Arrival arrival = arrive(Duration.ofSeconds(30));
		assertThat(arrival.look()).isNull();
		CountDownLatch asked = new CountDownLatch(1);
		AtomicBoolean givenUp = new AtomicBoolean();
		Thread thread = new Thread(() -> {
			while (!givenUp.get()) {
				asking.accept(arrival);
				asked.countDown();
			}
		});
		thread.start();
		asked.await();
		arrival.giveUp();
		givenUp.set(true);
		thread.join();
	}

	private static void awaitOpen(CountDownLatch latch) {
		try {
			latch.await();
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

	private Arrival arrive(Duration life) {
		return arrive(life, this.renewals);
	}

	private Arrival arrive(Duration life, Renewals process) {
		return arrive(lines(life, process));
	}

	private static Arrival arrive(Lines lines) {
		return lines.arrive(KEY, null, null, Concurrency.SERIALIZE, Duration.ofSeconds(30), null, new Drain());
	}

	private Lines lines(Duration life, Renewals process) {
		return new Lines(this.store, life, process, CallObserver.NONE);
	}

}
