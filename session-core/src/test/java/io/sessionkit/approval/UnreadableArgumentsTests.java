package io.sessionkit.approval;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.UnaryOperator;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import io.sessionkit.Durability;
import io.sessionkit.SessionKey;
import io.sessionkit.TurnStatus;
import io.sessionkit.advisor.SessionAdvisor;
import io.sessionkit.codec.JsonMessageCodec;
import io.sessionkit.conversation.Approvals;
import io.sessionkit.conversation.Conversations;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.StoreOptions;
import io.sessionkit.store.Tail;
import io.sessionkit.store.memory.InMemorySessionStore;
import io.sessionkit.test.ClientSetup;
import io.sessionkit.test.ScriptedChatModel;
import io.sessionkit.test.ValidSequence;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.slf4j.LoggerFactory;

import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.chat.client.advisor.ToolCallingAdvisor;
import org.springframework.ai.chat.messages.AssistantMessage.ToolCall;
import org.springframework.ai.model.tool.DefaultToolCallingManager;
import org.springframework.ai.support.ToolCallbacks;
import org.springframework.ai.tool.ToolCallback;
import org.springframework.ai.tool.annotation.Tool;
import org.springframework.ai.tool.definition.ToolDefinition;
import org.springframework.ai.tool.execution.DefaultToolExecutionExceptionProcessor;
import org.springframework.ai.tool.execution.ToolExecutionException;
import org.springframework.ai.tool.function.FunctionToolCallback;
import org.springframework.ai.tool.method.MethodToolCallback;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * Tools that cannot read what a model has written as their arguments. The model is told,
 * whatever kind of tool it is, whether or not somebody had to approve the call.
 */
@Order(2)
class UnreadableArgumentsTests {

	private static final String TOOL = "set";

	/** Broken, or of another shape than the tool takes. */
	private static final List<String> UNREADABLE = List.of("{\"id\":", "{\"id\":\"many\"}", "{\"id\":\"\"}",
			"{\"id\":{\"a\":1}}", "{\"id\":[1]}", "{\"id\":99999999999}", "{\"id\":null}", "{}", "[1]", "[]", "\"x\"",
			"7", "true", "null", "not JSON");

	/** One of each sort, where it makes no difference which. */
	private static final List<String> SOME = List.of("{\"id\":", "{\"id\":\"many\"}", "{}", "[1]", "null");

	private static final Decision APPROVED = Decision.approve("ada");

	private final SessionStore store = new InMemorySessionStore(StoreOptions.of(JsonMessageCodec.create()));

	private final List<Integer> runs = new ArrayList<>();

	private int threads;

	record Order(int id) {
	}

	/** The way in which a tool gets its values. */
	enum Kind {

		FUNCTION, METHOD, HAND_WRITTEN, WRAPPED

	}

	public final class Methods {

		@Tool(name = TOOL, description = "sets")
		public String set(int id) {
			UnreadableArgumentsTests.this.runs.add(id);
			return "set " + id;
		}

	}

	/** The settings of a client besides the tool. */
	record Rules(UnaryOperator<Approvals.Builder> approvals, Durability durability) {

		static final Rules NONE = new Rules((builder) -> builder, Durability.TURN);

		static final Rules ASK = new Rules((builder) -> builder.tools(Set.of(TOOL)), Durability.TURN);

	}

	/** Spring AI logs each of them with its stack trace. */
	@BeforeAll
	static void doNotLogWhatIsPlanned() {
		logger().setLevel(Level.ERROR);
	}

	@AfterAll
	static void logAgain() {
		logger().setLevel(null);
	}

	private static Logger logger() {
		return (Logger) LoggerFactory.getLogger(MethodToolCallback.class);
	}

	static List<ClientSetup> setups() {
		return ClientSetup.all();
	}

	@ParameterizedTest
	@MethodSource("setups")
	void modelIsToldAndTheTurnGoesOnWhetherOrNotTheCallWasApproved(ClientSetup setup) {
		for (Kind kind : Kind.values()) {
			for (String arguments : UNREADABLE) {
				String about = kind + " " + arguments;
				String free = answered(setup, kind, arguments, Rules.NONE, null, about);
				assertThat(answered(setup, kind, arguments, Rules.ASK, APPROVED, about)).as(about).isEqualTo(free);
				assertThat(answered(setup, kind, arguments, new Rules(Rules.NONE.approvals(), Durability.STEP), null,
						about))
					.as(about)
					.isEqualTo(free);
				assertThat(free).as(about).startsWith("tool set=").isNotEqualTo("tool set=");
			}
		}
		assertThat(this.runs).isEmpty();
	}

	@ParameterizedTest
	@MethodSource("setups")
	void editMendsThemAndRejectionRunsNothing(ClientSetup setup) {
		for (Kind kind : Kind.values()) {
			for (String arguments : SOME) {
				String about = kind + " " + arguments;
				assertThat(answered(setup, kind, arguments, Rules.ASK, Decision.reject("bob", "not today"), about))
					.as(about)
					.isEqualTo("tool set=not today");
				assertThat(this.runs).as(about).isEmpty();
				assertThat(answered(setup, kind, arguments, Rules.ASK, APPROVED.withArguments("{\"id\":8}"), about))
					.as(about)
					.contains("set 8");
				assertThat(this.runs).as(about).containsExactly(8);
				this.runs.clear();
			}
		}
	}

	@ParameterizedTest
	@MethodSource("setups")
	void policyThatAllowsDoesNotAllowThemAndAStandingApprovalIsNoMoreThanAnApproval(ClientSetup setup) {
		ApprovalPolicy allows = (request) -> Ruling.allow();
		Rules allowing = new Rules((builder) -> builder.policies(List.of(allows)), Durability.TURN);
		Decision always = APPROVED.always(StandingDecision.Scope.TOOL);
		for (Kind kind : Kind.values()) {
			for (String arguments : SOME) {
				String about = kind + " " + arguments;
				String free = answered(setup, kind, arguments, Rules.NONE, null, about);
				assertThat(answered(setup, kind, arguments, allowing, APPROVED, about)).as(about).isEqualTo(free);
				Session session = new Session(setup, kind, Rules.ASK, about);
				session.calls("{\"id\":1}").says("done").ask("first");
				session.decide(always).goOn();
				assertThat(session.calls(arguments).says("sorry").ask("again")).as(about).isEqualTo("sorry");
				assertThat(session.lastLine()).as(about).isEqualTo(free);
				session.assertGoesOn();
				assertThat(this.runs).as(about).containsExactly(1);
				this.runs.clear();
			}
		}
	}

	/** An exception that is not about the arguments is none of ours. */
	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void toolThatThrowsOverArgumentsThatFitEndsTheCallAsEver(ClientSetup.Mode mode) {
		ClientSetup setup = new ClientSetup(mode, ClientSetup.ToolLoop.AUTOMATIC, false);
		ToolCallback throwing = RecordingTool.of(TOOL, new ArrayList<>()).doing((input, context) -> {
			throw new IllegalStateException("out of order");
		});
		Session session = new Session(setup, throwing, Rules.NONE, "fits");
		assertThatIllegalStateException().isThrownBy(() -> session.calls("{\"id\":1}").ask("q"))
			.withMessage("out of order");
		assertThat(session.statuses()).containsExactly(TurnStatus.FAILED);
		assertThat(session.calls("{\"id\":\"x\"}").says("sorry").ask("q")).isEqualTo("sorry");
		assertThat(session.lastLine()).isEqualTo("tool set=out of order");
	}

	/**
	 * A difference that SessionKit removes. If this fails, Spring AI behaves differently
	 * than before.
	 */
	@Test
	void springAiAloneTellsTheModelOfAMethodAndEndsTheCallForAFunction() {
		for (ClientSetup setup : List.of(ClientSetup.plain(), ClientSetup.streaming())) {
			assertThat(alone(setup, Kind.METHOD, "{\"id\":\"many\"}")).startsWith("tool set=Cannot deserialize");
			assertThatIllegalStateException().isThrownBy(() -> alone(setup, Kind.METHOD, "null"));
			assertThatThrownBy(() -> alone(setup, Kind.METHOD, "{}")).isInstanceOf(IllegalArgumentException.class);
			assertThatIllegalStateException().isThrownBy(() -> alone(setup, Kind.FUNCTION, "{\"id\":\"many\"}"));
			assertThatIllegalStateException().isThrownBy(() -> alone(setup, Kind.FUNCTION, "{"));
			assertThat(alone(setup, Kind.FUNCTION, "null")).startsWith("tool set=Cannot invoke");
		}
		assertThat(this.runs).isEmpty();
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void failuresThatTheApplicationHasThrownEndTheTurnWhetherOrNotTheCallWasApproved(ClientSetup.Mode mode) {
		ClientSetup setup = new ClientSetup(mode, ClientSetup.ToolLoop.AUTOMATIC, false);
		Rules stepwise = new Rules(Rules.NONE.approvals(), Durability.STEP);
		for (Kind kind : Kind.values()) {
			for (Rules rules : List.of(Rules.NONE, Rules.ASK, stepwise)) {
				Session session = new Session(setup, tool(kind), rules, kind + " thrown").throwing();
				session.calls("{\"id\":\"many\"}");
				assertThatExceptionOfType(ToolExecutionException.class).isThrownBy(() -> {
					session.ask("q");
					session.decide(APPROVED).goOn();
				});
				assertThat(session.statuses()).containsExactly(TurnStatus.FAILED);
				session.assertGoesOn();
			}
		}
		assertThat(this.runs).isEmpty();
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void failureThatIsThrownLeavesCallsOpenThatNobodyHasDecided(ClientSetup.Mode mode) {
		ClientSetup setup = new ClientSetup(mode, ClientSetup.ToolLoop.AUTOMATIC, false);
		Session session = new Session(setup, Kind.FUNCTION, Rules.ASK, "two").throwing();
		session.model.calls(new ToolCall("c1", "function", TOOL, "{"),
				new ToolCall("c2", "function", TOOL, "{\"id\":2}"));
		session.ask("q");
		session.approvals().decide(session.pending().get(0), APPROVED);
		assertThatExceptionOfType(ToolExecutionException.class).isThrownBy(session::goOn);
		assertThat(session.statuses()).containsExactly(TurnStatus.AWAITING_APPROVAL);
		assertThat(session.pending()).extracting(ToolApproval::arguments).containsExactly("{\"id\":2}");
		session.decide(APPROVED);
		assertThatExceptionOfType(ToolExecutionException.class).isThrownBy(session::goOn);
		assertThat(session.statuses()).containsExactly(TurnStatus.FAILED);
		assertThat(session.ledger()).containsExactly(ApprovalStatus.DONE, ApprovalStatus.CANCELLED);
		session.assertGoesOn();
		assertThat(this.runs).isEmpty();
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void modelIsToldTheSameWhenTheTurnGoesOnAfterItFailed(ClientSetup.Mode mode) {
		ClientSetup setup = new ClientSetup(mode, ClientSetup.ToolLoop.AUTOMATIC, false);
		ToolCallback silent = FunctionToolCallback.builder(TOOL, (Order order) -> {
			throw new UnsupportedOperationException();
		}).description("sets").inputType(Order.class).build();
		for (ToolCallback tool : List.of(tool(Kind.FUNCTION), tool(Kind.METHOD), silent)) {
			Session session = new Session(setup, tool, Rules.ASK, "replayed");
			session.calls((tool != silent) ? "{" : "{\"id\":1}").ask("q");
			session.model.fails(new IllegalStateException("down"));
			session.decide(APPROVED);
			assertThatIllegalStateException().isThrownBy(session::goOn).withMessage("down");
			String told = session.lastLine();
			assertThat(session.says("sorry").goOn()).isEqualTo("sorry");
			if (tool != silent) {
				assertThat(session.lastLine()).isEqualTo(told);
			}
			else {
				// an exception without a text: which one it was is all there is
				assertThat(told).contains("UnsupportedOperationException");
				assertThat(session.lastLine()).contains("UnsupportedOperationException");
			}
		}
	}

	private String alone(ClientSetup setup, Kind kind, String arguments) {
		ScriptedChatModel model = new ScriptedChatModel().calls(new ToolCall("c", "function", TOOL, arguments))
			.says("sorry");
		setup.content(setup.builder(model, null).defaultToolCallbacks(tool(kind)).build().prompt().user("q"));
		return lastLine(model);
	}

	private static String lastLine(ScriptedChatModel model) {
		List<String> lines = model.lastRequestLines();
		return lines.get(lines.size() - 1);
	}

	/**
	 * Asks, decides if there is a decision, and checks that all is over then.
	 * @return what the model was told of the call
	 */
	private String answered(ClientSetup setup, Kind kind, String arguments, Rules rules, Decision decision,
			String about) {
		Session session = new Session(setup, kind, rules, about);
		session.calls(arguments).says("sorry");
		String answer = session.ask("q");
		if (decision != null) {
			assertThat(answer).as(about).isNullOrEmpty();
			answer = session.decide(decision).goOn();
		}
		assertThat(answer).as(about).isEqualTo("sorry");
		String line = session.lastLine();
		assertThat(session.statuses()).as(about).containsExactly(TurnStatus.COMPLETED);
		session.assertGoesOn();
		return line;
	}

	private ToolCallback tool(Kind kind) {
		return switch (kind) {
			case FUNCTION -> function();
			case METHOD -> ToolCallbacks.from(new Methods())[0];
			case HAND_WRITTEN -> RecordingTool.of(TOOL, new ArrayList<>()).doing((input, context) -> {
				if (!input.matches("\\{\"id\":\\d{1,9}}")) {
					throw new NumberFormatException("no number in it");
				}
				int id = Integer.parseInt(input.replaceAll("\\D", ""));
				this.runs.add(id);
				return "set " + id;
			})
				.taking(function().getToolDefinition()
					.inputSchema()
					.replace("\"format\" : \"int32\"", "\"maximum\" : 2147483647"));
			case WRAPPED -> new Wrapper(new Wrapper(function()));
		};
	}

	private ToolCallback function() {
		return FunctionToolCallback.builder(TOOL, (Order order) -> {
			int id = order.id();
			this.runs.add(id);
			return "set " + id;
		}).description("sets").inputType(Order.class).build();
	}

	private record Wrapper(ToolCallback tool) implements ToolCallback {

		@Override
		public ToolDefinition getToolDefinition() {
			return this.tool.getToolDefinition();
		}

		@Override
		public String call(String input) {
			return this.tool.call(input);
		}

	}

	/** A session of its own, with a client of its own. */
	private final class Session {

		private final SessionKey key;

		private final ClientSetup setup;

		private final ToolCallback tool;

		private final Conversations conversations;

		private final SessionAdvisor advisor;

		private final Approvals approvals;

		private final String about;

		private final ScriptedChatModel model = new ScriptedChatModel();

		private boolean throwing;

		Session(ClientSetup setup, Kind kind, Rules rules, String about) {
			this(setup, tool(kind), rules, about);
		}

		Session(ClientSetup setup, ToolCallback tool, Rules rules, String about) {
			this.key = SessionKey.of("t" + ++UnreadableArgumentsTests.this.threads);
			this.setup = setup;
			this.tool = tool;
			this.about = about;
			this.conversations = Conversations.builder(UnreadableArgumentsTests.this.store)
				.durability(rules.durability())
				.build();
			this.approvals = rules.approvals().apply(Approvals.builder(this.conversations)).build();
			this.advisor = SessionAdvisor.builder(this.conversations).approvals(this.approvals).build();
		}

		/** From now on failures of tools end the call. */
		Session throwing() {
			this.throwing = true;
			return this;
		}

		private ChatClient client() {
			ChatClient.Builder builder = this.setup.builder(this.model, this.advisor).defaultToolCallbacks(this.tool);
			if (this.throwing) {
				builder.defaultAdvisors(ToolCallingAdvisor.builder()
					.toolCallingManager(DefaultToolCallingManager.builder()
						.toolExecutionExceptionProcessor(new DefaultToolExecutionExceptionProcessor(true))
						.build())
					.build());
			}
			return builder.build();
		}

		Session calls(String arguments) {
			this.model.calls(new ToolCall("c1", "function", TOOL, arguments));
			return this;
		}

		Session says(String text) {
			this.model.says(text);
			return this;
		}

		String ask(String text) {
			return content(client().prompt().user(text));
		}

		String goOn() {
			return content(client().prompt());
		}

		private String content(ChatClient.ChatClientRequestSpec call) {
			return this.setup.content(call.advisors(SessionAdvisor.session(this.key)));
		}

		Session decide(Decision decision) {
			pending().forEach((call) -> this.approvals.decide(call, decision));
			return this;
		}

		Approvals approvals() {
			return this.approvals;
		}

		List<ToolApproval> pending() {
			return this.approvals.pending(this.key);
		}

		List<ApprovalStatus> ledger() {
			return this.approvals.ledger(this.key).stream().map(ToolApproval::status).toList();
		}

		List<TurnStatus> statuses() {
			return UnreadableArgumentsTests.this.store.turns(this.key, Tail.ALL)
				.stream()
				.map((turn) -> turn.status())
				.toList();
		}

		String lastLine() {
			return UnreadableArgumentsTests.lastLine(this.model);
		}

		/** Nothing is left open, and the thread is one that can be asked on. */
		void assertGoesOn() {
			assertThat(pending()).as(this.about).isEmpty();
			assertThat(ValidSequence.faults(UnreadableArgumentsTests.this.store.messages(this.key))).as(this.about)
				.isEmpty();
			assertThat(says("fine").ask("next")).as(this.about).isEqualTo("fine");
			assertThat(lastLine()).as(this.about).isEqualTo("user: next");
			this.model.prompts()
				.forEach((prompt) -> assertThat(ValidSequence.faults(prompt.getInstructions())).as(this.about)
					.isEmpty());
			this.conversations.close();
		}

	}

}
