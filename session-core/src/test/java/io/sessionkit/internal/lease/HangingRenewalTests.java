package io.sessionkit.internal.lease;

import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.stream.IntStream;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.sessionkit.Concurrency;
import io.sessionkit.SessionKey;
import io.sessionkit.internal.Renewals;
import io.sessionkit.internal.attribute.JoiningInput;
import io.sessionkit.internal.line.Admission;
import io.sessionkit.internal.line.Answer;
import io.sessionkit.internal.line.Arrival;
import io.sessionkit.internal.line.Drain;
import io.sessionkit.internal.line.Lines;
import io.sessionkit.internal.line.Offer;
import io.sessionkit.internal.line.Offering;
import io.sessionkit.observation.CallObserver;
import io.sessionkit.observation.LeaseKind;
import io.sessionkit.store.Commit;
import io.sessionkit.store.RecordWrite;
import io.sessionkit.store.SessionStore;
import io.sessionkit.test.ObservedStore;
import io.sessionkit.test.TestStores;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.parallel.Isolated;
import org.slf4j.LoggerFactory;

import org.springframework.ai.chat.messages.UserMessage;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Renewals that do not come back from the store, as on connections that have died
 * silently.
 */
@Isolated
@Timeout(120)
class HangingRenewalTests {

	private static final SessionKey KEY = SessionKey.of("ada", "t1");

	private static final Duration LIFE = Duration.ofSeconds(3);

	/** For what is stored while a renewal hangs. */
	private static final Duration LONGER = LIFE.multipliedBy(2);

	private static final Duration PATIENCE = Duration.ofSeconds(30);

	private final Logger logger = (Logger) LoggerFactory.getLogger("io.sessionkit.internal");

	private final SessionStore memory = TestStores.MEMORY.create();

	private final ObservedStore store = new ObservedStore(this.memory);

	private final CountDownLatch alive = new CountDownLatch(1);

	private final Set<Thread> hanging = ConcurrentHashMap.newKeySet();

	private final List<LeaseKind> lost = new CopyOnWriteArrayList<>();

	private final CallObserver observer = new CallObserver() {
		@Override
		public void leaseLost(LeaseKind kind) {
			HangingRenewalTests.this.lost.add(kind);
		}
	};

	private final Renewals renewals = new Renewals();

	private final TurnLeases leases = new TurnLeases(this.store, LIFE, this.renewals, this.observer);

	private final ListAppender<ILoggingEvent> log = new ListAppender<>();

	/** The number of puts that hang from now on. */
	private volatile int toHang;

	@BeforeEach
	void begin() {
		this.log.start();
		this.logger.setLevel(Level.INFO);
		this.logger.addAppender(this.log);
		this.store.beforePut(this::hang);
	}

	@AfterEach
	void close() {
		this.alive.countDown();
		this.renewals.close();
		this.logger.detachAppender(this.log);
		this.logger.setLevel(null);
	}

	private void hang(RecordWrite write) {
		if (write.expected() > 0 && write.payload() != null && isToHang()) {
			this.hanging.add(Thread.currentThread());
			try {
				this.alive.await();
			}
			catch (InterruptedException ex) {
				throw new IllegalStateException(ex);
			}
		}
	}

	private synchronized boolean isToHang() {
		return this.toHang-- > 0;
	}

	private TurnLease lease(int number) {
		return lease(number, this.leases);
	}

	/** One that outlives seconds in which this process does nothing. */
	private TurnLease longLease(int number) {
		return lease(number, new TurnLeases(this.store, LIFE.multipliedBy(3), this.renewals, this.observer));
	}

	private TurnLease lease(int number, TurnLeases leases) {
		SessionKey key = key(number);
		this.memory.add(key, List.of(new UserMessage("q")));
		return leases.take(key).orElseThrow();
	}

	private static SessionKey key(int number) {
		return SessionKey.of("ada", "t" + number);
	}

	private void awaitRenewals(int number) {
		long taken = revision(number);
		Awaitility.await().atMost(PATIENCE).until(() -> revision(number) > taken + 1);
	}

	private long revision(int number) {
		return this.memory.records(key(number), TurnRecords.LEASE).get(0).revision();
	}

	private List<TurnLease> hangingLeases(int number) {
		this.toHang = number;
		List<TurnLease> taken = IntStream.range(0, number).mapToObj(this::lease).toList();
		Awaitility.await().until(() -> this.hanging.size() == number);
		return taken;
	}

	private long logged(String text) {
		return List.copyOf(this.log.list)
			.stream()
			.filter((event) -> event.getFormattedMessage().contains(text))
			.count();
	}

	@Test
	void renewalsThatHangDoNotCostOthersTheirLease() {
		List<TurnLease> dead = hangingLeases(6);
		TurnLease other = longLease(6);
		awaitRenewals(6);
		assertThat(other.isHeld()).isTrue();
		assertThat(dead).noneMatch(TurnLease::isHeld);
		assertThat(this.lost).hasSize(6).containsOnly(LeaseKind.TURN);
		assertThat(logged("could not")).isZero();
		assertThat(logged("socketTimeout")).isOne();
		this.alive.countDown();
		Awaitility.await().until(() -> logged("No renewal hangs any more") == 1);
		assertThat(other.isHeld()).isTrue();
		assertThat(this.lost).hasSize(6);
	}

	@Test
	void leaseWhoseTurnEndsWhileItsRenewalHangsIsNotWaitedForLongerThanItLives() {
		List<TurnLease> dead = hangingLeases(1);
		assertThat(CompletableFuture.runAsync(dead.get(0)::leave)).succeedsWithin(LONGER);
		assertThat(this.lost).isEmpty();
	}

	@Test
	void leasesThatNoThreadIsLeftForAreReportedAndTheNextOnesAreRenewed() {
		List<Renewals.Renewal> others = IntStream.range(0, 64).mapToObj((i) -> hangingRenewal()).toList();
		Awaitility.await().atMost(PATIENCE).until(() -> logged("nothing else is renewed") == 1);
		List<TurnLease> dead = IntStream.range(0, 6).mapToObj(this::lease).toList();
		Awaitility.await().atMost(PATIENCE).until(() -> this.lost.size() == 6);
		assertThat(dead).noneMatch(TurnLease::isHeld);
		assertThat(logged("nothing else is renewed")).isOne();
		others.forEach(Renewals.Renewal::cancel);
		this.alive.countDown();
		TurnLease next = longLease(6);
		awaitRenewals(6);
		assertThat(next.isHeld()).isTrue();
		assertThat(this.lost).hasSize(6);
	}

	/** Each that hangs is noticed soon, and has no end that it could miss. */
	private Renewals.Renewal hangingRenewal() {
		return this.renewals.start(LIFE.dividedBy(10), () -> "Something", () -> {
			try {
				this.alive.await();
			}
			catch (InterruptedException ex) {
				throw new IllegalStateException(ex);
			}
		});
	}

	@Test
	void placeInLineWhoseRenewalHangsIsReportedOnceItHasRunOut() {
		hangingPlace(LIFE, this.store::beforePut);
		Awaitility.await().until(() -> this.lost.equals(List.of(LeaseKind.LINE)));
		assertThat(logged("The place of a call on session 't1' of 'ada' was not renewed")).isOne();
	}

	@Test
	void turnWhosePlaceHangsIsStoredWithoutItAndTheLateRenewalWritesNothing() {
		Admission admission = hangingPlace(LONGER, this.store::beforePut);
		assertThat(soon(() -> isStored(admission.answering()))).isTrue();
		admission.answered();
		assertThat(soon(() -> isStored(admission.leaving()))).isTrue();
		Awaitility.await().during(LONGER).atMost(LONGER.multipliedBy(3)).until(this.lost::isEmpty);
		this.alive.countDown();
		Awaitility.await().until(() -> this.hanging.stream().allMatch((thread) -> isIdle(thread)));
		admission.left();
		assertThat(this.memory.records(KEY, "line")).isEmpty();
		assertThat(this.lost).isEmpty();
		assertThat(logged("place")).isEqualTo(logged("waits for the store"));
	}

	/** Its answer is what hangs. */
	@Test
	void renewalThatWasStoredBeforeItHungIsReadByTheTurnThatIsStored() {
		Admission admission = hangingPlace(LONGER, this.store::afterPut);
		assertThat(soon(() -> isStored(admission.leaving()))).isFalse();
		assertThat(soon(admission::hasChanged)).isTrue();
		assertThat(soon(() -> isStored(admission.leaving()))).isTrue();
		admission.left();
		assertThat(this.memory.records(KEY, "line")).isEmpty();
	}

	@Test
	void callWhosePlaceHangsTakesMessagesAndLeaves() {
		Admission admission = hangingPlace(LONGER, this.store::beforePut);
		Arrival second = arrive(LONGER,
				() -> new Offer(JoiningInput.unchecked(List.of(new UserMessage("more"))), null, 0));
		assertThat(second.look()).isNull();
		Offering offering = Objects.requireNonNull(admission.offering());
		List<String> waiting = soon(offering::waiting);
		assertThat(waiting).hasSize(1);
		assertThat(soon(() -> offering.take(waiting))).isTrue();
		assertThat(soon(() -> {
			admission.leave();
			return true;
		})).isTrue();
		Awaitility.await().until(() -> second.look() != null);
	}

	/** Returns the admission of a call whose place is being renewed. */
	private Admission hangingPlace(Duration life, Consumer<Consumer<RecordWrite>> hangs) {
		this.store.beforePut((write) -> {
		});
		hangs.accept(this::hang);
		this.memory.add(KEY, List.of(new UserMessage("q")));
		this.toHang = 1;
		Admission admission = arrive(life, () -> null).await();
		admission.working(new Answer("turn", 1));
		Awaitility.await().until(() -> this.hanging.size() == 1);
		return admission;
	}

	private Arrival arrive(Duration life, Supplier<@Nullable Offer> offer) {
		return Objects.requireNonNull(new Lines(this.store, life, this.renewals, this.observer).arrive(KEY, null, offer,
				Concurrency.STEER, life, null, new Drain()));
	}

	/** Does as a commit does. */
	private boolean isStored(List<RecordWrite> writes) {
		return this.memory.commit(Commit.any(KEY).records(writes)).isStored();
	}

	private static <T> T soon(Supplier<T> work) {
		return CompletableFuture.supplyAsync(work).orTimeout(LONGER.toMillis(), TimeUnit.MILLISECONDS).join();
	}

	private static boolean isIdle(Thread thread) {
		return Arrays.stream(thread.getStackTrace()).noneMatch((frame) -> frame.getClassName().contains("FirstPlace"));
	}

}
