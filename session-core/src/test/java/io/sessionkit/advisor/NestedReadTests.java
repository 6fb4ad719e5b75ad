package io.sessionkit.advisor;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.function.Supplier;

import io.sessionkit.Concurrency;
import io.sessionkit.NestedTurnException;
import io.sessionkit.SessionKey;
import io.sessionkit.codec.JsonMessageCodec;
import io.sessionkit.context.HistoryPolicy;
import io.sessionkit.context.Trim;
import io.sessionkit.conversation.Approvals;
import io.sessionkit.conversation.Conversation;
import io.sessionkit.conversation.Conversations;
import io.sessionkit.hook.HookResult;
import io.sessionkit.hook.SessionContext;
import io.sessionkit.hook.TestHooks;
import io.sessionkit.store.Page;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.StoreOptions;
import io.sessionkit.store.Tail;
import io.sessionkit.store.memory.InMemorySessionStore;
import io.sessionkit.test.ClientSetup;
import io.sessionkit.test.ObservedStore;
import io.sessionkit.test.ScriptedChatModel;
import io.sessionkit.test.ScriptedChatModel.Lines;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.UserMessage;
import org.springframework.ai.chat.model.ChatResponse;
import org.springframework.ai.tool.ToolCallback;
import org.springframework.ai.tool.function.FunctionToolCallback;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Calls that tools and hooks of a turn make on its session: they read what the turn has
 * read, without the store, so they are the same on every store.
 */
@ParameterizedClass
@EnumSource
class NestedReadTests {

	@Parameter
	ClientSetup.Mode mode;

	private final SessionKey key = SessionKey.of("nested", UUID.randomUUID().toString());

	private final SessionKey other = SessionKey.of("nested", UUID.randomUUID().toString());

	private final ScriptedChatModel model = new ScriptedChatModel();

	private final ObservedStore store = new ObservedStore(
			new InMemorySessionStore(StoreOptions.of(JsonMessageCodec.create())));

	private final List<String> inner = new ArrayList<>();

	private final AtomicReference<ChatResponse> innerResponse = new AtomicReference<>();

	private Conversations conversations = Conversations.of(this.store);

	private ChatClient client = client((advisor) -> {
	});

	@AfterEach
	void close() {
		this.conversations.close();
	}

	@Test
	void callThatNamesTheSessionOfItsTurnReadsIt() {
		talk();
		int calls = outer(() -> ask(this.client.prompt().user("inner").advisors(SessionAdvisor.session(this.key))));
		assertThat(this.inner).containsExactly("user: q1", "assistant: a1", "user: inner");
		assertThat(SessionAdvisor.turn(this.innerResponse.get())).isEmpty();
		assertThat(calls).isEqualTo(2);
		assertThat(log()).containsExactly("user: q1", "assistant: a1", "user: outer",
				"assistant work({\"value\":\"1\"})", "tool work=\"re inner\"", "assistant: done");
	}

	@Test
	void callThatIsResolvedToTheSessionOfItsTurnReadsIt() {
		this.client = client((advisor) -> advisor.resolver((request) -> Optional.of(this.key)));
		talk();
		outer(() -> ask(this.client.prompt().user("inner")));
		assertThat(this.inner).containsExactly("user: q1", "assistant: a1", "user: inner");
		assertThat(this.store.turns(this.key, Tail.ALL)).hasSize(2);
	}

	@Test
	void callWithoutASessionReadsNothing() {
		this.client = client((advisor) -> advisor.resolver((request) -> Optional.of(this.key)));
		talk();
		outer(() -> ask(this.client.prompt().user("inner").advisors(SessionAdvisor.none())));
		assertThat(this.inner).containsExactly("user: inner");
	}

	@Test
	void callOnASessionOfTheSameKeyInAnotherStoreIsOneOfItsOwn() {
		SessionStore elsewhere = new InMemorySessionStore(StoreOptions.of(JsonMessageCodec.create()));
		try (Conversations others = Conversations.of(elsewhere)) {
			ChatClient there = ChatClient.builder(this.model).defaultAdvisors(SessionAdvisor.of(others)).build();
			talk();
			outer(() -> {
				others.get(this.key).putAttribute("plan", "gold");
				return ask(there.prompt().user("inner").advisors(SessionAdvisor.session(this.key)));
			});
			assertThat(this.inner).containsExactly("user: inner");
			assertThat(Lines.of(elsewhere.messages(this.key))).containsExactly("user: inner", "assistant: re inner");
			assertThat(others.get(this.key).attributes()).isEqualTo(Map.of("plan", "gold"));
			assertThat(log()).hasSize(6).endsWith("assistant: done");
		}
	}

	@Test
	void childForOneTurnInAnotherStoreIsErasedThere() {
		SessionStore elsewhere = new InMemorySessionStore(StoreOptions.of(JsonMessageCodec.create()));
		try (Conversations others = Conversations.of(elsewhere)) {
			ChatClient there = ChatClient.builder(this.model).defaultAdvisors(SessionAdvisor.of(others)).build();
			AtomicInteger sessions = new AtomicInteger();
			outer(() -> {
				String said = ask(there.prompt()
					.user("inner")
					.advisors(SessionAdvisor.child(ChildSession.of("scratch").forThisTurn())));
				sessions.set(elsewhere.list(this.key.owner(), Page.first(9)).size());
				return said;
			});
			assertThat(sessions).hasValue(1);
			assertThat(elsewhere.list(this.key.owner(), Page.first(9))).isEmpty();
		}
	}

	@Test
	void childInAnotherStoreReadsWhatTheTurnAroundItHasRead() {
		SessionStore elsewhere = new InMemorySessionStore(StoreOptions.of(JsonMessageCodec.create()));
		try (Conversations others = Conversations.of(elsewhere)) {
			ChatClient there = ChatClient.builder(this.model).defaultAdvisors(SessionAdvisor.of(others)).build();
			talk();
			outer(() -> ask(there.prompt()
				.user("inner")
				.advisors(SessionAdvisor.child(ChildSession.of("critic").readingParent()))));
			assertThat(this.inner).containsExactly("user: q1", "assistant: a1", "user: inner");
			assertThat(Lines.of(elsewhere.messages(this.key.child("critic")))).containsExactly("user: inner",
					"assistant: re inner");
		}
	}

	@Test
	void parentThatACallNamesIsReadInItsOwnStore() {
		SessionStore elsewhere = new InMemorySessionStore(StoreOptions.of(JsonMessageCodec.create()));
		try (Conversations others = Conversations.of(elsewhere)) {
			ChatClient there = ChatClient.builder(this.model).defaultAdvisors(SessionAdvisor.of(others)).build();
			elsewhere.add(this.key, List.of(new UserMessage("q0"), new AssistantMessage("a0")));
			talk();
			outer(() -> ask(there.prompt()
				.user("inner")
				.advisors(SessionAdvisor.session(this.key)
					.andThen(SessionAdvisor.child(ChildSession.of("critic").readingParent())))));
			assertThat(this.inner).containsExactly("user: q0", "assistant: a0", "user: inner");
		}
	}

	@Test
	void callThatIsRefusedDoesNotTakeTheSessionOfTheSameKeyInAnotherStoreForItsOwn() {
		try (Conversations others = Conversations
			.of(new InMemorySessionStore(StoreOptions.of(JsonMessageCodec.create())))) {
			ChatClient there = ChatClient.builder(this.model).defaultAdvisors(SessionAdvisor.of(others)).build();
			talk();
			ToolCallback second = tool("second",
					() -> run(this.client.prompt()
						.user("inner")
						.advisors(SessionAdvisor.session(this.key).andThen(SessionAdvisor.editing(1)))));
			ToolCallback work = tool("work", () -> run(
					there.prompt().user("other").toolCallbacks(second).advisors(SessionAdvisor.session(this.key))));
			this.model.calls(SessionAdvisorTests.call("c1", "work", "1"))
				.calls(SessionAdvisorTests.call("c2", "second", "2"));
			assertThatExceptionOfType(NestedTurnException.class).isThrownBy(() -> run(
					this.client.prompt().user("outer").toolCallbacks(work).advisors(SessionAdvisor.session(this.key))))
				.withMessageContaining("a session whose turn waits for it");
		}
	}

	@Test
	void callInLineDoesNotWaitForItself() {
		this.client = client(
				(advisor) -> advisor.concurrency(Concurrency.SERIALIZE).concurrencyTimeout(Duration.ofSeconds(30)));
		talk();
		outer(() -> ask(this.client.prompt().user("inner").advisors(SessionAdvisor.session(this.key))));
		assertThat(this.inner).hasSize(3);
		assertThat(log()).hasSize(6);
	}

	@Test
	void callOnASessionWhoseTurnWaitsForItReadsIt() {
		talk();
		ToolCallback second = tool("second",
				() -> ask(this.client.prompt().user("inner").advisors(SessionAdvisor.session(this.key))));
		this.model.calls(SessionAdvisorTests.call("c1", "work", "1"))
			.calls(SessionAdvisorTests.call("c2", "second", "2"))
			.says("re inner")
			.says("re other")
			.says("done");
		run(this.client.prompt()
			.user("outer")
			.toolCallbacks(tool("work",
					() -> run(this.client.prompt()
						.user("other")
						.toolCallbacks(second)
						.advisors(SessionAdvisor.session(this.other)))))
			.advisors(SessionAdvisor.session(this.key)));
		assertThat(this.inner).containsExactly("user: q1", "assistant: a1", "user: inner");
		assertThat(Lines.of(this.store.messages(this.other))).hasSize(4);
		assertThat(log()).hasSize(6).endsWith("assistant: done");
	}

	@Test
	void callReadsWhatTheTurnHasReadWhichBeginsElsewhere() {
		talk();
		conversation().addTurn(List.of(new UserMessage("q2"), new AssistantMessage("a2")), null);
		this.model.calls(SessionAdvisorTests.call("c1", "work", "1")).says("re inner").says("done");
		run(this.client.prompt()
			.user("instead")
			.toolCallbacks(tool("work",
					() -> ask(this.client.prompt().user("inner").advisors(SessionAdvisor.session(this.key)))))
			.advisors(SessionAdvisor.session(this.key).andThen(SessionAdvisor.editing(2))));
		assertThat(this.inner).containsExactly("user: q1", "assistant: a1", "user: inner");
	}

	@Test
	void callInATurnWithAGivenHistoryReadsThatOne() {
		talk();
		this.model.calls(SessionAdvisorTests.call("c1", "work", "1")).says("re inner").says("done");
		run(this.client.prompt()
			.user("outer")
			.toolCallbacks(tool("work",
					() -> ask(this.client.prompt().user("inner").advisors(SessionAdvisor.session(this.key)))))
			.advisors(SessionAdvisor.session(this.key)
				.andThen(SessionAdvisor.history(List.of(new UserMessage("x?"), new AssistantMessage("x!"))))));
		assertThat(this.inner).containsExactly("user: x?", "assistant: x!", "user: inner");
		assertThat(this.store.turns(this.key, Tail.ALL)).hasSize(1);
	}

	@Test
	void callSeesTheAttributesOfItsTurnAndChangesNone() {
		AtomicReference<Object> seen = new AtomicReference<>();
		this.conversations = Conversations.builder(this.store).hooks(TestHooks.beforeTurn("looking", (input) -> {
			if (input.get(0).getText().equals("inner")) {
				seen.set(new SessionContext().attributes());
				new SessionContext().putAttribute("b", "inner");
			}
			return HookResult.keep();
		})).build();
		this.client = client((advisor) -> {
		});
		talk();
		outer(() -> {
			new SessionContext().putAttribute("a", "outer");
			return ask(this.client.prompt().user("inner").advisors(SessionAdvisor.session(this.key)));
		});
		assertThat(seen.get()).isEqualTo(Map.of("a", "outer"));
		assertThat(conversation().attributes()).isEqualTo(Map.of("a", "outer"));
	}

	@Test
	void limitsApplyToWhatIsRead() {
		this.conversations = Conversations.builder(this.store).trim(Trim.keepLastTurns(2)).build();
		this.client = client((advisor) -> {
		});
		talk();
		talk();
		talk();
		outer(() -> ask(this.client.prompt().user("inner").advisors(SessionAdvisor.session(this.key))));
		assertThat(this.inner).hasSize(5);
		outer(() -> ask(this.client.prompt()
			.user("inner")
			.advisors(SessionAdvisor.session(this.key).andThen(SessionAdvisor.limit(0)))));
		assertThat(this.inner).containsExactly("user: inner");
	}

	@Test
	void toolThatNeedsAnApprovalRefusesToRun() {
		AtomicInteger runs = new AtomicInteger();
		Approvals approvals = Approvals.builder(this.conversations).tools(Set.of("cancel")).build();
		this.client = client((advisor) -> advisor.approvals(approvals));
		talk();
		this.model.calls(SessionAdvisorTests.call("c1", "work", "1"))
			.calls(SessionAdvisorTests.call("c2", "cancel", "2"));
		ToolCallback cancel = tool("cancel", () -> String.valueOf(runs.incrementAndGet()));
		ToolCallback work = tool("work", () -> run(
				this.client.prompt().user("inner").toolCallbacks(cancel).advisors(SessionAdvisor.session(this.key))));
		assertThatExceptionOfType(NestedTurnException.class)
			.isThrownBy(() -> run(
					this.client.prompt().user("outer").toolCallbacks(work).advisors(SessionAdvisor.session(this.key))))
			.withMessageContaining("'cancel' needs an approval")
			.withMessageContaining("is not stored");
		assertThat(runs).hasValue(0);
	}

	@Test
	void callThatWouldHaveToBeStoredIsRefusedAndSaysWhatToWrite() {
		talk();
		for (Consumer<ChatClient.AdvisorSpec> stored : List.<Consumer<ChatClient.AdvisorSpec>>of(
				SessionAdvisor.editing(1), SessionAdvisor.branch("main"),
				SessionAdvisor.history(List.of(), HistoryPolicy.USE_IF_PROVIDED),
				SessionAdvisor.history(List.of(), HistoryPolicy.REPLACE_SESSION))) {
			this.model.calls(SessionAdvisorTests.call("c1", "work", "1"));
			ToolCallback work = tool("work", () -> run(
					this.client.prompt().user("inner").advisors(SessionAdvisor.session(this.key).andThen(stored))));
			assertThatExceptionOfType(NestedTurnException.class).isThrownBy(() -> run(
					this.client.prompt().user("outer").toolCallbacks(work).advisors(SessionAdvisor.session(this.key))))
				.withMessageContaining("It may only read that session")
				.withMessageContaining("SessionAdvisor.child(..)");
		}
	}

	@Test
	void callOnAnotherThreadReadsIfItsTaskWasWrapped() {
		talk();
		outer(() -> {
			Callable<String> task = new SessionContext().wrap((Callable<String>) () -> ask(
					this.client.prompt().user("inner").advisors(SessionAdvisor.session(this.key))));
			return CompletableFuture.supplyAsync(() -> {
				try {
					return task.call();
				}
				catch (Exception ex) {
					throw new IllegalStateException(ex);
				}
			}).join();
		});
		assertThat(this.inner).containsExactly("user: q1", "assistant: a1", "user: inner");
	}

	@Test
	void callOfAHookReadsTheSessionOfItsTurn() {
		AtomicReference<Boolean> asked = new AtomicReference<>(false);
		this.conversations = Conversations.builder(this.store).hooks(TestHooks.beforeTurn("asking", (input) -> {
			if (input.get(0).getText().equals("outer") && !asked.getAndSet(true)) {
				ask(this.client.prompt().user("inner").advisors(SessionAdvisor.session(this.key)));
			}
			return HookResult.keep();
		})).build();
		this.client = client((advisor) -> {
		});
		talk();
		this.model.says("re inner").says("done");
		run(this.client.prompt().user("outer").advisors(SessionAdvisor.session(this.key)));
		assertThat(this.inner).containsExactly("user: q1", "assistant: a1", "user: inner");
		assertThat(log()).hasSize(4);
	}

	private void talk() {
		this.model.says("a1");
		run(this.client.prompt().user("q1").advisors(SessionAdvisor.session(this.key)));
	}

	/**
	 * Runs a turn whose tool does the work, and returns how often it has called the
	 * store.
	 */
	private int outer(Supplier<String> work) {
		this.inner.clear();
		int before = this.store.calls().size();
		this.model.calls(SessionAdvisorTests.call("c1", "work", "1")).says("re inner").says("done");
		run(this.client.prompt()
			.user("outer")
			.toolCallbacks(tool("work", work))
			.advisors(SessionAdvisor.session(this.key)));
		return this.store.calls().size() - before;
	}

	private String ask(ChatClient.ChatClientRequestSpec spec) {
		ChatResponse response = setup().response(spec);
		this.innerResponse.set(response);
		this.inner.addAll(this.model.lastRequestLines());
		return "re inner";
	}

	private String run(ChatClient.ChatClientRequestSpec spec) {
		return setup().content(spec);
	}

	private ClientSetup setup() {
		return new ClientSetup(this.mode, ClientSetup.ToolLoop.AUTOMATIC, false);
	}

	private ChatClient client(Consumer<SessionAdvisor.Builder> rules) {
		SessionAdvisor.Builder advisor = SessionAdvisor.builder(this.conversations);
		rules.accept(advisor);
		return ChatClient.builder(this.model).defaultAdvisors(advisor.build()).build();
	}

	private static ToolCallback tool(String name, Supplier<String> work) {
		return FunctionToolCallback.builder(name, (SessionAdvisorTests.Value value) -> work.get())
			.description("does something")
			.inputType(SessionAdvisorTests.Value.class)
			.build();
	}

	private Conversation conversation() {
		return this.conversations.get(this.key);
	}

	private List<String> log() {
		return Lines.of(this.store.messages(this.key));
	}

}
