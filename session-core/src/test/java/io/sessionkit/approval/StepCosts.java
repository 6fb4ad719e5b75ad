package io.sessionkit.approval;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.UnaryOperator;

import io.sessionkit.Durability;
import io.sessionkit.SessionKey;
import io.sessionkit.TurnStatus;
import io.sessionkit.advisor.SessionAdvisor;
import io.sessionkit.context.Summarize;
import io.sessionkit.context.Trim;
import io.sessionkit.conversation.Approvals;
import io.sessionkit.conversation.Conversations;
import io.sessionkit.store.Commit;
import io.sessionkit.store.HeaderChange;
import io.sessionkit.store.RecordWrite;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.Tail;
import io.sessionkit.stream.TurnContinuations;
import io.sessionkit.test.ClientSetup;
import io.sessionkit.test.ScriptedChatModel;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.AssistantMessage.ToolCall;
import org.springframework.ai.chat.messages.UserMessage;
import org.springframework.ai.tool.ToolCallback;
import org.springframework.ai.tool.function.FunctionToolCallback;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Tests the cost of the steps of a turn beyond its plain form, which is one call to open
 * the session and one to commit: the calls of the store, and the round trips.
 */
public abstract class StepCosts {

	/** Methods that do not ask the database. */
	private static final Set<String> NO_CALLS = Set.of("checkWritable", "whenRolledBack");

	private final SessionKey key = SessionKey.of("owner", "steps");

	private final ScriptedChatModel model = new ScriptedChatModel();

	/** The calls of the store, in order. */
	private final List<String> calls = new CopyOnWriteArrayList<>();

	private final List<Conversations> opened = new ArrayList<>();

	public record Order(int id) {
	}

	/** The store whose calls are counted. */
	protected abstract SessionStore store();

	/** Returns how many times a caller has waited for an answer of the store. */
	protected abstract long roundTrips();

	/** The limit of round trips for a step with so many calls of the store. */
	protected long atMost(Step step, long calls) {
		return calls;
	}

	public enum Step {

		PAUSE, DECISION, RESUME, QUEUE, CANCEL, STEP, SUMMARY

	}

	@AfterEach
	final void close() {
		this.opened.forEach(Conversations::close);
	}

	@Test
	void aPauseCostsOneCallBesideThoseOfAPlainTurn() {
		client(Durability.TURN).turn("before");
		this.model.calls(cancel(1));
		Client client = client(Durability.TURN);
		assertCalls(Step.PAUSE, () -> client.ask("question"), "open", "records standing",
				"commit UNCHANGED AWAITING_APPROVAL part 0 (approval new, pause new)");
	}

	@Test
	void aNoticeOfThePauseCostsNoCall() {
		client(Durability.TURN).turn("before");
		this.model.calls(cancel(1));
		Client client = client(Conversations.builder(counting()).trim(Trim.keepLastTurns(20)),
				(approvals) -> approvals.notices(true));
		assertCalls(Step.PAUSE, () -> client.ask("question"), "open", "records standing",
				"commit UNCHANGED AWAITING_APPROVAL part 0 (approval new, notice any, pause new)");
	}

	@Test
	void aDecisionCostsTwoCalls() {
		Client client = paused(cancel(1));
		ToolApproval waiting = client.approvals.pending(this.key).get(0);
		assertCalls(Step.DECISION, () -> client.approvals.approve(waiting, "somebody"), "records approval",
				"put approval seen");
	}

	@Test
	void aDecisionAfterWhichTheTurnContinuesCostsOneCallMore() {
		Client before = paused(cancel(1));
		ToolApproval waiting = before.approvals.pending(this.key).get(0);
		Client client = client(Conversations.builder(counting()), (approvals) -> approvals.continuations(true));
		assertCalls(Step.DECISION, () -> client.approvals.approve(waiting, "somebody"), "records approval",
				"put notice any", "put approval seen");
	}

	@Test
	void aTurnThatContinuesByItselfCostsFiveCallsBesideThoseOfItsDecisionAndItsCall() {
		ToolApproval waiting = paused(cancel(1)).approvals.pending(this.key).get(0);
		Client client = client(Conversations.builder(counting()), (approvals) -> approvals.continuations(true));
		this.model.says("done");
		List<String> counted = counted(Step.RESUME, () -> {
			try (TurnContinuations running = TurnContinuations
				.builder(client.conversations, client.approvals, (turn) -> client.chat.prompt())
				.interval(Duration.ofHours(1))
				.start()) {
				// at start: whether the store lists notices, and those of others
				await().until(() -> this.calls.equals(List.of("oldestRecords", "oldestRecords")));
				client.approvals.approve(waiting, "somebody");
				await().until(() -> running != null && this.calls.contains("put notice seen deleted"));
			}
		});
		List<String> expected = new ArrayList<>(
				List.of("oldestRecords", "oldestRecords", "records approval", "put notice any", "put approval seen",
						"record", "put notice seen", "open", "turn [approval, lease, pause]"));
		expected.addAll(List
			.of(ended(1, "open", "put lease new", "turn [approval, pause]", "put approval seen", "put approval seen")));
		expected.add("put notice seen deleted");
		assertThat(counted).containsExactlyElementsOf(expected);
		assertEnded();
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void aResumeOfOneApprovedCallCostsFourCallsBesideThoseOfAPlainTurn(ClientSetup.Mode mode) {
		approve(paused(cancel(1)));
		this.model.says("done");
		Client client = client(Durability.TURN);
		assertCalls(Step.RESUME, () -> client.resume(mode),
				ended(1, "open", "put lease new", "turn [approval, pause]", "put approval seen", "put approval seen"));
		assertEnded();
	}

	@Test
	void aResumeOfARejectedCallCostsTwoCallsBesideThoseOfAPlainTurn() {
		Client before = paused(cancel(1));
		before.approvals.reject(before.approvals.pending(this.key).get(0), "somebody", "no");
		this.model.says("done");
		Client client = client(Durability.TURN);
		assertCalls(Step.RESUME, () -> client.resume(ClientSetup.Mode.CALL),
				ended(1, "open", "put lease new", "turn [approval, pause]"));
		assertEnded();
	}

	@Test
	void aResumeOfMoreCallsCostsTwoForEach() {
		approve(paused(cancel(1), cancel(2), cancel(3)));
		this.model.says("done");
		Client client = client(Durability.TURN);
		List<String> counted = counted(Step.RESUME, () -> client.resume(ClientSetup.Mode.CALL));
		assertThat(counted).hasSize(2 + 2 + 3 * 2 + leaseGivenBackAlone())
			.filteredOn((call) -> call.startsWith("put approval"))
			.hasSize(6);
		assertEnded();
	}

	@Test
	void aMessageThatIsQueuedCostsTwoCallsBesideTheOpening() {
		paused(cancel(1));
		Client client = client(Conversations.builder(counting()), OnNewMessage.QUEUE);
		assertCalls(Step.QUEUE, () -> client.ask("and this"), "open", "turn [approval, lease, pause]",
				"put pause seen");
	}

	@Test
	void theEndOfAWaitingTurnWithoutTheModelCostsFiveCalls() {
		Client client = paused(cancel(1));
		String[] calls = ended(1, "open", "open", "put lease new", "turn [approval, pause]");
		calls[4] = calls[4].replace("approval any deleted", "approval seen deleted");
		assertCalls(Step.CANCEL, () -> client.approvals.cancel(this.key), calls);
		assertEnded();
	}

	@ParameterizedTest
	@ValueSource(ints = { 1, 2, 5 })
	void aRoundInStepsCostsThreeCalls(int rounds) {
		client(Durability.STEP).turn("before");
		for (int i = 0; i < rounds; i++) {
			this.model.calls(look(i));
		}
		Client client = client(Durability.STEP);
		List<String> counted = counted(Step.STEP, () -> client.turn("question"));
		List<String> expected = new ArrayList<>(List.of("open"));
		for (int i = 0; i < rounds; i++) {
			expected.addAll(List.of(step(i), "put approval seen", "put approval seen"));
		}
		assertThat(counted).containsExactly(ended(rounds, expected.toArray(String[]::new)));
		assertEnded();
	}

	/**
	 * Returns the calls together with those that end the turn. A commit that may be
	 * rolled back does not give the lease back.
	 */
	private String[] ended(int part, String... before) {
		List<String> calls = new ArrayList<>(List.of(before));
		boolean alone = leaseGivenBackAlone() > 0;
		calls.add("commit UNCHANGED COMPLETED part " + part + " (approval any deleted, "
				+ (alone ? "" : "lease any deleted, ") + "ledger any, pause seen deleted)");
		if (alone) {
			calls.add("put lease seen deleted");
		}
		return calls.toArray(String[]::new);
	}

	private int leaseGivenBackAlone() {
		return store().mayRollBack() ? 1 : 0;
	}

	private static String step(int round) {
		return (round == 0) ? "commit UNCHANGED INCOMPLETE part 0 (approval new, lease any, pause new)"
				: "commit UNCHANGED INCOMPLETE part " + round
						+ " (approval any deleted, approval new, ledger any, pause seen)";
	}

	@Test
	void aLaterRoundOfATurnThatContinuesCostsThreeCalls() {
		approve(paused(cancel(1)));
		this.model.calls(look(2)).says("done");
		Client client = client(Durability.TURN);
		assertCalls(Step.STEP, () -> client.resume(ClientSetup.Mode.CALL),
				ended(2, "open", "put lease new", "turn [approval, pause]", "put approval seen", "put approval seen",
						step(1), "put approval seen", "put approval seen"));
		assertEnded();
	}

	/** A caller that creates a session does not know its incarnation. */
	@Test
	void theFirstTurnOfASessionInStepsReadsTheHeaderOnce() {
		this.model.calls(look(1)).calls(look(2)).calls(look(3));
		Client client = client(Durability.STEP);
		List<String> counted = counted(Step.STEP, () -> client.turn("question"));
		assertThat(counted).hasSize(2 + 3 * 3 + 1 + leaseGivenBackAlone())
			.filteredOn((call) -> call.equals("open"))
			.hasSize(2);
		assertEnded();
	}

	@Test
	void aSummaryBeforeATurnCostsThreeCalls() {
		storeTurns(6);
		Client client = summarizing(Summarize.Mode.BEFORE);
		this.model.says("summary");
		assertCalls(Step.SUMMARY, () -> client.turn("question"), "open", "open",
				"commit UNCHANGED summary (summary new)", "open", "commit UNCHANGED COMPLETED part 0 ()");
	}

	// counters

	private void assertCalls(Step step, Runnable work, String... expected) {
		assertThat(counted(step, work)).containsExactly(expected);
	}

	private List<String> counted(Step step, Runnable work) {
		store().find(this.key);
		this.calls.clear();
		long before = roundTrips();
		work.run();
		long trips = roundTrips() - before;
		List<String> counted = List.copyOf(this.calls);
		System.out.println(getClass().getSimpleName() + " " + step + ": " + counted.size() + " calls, " + trips
				+ " round trips " + counted);
		assertThat(trips).as("round trips").isLessThanOrEqualTo(atMost(step, counted.size()));
		return counted;
	}

	private void assertEnded() {
		assertThat(store().turns(this.key, Tail.newest(1))).extracting("status").containsExactly(TurnStatus.COMPLETED);
		for (String kind : List.of("lease", "pause", "approval")) {
			assertThat(store().records(this.key, kind)).as(kind).isEmpty();
		}
	}

	private SessionStore counting() {
		SessionStore store = store();
		return (SessionStore) Proxy.newProxyInstance(SessionStore.class.getClassLoader(),
				new Class<?>[] { SessionStore.class }, (proxy, method, arguments) -> {
					if (arguments != null && !NO_CALLS.contains(method.getName())) {
						this.calls.add(described(method.getName(), arguments));
					}
					try {
						return method.invoke(store, arguments);
					}
					catch (InvocationTargetException ex) {
						throw ex.getCause();
					}
				});
	}

	private static String described(String method, Object[] arguments) {
		return switch (method) {
			case "find", "open" -> "open";
			case "records" -> "records " + arguments[1];
			case "put" -> "put " + described((RecordWrite) arguments[1]);
			case "commit" -> described((Commit) arguments[0]);
			case "turn" -> "turn " + ((Set<?>) arguments[2]).stream().map(String::valueOf).sorted().toList();
			default -> method;
		};
	}

	private static String described(Commit commit) {
		String turn = (commit.turn() != null) ? " " + commit.turn().turn().status() + " part " + commit.turn().part()
				: "";
		String header = commit.header().equals(HeaderChange.NONE) ? ""
				: (commit.header().summary() != null) ? " summary" : " header";
		return "commit " + commit.expect() + turn + header + " "
				+ commit.records()
					.stream()
					.map(StepCosts::described)
					.sorted()
					.toList()
					.toString()
					.replace('[', '(')
					.replace(']', ')');
	}

	private static String described(RecordWrite write) {
		String expected = (write.expected() == RecordWrite.ANY) ? " any" : (write.expected() == 0) ? " new" : " seen";
		return write.kind() + expected + ((write.payload() == null) ? " deleted" : "");
	}

	// clients

	private record Client(Conversations conversations, ChatClient chat, Approvals approvals, SessionKey key,
			ScriptedChatModel model) {

		void turn(String question) {
			this.model.says("done");
			ask(question);
		}

		void ask(String question) {
			this.chat.prompt().user(question).advisors(SessionAdvisor.session(this.key)).call().chatResponse();
		}

		void resume(ClientSetup.Mode mode) {
			ChatClient.ChatClientRequestSpec spec = this.chat.prompt().advisors(SessionAdvisor.session(this.key));
			String answer = (mode == ClientSetup.Mode.CALL) ? spec.call().content()
					: String.join("", spec.stream().content().collectList().block());
			assertThat(answer).isEqualTo("done");
		}

	}

	/** A client of its own, as in another process. */
	private Client client(Durability durability) {
		return client(Conversations.builder(counting()).trim(Trim.keepLastTurns(20)).durability(durability));
	}

	private Client summarizing(Summarize.Mode mode) {
		return client(Conversations.builder(counting())
			.summarize(Summarize.by(this.model).mode(mode).keepTurns(2).triggerMessages(8).build()));
	}

	private Client client(Conversations.Builder builder) {
		return client(builder, OnNewMessage.REJECT);
	}

	private Client client(Conversations.Builder builder, OnNewMessage rule) {
		return client(builder, (approvals) -> approvals.onNewMessage(rule));
	}

	private Client client(Conversations.Builder builder, UnaryOperator<Approvals.Builder> settings) {
		Conversations conversations = builder.build();
		this.opened.add(conversations);
		Approvals approvals = settings.apply(Approvals.builder(conversations).tools(Set.of("cancel"))).build();
		ChatClient chat = ChatClient.builder(this.model)
			.defaultAdvisors(SessionAdvisor.builder(conversations).approvals(approvals).build())
			.defaultToolCallbacks(tool("cancel"), tool("look"))
			.build();
		return new Client(conversations, chat, approvals, this.key, this.model);
	}

	private static ToolCallback tool(String name) {
		return FunctionToolCallback.builder(name, (Order order) -> name + " " + order.id())
			.description(name)
			.inputType(Order.class)
			.build();
	}

	private Client paused(ToolCall... calls) {
		Client client = client(Durability.TURN);
		client.turn("before");
		this.model.calls(calls);
		client.ask("question");
		return client;
	}

	private void approve(Client client) {
		client.approvals.pending(this.key).forEach((call) -> client.approvals.approve(call, "somebody"));
	}

	private void storeTurns(int turns) {
		for (int i = 0; i < turns; i++) {
			store().add(this.key, List.of(new UserMessage("q" + i), new AssistantMessage("a" + i)));
		}
	}

	private static ToolCall cancel(int id) {
		return new ToolCall("c" + id, "function", "cancel", "{\"id\":" + id + "}");
	}

	private static ToolCall look(int id) {
		return new ToolCall("l" + id, "function", "look", "{\"id\":" + id + "}");
	}

}
