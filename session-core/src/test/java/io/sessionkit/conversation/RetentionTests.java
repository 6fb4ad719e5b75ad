package io.sessionkit.conversation;

import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.LongStream;

import io.sessionkit.Session;
import io.sessionkit.SessionKey;
import io.sessionkit.SessionSettings;
import io.sessionkit.Turn;
import io.sessionkit.TurnStatus;
import io.sessionkit.advisor.SessionAdvisor;
import io.sessionkit.advisor.SessionAdvisorTests;
import io.sessionkit.codec.JsonMessageCodec;
import io.sessionkit.context.HistoryPolicy;
import io.sessionkit.context.Retention;
import io.sessionkit.context.SentHistory;
import io.sessionkit.context.Summarize;
import io.sessionkit.context.Trim;
import io.sessionkit.hook.HookResult;
import io.sessionkit.hook.SessionHook;
import io.sessionkit.hook.TestHooks;
import io.sessionkit.internal.retention.RetentionOnce;
import io.sessionkit.internal.snapshot.KeptTexts;
import io.sessionkit.internal.snapshot.SnapshotReader;
import io.sessionkit.store.Commit;
import io.sessionkit.store.HeaderChange;
import io.sessionkit.store.PathQuery;
import io.sessionkit.store.Point;
import io.sessionkit.store.SessionRecord;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.StoreOptions;
import io.sessionkit.store.Tail;
import io.sessionkit.store.memory.InMemorySessionStore;
import io.sessionkit.test.ObservedStore;
import io.sessionkit.test.ScriptedChatModel;
import io.sessionkit.test.ScriptedChatModel.Lines;
import io.sessionkit.test.SetClock;
import io.sessionkit.test.TestStores;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.publisher.Flux;

import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.UserMessage;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/**
 * Retention: the oldest turns of a session that exceed a limit are deleted after a turn
 * has become history.
 */
class RetentionTests {

	private static final Map<TestStores, SessionStore> STORES = new EnumMap<>(TestStores.class);

	private final SessionKey key = SessionKey.of(UUID.randomUUID().toString());

	private final ScriptedChatModel model = new ScriptedChatModel();

	private SessionStore store;

	private Retention retention = Retention.NONE;

	private Conversation thread;

	private ChatClient chat;

	private int asked;

	private void on(TestStores kind, Retention retention) {
		on(STORES.computeIfAbsent(kind, TestStores::create), retention, Trim.NONE);
	}

	private void on(SessionStore on, Retention retention, Trim trim) {
		this.store = on;
		this.retention = retention;
		Conversations conversations = Conversations.builder(on).retention(retention).trim(trim).build();
		this.thread = conversations.get(this.key);
		this.chat = ChatClient.builder(this.model).defaultAdvisors(SessionAdvisor.of(conversations)).build();
	}

	private static InMemorySessionStore memory() {
		return new InMemorySessionStore(StoreOptions.of(JsonMessageCodec.create()));
	}

	private static InMemorySessionStore memory(SetClock clock) {
		return new InMemorySessionStore(StoreOptions.of(JsonMessageCodec.create()).clock(clock), 10);
	}

	private void ask() {
		int number = ++this.asked;
		this.model.says("a" + number);
		this.chat.prompt().user("q" + number).advisors(SessionAdvisor.session(this.key)).call().content();
	}

	private void ask(int times) {
		for (int i = 0; i < times; i++) {
			ask();
		}
	}

	private List<String> lines() {
		return Lines.of(this.thread.messages());
	}

	private static List<String> turns(int from, int to) {
		List<String> lines = new ArrayList<>();
		for (int i = from; i <= to; i++) {
			lines.add("user: q" + i);
			lines.add("assistant: a" + i);
		}
		return lines;
	}

	private long filled(Branch branch) {
		return this.store.path(this.key, PathQuery.to(Point.at(branch.head())).turns(Tail.ALL))
			.orElseThrow()
			.turns()
			.stream()
			.filter((turn) -> turn.items() > 0)
			.count();
	}

	private List<Long> withItems() {
		return this.thread.turns(Tail.ALL).stream().filter((turn) -> turn.items() > 0).map(Turn::number).toList();
	}

	@ParameterizedTest
	@EnumSource
	void theOldestTurnsGoAndTheNumbersGoOn(TestStores kind) {
		on(kind, Retention.keepLastTurns(3).batch(1));
		ask(7);
		assertThat(lines()).isEqualTo(turns(5, 7));
		assertThat(withItems()).containsExactly(5L, 6L, 7L);
		assertThat(this.thread.session().orElseThrow().totals().turns()).isEqualTo(3);
		assertThat(this.thread.session().orElseThrow().head()).isEqualTo(7);
		ask();
		assertThat(this.model.lastRequestLines()).startsWith("user: q5", "assistant: a5").endsWith("user: q8");
		assertThat(withItems()).containsExactly(6L, 7L, 8L);
		assertThat(this.store.turns(this.key, Tail.ALL)).extracting(Turn::number)
			.containsExactlyElementsOf(LongStream.rangeClosed(1, 8).boxed().toList());
	}

	@ParameterizedTest
	@EnumSource(names = { "MEMORY", "H2", "POSTGRESQL", "REDIS" })
	void sessionExceedsItsLimitByABatchAtMost(TestStores kind) {
		on(kind, Retention.keepLastTurns(3).batch(4));
		int most = 0;
		for (int i = 1; i <= 17; i++) {
			ask();
			most = Math.max(most, withItems().size());
			assertThat(withItems()).contains((long) i);
		}
		assertThat(most).isEqualTo(6);
		assertThat(lines()).isEqualTo(turns(14, 17));
	}

	@ParameterizedTest
	@EnumSource(names = { "MEMORY", "H2", "POSTGRESQL", "REDIS" })
	void snapshotsOfTurnsThatStayShowWhatTheModelWasShown(TestStores kind) {
		on(kind, Retention.keepLastTurns(3).batch(1));
		List<List<String>> sent = new ArrayList<>();
		for (int i = 1; i <= 9; i++) {
			ask();
			List<String> request = this.model.lastRequestLines();
			sent.add(request.subList(0, request.size() - 1));
		}
		for (int i = 7; i <= 9; i++) {
			SentHistory snapshot = this.thread.snapshot(i).orElseThrow();
			assertThat(snapshot.isComplete()).isTrue();
			assertThat(Lines.of(snapshot.messages())).isEqualTo(sent.get(i - 1));
		}
		assertThat(this.thread.snapshot(6)).isEmpty();
		assertThat(kept()).containsExactly("4", "5", "6");
		assertThat(this.thread.delete(5)).isZero();
		assertThat(this.thread.snapshot(7).orElseThrow().isComplete()).isFalse();
		assertThat(this.store.record(this.key, KeptTexts.KIND, "5").orElseThrow().payload()).doesNotContain("q5", "a5");
		ask();
		assertThat(kept()).containsExactly("5", "6", "7");
	}

	private List<String> kept() {
		return this.store.records(this.key, KeptTexts.KIND).stream().map(SessionRecord::id).toList();
	}

	@ParameterizedTest
	@EnumSource(names = { "MEMORY", "H2", "POSTGRESQL", "REDIS" })
	void whatASnapshotKeepsVerbatimGoesWithItsTurn(TestStores kind) {
		on(kind, Retention.keepLastTurns(2).batch(1));
		List<Message> given = List.of(new UserMessage("x?"), new AssistantMessage("x!"));
		for (int i = 1; i <= 5; i++) {
			this.model.says("a" + i);
			this.chat.prompt()
				.user("q" + i)
				.advisors(SessionAdvisor.session(this.key)
					.andThen(SessionAdvisor.history(given, HistoryPolicy.USE_IF_PROVIDED)))
				.call()
				.content();
		}
		assertThat(this.store.records(this.key, SnapshotReader.KIND)).extracting(SessionRecord::id)
			.containsExactlyInAnyOrderElementsOf(this.thread.turns(Tail.newest(2)).stream().map(Turn::id).toList());
		assertThat(Lines.of(this.thread.snapshot(5).orElseThrow().messages())).containsExactly("user: x?",
				"assistant: x!");
	}

	@ParameterizedTest
	@EnumSource(names = { "MEMORY", "H2", "POSTGRESQL", "REDIS" })
	void textsThatAHookRewroteGoWithTheTurnThatIsDeletedByItsNumber(TestStores kind) {
		on(kind, Retention.keepLastTurns(2).batch(1));
		rewriting();
		ask(4);
		assertThat(withItems()).containsExactly(3L, 4L);
		assertThat(verbatim(this.key)).contains("(q1)", "(q2)");
		SessionKey copy = SessionKey.of(UUID.randomUUID().toString());
		this.thread.fork(copy);
		for (SessionKey each : List.of(this.key, copy)) {
			assertThat(Conversations.of(this.store).get(each).delete(1)).isZero();
			assertThat(verbatim(each)).doesNotContain("(q1)");
		}
		assertThat(this.thread.snapshot(3).orElseThrow().isComplete()).isFalse();
	}

	@ParameterizedTest
	@EnumSource(names = { "MEMORY", "H2", "POSTGRESQL", "REDIS" })
	void textsThatAHookRewroteDoNotComeBackWithATurnThatWasOpen(TestStores kind) {
		SessionStore direct = STORES.computeIfAbsent(kind, TestStores::create);
		on(direct, Retention.NONE, Trim.NONE);
		rewriting();
		ask(4);
		this.model.step((prompt) -> {
			deleteOldestAsRetentionDoes(direct);
			CompletableFuture.runAsync(() -> this.thread.delete(1)).join();
			return Flux.just(this.model.chunk("a5", List.of(), true));
		});
		this.chat.prompt().user("q5").advisors(SessionAdvisor.session(this.key)).call().content();
		assertThat(this.thread.turns(Tail.newest(1))).extracting(Turn::status).containsExactly(TurnStatus.COMPLETED);
		assertThat(this.thread.snapshot(5).orElseThrow().isComplete()).isFalse();
		assertThat(verbatim(this.key)).doesNotContain("(q1)");
	}

	/** Puts questions of the history into brackets. */
	private void rewriting() {
		SessionHook hook = TestHooks.beforeModel("rewriting",
				(request) -> HookResult.replace(request.stream()
					.map((message) -> (message instanceof UserMessage) ? new UserMessage("(" + message.getText() + ")")
							: message)
					.toList()));
		Conversations conversations = Conversations.builder(this.store).retention(this.retention).hooks(hook).build();
		this.chat = ChatClient.builder(this.model).defaultAdvisors(SessionAdvisor.of(conversations)).build();
	}

	private String verbatim(SessionKey of) {
		return this.store.records(of, SnapshotReader.KIND)
			.stream()
			.map(SessionRecord::payload)
			.collect(Collectors.joining());
	}

	@Test
	void whatSnapshotsShareIsWrittenOnceHoweverManyRefer() {
		List<Long> written = new ArrayList<>();
		for (int stay : List.of(10, 20, 40)) {
			this.asked = 0;
			InMemorySessionStore memory = memory();
			ObservedStore observed = new ObservedStore(memory);
			on(observed, Retention.keepLastTurns(stay).batch(stay), Trim.NONE);
			ask(3 * stay);
			written.add(memory.records(this.key, KeptTexts.KIND)
				.stream()
				.mapToLong((record) -> record.payload().length())
				.sum());
			assertThat(kept()).hasSizeLessThanOrEqualTo(2 * stay);
		}
		assertThat(written.get(1)).isBetween((long) (1.5 * written.get(0)), (long) (2.5 * written.get(0)));
		assertThat(written.get(2)).isBetween((long) (1.5 * written.get(1)), (long) (2.5 * written.get(1)));
	}

	@Test
	void textsThatNoSnapshotShowsAreGone() {
		on(memory(), Retention.keepLastTurns(3).batch(1), Trim.keepLastTurns(1));
		ask(9);
		assertThat(kept()).containsExactly("6");
		assertThat(Lines.of(this.thread.snapshot(7).orElseThrow().messages())).isEqualTo(turns(6, 6));
	}

	@ParameterizedTest
	@EnumSource(names = { "MEMORY", "H2", "POSTGRESQL", "REDIS" })
	void failedTurnsAndThoseOfOtherBranchesGoWithTheTurnsAroundThem(TestStores kind) {
		on(kind, Retention.keepLastTurns(2).batch(1));
		ask(1);
		this.model.fails(new IllegalStateException("down"));
		assertThatExceptionOfType(IllegalStateException.class).isThrownBy(
				() -> this.chat.prompt().user("lost").advisors(SessionAdvisor.session(this.key)).call().content());
		ask(1);
		this.thread.branch("other", 3);
		ask(2);
		assertThat(withItems()).containsExactly(2L, 3L, 4L, 5L);
		this.thread.switchTo("main");
		assertThat(lines()).isEqualTo(turns(2, 2));
		this.thread.switchTo("other");
		ask(1);
		assertThat(withItems()).containsExactly(5L, 6L);
		this.thread.switchTo("main");
		assertThat(lines()).isEmpty();
		assertThat(this.thread.session().orElseThrow().totals().turns()).isZero();
		assertThat(this.thread.branches()).extracting(this::filled).containsExactlyInAnyOrder(0L, 2L);
		ask();
		assertThat(this.model.lastRequestLines()).containsExactly("user: q6");
		assertThat(withItems()).containsExactly(5L, 6L, 7L);
	}

	@ParameterizedTest
	@EnumSource(names = { "MEMORY", "H2", "POSTGRESQL", "REDIS" })
	void failuresDoNotCount(TestStores kind) {
		on(kind, Retention.keepLastTurns(3).batch(1));
		ask(3);
		for (int i = 0; i < 5; i++) {
			this.model.fails(new IllegalStateException("down"));
			assertThatExceptionOfType(IllegalStateException.class).isThrownBy(
					() -> this.chat.prompt().user("lost").advisors(SessionAdvisor.session(this.key)).call().content());
		}
		assertThat(lines()).isEqualTo(turns(1, 3));
		ask();
		assertThat(lines()).isEqualTo(turns(2, 4));
	}

	@ParameterizedTest
	@EnumSource(names = { "MEMORY", "H2", "POSTGRESQL", "REDIS" })
	void undoAndRedoGoNoFurtherThanWhatIsLeft(TestStores kind) {
		on(kind, Retention.keepLastTurns(3).batch(1));
		ask(6);
		assertThat(this.thread.undo(10)).extracting(Turn::number).containsExactly(6L, 5L, 4L);
		assertThat(lines()).isEmpty();
		assertThat(this.thread.undo(1)).isEmpty();
		assertThat(this.thread.redo(2)).extracting(Turn::number).containsExactly(4L, 5L);
		assertThat(lines()).isEqualTo(turns(4, 5));
		assertThat(this.thread.session().orElseThrow().totals().turns()).isEqualTo(2);
		assertThat(this.thread.redo(5)).extracting(Turn::number).containsExactly(6L);
		assertThat(lines()).isEqualTo(turns(4, 6));
	}

	@ParameterizedTest
	@EnumSource(names = { "MEMORY", "H2", "POSTGRESQL", "REDIS" })
	void forkOfASessionThatHasLostTurnsHasTheOthers(TestStores kind) {
		on(kind, Retention.keepLastTurns(3).batch(1));
		ask(6);
		SessionKey copy = SessionKey.of(UUID.randomUUID().toString());
		this.thread.fork(copy);
		Conversation other = Conversations.of(this.store).get(copy);
		assertThat(Lines.of(other.messages())).isEqualTo(turns(4, 6));
		assertThat(other.session().orElseThrow().totals()).isEqualTo(this.thread.session().orElseThrow().totals());
	}

	@ParameterizedTest
	@EnumSource(names = { "MEMORY", "H2", "POSTGRESQL", "REDIS" })
	void theFirstTurnThatIsLeftCanBeEdited(TestStores kind) {
		on(kind, Retention.keepLastTurns(3).batch(1));
		ask(6);
		this.model.says("b4");
		this.chat.prompt()
			.user("p4")
			.advisors(SessionAdvisor.session(this.key).andThen(SessionAdvisor.editing(4)))
			.call()
			.content();
		assertThat(this.model.lastRequestLines()).containsExactly("user: p4");
		assertThat(lines()).containsExactly("user: p4", "assistant: b4");
		this.thread.choose(4);
		assertThat(lines()).isEqualTo(turns(4, 6));
	}

	/** All multiples of the batch are numbers of turns without a call. */
	@ParameterizedTest
	@EnumSource(names = { "MEMORY", "H2", "POSTGRESQL", "REDIS" })
	void callDeletesWhereATurnWithoutACallHasPassedTheEndOfABatch(TestStores kind) {
		on(kind, Retention.keepLastTurns(2).batch(4));
		for (int i = 0; i < 10; i++) {
			ask();
			assertThat(withItems()).hasSizeLessThanOrEqualTo(5);
			add();
		}
	}

	@ParameterizedTest
	@EnumSource(names = { "MEMORY", "H2", "POSTGRESQL", "REDIS" })
	void callDeletesBehindASummaryTooWhereATurnWithoutACallHasPassedTheEndOfABatch(TestStores kind) {
		on(kind, Retention.keepLastTurns(2).batch(4));
		for (int i = 0; i < 10; i++) {
			ask();
			assertThat(withItems()).hasSizeLessThanOrEqualTo(5);
			add();
			summarize();
		}
	}

	private void add() {
		int number = ++this.asked;
		this.thread.addTurn(List.of(new UserMessage("q" + number), new AssistantMessage("a" + number)), null);
	}

	private void summarize() {
		Conversations.builder(this.store)
			.summarize(Summarize.by(new ScriptedChatModel().says("the story so far"))
				.triggerMessages(2)
				.keepTurns(1)
				.build())
			.build()
			.get(this.key)
			.summarize(true);
	}

	@Test
	void whatElseIsWrittenInATenthOfTheAgeDoesNotDelayTheDeletion() {
		SetClock clock = new SetClock();
		on(memory(clock), Retention.keepFor(Duration.ofDays(30)), Trim.NONE);
		for (int day = 0; day < 80; day++) {
			this.thread.putAttribute("day", day);
			ask();
			assertThat(withItems()).hasSizeLessThanOrEqualTo(34);
			clock.pass(Duration.ofDays(1));
		}
	}

	@Test
	void sessionIsReadOnceInATenthOfTheAge() {
		SetClock clock = new SetClock();
		ObservedStore observed = new ObservedStore(memory(clock));
		on(observed, Retention.keepFor(Duration.ofDays(30)), Trim.NONE);
		ask();
		clock.pass(Duration.ofDays(31));
		ask();
		assertThat(lines()).isEqualTo(turns(2, 2));
		int before = observed.calls().size();
		ask(5);
		assertThat(observed.calls().subList(before, observed.calls().size())).doesNotContain("path");
	}

	@Test
	void forkLosesByAgeWhatItHasCopiedAndIsReadOnceForThat() {
		SetClock clock = new SetClock();
		ObservedStore observed = new ObservedStore(memory(clock));
		on(observed, Retention.keepFor(Duration.ofDays(30)), Trim.NONE);
		ask(2);
		clock.pass(Duration.ofDays(20));
		SessionKey copy = SessionKey.of(UUID.randomUUID().toString());
		this.thread.fork(copy);
		clock.pass(Duration.ofDays(20));
		this.model.says("a3");
		this.chat.prompt().user("q3").advisors(SessionAdvisor.session(copy)).call().content();
		assertThat(Lines.of(observed.messages(copy))).isEqualTo(turns(3, 3));
		int before = observed.calls().size();
		this.model.says("a4");
		this.chat.prompt().user("q4").advisors(SessionAdvisor.session(copy)).call().content();
		assertThat(observed.calls().subList(before, observed.calls().size())).doesNotContain("path");
	}

	@Test
	void turnsAreDeletedByAgeAndTheNewestStays() {
		SetClock clock = new SetClock();
		on(memory(clock), Retention.keepFor(Duration.ofDays(30)), Trim.NONE);
		for (int day = 0; day < 40; day++) {
			ask();
			clock.pass(Duration.ofDays(1));
		}
		assertThat(withItems()).hasSizeBetween(30, 34).contains(40L);
		clock.pass(Duration.ofDays(100));
		ask();
		assertThat(lines()).isEqualTo(turns(41, 41));
		clock.pass(Duration.ofDays(-200));
		ask(2);
		assertThat(lines()).isEqualTo(turns(41, 43));
	}

	@Test
	void ageThatReachesBeforeAllTimesKeepsEverything() {
		Duration forever = ChronoUnit.FOREVER.getDuration();
		on(memory(), Retention.keepFor(forever), Trim.NONE);
		ask(3);
		this.thread.settings((settings) -> settings.retention((own) -> own.maxAge(forever)));
		ask(3);
		assertThat(lines()).isEqualTo(turns(1, 6));
	}

	@ParameterizedTest
	@EnumSource(names = { "MEMORY", "H2", "POSTGRESQL", "REDIS" })
	void settingsOfOneSessionOutrankTheProperties(TestStores kind) {
		on(kind, Retention.keepLastTurns(5).batch(1));
		ask();
		this.thread.settings((settings) -> settings.retention((own) -> own.maxTurns(2)));
		ask(4);
		assertThat(lines()).isEqualTo(turns(4, 5));
		this.thread.settings((settings) -> settings.retention((own) -> own.maxTurns(Integer.MAX_VALUE)));
		ask(6);
		assertThat(lines()).isEqualTo(turns(4, 11));
		this.thread.settings((settings) -> settings.retention((own) -> SessionSettings.RetentionSettings.NONE));
		ask();
		assertThat(lines()).isEqualTo(turns(8, 12));
	}

	@ParameterizedTest
	@EnumSource(names = { "MEMORY", "H2", "POSTGRESQL", "REDIS" })
	void turnThatWasOpenedBeforeADeletionBecomesHistory(TestStores kind) {
		SessionStore direct = STORES.computeIfAbsent(kind, TestStores::create);
		on(direct, Retention.NONE, Trim.NONE);
		ask(4);
		this.model.step((prompt) -> {
			deleteOldestAsRetentionDoes(direct);
			return Flux.just(this.model.chunk("a5", List.of(), true));
		});
		this.asked = 5;
		this.chat.prompt().user("q5").advisors(SessionAdvisor.session(this.key)).call().content();
		assertThat(lines()).isEqualTo(turns(4, 5));
		assertThat(this.thread.turns(Tail.newest(1))).extracting(Turn::status).containsExactly(TurnStatus.COMPLETED);
		assertThat(this.thread.session().orElseThrow().head()).isEqualTo(5);
	}

	/** Deletes after the head as another process would that has just written it. */
	private void deleteOldestAsRetentionDoes(SessionStore direct) {
		Session session = direct.find(this.key).orElseThrow();
		RetentionOnce.run(direct, Retention.keepLastTurns(1).batch(1), this.key, session.head());
		assertThat(direct.find(this.key).orElseThrow().totals().turns()).isEqualTo(1);
	}

	@Test
	void failureReachesNoCallAndALaterTurnCatchesUp() {
		ObservedStore observed = new ObservedStore(memory());
		on(observed, Retention.keepLastTurns(2).batch(4), Trim.NONE);
		ask(3);
		AtomicInteger commits = new AtomicInteger();
		observed.beforeCommit(() -> {
			if (commits.incrementAndGet() == 2) {
				throw new IllegalStateException("gone");
			}
		});
		ask();
		assertThat(commits).hasValue(2);
		assertThat(lines()).isEqualTo(turns(1, 4));
		ask();
		assertThat(lines()).isEqualTo(turns(4, 5));
	}

	@Test
	void writerInBetweenLosesNothing() {
		InMemorySessionStore memory = memory();
		ObservedStore observed = new ObservedStore(memory);
		on(observed, Retention.keepLastTurns(2).batch(4), Trim.NONE);
		ask(3);
		AtomicInteger commits = new AtomicInteger();
		observed.beforeCommit(() -> {
			if (commits.incrementAndGet() == 2) {
				memory.commit(Commit.any(this.key).header(HeaderChange.NONE.title("theirs")));
			}
		});
		ask();
		assertThat(lines()).isEqualTo(turns(1, 4));
		assertThat(this.thread.session().orElseThrow().title()).isEqualTo("theirs");
		ask();
		assertThat(lines()).isEqualTo(turns(4, 5));
	}

	@ParameterizedTest
	@EnumSource(names = { "MEMORY", "H2", "POSTGRESQL", "REDIS" })
	void summaryOfWhatIsDeletedStays(TestStores kind) {
		on(kind, Retention.keepLastTurns(3).batch(1));
		ask(3);
		Conversations summarizing = Conversations.builder(this.store)
			.summarize(Summarize.by(new ScriptedChatModel().says("the story so far"))
				.triggerMessages(2)
				.keepTurns(1)
				.build())
			.build();
		summarizing.get(this.key).summarize(true);
		ask(4);
		assertThat(lines()).isEqualTo(turns(5, 7));
		assertThat(Lines.of(this.thread.view()).get(1)).contains("the story so far");
		this.thread.undo(1);
		assertThat(Lines.of(this.thread.view()).get(1)).contains("the story so far");
		assertThat(this.thread.session().orElseThrow().totals().turns()).isEqualTo(2);
	}

	@ParameterizedTest
	@ValueSource(ints = { 0, -1 })
	void limitsBelowOneAreRefusedWithWhatToWrite(int value) {
		assertThatIllegalArgumentException().isThrownBy(() -> Retention.keepLastTurns(value))
			.withMessageContaining("must be 1 or more: " + value)
			.withMessageContaining("Leave it out");
		assertThatIllegalArgumentException().isThrownBy(() -> Retention.keepFor(Duration.ofDays(value)))
			.withMessageContaining("must be a second or more")
			.withMessageContaining("30d");
		assertThatIllegalArgumentException()
			.isThrownBy(() -> Retention.keepLastTurns(1).maxAge(Duration.ofMillis(999 + value)))
			.withMessageContaining("must be a second or more");
		assertThatIllegalArgumentException().isThrownBy(() -> Retention.NONE.batch(value))
			.withMessageContaining("retention.batch must be 1 or more: " + value);
	}

	@Test
	void turnsThatAreAddedDeleteNothingUntilTheNextCall() {
		on(memory(), Retention.keepLastTurns(2).batch(1), Trim.NONE);
		IntStream.rangeClosed(1, 5)
			.forEach((i) -> this.store.add(this.key, List.of(new UserMessage("q" + i), new AssistantMessage("a" + i))));
		assertThat(lines()).isEqualTo(turns(1, 5));
		this.asked = 5;
		ask();
		assertThat(lines()).isEqualTo(turns(5, 6));
	}

	@Test
	void toolRoundsGoWithTheirTurn() {
		on(memory(), Retention.keepLastTurns(1).batch(1), Trim.NONE);
		Conversations conversations = Conversations.builder(this.store)
			.retention(Retention.keepLastTurns(1).batch(1))
			.build();
		this.model.calls(SessionAdvisorTests.call("1", "t", "1")).says("a1");
		ChatClient tools = ChatClient.builder(this.model)
			.defaultAdvisors(SessionAdvisor.of(conversations))
			.defaultTools(SessionAdvisorTests.echo("t"))
			.build();
		tools.prompt().user("q1").advisors(SessionAdvisor.session(this.key)).call().content();
		this.asked = 1;
		ask();
		assertThat(lines()).isEqualTo(turns(2, 2));
	}

}
