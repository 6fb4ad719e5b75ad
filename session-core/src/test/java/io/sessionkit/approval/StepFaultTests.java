package io.sessionkit.approval;

import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;

import io.sessionkit.Durability;
import io.sessionkit.NothingWaitsException;
import io.sessionkit.SessionKey;
import io.sessionkit.SessionLostException;
import io.sessionkit.TurnInProgressException;
import io.sessionkit.TurnStatus;
import io.sessionkit.advisor.SessionAdvisor;
import io.sessionkit.context.Trim;
import io.sessionkit.conversation.Approvals;
import io.sessionkit.conversation.Conversations;
import io.sessionkit.internal.lease.TurnRecords;
import io.sessionkit.store.Commit;
import io.sessionkit.store.CommitFailedException;
import io.sessionkit.store.HeaderChange;
import io.sessionkit.store.RecordWrite;
import io.sessionkit.store.SessionRecord;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.StoreUnavailableException;
import io.sessionkit.store.Tail;
import io.sessionkit.test.ObservedStore;
import io.sessionkit.test.ScriptedChatModel;
import io.sessionkit.test.ScriptedChatModel.Lines;
import io.sessionkit.test.TestStores;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import reactor.core.publisher.Flux;

import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.AssistantMessage.ToolCall;
import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.UserMessage;
import org.springframework.ai.tool.ToolCallback;
import org.springframework.ai.tool.definition.ToolDefinition;
import org.springframework.ai.tool.function.FunctionToolCallback;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests what others do, and what a store fails to do, between two writes of a turn that
 * continues or is stored in steps.
 */
@Timeout(120)
class StepFaultTests {

	private static final Map<TestStores, SessionStore> STORES = new EnumMap<>(TestStores.class);

	private final SessionKey key = SessionKey.of(UUID.randomUUID().toString());

	private final ScriptedChatModel model = new ScriptedChatModel();

	private final AtomicReference<Runnable> inTool = new AtomicReference<>(() -> {
	});

	private final List<String> runs = new CopyOnWriteArrayList<>();

	private final List<Conversations> opened = new ArrayList<>();

	record Order(int id) {
	}

	@AfterEach
	void close() {
		this.opened.forEach(Conversations::close);
	}

	@ParameterizedTest
	@EnumSource(names = { "MEMORY", "H2", "POSTGRESQL", "REDIS" })
	void callThatTakesTheLeaseWhenTheTurnHasEndedNeitherRunsNorAsks(TestStores kind) {
		SessionStore store = STORES.computeIfAbsent(kind, TestStores::create);
		Client client = client(store, Durability.TURN);
		pause(client);
		client.approvals.reject(client.approvals.pending(this.key).get(0), "somebody", "no");
		this.model.says("done");
		ObservedStore observed = new ObservedStore(store);
		AtomicBoolean first = new AtomicBoolean(true);
		observed.beforePut((record) -> {
			if (record.kind().equals(TurnRecords.LEASE) && first.getAndSet(false)) {
				CompletableFuture.runAsync(() -> assertThat(client.resume()).isEqualTo("done")).join();
			}
		});
		Client late = client(observed, Durability.TURN);
		assertThatExceptionOfType(NothingWaitsException.class).isThrownBy(late::resume)
			.withMessageContaining("continued or ended by another call");
		assertThat(this.model.prompts()).hasSize(2);
		assertThat(this.runs).isEmpty();
		assertThat(store.records(this.key, TurnRecords.LEASE)).isEmpty();
		assertThat(store.messages(this.key)).hasSize(4);
	}

	@ParameterizedTest
	@EnumSource(names = { "MEMORY", "H2", "POSTGRESQL", "REDIS" })
	void callThatTakesTheLeaseWhenAnotherTurnIsOpenLeavesThatOneAlone(TestStores kind) {
		SessionStore store = STORES.computeIfAbsent(kind, TestStores::create);
		Client client = client(store, Durability.TURN);
		pause(client);
		client.approvals.reject(client.approvals.pending(this.key).get(0), "somebody", "no");
		this.model.says("done");
		ObservedStore observed = new ObservedStore(store);
		AtomicBoolean first = new AtomicBoolean(true);
		observed.beforePut((record) -> {
			if (record.kind().equals(TurnRecords.LEASE) && first.getAndSet(false)) {
				CompletableFuture.runAsync(() -> {
					client.resume();
					pause(client);
				}).join();
			}
		});
		Client late = client(observed, Durability.TURN);
		assertThatExceptionOfType(NothingWaitsException.class).isThrownBy(late::resume);
		client.approvals.approve(client.approvals.pending(this.key).get(0), "somebody");
		this.model.says("done");
		assertThat(client.resume()).isEqualTo("done");
		assertThat(this.runs).containsExactly("cancel 1");
	}

	@ParameterizedTest
	@EnumSource(names = { "MEMORY", "H2", "POSTGRESQL", "REDIS" })
	void turnWhoseEndWasStoredWithoutAnAnswerKeepsNoLease(TestStores kind) {
		SessionStore store = STORES.computeIfAbsent(kind, TestStores::create);
		ObservedStore observed = new ObservedStore(store);
		Client client = client(observed, Durability.STEP);
		store.add(this.key, List.of(new UserMessage("q"), new AssistantMessage("a")));
		this.model.calls(look(1)).step((prompt) -> Flux.defer(() -> {
			observed.failAt(ObservedStore.Fault.ANSWER);
			return new ScriptedChatModel().says("done").stream(prompt);
		}));
		assertThatExceptionOfType(CommitFailedException.class).isThrownBy(() -> client.ask("question"));
		observed.failAt(ObservedStore.Fault.NONE);
		assertThat(store.turns(this.key, Tail.newest(1))).extracting("status").containsExactly(TurnStatus.COMPLETED);
		assertThat(store.records(this.key, TurnRecords.LEASE)).isEmpty();
		this.model.calls(look(2)).says("done");
		client.ask("next");
		assertThat(this.runs).containsExactly("look 1", "look 2");
	}

	@ParameterizedTest
	@EnumSource(names = { "MEMORY", "H2", "POSTGRESQL", "REDIS" })
	void turnWhoseFirstPartWasStoredWithoutAnAnswerGivesItsLeaseBackAndContinues(TestStores kind) {
		SessionStore store = STORES.computeIfAbsent(kind, TestStores::create);
		ObservedStore observed = new ObservedStore(store);
		Client client = client(observed, Durability.STEP);
		this.model.calls(look(1)).says("done");
		observed.failAt(ObservedStore.Fault.ANSWER);
		assertThatExceptionOfType(StoreUnavailableException.class).isThrownBy(() -> client.ask("question"));
		observed.failAt(ObservedStore.Fault.NONE);
		Awaitility.await().until(() -> store.records(this.key, TurnRecords.LEASE).isEmpty());
		assertThat(client.resume()).isEqualTo("done");
		assertThat(this.runs).containsExactly("look 1");
	}

	@ParameterizedTest
	@EnumSource(names = { "MEMORY", "H2", "POSTGRESQL", "REDIS" })
	void turnWhoseEndWasNotStoredGivesItsLeaseBackAndContinues(TestStores kind) {
		SessionStore store = STORES.computeIfAbsent(kind, TestStores::create);
		ObservedStore observed = new ObservedStore(store);
		Client client = client(observed, Durability.STEP);
		store.add(this.key, List.of(new UserMessage("q"), new AssistantMessage("a")));
		this.model.calls(look(1)).step((prompt) -> Flux.defer(() -> {
			observed.failAt(ObservedStore.Fault.COMMIT);
			return new ScriptedChatModel().says("lost").stream(prompt);
		}));
		assertThatExceptionOfType(CommitFailedException.class).isThrownBy(() -> client.ask("question"));
		observed.failAt(ObservedStore.Fault.NONE);
		assertThat(store.records(this.key, TurnRecords.LEASE)).isEmpty();
		this.model.says("done");
		assertThat(client.resume()).isEqualTo("done");
		assertThat(this.runs).containsExactly("look 1");
	}

	@ParameterizedTest
	@EnumSource(names = { "MEMORY", "H2", "POSTGRESQL", "REDIS" })
	void turnWhoseEndWasRefusedIsSaidToBeOpen(TestStores kind) {
		ObservedStore observed = new ObservedStore(STORES.computeIfAbsent(kind, TestStores::create));
		Client client = client(observed, Durability.STEP);
		this.model.calls(look(1)).step((prompt) -> Flux.defer(() -> {
			observed.beforeCommit(() -> {
				throw StoreUnavailableException.unwritten("full", null);
			});
			return new ScriptedChatModel().says("lost").stream(prompt);
		}));
		assertThatExceptionOfType(CommitFailedException.class).isThrownBy(() -> client.ask("question"))
			.matches(CommitFailedException::isUnwritten)
			.withMessageContaining("The store has refused its end.")
			.withMessageContaining("still open; call again without a message to continue it")
			.withMessageNotContaining("as it was before");
	}

	@ParameterizedTest
	@EnumSource(names = { "MEMORY", "H2", "POSTGRESQL", "REDIS" })
	void turnWhoseEndIsUnknownIsSaidToBeOpenUnlessItIsWhole(TestStores kind) {
		ObservedStore observed = new ObservedStore(STORES.computeIfAbsent(kind, TestStores::create));
		Client client = client(observed, Durability.STEP);
		this.model.calls(look(1)).step((prompt) -> Flux.defer(() -> {
			observed.failAt(ObservedStore.Fault.COMMIT);
			return new ScriptedChatModel().says("lost").stream(prompt);
		}));
		assertThatExceptionOfType(CommitFailedException.class).isThrownBy(() -> client.ask("question"))
			.matches((unknown) -> !unknown.isUnwritten())
			.withMessageContaining("Read the session before you ask again: it has all of the turn, or the turn is still"
					+ " open; then call again without a message to continue it")
			.withMessageNotContaining("nothing");
	}

	/**
	 * A lease that could not be given back when its turn ended keeps no other turn out.
	 */
	@ParameterizedTest
	@EnumSource(names = { "MEMORY", "H2", "POSTGRESQL", "REDIS" })
	void leaseThatIsLeftOverIsReplacedByThatOfATurnThatBegins(TestStores kind) {
		SessionStore store = STORES.computeIfAbsent(kind, TestStores::create);
		Client client = client(
				Conversations.builder(store).durability(Durability.STEP).lease(Duration.ofSeconds(6)).build());
		Client other = client(store, Durability.STEP);
		store.add(this.key, List.of(new UserMessage("q"), new AssistantMessage("a")));
		store.put(this.key,
				RecordWrite.create(TurnRecords.LEASE, TurnRecords.LEASE_ID, "{}").timeToLive(Duration.ofMinutes(5)));
		long left = lease(store).revision();
		this.inTool.set(() -> {
			Awaitility.await().atMost(Duration.ofSeconds(30)).until(() -> lease(store).revision() > left + 2);
			CompletableFuture
				.runAsync(() -> assertThatExceptionOfType(TurnInProgressException.class).isThrownBy(other::resume))
				.join();
		});
		this.model.calls(look(1)).says("done");
		client.ask("question");
		assertThat(this.runs).containsExactly("look 1");
		assertThat(store.records(this.key, TurnRecords.LEASE)).isEmpty();
		assertThat(store.messages(this.key)).hasSize(6);
	}

	@ParameterizedTest
	@EnumSource(names = { "MEMORY", "H2", "POSTGRESQL", "REDIS" })
	void turnInStepsContinuesOnAHeaderThatOthersHaveChanged(TestStores kind) {
		SessionStore store = STORES.computeIfAbsent(kind, TestStores::create);
		Client client = client(store, Durability.STEP);
		store.add(this.key, List.of(new UserMessage("q"), new AssistantMessage("a")));
		this.inTool
			.set(() -> store.commit(Commit.any(this.key).header(HeaderChange.NONE.title("title " + this.runs.size()))));
		this.model.calls(look(1)).calls(look(2)).says("done");
		client.ask("question");
		assertThat(store.find(this.key)).hasValueSatisfying((session) -> {
			assertThat(session.title()).isEqualTo("title 1");
			assertThat(session.openTurn()).isZero();
			assertThat(session.head()).isEqualTo(2);
		});
		assertThat(this.runs).containsExactly("look 1", "look 2");
		assertThat(store.messages(this.key)).hasSize(8);
	}

	@ParameterizedTest
	@EnumSource(names = { "MEMORY", "H2", "POSTGRESQL", "REDIS" })
	void turnInStepsWhoseSessionIsErasedMeanwhileStoresNothing(TestStores kind) {
		SessionStore store = STORES.computeIfAbsent(kind, TestStores::create);
		Client client = client(store, Durability.STEP);
		store.add(this.key, List.of(new UserMessage("q"), new AssistantMessage("a")));
		this.model.calls(look(1)).step((prompt) -> Flux.defer(() -> {
			store.erase(this.key);
			store.add(this.key, List.of(new UserMessage("new"), new AssistantMessage("a")));
			return new ScriptedChatModel().says("lost").stream(prompt);
		}));
		assertThatExceptionOfType(SessionLostException.class).isThrownBy(() -> client.ask("question"));
		assertThat(Lines.of(store.messages(this.key))).containsExactly("user: new", "assistant: a");
		assertThat(store.turns(this.key, Tail.ALL)).hasSize(1);
	}

	@ParameterizedTest
	@EnumSource(names = { "MEMORY", "H2", "POSTGRESQL", "REDIS" })
	void continuedTurnHasAsMuchOfTheHistoryAsItBeganWith(TestStores kind) {
		SessionStore store = STORES.computeIfAbsent(kind, TestStores::create);
		List<List<String>> histories = new CopyOnWriteArrayList<>();
		Conversations conversations = Conversations.builder(store)
			.trim(Trim.keepLastMessages(6))
			.merge((context, history, input) -> {
				histories.add(Lines.of(history));
				List<Message> all = new ArrayList<>(history);
				all.addAll(input);
				return all;
			})
			.build();
		Client client = client(conversations);
		for (int i = 0; i < 4; i++) {
			store.add(this.key, List.of(new UserMessage("q" + i), new AssistantMessage("a" + i)));
		}
		pause(client);
		client.approvals.approve(client.approvals.pending(this.key).get(0), "somebody");
		this.model.says("done");
		assertThat(client.resume()).isEqualTo("done");
		assertThat(histories).hasSize(2);
		assertThat(histories.get(0)).containsExactly("user: q2", "assistant: a2", "user: q3", "assistant: a3");
		assertThat(histories.get(1)).isEqualTo(histories.get(0));
	}

	@ParameterizedTest
	@EnumSource(names = { "MEMORY", "H2", "POSTGRESQL", "REDIS" })
	void toolWithoutAResultHasEnded(TestStores kind) {
		SessionStore store = STORES.computeIfAbsent(kind, TestStores::create);
		Client client = client(store, Durability.STEP);
		ToolCallback silent = new ToolCallback() {

			@Override
			public ToolDefinition getToolDefinition() {
				return ToolDefinition.builder().name("silent").description("silent").inputSchema("{}").build();
			}

			@Override
			public String call(String input) {
				StepFaultTests.this.runs.add("silent");
				return null;
			}

		};
		this.model.calls(new ToolCall("s1", "function", "silent", "{}")).says("done");
		assertThat(client.chat.prompt()
			.user("question")
			.toolCallbacks(silent)
			.advisors(SessionAdvisor.session(this.key))
			.call()
			.content()).isEqualTo("done");
		assertThat(this.runs).containsExactly("silent");
		assertThat(this.model.lastRequestLines()).last().isEqualTo("tool silent=");
		assertThat(client.approvals.ledger(this.key)).extracting(ToolApproval::status)
			.containsExactly(ApprovalStatus.DONE);
	}

	private SessionRecord lease(SessionStore store) {
		return store.records(this.key, TurnRecords.LEASE).get(0);
	}

	private record Client(ChatClient chat, Approvals approvals, SessionKey key) {

		void ask(String question) {
			this.chat.prompt().user(question).advisors(SessionAdvisor.session(this.key)).call().chatResponse();
		}

		String resume() {
			return this.chat.prompt().advisors(SessionAdvisor.session(this.key)).call().content();
		}

	}

	private Client client(SessionStore store, Durability durability) {
		return client(Conversations.builder(store).durability(durability).lease(Duration.ofSeconds(30)).build());
	}

	private Client client(Conversations conversations) {
		this.opened.add(conversations);
		Approvals approvals = Approvals.builder(conversations).tools(Set.of("cancel")).build();
		ChatClient chat = ChatClient.builder(this.model)
			.defaultAdvisors(SessionAdvisor.builder(conversations).approvals(approvals).build())
			.defaultToolCallbacks(tool("cancel"), tool("look"))
			.build();
		return new Client(chat, approvals, this.key);
	}

	private FunctionToolCallback<Order, String> tool(String name) {
		return FunctionToolCallback.builder(name, (Order order) -> {
			this.inTool.get().run();
			this.runs.add(name + " " + order.id());
			return "done";
		}).description(name).inputType(Order.class).build();
	}

	private void pause(Client client) {
		this.model.calls(new ToolCall("c1", "function", "cancel", "{\"id\":1}"));
		client.ask("question");
	}

	private static ToolCall look(int id) {
		return new ToolCall("l" + id, "function", "look", "{\"id\":" + id + "}");
	}

}
