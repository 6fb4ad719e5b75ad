package io.sessionkit.conversation;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.stream.IntStream;

import io.sessionkit.SessionKey;
import io.sessionkit.approval.ApprovalNotice;
import io.sessionkit.approval.ToolApproval;
import io.sessionkit.codec.JsonMessageCodec;
import io.sessionkit.docs.SimpleSessionStore;
import io.sessionkit.store.SessionRecord;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.StoreOptions;
import io.sessionkit.store.StoreUnavailableException;
import io.sessionkit.store.memory.InMemorySessionStore;
import io.sessionkit.test.ObservedStore;
import io.sessionkit.test.ScriptedChatModel;
import io.sessionkit.test.SetClock;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * Notices that calls wait reach a listener at least once, whoever dies.
 */
class ApprovalNoticesTests {

	private static final Duration NEVER = Duration.ofHours(10);

	private static final Duration OFTEN = Duration.ofMillis(20);

	private static final SessionKey KEY = SessionKey.of("ada", "thread");

	private final SetClock clock = new SetClock();

	private final SessionStore store = new InMemorySessionStore(
			StoreOptions.of(JsonMessageCodec.create()).clock(this.clock));

	private final Conversations conversations = Conversations.of(this.store);

	private final Approvals approvals = NoticeProcess.approvals(this.conversations);

	private final List<ApprovalNotice> heard = new CopyOnWriteArrayList<>();

	private final List<AutoCloseable> started = new ArrayList<>();

	@AfterEach
	void stop() throws Exception {
		for (AutoCloseable each : this.started) {
			each.close();
		}
		this.conversations.close();
	}

	@Test
	void pauseIsToldAtOnceAndWithoutArguments() {
		deliver(this.heard::add, NEVER);
		ToolApproval call = pause(KEY);
		await().until(() -> notices().isEmpty());
		assertThat(this.heard).singleElement().satisfies((notice) -> {
			assertThat(notice.key()).isEqualTo(KEY);
			assertThat(notice.turnId()).isEqualTo(call.turnId());
			assertThat(notice.approvalIds()).containsExactly(call.id());
			assertThat(notice.tools()).containsExactly("cancel");
			assertThat(notice.requestedAt()).isEqualTo(call.requestedAt());
			assertThat(notice.expiresAt()).isEqualTo(call.expiresAt());
			assertThat(notice.toString()).doesNotContain("secret");
		});
	}

	@Test
	void nothingIsWrittenUnlessAskedFor() {
		Approvals quiet = Approvals.builder(this.conversations).tools(Set.of("cancel")).build();
		NoticeProcess.pause(quiet, this.conversations, new ScriptedChatModel(), KEY);
		assertThat(notices()).isEmpty();
		assertThat(quiet.pending(KEY)).hasSize(1);
	}

	@Test
	void listenerThatThrowsIsAskedAgainLaterAndHoldsNobodyUp() {
		List<ApprovalNotice> tried = new CopyOnWriteArrayList<>();
		deliver((notice) -> {
			tried.add(notice);
			if (notice.key().equals(KEY) && tried.stream().filter(notice::equals).count() < 3) {
				throw new IllegalStateException("not now");
			}
			this.heard.add(notice);
		}, OFTEN);
		pause(KEY);
		pause(SessionKey.of("other"));
		await().until(() -> this.heard.size() == 1 && tried.size() == 2);
		assertThat(this.heard.get(0).key()).isEqualTo(SessionKey.of("other"));
		this.clock.pass(Duration.ofSeconds(1));
		await().until(() -> tried.size() == 3);
		this.clock.pass(Duration.ofSeconds(2));
		await().until(() -> notices().isEmpty());
		assertThat(this.heard).extracting(ApprovalNotice::key).containsExactly(SessionKey.of("other"), KEY);
		assertThat(tried).hasSize(4);
	}

	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void noticeThatCannotBeWrittenHoldsNobodyUp(boolean afterDelivery) {
		ToolApproval broken = pause(KEY);
		pause(SessionKey.of("other"));
		ObservedStore failing = new ObservedStore(this.store);
		AtomicBoolean fails = new AtomicBoolean(true);
		failing.beforePut((record) -> {
			if (fails.get() && record.id().equals(broken.id()) && (record.payload() == null) == afterDelivery) {
				throw new StoreUnavailableException("down", null);
			}
		});
		try (Conversations others = Conversations.of(failing)) {
			this.started
				.add(ApprovalNotices.builder(NoticeProcess.approvals(others), this.heard::add).interval(OFTEN).start());
			await().until(() -> notices().size() == 1);
			fails.set(false);
			await().until(() -> {
				this.clock.pass(ApprovalNotices.LEASE);
				return notices().isEmpty();
			});
		}
		assertThat(this.heard).extracting(ApprovalNotice::key).contains(KEY, SessionKey.of("other"));
	}

	/** Whatever waits in the store, so a pause costs no look at all of it. */
	@Test
	void pauseOfThisProcessIsToldBeforeAllOthersAndWithoutALookAtThem() {
		List<SessionKey> others = IntStream.range(0, 3).mapToObj((i) -> SessionKey.of("other" + i)).toList();
		AtomicBoolean down = new AtomicBoolean(true);
		deliver((notice) -> {
			if (down.get() && others.contains(notice.key())) {
				throw new IllegalStateException("not now");
			}
			this.heard.add(notice);
		}, NEVER);
		others.forEach(this::pause);
		await().until(() -> notices().stream().allMatch((notice) -> notice.payload().contains("\"attempts\":1")));
		down.set(false);
		this.clock.pass(Duration.ofHours(2));
		pause(KEY);
		await().until(() -> !this.heard.isEmpty());
		await().during(Duration.ofMillis(100)).until(() -> notices().size() == 3);
		assertThat(this.heard).extracting(ApprovalNotice::key).containsExactly(KEY);
	}

	@Test
	void noticeOfAProcessWhoseClockIsFastIsDeliveredAtOnce() {
		pause(KEY);
		this.clock.pass(Duration.ofMinutes(-30));
		deliver(this.heard::add, NEVER);
		await().until(() -> notices().isEmpty());
		assertThat(this.heard).hasSize(1);
	}

	@Test
	void clockThatJumpsBackDoesNotKeepANoticeForLong() {
		deliver((notice) -> {
			this.heard.add(notice);
			if (this.heard.size() == 1) {
				throw new IllegalStateException("not now");
			}
		}, OFTEN);
		pause(KEY);
		await().until(() -> this.heard.size() == 1);
		this.clock.pass(Duration.ofDays(-1));
		await().until(() -> notices().isEmpty());
		assertThat(this.heard).hasSize(2);
	}

	@Test
	void noticeIsGivenUpAfterManyAttempts() {
		Approvals lasting = Approvals.builder(this.conversations).tools(Set.of("cancel")).notices(true).build();
		this.started.add(ApprovalNotices.builder(lasting, (notice) -> {
			this.heard.add(notice);
			throw new AssertionError("never");
		}).interval(OFTEN).start());
		NoticeProcess.pause(lasting, this.conversations, new ScriptedChatModel(), KEY);
		await().pollInterval(OFTEN).until(() -> {
			this.clock.pass(Duration.ofMinutes(61));
			return notices().isEmpty();
		});
		assertThat(this.heard).hasSize(ApprovalNotices.MAX_ATTEMPTS);
		assertThat(lasting.pending(KEY)).hasSize(1);
	}

	@Test
	void slowListenerBlocksNoTurnAndTwoInstancesShareTheNotices() {
		List<ApprovalNotice> first = new CopyOnWriteArrayList<>();
		List<ApprovalNotice> second = new CopyOnWriteArrayList<>();
		deliver((notice) -> slowly(first, notice), OFTEN);
		try (Conversations others = Conversations.of(this.store)) {
			ApprovalNotices other = ApprovalNotices
				.builder(NoticeProcess.approvals(others), (notice) -> slowly(second, notice))
				.interval(OFTEN)
				.start();
			this.started.add(other);
			List<SessionKey> keys = IntStream.range(0, 10).mapToObj((i) -> SessionKey.of("s" + i)).toList();
			keys.forEach(this::pause);
			await().until(() -> notices().isEmpty());
			this.heard.addAll(first);
			this.heard.addAll(second);
			assertThat(this.heard).extracting(ApprovalNotice::key).containsExactlyInAnyOrderElementsOf(keys);
			assertThat(first).isNotEmpty();
			assertThat(second).isNotEmpty();
		}
	}

	/** Another process claims the notice meanwhile; both have told of it in the end. */
	@Test
	void noticeWhoseListenerWasTooSlowIsOverOnceOneHasReturned() {
		CountDownLatch claimed = new CountDownLatch(1);
		CountDownLatch returned = new CountDownLatch(1);
		deliver((notice) -> {
			this.heard.add(notice);
			waitFor(claimed);
		}, NEVER);
		pause(KEY);
		await().until(() -> this.heard.size() == 1);
		this.clock.pass(ApprovalNotices.LEASE.plusSeconds(1));
		try (Conversations others = Conversations.of(this.store)) {
			this.started.add(ApprovalNotices.builder(NoticeProcess.approvals(others), (notice) -> {
				this.heard.add(notice);
				claimed.countDown();
				waitFor(returned);
			}).interval(NEVER).start());
			await().until(() -> this.heard.size() == 2 && notices().isEmpty());
			returned.countDown();
		}
		assertThat(notices()).isEmpty();
	}

	private static void waitFor(CountDownLatch latch) {
		try {
			assertThat(latch.await(20, TimeUnit.SECONDS)).isTrue();
		}
		catch (InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
	}

	private static void slowly(List<ApprovalNotice> heard, ApprovalNotice notice) {
		try {
			Thread.sleep(20);
		}
		catch (InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
		heard.add(notice);
	}

	@Test
	void noticesOfProcessesThatAreKilledReachTheNextOne() {
		SharedStore shared = SharedStore.inPostgres();
		for (String session : List.of("killed-1", "killed-2")) {
			try (OtherProcess pausing = OtherProcess.start(NoticeProcess.class, shared.words())) {
				pausing.tell(session);
				pausing.hear("paused");
			}
		}
		String taken;
		try (OtherProcess delivering = OtherProcess.start(NoticeProcess.class, shared.words())) {
			delivering.tell("deliver");
			taken = delivering.hear();
		}
		try (SharedStore.Connected connected = shared.connect();
				Conversations here = Conversations.of(connected.store());
				ApprovalNotices delivery = ApprovalNotices.builder(NoticeProcess.approvals(here), this.heard::add)
					.interval(OFTEN)
					.lease(NoticeProcess.LEASE)
					.start()) {
			await().atMost(Duration.ofSeconds(30))
				.until(() -> connected.store().oldestRecords("notice", null, 10).records().isEmpty());
			assertThat(this.heard).extracting((notice) -> notice.key().id())
				.containsExactlyInAnyOrder("killed-1", "killed-2");
			assertThat(this.heard).extracting((notice) -> "got " + notice.id()).contains(taken);
			assertThat(delivery).isNotNull();
		}
	}

	@Test
	void noticeOfAnErasedSessionIsNotDelivered() {
		SessionKey erased = SessionKey.of("erased");
		pause(erased);
		pause(KEY);
		this.store.erase(erased);
		deliver(this.heard::add, OFTEN);
		await().until(() -> notices().isEmpty());
		assertThat(this.heard).singleElement().extracting(ApprovalNotice::key).isEqualTo(KEY);
	}

	@Test
	void storeThatDoesNotListRecordsOfAllOwnersIsRefusedAtStart() {
		try (Conversations others = Conversations.of(new SimpleSessionStore(this.store.options()))) {
			Approvals unlisted = NoticeProcess.approvals(others);
			assertThatExceptionOfType(UnsupportedOperationException.class)
				.isThrownBy(() -> ApprovalNotices.builder(unlisted, this.heard::add).interval(OFTEN).start());
		}
	}

	@Test
	void redisKeepsAndDeliversNoticesToo() {
		try (SharedStore.Connected connected = SharedStore.inRedis().connect();
				Conversations here = Conversations.of(connected.store())) {
			Approvals redis = NoticeProcess.approvals(here);
			ApprovalNotices delivery = ApprovalNotices.builder(redis, this.heard::add).interval(NEVER).start();
			NoticeProcess.pause(redis, here, new ScriptedChatModel(), KEY);
			await().until(() -> connected.store().oldestRecords("notice", null, 1).records().isEmpty());
			assertThat(this.heard).extracting(ApprovalNotice::key).containsExactly(KEY);
			delivery.close();
		}
	}

	private void deliver(Consumer<ApprovalNotice> listener, Duration interval) {
		this.started.add(ApprovalNotices.builder(this.approvals, listener).interval(interval).start());
	}

	private ToolApproval pause(SessionKey key) {
		NoticeProcess.pause(this.approvals, this.conversations, new ScriptedChatModel(), key);
		return this.approvals.pending(key).get(0);
	}

	private List<SessionRecord> notices() {
		return this.store.oldestRecords("notice", null, 100).records();
	}

}
