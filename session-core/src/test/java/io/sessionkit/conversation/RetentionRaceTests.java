package io.sessionkit.conversation;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BiConsumer;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;

import io.sessionkit.Session;
import io.sessionkit.SessionKey;
import io.sessionkit.Turn;
import io.sessionkit.TurnStatus;
import io.sessionkit.advisor.SessionAdvisor;
import io.sessionkit.advisor.SessionAdvisorTests;
import io.sessionkit.context.Retention;
import io.sessionkit.context.SentHistory;
import io.sessionkit.context.Summarize;
import io.sessionkit.hook.HookContext;
import io.sessionkit.hook.HookResult;
import io.sessionkit.hook.SessionContext;
import io.sessionkit.hook.SessionHook;
import io.sessionkit.hook.TurnPart;
import io.sessionkit.internal.retention.RetentionOnce;
import io.sessionkit.internal.snapshot.KeptTexts;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.Tail;
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
import org.springframework.ai.chat.messages.UserMessage;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * Retention while something else happens to the session.
 */
class RetentionRaceTests {

	private static final Map<TestStores, SessionStore> STORES = new EnumMap<>(TestStores.class);

	private final ScriptedChatModel model = new ScriptedChatModel();

	private SessionKey key = SessionKey.of(UUID.randomUUID().toString());

	private SessionStore store;

	private Conversation thread;

	private void on(TestStores kind) {
		this.store = STORES.computeIfAbsent(kind, TestStores::create);
		this.thread = Conversations.of(this.store).get(this.key);
	}

	/** Turns without a snapshot. */
	private void add(int from, int to) {
		for (int i = from; i <= to; i++) {
			this.store.add(this.key, List.of(new UserMessage("q" + i), new AssistantMessage("a" + i)));
		}
	}

	private void ask(Conversations conversations, String text) {
		ask(conversations, this.model, text, SessionAdvisor.session(this.key));
	}

	private static void ask(Conversations conversations, ScriptedChatModel model, String text,
			Consumer<ChatClient.AdvisorSpec> session) {
		ChatClient.builder(model)
			.defaultAdvisors(SessionAdvisor.of(conversations))
			.build()
			.prompt()
			.user(text)
			.advisors(session)
			.call()
			.content();
	}

	private void ask(Retention retention, int from, int to) {
		Conversations conversations = Conversations.builder(this.store).retention(retention).build();
		for (int i = from; i <= to; i++) {
			this.model.says("a" + i);
			ask(conversations, "q" + i);
		}
	}

	private void retain(int turns) {
		retain(this.store, turns);
	}

	private void retain(SessionStore by, int turns) {
		Session session = this.store.find(this.key).orElseThrow();
		RetentionOnce.run(by, Retention.keepLastTurns(turns).batch(1), this.key, session.head());
	}

	private static List<String> turns(int from, int to) {
		List<String> lines = new ArrayList<>();
		for (int i = from; i <= to; i++) {
			lines.add("user: q" + i);
			lines.add("assistant: a" + i);
		}
		return lines;
	}

	private List<String> lines() {
		return Lines.of(this.thread.messages());
	}

	private List<Long> withItems() {
		return this.thread.turns(Tail.ALL).stream().filter((turn) -> turn.items() > 0).map(Turn::number).toList();
	}

	private void assertShown(long turn, List<String> lines) {
		SentHistory shown = this.thread.snapshot(turn).orElseThrow();
		assertThat(shown.isComplete()).isTrue();
		assertThat(Lines.of(shown.messages())).isEqualTo(lines);
	}

	/** Lets the answer come after something else. */
	private void answersAfter(Runnable meanwhile, String answer) {
		this.model.step((prompt) -> {
			meanwhile.run();
			return Flux.just(this.model.chunk(answer, List.of(), true));
		});
	}

	@ParameterizedTest
	@EnumSource(names = { "MEMORY", "H2", "POSTGRESQL", "REDIS" })
	void snapshotOfATurnThatWasOpenDuringADeletionIsComplete(TestStores kind) {
		on(kind);
		add(1, 4);
		answersAfter(() -> retain(1), "a5");
		ask(Conversations.of(this.store), "q5");
		assertThat(lines()).isEqualTo(turns(4, 5));
		assertShown(5, turns(1, 4));
		retain(1);
		assertShown(5, turns(1, 4));
		add(6, 6);
		retain(1);
		assertThat(this.store.records(this.key, KeptTexts.KIND)).isEmpty();
	}

	@ParameterizedTest
	@EnumSource(names = { "MEMORY", "POSTGRESQL" })
	void snapshotOfATurnThatFailedDuringADeletionIsComplete(TestStores kind) {
		on(kind);
		add(1, 4);
		this.model.step((prompt) -> {
			retain(1);
			throw new IllegalStateException("down");
		});
		assertThatIllegalStateException().isThrownBy(() -> ask(Conversations.of(this.store), "q5"));
		assertThat(withItems()).containsExactly(4L, 5L);
		assertShown(5, turns(1, 4));
	}

	@ParameterizedTest
	@EnumSource(names = { "MEMORY", "POSTGRESQL" })
	void turnThatFailedBeforeADeletionKeepsWhatItWasShown(TestStores kind) {
		on(kind);
		add(1, 4);
		this.model.fails(new IllegalStateException("down"));
		assertThatIllegalStateException().isThrownBy(() -> ask(Conversations.of(this.store), "q5"));
		retain(1);
		assertThat(withItems()).containsExactly(4L, 5L);
		assertShown(5, turns(1, 4));
	}

	@ParameterizedTest
	@EnumSource(names = { "MEMORY", "POSTGRESQL" })
	void textThatIsDeletedMeanwhileDoesNotComeBackWithTheSnapshotOfAnOpenTurn(TestStores kind) {
		on(kind);
		add(1, 4);
		answersAfter(() -> {
			retain(1);
			CompletableFuture.runAsync(() -> this.thread.delete(2)).join();
		}, "a5");
		ask(Conversations.of(this.store), "q5");
		SentHistory shown = this.thread.snapshot(5).orElseThrow();
		assertThat(shown.missing()).isEqualTo(2);
		assertThat(Lines.of(shown.messages())).doesNotContain("user: q2", "assistant: a2")
			.contains("user: q1", "user: q4");
		assertThat(this.store.records(this.key, KeptTexts.KIND)).noneMatch((record) -> record.payload().contains("q2"));
	}

	/** Both aim at the oldest messages. */
	@ParameterizedTest
	@EnumSource(names = { "MEMORY", "H2", "MARIADB", "POSTGRESQL", "REDIS" })
	void textThatATurnForgetsIsNotKeptOfATurnThatIsDeletedMeanwhile(TestStores kind) {
		on(kind);
		ask(Retention.NONE, 1, 4);
		answersAfter(() -> retain(2), "a5");
		ask(forgetting(0, 1), "q5");
		assertThat(lines()).isEqualTo(turns(3, 5));
		assertThat(this.thread.session().orElseThrow().totals().turns()).isEqualTo(3);
		assertNothingIsKeptOfTheFirst();
		for (long turn = 3; turn <= 5; turn++) {
			SentHistory shown = this.thread.snapshot(turn).orElseThrow();
			assertThat(shown.missing()).as("all of its turn").isEqualTo(2);
			assertThat(Lines.of(shown.messages())).isEqualTo(turns(2, (int) turn - 1));
		}
	}

	@ParameterizedTest
	@EnumSource(names = { "MEMORY", "POSTGRESQL" })
	void textThatATurnForgetsOfATurnThatIsDeletedMeanwhileDoesNotComeBackWithATurnOfAnotherBranch(TestStores kind) {
		on(kind);
		ask(Retention.NONE, 1, 3);
		this.thread.branch("other", 3);
		this.thread.switchTo(Session.MAIN);
		ScriptedChatModel another = new ScriptedChatModel();
		answersAfter(() -> CompletableFuture.runAsync(() -> {
			another.step((prompt) -> {
				retain(2);
				return Flux.just(another.chunk("a4", List.of(), true));
			});
			ask(forgetting(0, 1), another, "q4", SessionAdvisor.session(this.key));
		}).join(), "a5");
		ask(Conversations.of(this.store), this.model, "q5",
				SessionAdvisor.session(this.key).andThen(SessionAdvisor.branch("other")));
		assertThat(this.thread.turns(Tail.newest(1)).get(0).status()).isEqualTo(TurnStatus.COMPLETED);
		assertThat(this.thread.snapshot(5).orElseThrow().missing()).isEqualTo(2);
		assertNothingIsKeptOfTheFirst();
	}

	private void assertNothingIsKeptOfTheFirst() {
		assertThat(this.store.records(this.key, KeptTexts.KIND)).isNotEmpty()
			.noneMatch((record) -> record.payload().contains("q1"));
	}

	/** Turns of these forget messages when they are about to be stored. */
	private Conversations forgetting(int from, int to) {
		SessionContext context = new SessionContext();
		return Conversations.builder(this.store).hooks(new SessionHook() {
			@Override
			public HookResult<List<Message>> beforeSave(HookContext now, TurnPart part) {
				context.forget(from, to);
				return HookResult.keep();
			}
		}).build();
	}

	@ParameterizedTest
	@EnumSource(names = { "MEMORY", "H2", "POSTGRESQL", "REDIS" })
	void turnThatWaitsStaysAndALookIsMadeWhenItEnds(TestStores kind) {
		on(kind);
		add(1, 3);
		Conversations conversations = Conversations.builder(this.store)
			.retention(Retention.keepLastTurns(2).batch(1))
			.build();
		Approvals approvals = Approvals.builder(conversations).tools(Set.of("cancel")).build();
		ChatClient chat = ChatClient.builder(this.model)
			.defaultAdvisors(SessionAdvisor.builder(conversations).approvals(approvals).build())
			.defaultTools(SessionAdvisorTests.echo("cancel"))
			.build();
		this.model.calls(SessionAdvisorTests.call("1", "cancel", "1"));
		chat.prompt().user("q4").advisors(SessionAdvisor.session(this.key)).call().content();
		assertThat(withItems()).containsExactly(1L, 2L, 3L, 4L);
		retain(2);
		assertThat(withItems()).containsExactly(2L, 3L, 4L);
		assertShown(4, turns(1, 3));
		approvals.approve(approvals.pending(this.key).get(0), "anna");
		this.model.says("a4");
		chat.prompt().advisors(SessionAdvisor.session(this.key)).call().content();
		assertThat(withItems()).containsExactly(3L, 4L);
		assertThat(lines()).startsWith("user: q3", "assistant: a3", "user: q4").endsWith("assistant: a4");
		assertShown(4, turns(1, 3));
	}

	@ParameterizedTest
	@EnumSource(names = { "MEMORY", "POSTGRESQL" })
	void summaryThatIsWrittenMeanwhileCountsWhatIsLeft(TestStores kind) {
		on(kind);
		add(1, 4);
		ScriptedChatModel writer = new ScriptedChatModel();
		writer.step((prompt) -> {
			retain(2);
			return Flux.just(writer.chunk("the story", List.of(), true));
		}).says("the story of what is left");
		Conversation summarized = Conversations.builder(this.store)
			.summarize(Summarize.by(writer).triggerMessages(2).keepTurns(1).build())
			.build()
			.get(this.key);
		summarized.summarize(true);
		assertThat(lines()).isEqualTo(turns(3, 4));
		summarized.summarize(true);
		assertThat(lines()).isEqualTo(turns(3, 4));
		assertThat(Lines.of(this.thread.view())).hasSize(4).endsWith("user: q4", "assistant: a4");
		assertThat(Lines.of(this.thread.view()).get(1)).contains("the story");
		assertThat(this.thread.session().orElseThrow().totals().turns()).isOne();
	}

	@Test
	void forkThatReadsMeanwhileHasWhatWasThereBeforeOrAfter() {
		atEachMoment(() -> add(1, 6), (there, happened) -> {
			SessionKey copy = SessionKey.of(UUID.randomUUID().toString());
			Conversations.of(there).get(this.key).fork(copy);
			assertThat(Lines.of(this.store.messages(copy))).isIn(turns(1, 6), turns(4, 6));
			assertThat(lines()).isEqualTo(happened.getAsBoolean() ? turns(4, 6) : turns(1, 6));
		}, () -> retain(3));
	}

	@Test
	void moveThatReadsMeanwhileIsMadeOnWhatIsLeft() {
		atEachMoment(() -> add(1, 6), (there, happened) -> {
			Conversations.of(there).get(this.key).undo(2);
			assertThat(lines()).isIn(turns(1, 4), turns(4, 4));
			assertThat(this.thread.redo(2)).hasSize(2);
			assertThat(lines()).isIn(turns(1, 6), turns(4, 6));
		}, () -> retain(3));
	}

	@Test
	void secondInstanceThatDeletesAtTheSameMomentTakesNothingThatShouldStay() {
		atEachMoment(() -> ask(Retention.NONE, 1, 6), (there, happened) -> {
			retain(there, 3);
			assertThat(lines()).isEqualTo(turns(4, 6));
			assertThat(this.thread.session().orElseThrow().totals().turns()).isEqualTo(3);
			for (int turn = 4; turn <= 6; turn++) {
				assertShown(turn, turns(1, turn - 1));
			}
		}, () -> retain(3));
	}

	/**
	 * Lets something happen to a new session before each call of the store that an action
	 * makes, in turn.
	 */
	private void atEachMoment(Runnable before, BiConsumer<SessionStore, BooleanSupplier> action, Runnable meanwhile) {
		on(TestStores.MEMORY);
		int moments = 0;
		boolean happened = true;
		for (; happened; moments++) {
			this.key = SessionKey.of(UUID.randomUUID().toString());
			this.thread = Conversations.of(this.store).get(this.key);
			before.run();
			AtomicInteger left = new AtomicInteger(moments);
			action.accept(CallsOfStore.before(this.store, () -> {
				if (left.getAndDecrement() == 0) {
					meanwhile.run();
				}
			}), () -> left.get() < 0);
			happened = left.get() < 0;
		}
		assertThat(moments).as("calls of the store").isGreaterThan(2);
	}

}
