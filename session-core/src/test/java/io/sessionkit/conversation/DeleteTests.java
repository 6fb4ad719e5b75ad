package io.sessionkit.conversation;

import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CyclicBarrier;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;

import io.sessionkit.Session;
import io.sessionkit.SessionConflictException;
import io.sessionkit.SessionItem;
import io.sessionkit.SessionKey;
import io.sessionkit.Turn;
import io.sessionkit.TurnOpenException;
import io.sessionkit.TurnStatus;
import io.sessionkit.advisor.SessionAdvisor;
import io.sessionkit.advisor.SessionAdvisorTests;
import io.sessionkit.context.Pins;
import io.sessionkit.context.SentHistory;
import io.sessionkit.context.SnapshotProperties;
import io.sessionkit.context.Trim;
import io.sessionkit.hook.HookResult;
import io.sessionkit.hook.SessionHook;
import io.sessionkit.hook.TestHooks;
import io.sessionkit.internal.snapshot.SnapshotReader;
import io.sessionkit.store.Commit;
import io.sessionkit.store.HeaderChange;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.Tail;
import io.sessionkit.test.ClientSetup;
import io.sessionkit.test.ScriptedChatModel;
import io.sessionkit.test.ScriptedChatModel.Lines;
import io.sessionkit.test.TestStores;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import reactor.core.publisher.Flux;

import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.ToolResponseMessage;
import org.springframework.ai.chat.messages.ToolResponseMessage.ToolResponse;
import org.springframework.ai.chat.messages.UserMessage;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * Deleting from the log, on a store of each family.
 */
class DeleteTests {

	private static final Map<TestStores, SessionStore> STORES = new EnumMap<>(TestStores.class);

	private final SessionKey key = SessionKey.of(UUID.randomUUID().toString());

	private final ScriptedChatModel model = new ScriptedChatModel();

	private SessionStore store;

	private Conversation thread;

	private void on(TestStores kind) {
		this.store = STORES.computeIfAbsent(kind, TestStores::create);
		this.thread = Conversations.of(this.store).get(this.key);
	}

	@ParameterizedTest
	@EnumSource(names = { "MEMORY", "H2", "POSTGRESQL", "REDIS" })
	void ofTwoEqualMessagesTheNamedOneGoes(TestStores kind) {
		on(kind);
		add(new UserMessage("ok"), new AssistantMessage("first"));
		add(new UserMessage("ok"), new AssistantMessage("second"));
		assertThat(this.thread.delete(Set.of(3L))).isEqualTo(1);
		assertThat(this.thread.items(Tail.ALL)).extracting(SessionItem::sequence).containsExactly(1L, 2L, 4L);
		assertThat(this.thread.session().orElseThrow().totals().items()).isEqualTo(3);
	}

	@ParameterizedTest
	@EnumSource(names = { "MEMORY", "H2", "POSTGRESQL", "REDIS" })
	void callsTakeTheirResultsWithThemAndResultsTheirCalls(TestStores kind) {
		on(kind);
		this.model.calls(SessionAdvisorTests.call("", "t", "1"), SessionAdvisorTests.call("", "t", "2"))
			.calls(SessionAdvisorTests.call("", "t", "3"))
			.says("a1")
			.calls(SessionAdvisorTests.call("", "t", "4"))
			.says("a2");
		ask("q1");
		ask("q2");
		assertThat(this.thread.delete(Set.of(3L))).isEqualTo(2);
		assertThat(this.thread.delete(Set.of(8L, 9L))).isEqualTo(2);
		assertThat(lines()).containsExactly("user: q1", "assistant t({\"value\":\"3\"})", "tool t=3", "assistant: a1",
				"user: q2", "assistant: a2");
	}

	@ParameterizedTest
	@EnumSource(names = { "MEMORY", "H2", "POSTGRESQL", "REDIS" })
	void callsAndResultsInTwoTurnsGoTogether(TestStores kind) {
		on(kind);
		for (int i = 0; i < 2; i++) {
			add(new UserMessage("q"), calls());
			add(results(), new AssistantMessage("a"));
		}
		assertThat(this.thread.delete(1)).isEqualTo(3);
		assertThat(this.thread.delete(Set.of(7L))).isEqualTo(2);
		assertThat(lines()).containsExactly("assistant: a", "user: q", "assistant: a");
	}

	@ParameterizedTest
	@EnumSource(names = { "MEMORY", "H2", "POSTGRESQL", "REDIS" })
	void whatIsNotThereIsNoErrorAndCountsNothing(TestStores kind) {
		on(kind);
		assertThat(this.thread.delete(1)).isZero();
		assertThat(this.thread.delete(Set.of(1L))).isZero();
		add(new UserMessage("q"), new AssistantMessage("a"));
		long version = this.thread.session().orElseThrow().version();
		assertThat(this.thread.delete(2)).isZero();
		assertThat(this.thread.delete(-1)).isZero();
		assertThat(this.thread.delete(Set.of())).isZero();
		assertThat(this.thread.delete(Set.of(-1L, 0L, 3L, Long.MAX_VALUE))).isZero();
		assertThat(this.thread.session().orElseThrow().version()).isEqualTo(version);
		assertThat(this.thread.delete(Set.of(2L, 3L))).isEqualTo(1);
		assertThat(this.thread.delete(1)).isEqualTo(1);
		assertThat(this.thread.delete(1)).isZero();
		assertThat(lines()).isEmpty();
	}

	@ParameterizedTest
	@EnumSource(names = { "MEMORY", "H2", "POSTGRESQL", "REDIS" })
	void turnsOfOtherBranchesAndFailedOnesAreDeletedToo(TestStores kind) {
		on(kind);
		add(new UserMessage("q1"), new AssistantMessage("a1"));
		add(new UserMessage("q2"), new AssistantMessage("a2"));
		this.store.commit(Commit.any(this.key).header(HeaderChange.NONE.head("other", 1)));
		this.model.fails(new IllegalStateException("down"));
		assertThatIllegalStateException().isThrownBy(() -> ask("q3"));
		assertThat(this.thread.delete(Set.of(4L))).isEqualTo(1);
		assertThat(this.thread.delete(3)).isEqualTo(1);
		assertThat(Lines.of(this.thread.items(2).stream().map(SessionItem::message).toList()))
			.containsExactly("user: q2");
		assertThat(this.thread.items(3)).isEmpty();
		assertThat(lines()).containsExactly("user: q1", "assistant: a1");
	}

	@ParameterizedTest
	@EnumSource(names = { "MEMORY", "H2", "POSTGRESQL", "REDIS" })
	void turnWithoutItemsDoesNotCountUnderALimitOnTurns(TestStores kind) {
		on(kind);
		for (int i = 1; i <= 5; i++) {
			add(new UserMessage("q" + i), new AssistantMessage("a" + i));
		}
		this.thread.delete(4);
		this.model.says("a").says("b");
		ask("q6", (conversations) -> conversations.trim(Trim.keepLastTurns(3)));
		assertThat(this.model.lastRequestLines()).containsExactly("user: q2", "assistant: a2", "user: q3",
				"assistant: a3", "user: q5", "assistant: a5", "user: q6");
		this.thread.delete(6);
		ask("q7", (conversations) -> conversations.trim(Trim.keepLastTurns(3).pins(Pins.firstUser())));
		assertThat(this.model.lastRequestLines()).containsExactly("user: q1", "assistant: a1", "user: q3",
				"assistant: a3", "user: q5", "assistant: a5", "user: q7");
	}

	@Test
	void turnWithoutItemsKeepsItsStatusUsageVerdictsAndParameters() {
		on(TestStores.MEMORY);
		this.model.says("a");
		SessionHook noting = TestHooks.beforeTurn("noting", (input) -> HookResult.keep("fine"));
		ask("q", (conversations) -> conversations.hooks(noting).turnParameters(Set.of("tenant")));
		Turn before = this.thread.turns(Tail.ALL).get(0);
		assertThat(before.parameters()).containsEntry("tenant", "acme");
		assertThat(before.verdicts()).hasSize(1);
		this.thread.delete(1);
		assertThat(this.thread.turns(Tail.ALL)).singleElement().satisfies((turn) -> {
			assertThat(turn.items()).isZero();
			assertThat(turn.status()).isEqualTo(before.status());
			assertThat(turn.usage()).isEqualTo(before.usage());
			assertThat(turn.verdicts()).isEqualTo(before.verdicts());
			assertThat(turn.parameters()).isEqualTo(before.parameters());
		});
	}

	@ParameterizedTest
	@EnumSource(names = { "MEMORY", "H2", "POSTGRESQL", "REDIS" })
	void snapshotsSayWhatTheyMissAndQuoteNothing(TestStores kind) {
		on(kind);
		add(new UserMessage("hello"), new AssistantMessage("hi"));
		add(new UserMessage("my secret"), new AssistantMessage("noted"));
		this.model.says("a3").says("a4").says("b2");
		ask("q3");
		SessionHook loud = TestHooks.beforeModel("loud",
				(request) -> HookResult.replace(request.stream().map(DeleteTests::loud).toList()));
		ask("q4", loud);
		this.store.commit(Commit.any(this.key).header(HeaderChange.NONE.head("other", 1)));
		ask("r2", loud);
		assertThat(this.thread.snapshot(4).orElseThrow().isComplete()).isTrue();
		assertThat(this.thread.delete(2)).isEqualTo(2);
		SentHistory referring = this.thread.snapshot(3).orElseThrow();
		assertThat(Lines.of(referring.messages())).containsExactly("user: hello", "assistant: hi");
		assertThat(referring.missing()).isEqualTo(2);
		SentHistory verbatim = this.thread.snapshot(4).orElseThrow();
		assertThat(Lines.of(verbatim.messages())).containsExactly("assistant: hi", "assistant: a3");
		assertThat(verbatim.missing()).isEqualTo(4);
		assertThat(verbatim.isComplete()).isFalse();
		SentHistory ofAnotherBranch = this.thread.snapshot(5).orElseThrow();
		assertThat(Lines.of(ofAnotherBranch.messages())).containsExactly("user: HELLO", "assistant: hi");
		assertThat(ofAnotherBranch.isComplete()).isTrue();
		assertThat(this.store.records(this.key, SnapshotReader.KIND)).hasSize(1);
	}

	@ParameterizedTest
	@EnumSource(names = { "MEMORY", "H2", "POSTGRESQL", "REDIS" })
	void summariesThatCoverItGoAndTheViewFallsBackToTheNewestBeforeIt(TestStores kind) {
		on(kind);
		for (int i = 1; i <= 4; i++) {
			add(new UserMessage("q" + i), new AssistantMessage("a" + i));
			if (i < 4) {
				summarize(i);
			}
		}
		this.model.says("a5");
		ask("q5");
		assertThat(this.model.lastRequestLines()).contains("assistant: summary of 3");
		assertThat(this.thread.delete(Set.of(3L))).isEqualTo(1);
		assertThat(this.store.records(this.key, SessionStore.SUMMARY)).extracting("id").containsExactly("c1");
		assertThat(this.thread.session().orElseThrow().summaryId()).isEqualTo("c1");
		assertThat(this.thread.snapshot(5).orElseThrow().missing()).isEqualTo(2);
		this.model.says("a6");
		ask("q6");
		assertThat(this.model.lastRequestLines()).containsSubsequence("assistant: summary of 1", "assistant: a2",
				"user: q3", "user: q6");
		assertThat(this.thread.delete(1)).isEqualTo(2);
		assertThat(this.thread.session().orElseThrow().summaryTurn()).isZero();
		assertThat(this.thread.session().orElseThrow().summaryId()).isNull();
		assertThat(this.store.records(this.key, SessionStore.SUMMARY)).isEmpty();
		assertThat(Lines.of(this.thread.view())).startsWith("assistant: a2", "user: q3");
	}

	@ParameterizedTest
	@EnumSource(names = { "MEMORY", "H2", "POSTGRESQL", "REDIS" })
	void headThatRemembersADeletedSummaryIsReadWithoutWriting(TestStores kind) {
		on(kind);
		for (int i = 1; i <= 4; i++) {
			add(new UserMessage("q" + i), new AssistantMessage("a" + i));
			if (i < 4) {
				summarize(i);
			}
		}
		assertThat(this.thread.delete(Set.of(3L))).isEqualTo(1);
		this.store.commit(Commit.any(this.key).header(HeaderChange.NONE.head("main", 4).summary(3, "c3")));
		Session before = this.thread.session().orElseThrow();
		assertThat(before.summaryTurn()).isEqualTo(3);
		List<String> read = Lines.of(this.thread.view());
		assertThat(this.thread.session()).contains(before);
		assertThat(read).contains("assistant: summary of 1").endsWith("user: q4", "assistant: a4").hasSize(7);
		this.model.says("a5");
		ask("q5");
		assertThat(this.model.lastRequestLines()).startsWith(read.toArray(String[]::new));
		assertThat(this.thread.session().orElseThrow().summaryTurn()).isEqualTo(1);
	}

	@ParameterizedTest
	@EnumSource(names = { "MEMORY", "H2", "POSTGRESQL", "REDIS" })
	void summaryBeforeADeletedTurnStays(TestStores kind) {
		on(kind);
		add(new UserMessage("q1"), new AssistantMessage("a1"));
		add(new UserMessage("q2"), new AssistantMessage("a2"));
		summarize(1);
		add(new UserMessage("q3"), new AssistantMessage("a3"));
		assertThat(this.thread.delete(3)).isEqualTo(2);
		assertThat(this.thread.session().orElseThrow().head()).isEqualTo(2);
		assertThat(this.thread.session().orElseThrow().summaryId()).isEqualTo("c1");
		assertThat(this.thread.delete(2)).isEqualTo(2);
		assertThat(this.thread.session().orElseThrow().summaryId()).isEqualTo("c1");
		assertThat(this.thread.view()).as("the summary alone").hasSize(2);
		assertThat(lines()).containsExactly("user: q1", "assistant: a1");
	}

	@ParameterizedTest
	@EnumSource(names = { "MEMORY", "H2", "POSTGRESQL", "REDIS" })
	void attributesStayWhenTheNewestTurnIsDeleted(TestStores kind) {
		on(kind);
		add(new UserMessage("q1"), new AssistantMessage("a1"));
		add(new UserMessage("q2"), new AssistantMessage("a2"));
		this.thread.putAttribute("name", "Ada");
		assertThat(this.thread.delete(2)).isEqualTo(2);
		assertThat(this.thread.attributes()).containsEntry("name", "Ada");
	}

	@ParameterizedTest
	@EnumSource(names = { "MEMORY", "H2", "POSTGRESQL", "REDIS" })
	void whereTheHeadMovesBackNoSummaryComesBackWithIt(TestStores kind) {
		on(kind);
		add(new UserMessage("q1"), new AssistantMessage("a1"));
		add(new UserMessage("q2"), new AssistantMessage("a2"));
		summarize(1);
		add(new UserMessage("q3"), new AssistantMessage("a3"));
		assertThat(this.thread.delete(Set.of(1L, 5L, 6L))).isEqualTo(3);
		assertThat(this.thread.session().orElseThrow().head()).isEqualTo(2);
		assertThat(this.thread.session().orElseThrow().summaryTurn()).isZero();
		assertThat(Lines.of(this.thread.view())).containsExactly("assistant: a1", "user: q2", "assistant: a2");
	}

	@ParameterizedTest
	@EnumSource(names = { "MEMORY", "H2", "POSTGRESQL", "REDIS" })
	void ofTwoDeletersAtOnceEachCountsWhatItDeleted(TestStores kind) {
		on(kind);
		for (int i = 0; i < 6; i++) {
			add(new UserMessage("q" + i), new AssistantMessage("a" + i));
		}
		CyclicBarrier start = new CyclicBarrier(2);
		CompletableFuture<Integer> other = CompletableFuture.supplyAsync(() -> deleteAll(start));
		int deleted = deleteAll(start);
		assertThat(deleted + other.join()).isEqualTo(12);
		assertThat(lines()).isEmpty();
		assertThat(this.thread.session().orElseThrow().head()).isZero();
	}

	@ParameterizedTest
	@EnumSource(names = { "MEMORY", "H2", "POSTGRESQL", "REDIS" })
	void whatIsDeletedWhileATurnIsOpenDoesNotComeBackWithItsSnapshot(TestStores kind) {
		on(kind);
		add(new UserMessage("my secret"), new AssistantMessage("noted"));
		assertConflict(() -> this.thread.delete(Set.of(1L)));
		assertThat(this.store.records(this.key, SnapshotReader.KIND)).isEmpty();
		SentHistory snapshot = this.thread.snapshot(2).orElseThrow();
		assertThat(Lines.of(snapshot.messages())).containsExactly("assistant: noted");
		assertThat(snapshot.missing()).isEqualTo(1);
	}

	/** The header does not say that a message of the branch is gone. */
	@ParameterizedTest
	@EnumSource(names = { "MEMORY", "H2", "POSTGRESQL", "REDIS" })
	void turnOfAnotherBranchThatWasShownWhatIsDeletedIsNoHistory(TestStores kind) {
		on(kind);
		add(new UserMessage("my secret"), new AssistantMessage("noted"));
		add(new UserMessage("q2"), new AssistantMessage("a2"));
		this.thread.branch("b");
		this.thread.switchTo(Session.MAIN);
		assertConflict(() -> this.thread.delete(1), SessionAdvisor.branch("b"));
		assertThat(this.store.records(this.key, SnapshotReader.KIND)).isEmpty();
		assertThat(this.thread.turns(Tail.ALL)).extracting(Turn::status)
			.endsWith(TurnStatus.COMPLETED, TurnStatus.FAILED);
	}

	/** The totals of the header do not count a seed that a reset has kept. */
	@ParameterizedTest
	@EnumSource(names = { "MEMORY", "H2", "POSTGRESQL", "REDIS" })
	void turnThatWasShownASeedThatIsDeletedIsNoHistory(TestStores kind) {
		on(kind);
		this.thread.seed(List.of(new UserMessage("my secret"), new AssistantMessage("noted")));
		add(new UserMessage("q2"), new AssistantMessage("a2"));
		this.thread.reset();
		assertConflict(() -> this.thread.delete(1));
		assertThat(this.store.records(this.key, SnapshotReader.KIND)).isEmpty();
		assertThat(Lines.of(this.thread.view())).isEmpty();
	}

	@ParameterizedTest
	@EnumSource(names = { "MEMORY", "H2", "POSTGRESQL", "REDIS" })
	void turnBehindAResetBecomesHistoryAlthoughAnotherTurnIsDeleted(TestStores kind) {
		on(kind);
		this.thread.seed(List.of(new UserMessage("s"), new AssistantMessage("t")));
		add(new UserMessage("q2"), new AssistantMessage("a2"));
		this.thread.reset();
		this.model.step((prompt) -> {
			CompletableFuture.runAsync(() -> this.thread.delete(2)).join();
			return Flux.just(this.model.chunk("a3", List.of(), true));
		});
		ask("q3");
		assertThat(Lines.of(this.thread.view())).containsExactly("user: s", "assistant: t", "user: q3",
				"assistant: a3");
	}

	@ParameterizedTest
	@EnumSource(names = { "MEMORY", "H2", "POSTGRESQL", "REDIS" })
	void turnThatLostAgainstAnotherHasItsWholeSnapshot(TestStores kind) {
		on(kind);
		add(new UserMessage("hello"), new AssistantMessage("hi"));
		assertConflict(() -> add(new UserMessage("other"), new AssistantMessage("one")));
		SentHistory snapshot = this.thread.snapshot(3).orElseThrow();
		assertThat(Lines.of(snapshot.messages())).containsExactly("user: HELLO", "assistant: hi");
		assertThat(snapshot.isComplete()).isTrue();
	}

	@Test
	void turnThatWaitsGoesOnWithoutWhatIsDeletedAndKeepsWhatItNeeds() {
		on(TestStores.MEMORY);
		add(new UserMessage("q1"), new AssistantMessage("a1"));
		add(new UserMessage("q2"), new AssistantMessage("a2"));
		Conversations conversations = Conversations.of(this.store);
		Approvals approvals = Approvals.builder(conversations).tools(Set.of("t")).build();
		ChatClient chat = ClientSetup.plain()
			.builder(this.model, SessionAdvisor.builder(conversations).approvals(approvals).build())
			.defaultTools(SessionAdvisorTests.echo("t"))
			.build();
		this.model.calls(SessionAdvisorTests.call("c1", "t", "1")).says("a3");
		chat.prompt().user("q3").advisors(SessionAdvisor.session(this.key)).call().chatResponse();
		assertThatExceptionOfType(TurnOpenException.class).isThrownBy(() -> this.thread.delete(3));
		assertThatExceptionOfType(TurnOpenException.class).isThrownBy(() -> this.thread.delete(2));
		assertThat(this.thread.delete(1)).isEqualTo(2);
		approvals.pending(this.key).forEach((call) -> approvals.approve(call, "ada"));
		assertThat(chat.prompt().advisors(SessionAdvisor.session(this.key)).call().content()).isEqualTo("a3");
		assertThat(this.model.lastRequestLines()).startsWith("user: q2", "assistant: a2", "user: q3").hasSize(5);
		assertThat(this.thread.snapshot(3).orElseThrow().missing()).isEqualTo(2);
	}

	/** The turn that waits has not the head as its parent. */
	@Test
	void turnThatAWaitingEditFollowsIsNotDeleted() {
		on(TestStores.MEMORY);
		for (int i = 1; i <= 3; i++) {
			add(new UserMessage("q" + i), new AssistantMessage("a" + i));
		}
		Conversations conversations = Conversations.of(this.store);
		ChatClient chat = ClientSetup.plain()
			.builder(this.model,
					SessionAdvisor.builder(conversations)
						.approvals(Approvals.builder(conversations).tools(Set.of("t")).build())
						.build())
			.defaultTools(SessionAdvisorTests.echo("t"))
			.build();
		this.model.calls(SessionAdvisorTests.call("c1", "t", "1"));
		chat.prompt()
			.user("q3, edited")
			.advisors(SessionAdvisor.session(this.key).andThen(SessionAdvisor.editing(3)))
			.call()
			.chatResponse();
		assertThatExceptionOfType(TurnOpenException.class).isThrownBy(() -> this.thread.delete(2));
		assertThat(this.thread.delete(1)).isEqualTo(2);
	}

	private void assertConflict(Runnable meanwhile) {
		assertConflict(meanwhile, (spec) -> {
		});
	}

	private void assertConflict(Runnable meanwhile, Consumer<ChatClient.AdvisorSpec> more) {
		this.model.step((prompt) -> {
			CompletableFuture.runAsync(meanwhile).join();
			return Flux.just(this.model.chunk("a", List.of(), true));
		});
		SessionHook loud = TestHooks.beforeModel("loud",
				(request) -> HookResult.replace(request.stream().map(DeleteTests::loud).toList()));
		assertThatExceptionOfType(SessionConflictException.class)
			.isThrownBy(() -> ask("q", (conversations) -> conversations.hooks(loud), more));
	}

	private int deleteAll(CyclicBarrier start) {
		try {
			start.await();
		}
		catch (Exception ex) {
			throw new IllegalStateException(ex);
		}
		int deleted = 0;
		for (int turn = 1; turn <= 6; turn++) {
			deleted += this.thread.delete(turn);
		}
		return deleted;
	}

	private void summarize(int turn) {
		SnapshotProperties.TestSummaries.move(this.store, this.key, turn, "c" + turn, "summary of " + turn);
	}

	private static Message loud(Message message) {
		return (message instanceof UserMessage user) ? new UserMessage(user.getText().toUpperCase(Locale.ROOT))
				: message;
	}

	private void add(Message... messages) {
		this.store.add(this.key, List.of(messages));
	}

	private static Message calls() {
		return AssistantMessage.builder()
			.content("")
			.toolCalls(List.of(SessionAdvisorTests.call("", "t", "1")))
			.build();
	}

	private static Message results() {
		return ToolResponseMessage.builder().responses(List.of(new ToolResponse("", "t", "1"))).build();
	}

	private void ask(String question, SessionHook... hooks) {
		ask(question, (conversations) -> conversations.hooks(hooks));
	}

	private void ask(String question, UnaryOperator<Conversations.Builder> rules) {
		ask(question, rules, (spec) -> {
		});
	}

	private void ask(String question, UnaryOperator<Conversations.Builder> rules,
			Consumer<ChatClient.AdvisorSpec> more) {
		ClientSetup.plain()
			.builder(this.model, SessionAdvisor.of(rules.apply(Conversations.builder(this.store)).build()))
			.defaultTools(SessionAdvisorTests.echo("t"))
			.build()
			.prompt()
			.user(question)
			.advisors(SessionAdvisor.session(this.key))
			.advisors(more)
			.advisors((advisors) -> advisors.param("tenant", "acme"))
			.call()
			.content();
	}

	private List<String> lines() {
		return Lines.of(this.thread.messages());
	}

}
