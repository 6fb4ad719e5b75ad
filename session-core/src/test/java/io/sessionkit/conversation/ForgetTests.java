package io.sessionkit.conversation;

import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BiFunction;
import java.util.stream.Stream;

import io.sessionkit.Session;
import io.sessionkit.SessionConflictException;
import io.sessionkit.SessionKey;
import io.sessionkit.Turn;
import io.sessionkit.TurnStatus;
import io.sessionkit.advisor.SessionAdvisor;
import io.sessionkit.advisor.SessionAdvisorTests;
import io.sessionkit.context.SnapshotProperties;
import io.sessionkit.context.Trim;
import io.sessionkit.hook.HookContext;
import io.sessionkit.hook.HookFailedException;
import io.sessionkit.hook.HookResult;
import io.sessionkit.hook.SessionContext;
import io.sessionkit.hook.SessionHook;
import io.sessionkit.hook.TestHooks;
import io.sessionkit.hook.TurnPart;
import io.sessionkit.internal.snapshot.SnapshotReader;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.Tail;
import io.sessionkit.test.ObservedStore;
import io.sessionkit.test.ScriptedChatModel;
import io.sessionkit.test.ScriptedChatModel.Lines;
import io.sessionkit.test.TestStores;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.UserMessage;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Hooks and tools that forget messages of the history with the turn.
 */
class ForgetTests {

	private static final Map<TestStores, SessionStore> STORES = new EnumMap<>(TestStores.class);

	private final SessionContext context = new SessionContext();

	private final SessionKey key = SessionKey.of(UUID.randomUUID().toString());

	private final ScriptedChatModel model = new ScriptedChatModel();

	private Conversation thread;

	private ChatClient chat;

	private void on(TestStores kind, SessionHook... hooks) {
		Conversations conversations = Conversations.builder(STORES.computeIfAbsent(kind, TestStores::create))
			.hooks(hooks)
			.build();
		this.thread = conversations.get(this.key);
		this.chat = ChatClient.builder(this.model)
			.defaultAdvisors(SessionAdvisor.of(conversations))
			.defaultTools(SessionAdvisorTests.echo("t"))
			.build();
	}

	/** Runs in the moment in which the turn is about to be stored. */
	private static SessionHook saving(BiFunction<HookContext, TurnPart, HookResult<List<Message>>> rule) {
		return new SessionHook() {
			@Override
			public HookResult<List<Message>> beforeSave(HookContext context, TurnPart part) {
				return rule.apply(context, part);
			}
		};
	}

	/** Removes the first two messages when there are more than this. */
	private SessionHook keepingAtMost(int messages) {
		return saving((now, part) -> {
			if (now.history().size() > messages) {
				this.context.forget(0, 2);
			}
			return HookResult.keep();
		});
	}

	private void ask(String question) {
		this.chat.prompt().user(question).advisors(SessionAdvisor.session(this.key)).call().content();
	}

	private List<String> lines() {
		return Lines.of(this.thread.messages());
	}

	@ParameterizedTest
	@EnumSource
	void hookForgetsTheFirstMessagesForGood(TestStores kind) {
		on(kind, keepingAtMost(2));
		for (int i = 1; i <= 4; i++) {
			this.model.says("a" + i);
			ask("q" + i);
		}
		assertThat(this.model.lastRequestLines()).containsExactly("user: q2", "assistant: a2", "user: q3",
				"assistant: a3", "user: q4");
		assertThat(lines()).containsExactly("user: q3", "assistant: a3", "user: q4", "assistant: a4");
		assertThat(this.thread.session().orElseThrow().totals().turns()).isEqualTo(2);
		assertThat(this.thread.turns(Tail.ALL)).extracting(Turn::status).containsOnly(TurnStatus.COMPLETED);
	}

	@ParameterizedTest
	@EnumSource(names = { "MEMORY", "H2", "POSTGRESQL", "REDIS" })
	void callsAndResultsAreForgottenTogether(TestStores kind) {
		AtomicBoolean forget = new AtomicBoolean();
		on(kind, saving((now, part) -> {
			if (forget.get()) {
				this.context.forget(1, 2);
			}
			return HookResult.keep();
		}));
		this.model.calls(SessionAdvisorTests.call("1", "t", "1")).says("a1").says("a2");
		ask("q1");
		forget.set(true);
		ask("q2");
		assertThat(lines()).containsExactly("user: q1", "assistant: a1", "user: q2", "assistant: a2");
	}

	@ParameterizedTest
	@EnumSource(names = { "MEMORY", "H2", "POSTGRESQL", "REDIS" })
	void turnThatFailsForgetsNothing(TestStores kind) {
		on(kind, keepingAtMost(0));
		this.model.says("a1");
		ask("q1");
		this.model.fails(new IllegalStateException("down"));
		assertThatExceptionOfType(IllegalStateException.class).isThrownBy(() -> ask("lost"));
		assertThat(lines()).containsExactly("user: q1", "assistant: a1");
	}

	/** It would be in force again when its history is chosen. */
	@ParameterizedTest
	@EnumSource
	void summaryOfALeftHistoryThatQuotesWhatIsForgottenIsGone(TestStores kind) {
		on(kind, keepingAtMost(1));
		SessionStore store = STORES.get(kind);
		for (int i = 1; i <= 3; i++) {
			store.add(this.key, List.of(new UserMessage("q" + i), new AssistantMessage("a" + i)));
		}
		SnapshotProperties.TestSummaries.move(store, this.key, 2, "s1", "q1 was asked");
		this.thread.undo(2);
		this.model.says("a4");
		ask("q4");
		this.thread.choose(2);
		assertThat(Lines.of(this.thread.view())).containsExactly("user: q2", "assistant: a2", "user: q3",
				"assistant: a3");
		assertThat(this.thread.summaries()).isEmpty();
	}

	/**
	 * The turns behind it are then no pinned ones, which would stay longer than new ones.
	 */
	@ParameterizedTest
	@EnumSource
	void viewOfTheActiveBranchBeginsWithoutTheSummaryThatQuotesWhatAnotherBranchForgets(TestStores kind) {
		on(kind, keepingAtMost(1));
		SessionStore store = STORES.get(kind);
		for (int i = 1; i <= 5; i++) {
			store.add(this.key, List.of(new UserMessage("q" + i), new AssistantMessage("a" + i)));
			if (i == 2) {
				this.thread.branch("cheaper", 2);
				this.thread.switchTo(Session.MAIN);
			}
		}
		SnapshotProperties.TestSummaries.move(store, this.key, 4, "s1", "q1 was asked");
		this.model.says("a6");
		this.chat.prompt()
			.user("q6")
			.advisors(SessionAdvisor.session(this.key).andThen(SessionAdvisor.branch("cheaper")))
			.call()
			.content();
		assertThat(this.thread.summaries()).isEmpty();
		assertThat(store.find(this.key).orElseThrow().summaryTurn()).isZero();
		assertThat(lines()).startsWith("user: q2", "assistant: a2").endsWith("user: q5", "assistant: a5").hasSize(8);
		trimming(store);
		this.model.says("a7");
		this.chat.prompt()
			.user("q7")
			.advisors(SessionAdvisor.session(this.key).andThen(SessionAdvisor.branch(Session.MAIN)))
			.call()
			.content();
		assertThat(this.model.lastRequestLines()).containsExactly("user: q4", "assistant: a4", "user: q5",
				"assistant: a5", "user: q7");
	}

	private void trimming(SessionStore store) {
		this.chat = ChatClient.builder(this.model)
			.defaultAdvisors(SessionAdvisor.of(Conversations.builder(store).trim(Trim.keepLastTurns(2)).build()))
			.build();
	}

	/** A call that fails changes no history, so the turn need not be asked again. */
	@ParameterizedTest
	@EnumSource(names = { "MEMORY", "H2", "POSTGRESQL", "REDIS" })
	void snapshotThatAFailedCallKeepsMeanwhileQuotesNothingOfWhatIsForgotten(TestStores kind) {
		ObservedStore store = new ObservedStore(STORES.computeIfAbsent(kind, TestStores::create));
		SessionHook bracketing = TestHooks.beforeModel("bracketing",
				(request) -> HookResult.replace(request.stream()
					.map((message) -> message.getText().equals("q1") ? new UserMessage("(q1)") : message)
					.toList()));
		AtomicBoolean forget = new AtomicBoolean();
		SessionHook forgetting = saving((now, part) -> {
			if (forget.get() && part.status() == TurnStatus.COMPLETED) {
				this.context.forget(0, 2);
			}
			return HookResult.keep();
		});
		Conversations conversations = Conversations.builder(store).hooks(bracketing, forgetting).build();
		this.thread = conversations.get(this.key);
		this.chat = ChatClient.builder(this.model).defaultAdvisors(SessionAdvisor.of(conversations)).build();
		this.model.says("a1").says("a2");
		ask("q1");
		forget.set(true);
		AtomicBoolean failed = new AtomicBoolean();
		store.beforeCommit(() -> {
			if (failed.compareAndSet(false, true)) {
				CompletableFuture.runAsync(this::fail).join();
			}
		});
		ask("q2");
		assertThat(lines()).containsExactly("user: q2", "assistant: a2");
		assertThat(this.thread.turns(Tail.ALL)).extracting(Turn::status)
			.containsExactlyInAnyOrder(TurnStatus.COMPLETED, TurnStatus.COMPLETED, TurnStatus.FAILED);
		assertThat(store.records(this.key, SnapshotReader.KIND)).isEmpty();
	}

	/** Everything that it was shown is still there. */
	@ParameterizedTest
	@EnumSource(names = { "MEMORY", "H2", "POSTGRESQL", "REDIS" })
	void turnThatLosesAConflictForgetsNothingAndKeepsItsSnapshot(TestStores kind) {
		SessionStore whole = STORES.computeIfAbsent(kind, TestStores::create);
		ObservedStore store = new ObservedStore(whole);
		SessionHook adding = TestHooks.beforeModel("adding", (request) -> HookResult
			.replace(Stream.concat(Stream.of(new UserMessage("note")), request.stream()).toList()));
		Conversations conversations = Conversations.builder(store).hooks(adding, keepingAtMost(1)).build();
		this.thread = conversations.get(this.key);
		this.chat = ChatClient.builder(this.model).defaultAdvisors(SessionAdvisor.of(conversations)).build();
		this.model.says("a1").says("a2");
		ask("q1");
		AtomicBoolean written = new AtomicBoolean();
		store.beforeCommit(() -> {
			if (written.compareAndSet(false, true)) {
				whole.add(this.key, List.of(new UserMessage("other"), new AssistantMessage("a")));
			}
		});
		assertThatExceptionOfType(SessionConflictException.class).isThrownBy(() -> ask("q2"));
		assertThat(lines()).containsExactly("user: q1", "assistant: a1", "user: other", "assistant: a");
		Turn lost = this.thread.turns(Tail.newest(1)).get(0);
		assertThat(lost.status()).isEqualTo(TurnStatus.FAILED);
		assertThat(this.thread.snapshot(lost.number()).orElseThrow().isComplete()).isTrue();
	}

	private void fail() {
		this.model.fails(new IllegalStateException("down"));
		assertThatExceptionOfType(IllegalStateException.class).isThrownBy(() -> ask("lost"));
	}

	@Test
	void whatANewTurnShowedOfForgottenMessagesIsMissingInItsSnapshot() {
		on(TestStores.MEMORY, keepingAtMost(0));
		this.model.says("a1").says("a2");
		ask("q1");
		ask("q2");
		assertThat(this.thread.snapshot(2).orElseThrow().isComplete()).isFalse();
		assertThat(lines()).containsExactly("user: q2", "assistant: a2");
	}

	@Test
	void messagesThatAreNotThereOrNotOfATurnAreRefused() {
		on(TestStores.MEMORY, saving((now, part) -> {
			this.context.forget(0, 1);
			return HookResult.keep();
		}));
		this.model.says("a1");
		assertThatExceptionOfType(HookFailedException.class).isThrownBy(() -> ask("q1"))
			.withMessageContaining("has 0 messages")
			.withMessageContaining("from 0 to 1");
		assertThat(this.thread.turns(Tail.ALL).get(0).failure()).isEqualTo(IndexOutOfBoundsException.class.getName());
		assertThat(lines()).isEmpty();
		assertThatExceptionOfType(IllegalStateException.class).isThrownBy(() -> this.context.forget(0, 1));
	}

	@ParameterizedTest
	@EnumSource(names = { "MEMORY", "H2", "POSTGRESQL", "REDIS" })
	void deletionByAHookThatDecidesWhatIsStoredIsRefusedAndNothingIsLost(TestStores kind) {
		AtomicBoolean delete = new AtomicBoolean();
		on(kind, saving((now, part) -> {
			if (delete.get()) {
				this.thread.delete(1);
			}
			return HookResult.keep();
		}));
		this.model.says("a1").says("a2").says("a3");
		ask("q1");
		delete.set(true);
		assertThatExceptionOfType(HookFailedException.class).isThrownBy(() -> ask("q2"))
			.withMessageContaining("Use SessionContext.forget(from, to)");
		assertThat(lines()).containsExactly("user: q1", "assistant: a1");
		delete.set(false);
		ask("q3");
		assertThat(lines()).endsWith("user: q3", "assistant: a3");
	}

}
