package io.sessionkit.approval;

import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Stream;

import io.sessionkit.Durability;
import io.sessionkit.SessionKey;
import io.sessionkit.advisor.SessionAdvisor;
import io.sessionkit.codec.JsonMessageCodec;
import io.sessionkit.conversation.Approvals;
import io.sessionkit.conversation.Conversation;
import io.sessionkit.conversation.Conversations;
import io.sessionkit.hook.HookResult;
import io.sessionkit.hook.SessionContext;
import io.sessionkit.hook.SessionHook;
import io.sessionkit.hook.TestHooks;
import io.sessionkit.internal.ledger.Ledger;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.StoreOptions;
import io.sessionkit.store.memory.InMemorySessionStore;
import io.sessionkit.test.ClientSetup;
import io.sessionkit.test.ScriptedChatModel;
import io.sessionkit.test.ScriptedChatModel.Lines;
import io.sessionkit.test.SetClock;
import io.sessionkit.test.TestStores;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.chat.messages.AssistantMessage.ToolCall;
import org.springframework.ai.chat.model.ToolContext;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * Tests that attributes which tools write while their turn is open count as soon as their
 * results do. Each call is made through objects of its own, as other processes would.
 */
class WrittenAttributesTests {

	private static final Map<TestStores, SessionStore> STORES = new EnumMap<>(TestStores.class);

	private final SessionKey key = SessionKey.of(UUID.randomUUID().toString());

	private final ScriptedChatModel model = new ScriptedChatModel();

	private final SessionContext context = new SessionContext();

	private final List<Conversations> opened = new CopyOnWriteArrayList<>();

	private List<SessionHook> hooks = List.of();

	private SessionStore store;

	private ClientSetup setup = ClientSetup.plain();

	private Durability durability = Durability.TURN;

	private SiblingRule siblings = SiblingRule.HOLD;

	private OnNewMessage onNewMessage = OnNewMessage.REJECT;

	private Duration expiresAfter;

	private Runnable afterTool = () -> {
	};

	static Stream<Arguments> all() {
		return Stream.of(TestStores.values())
			.flatMap((kind) -> Stream.of(ClientSetup.plain(), ClientSetup.streaming())
				.map((setup) -> Arguments.of(kind, setup)));
	}

	private void on(TestStores kind, ClientSetup setup) {
		this.store = STORES.computeIfAbsent(kind, TestStores::create);
		this.setup = setup;
	}

	@AfterEach
	void close() {
		this.opened.forEach(Conversations::close);
	}

	private Conversations process() {
		Conversations process = Conversations.builder(this.store).durability(this.durability).hooks(this.hooks).build();
		this.opened.add(process);
		return process;
	}

	private Approvals approvals(Conversations process) {
		Approvals.Builder builder = Approvals.builder(process)
			.tools(Set.of("cancel"))
			.siblings(this.siblings)
			.onNewMessage(this.onNewMessage);
		return ((this.expiresAfter != null) ? builder.expiresAfter(this.expiresAfter) : builder).build();
	}

	private Approvals approvals() {
		return approvals(process());
	}

	private void call(String question) {
		Conversations process = process();
		SessionAdvisor advisor = SessionAdvisor.builder(process).approvals(approvals(process)).build();
		List<String> runs = new ArrayList<>();
		ChatClient client = this.setup.builder(this.model, advisor)
			.defaultToolCallbacks(RecordingTool.of("cancel", runs).doing(this::write),
					RecordingTool.of("look", runs).doing(this::write))
			.build();
		ChatClient.ChatClientRequestSpec call = question.isEmpty() ? client.prompt() : client.prompt().user(question);
		this.setup.response(call.advisors(SessionAdvisor.session(this.key)));
	}

	private String write(String input, ToolContext unused) {
		String id = input.replaceAll("\\D", "");
		this.context.putAttribute("x" + id, Integer.valueOf(id));
		this.context.putAttribute("last", Integer.valueOf(id));
		this.context.removeAttribute("old" + id);
		this.afterTool.run();
		return "wrote " + id;
	}

	private void goOn() {
		call("");
	}

	/** The model fails after the tools. */
	private void goOnInVain(String question) {
		assertThatIllegalStateException().isThrownBy(() -> call(question)).withMessage("down");
	}

	private void approve(int index) {
		List<ToolApproval> pending = approvals().pending(this.key);
		approvals().approve(pending.get(index), "anna");
	}

	private Conversation thread() {
		return process().get(this.key);
	}

	private static ToolCall cancel(int id) {
		return ApprovalFixture.cancel("c" + id, id);
	}

	private static ToolCall look(int id) {
		return ApprovalFixture.look("c" + id, id);
	}

	private void assertCompletedWith(Map<String, Object> attributes) {
		assertThat(thread().openTurn()).isEmpty();
		assertThat(thread().attributes()).isEqualTo(attributes);
		assertThat(this.store.records(this.key, Ledger.OVER)).isNotEmpty()
			.noneMatch((call) -> this.store.options()
				.codec()
				.decodeValues(this.key, call.payload())
				.containsKey("attributes"));
	}

	@ParameterizedTest
	@MethodSource("all")
	void toolThatRunsWhileOthersWaitHasWrittenForGood(TestStores kind, ClientSetup setup) {
		on(kind, setup);
		this.model.says("a").calls(cancel(1), cancel(2)).says("done");
		call("q");
		thread().putAttribute("old2", "value");
		call("q");
		approve(1);
		goOn();
		assertThat(thread().attributes()).isEqualTo(Map.of("old2", "value"));
		approve(0);
		goOn();
		assertCompletedWith(Map.of("x1", 1, "x2", 2, "last", 1));
	}

	@ParameterizedTest
	@MethodSource("all")
	void approvedToolHasWrittenForGoodIfTheModelFailsBehindIt(TestStores kind, ClientSetup setup) {
		on(kind, setup);
		this.model.calls(cancel(1))
			.fails(new IllegalStateException("down"))
			.fails(new IllegalStateException("down"))
			.says("done");
		call("q");
		approve(0);
		goOnInVain("");
		goOnInVain("");
		goOn();
		assertCompletedWith(Map.of("x1", 1, "last", 1));
	}

	@ParameterizedTest
	@MethodSource("all")
	void toolsOfATurnInStepsHaveWrittenForGoodIfTheModelFailsBehindThem(TestStores kind, ClientSetup setup) {
		on(kind, setup);
		this.durability = Durability.STEP;
		this.model.calls(look(1)).calls(look(3), look(2)).fails(new IllegalStateException("down")).says("done");
		goOnInVain("q");
		goOn();
		assertCompletedWith(Map.of("x1", 1, "x2", 2, "x3", 3, "last", 2));
	}

	@ParameterizedTest
	@MethodSource("all")
	void siblingThatRunsBeforeThePauseHasWrittenForGood(TestStores kind, ClientSetup setup) {
		on(kind, setup);
		this.siblings = SiblingRule.RUN;
		this.model.calls(look(1), cancel(2)).says("done");
		call("q");
		approve(0);
		goOn();
		assertCompletedWith(Map.of("x1", 1, "x2", 2, "last", 2));
	}

	@ParameterizedTest
	@MethodSource("all")
	void siblingOfACallThatExpiresHasWrittenForGood(TestStores kind, ClientSetup setup) {
		on(kind, setup);
		this.siblings = SiblingRule.RUN;
		this.expiresAfter = Duration.ofMillis(50);
		this.model.calls(look(1), cancel(2)).says("done");
		call("q");
		Awaitility.await().until(() -> approvals().pending(this.key).isEmpty());
		goOn();
		assertCompletedWith(Map.of("x1", 1, "last", 1));
	}

	@ParameterizedTest
	@MethodSource("all")
	void toolHasWrittenForGoodIfItsTurnIsCancelledBehindIt(TestStores kind, ClientSetup setup) {
		on(kind, setup);
		this.model.calls(cancel(1), cancel(2));
		call("q");
		approve(0);
		goOn();
		approvals().cancel(this.key);
		assertThat(Lines.of(thread().messages())).last().asString().startsWith("tool cancel=wrote 1 cancel=This call");
		assertCompletedWith(Map.of("x1", 1, "last", 1));
	}

	@Test
	void toolThatRanLastHasWrittenLastAlsoIfTheClockWasSetBack() {
		onASetClock();
		this.durability = Durability.STEP;
		this.model.calls(look(3), look(2)).fails(new IllegalStateException("down")).says("done");
		goOnInVain("q");
		goOn();
		assertCompletedWith(Map.of("x2", 2, "x3", 3, "last", 2));
	}

	/** The clock of the other process is behind. */
	@Test
	void toolThatRanLastHasWrittenLastAlsoIfItRanInAnotherProcess() {
		onASetClock();
		this.model.calls(cancel(1), cancel(2)).fails(new IllegalStateException("down")).says("done");
		call("q");
		approve(1);
		goOn();
		approve(0);
		goOnInVain("");
		goOn();
		assertCompletedWith(Map.of("x1", 1, "x2", 2, "last", 1));
	}

	/** Its time is an earlier one after each run of a tool. */
	private void onASetClock() {
		SetClock clock = new SetClock();
		this.store = new InMemorySessionStore(StoreOptions.of(JsonMessageCodec.create()).clock(clock));
		this.afterTool = () -> clock.pass(Duration.ofSeconds(-2));
	}

	@Test
	void valueOfTheTurnCountsMoreThanThatOfOthersWhoWriteWhileItWaits() {
		on(TestStores.MEMORY, ClientSetup.plain());
		this.siblings = SiblingRule.RUN;
		this.model.calls(look(1), cancel(2)).says("done");
		call("q");
		thread().putAttribute("x1", 7);
		thread().putAttribute("x2", 7);
		thread().putAttribute("x3", 7);
		approve(0);
		goOn();
		assertCompletedWith(Map.of("x1", 1, "x2", 2, "x3", 7, "last", 2));
	}

	/** It is asked again when the turn continues, since it writes. */
	@Test
	void hookOnAQueuedMessageSeesWhatToolsHaveWritten() {
		on(TestStores.MEMORY, ClientSetup.plain());
		List<Map<String, Object>> seen = new ArrayList<>();
		this.hooks = List.of(TestHooks.beforeTurn("writing", (input) -> {
			seen.add(this.context.attributes());
			this.context.putAttribute("asked", this.context.attribute("asked", Integer.class).orElse(0) + 1);
			return HookResult.keep();
		}));
		this.onNewMessage = OnNewMessage.QUEUE;
		this.model.calls(cancel(1), cancel(2)).fails(new IllegalStateException("down")).says("done");
		call("q");
		approve(0);
		goOn();
		call("and this");
		approve(0);
		goOnInVain("");
		goOn();
		assertThat(seen).last().isEqualTo(Map.of("asked", 1, "x1", 1, "x2", 2, "last", 2));
		assertCompletedWith(Map.of("asked", 2, "x1", 1, "x2", 2, "last", 2));
	}

}
