package io.sessionkit.hook;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Stream;

import io.sessionkit.Durability;
import io.sessionkit.SessionKey;
import io.sessionkit.TurnStatus;
import io.sessionkit.Verdict;
import io.sessionkit.advisor.SessionAdvisor;
import io.sessionkit.approval.ApprovalFixture;
import io.sessionkit.approval.OnNewMessage;
import io.sessionkit.codec.JsonMessageCodec;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.StoreOptions;
import io.sessionkit.store.memory.InMemorySessionStore;
import io.sessionkit.test.ClientSetup;
import io.sessionkit.test.ScriptedChatModel.Lines;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;

import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.ToolResponseMessage;
import org.springframework.ai.chat.messages.UserMessage;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.catchThrowable;

/**
 * Tests what hooks are told of the turn that they are asked about.
 */
class HookFactsTests extends ApprovalFixture {

	private static final String[] LOOK = { "assistant look({\"id\":1})", "tool look=done {\"id\":1}" };

	private static final String[] CANCEL = { "assistant cancel({\"id\":2})", "tool cancel=done {\"id\":2}" };

	private final SessionStore store = new InMemorySessionStore(StoreOptions.of(JsonMessageCodec.create()));

	/** The parts that beforeSave was given, in order. */
	private final List<String> parts = new CopyOnWriteArrayList<>();

	/** The messages of the turn at the time each method was asked. */
	private final List<String> turns = new CopyOnWriteArrayList<>();

	@Override
	protected SessionStore store() {
		return this.store;
	}

	static List<ClientSetup> setups() {
		return ClientSetup.all();
	}

	@ParameterizedTest
	@MethodSource("setups")
	void turnThatIsStoredOnceIsOnePart(ClientSetup setup) {
		threads((threads) -> threads.hooks(new Told()));
		this.model.calls(look("c1", 1)).says("fine");
		ask(setup, "q");
		assertThat(this.parts).containsExactly("1 whole COMPLETED [user: q] [look] assistant: fine");
		assertThat(this.turns).containsExactly("beforeTurn []", "beforeModel [user: q]", "afterModel [user: q]",
				"beforeModel " + List.of("user: q", LOOK[0], LOOK[1]),
				"afterModel " + List.of("user: q", LOOK[0], LOOK[1]),
				"beforeSave " + List.of("user: q", LOOK[0], LOOK[1], "assistant: fine"));
	}

	@ParameterizedTest
	@MethodSource("setups")
	void turnThatWaitsIsStoredInPartsAndGoesOnInAnotherProcess(ClientSetup setup) {
		threads((threads) -> threads.hooks(new Told()));
		this.model.calls(look("c1", 1)).calls(cancel("c2", 2)).says("fine");
		ask(setup, "q");
		approve(waiting());
		this.turns.clear();
		goOn(setup);
		assertThat(this.parts).containsExactly("1 part AWAITING_APPROVAL [user: q] [look] null",
				"2 part COMPLETED [] [cancel] assistant: fine");
		List<String> before = List.of("user: q", LOOK[0], LOOK[1], CANCEL[0], CANCEL[1]);
		List<String> all = new ArrayList<>(before);
		all.add("assistant: fine");
		assertThat(this.turns).containsExactly("beforeModel " + before, "afterModel " + before, "beforeSave " + all);
	}

	@ParameterizedTest
	@MethodSource("setups")
	void eachStepIsAPart(ClientSetup setup) {
		threads((threads) -> threads.durability(Durability.STEP).hooks(new Told()));
		this.model.calls(look("c1", 1)).calls(look("c2", 2), look("c3", 3)).says("fine");
		ask(setup, "q");
		assertThat(this.parts).containsExactly("1 part INCOMPLETE [user: q] [] null",
				"2 part INCOMPLETE [] [look] null", "3 part COMPLETED [] [look look] assistant: fine");
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void turnThatFailsOrIsRefusedHasNoReply(ClientSetup.Mode mode) {
		SessionHook strict = TestHooks.beforeModel("strict",
				(request) -> (request.size() > 1) ? HookResult.refuse("too long") : HookResult.keep());
		threads((threads) -> threads.hooks(new Told()));
		this.model.calls(look("c1", 1)).fails(new IllegalStateException("down"));
		assertThatIllegalStateException().isThrownBy(() -> ask(mode, "q"));
		threads((threads) -> threads.hooks(new Told(), strict));
		this.model.calls(look("c1", 1));
		assertThat(catchThrowable(() -> ask(mode, "q"))).isNotNull();
		threads((threads) -> threads.hooks(new Told()));
		tools(tool("cancel"), tool("look").doing((input, context) -> {
			throw new IllegalStateException("out of the loop");
		}));
		this.model.calls(look("c1", 1));
		assertThatIllegalStateException().isThrownBy(() -> ask(mode, "q"));
		assertThat(this.parts).containsExactly("1 whole FAILED [user: q] [look] null",
				"1 whole REFUSED [user: q] [look] null", "1 whole FAILED [user: q] [look unanswered] null");
	}

	@Test
	void contextOfATestHasWhatItIsGivenAndNothingElse() {
		SessionKey key = SessionKey.of("t1");
		List<Message> history = List.of(new UserMessage("q"), new AssistantMessage("a"));
		assertThat(HookContext.of(key, "turn"))
			.isEqualTo(new HookContext(key, "turn", null, List.of(), List.of(), List.of(), Map.of(), Map.of()));
		HookContext whole = HookContext.of(key, "turn")
			.agent("shop")
			.history(history)
			.turn(List.of(new UserMessage("now")))
			.attributes(Map.of("a", 1))
			.parameters(Map.of("p", 2));
		assertThat(whole).isEqualTo(new HookContext(key, "turn", "shop", history, List.of(0),
				List.of(new UserMessage("now")), Map.of("a", 1), Map.of("p", 2)));
		assertThat(whole.history(List.of()).turnStarts()).isEmpty();
	}

	@Test
	void streamThatIsCancelledHasNoReply() {
		threads((threads) -> threads.hooks(new Told()));
		this.model.calls(look("c1", 1))
			.step((prompt) -> Flux.concat(Flux.just(this.model.chunk("half", List.of(), false)), Flux.never()));
		Disposable running = client(ClientSetup.streaming()).build()
			.prompt()
			.user("q")
			.advisors(SessionAdvisor.session(this.key))
			.stream()
			.content()
			.subscribe();
		Awaitility.await().until(() -> this.model.prompts().size() == 2);
		running.dispose();
		Awaitility.await().until(() -> !this.parts.isEmpty());
		assertThat(this.parts).containsExactly("1 whole CANCELLED [user: q] [look] null");
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void resultsThatReturnDirectlyAreTheReply(ClientSetup.Mode mode) {
		threads((threads) -> threads.hooks(new Told()));
		tools(tool("cancel"), tool("look").direct());
		this.model.calls(look("c1", 1));
		ask(mode, "q");
		assertThat(this.parts).containsExactly("1 whole COMPLETED [user: q] [look] " + LOOK[1]);
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void answerThatNoModelGaveIsTheReply(ClientSetup.Mode mode) {
		threads((threads) -> threads.hooks(new Told(),
				TestHooks.beforeModel("faq", (request) -> HookResult.answer("at nine"))));
		ask(mode, "q");
		assertThat(this.parts).containsExactly("1 whole COMPLETED [user: q] [] assistant: at nine");
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void cancelledPauseIsHistoryWithoutAReplyThatAnybodyGets(ClientSetup.Mode mode) {
		threads((threads) -> threads.hooks(new Told()));
		this.model.calls(cancel("c2", 2));
		ask(mode, "q");
		approvals().cancel(this.key);
		assertThat(this.parts).hasSize(2).last().isEqualTo("2 part COMPLETED [] [cancel] null");
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void messageThatWasQueuedIsInputWhereverItStands(ClientSetup.Mode mode) {
		threads((threads) -> threads.hooks(new Told()));
		rules((rules) -> rules.tools(Set.of("cancel")).onNewMessage(OnNewMessage.QUEUE));
		this.model.calls(cancel("c2", 2)).says("fine");
		ask(mode, "q");
		ask(mode, "and then?");
		approve(waiting());
		goOn(mode);
		assertThat(this.parts).last().isEqualTo("2 part COMPLETED [user: and then?] [cancel] assistant: fine");
	}

	@ParameterizedTest
	@MethodSource("setups")
	void hooksAreToldWhatTheReplyIsAfterOthersHaveReplacedMessages(ClientSetup setup) {
		SessionHook rebuilding = TestHooks.beforeSave("rebuilding",
				(messages) -> HookResult.replace(messages.stream().map(HookFactsTests::rebuilt).toList()));
		SessionHook shortening = TestHooks.beforeSave("shortening", (messages) -> HookResult
			.replace(List.of(rebuilt(messages.get(0)), rebuilt(messages.get(messages.size() - 1)))));
		SessionHook muting = TestHooks.beforeSave("muting",
				(messages) -> HookResult.replace(messages.subList(0, messages.size() - 1)));
		for (SessionHook first : List.of(rebuilding, shortening, muting)) {
			threads((threads) -> threads.hooks(new Told(), first));
			this.model.calls(look("c1", 1)).says("fine");
			ask(setup, "q");
		}
		assertThat(this.parts).containsExactly("1 whole COMPLETED [user: q] [look] assistant: fine again",
				"1 whole COMPLETED [user: q] [] assistant: fine again", "1 whole COMPLETED [user: q] [look] null");
	}

	@ParameterizedTest
	@MethodSource("setups")
	void requestsSayWhereTheTurnBeginsWhateverStandsBeforeIt(ClientSetup setup) {
		List<String> starts = new CopyOnWriteArrayList<>();
		SessionHook adding = TestHooks.beforeModel("adding", (request) -> {
			List<Message> more = new ArrayList<>(request);
			more.replaceAll((message) -> (message instanceof UserMessage user) ? new UserMessage(user.getText() + "!")
					: message);
			more.add(setup.system() ? 1 : 0, new UserMessage("known"));
			return HookResult.replace(more);
		});
		SessionHook told = new SessionHook() {

			@Override
			public HookResult<List<Message>> beforeModel(HookContext context, ModelRequest request) {
				starts
					.add(request.system().size() + " " + Lines.of(request.history()) + " " + Lines.of(request.turn()));
				return HookResult.keep();
			}

		};
		HistoryMerge last = (context, history, input) -> joined(history.subList(history.size() - 1, history.size()),
				input);
		this.model.says("a1").calls(look("c1", 1)).calls(look("c1", 1)).says("fine");
		ask(setup, "q1");
		threads((threads) -> threads.merge(last).hooks(told, adding, told));
		ask(setup, "q2");
		int system = setup.system() ? 1 : 0;
		List<String> expected = new ArrayList<>();
		List<String> rounds = new ArrayList<>();
		for (int round = 0; round < 3; round++) {
			expected.add(system + " [assistant: a1] " + joined(List.of("user: q2"), rounds));
			expected.add(system + " [user: known, assistant: a1] " + joined(List.of("user: q2!"), rounds));
			rounds.addAll(List.of(LOOK));
		}
		assertThat(starts).isEqualTo(expected);
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void contextSaysWhereTheTurnsOfTheHistoryBegin(ClientSetup.Mode mode) {
		List<List<Integer>> starts = new CopyOnWriteArrayList<>();
		threads((threads) -> threads
			.hooks(TestHooks.noting("told", (phase, context) -> starts.add(context.turnStarts()))));
		this.model.says("a1").calls(look("c1", 1)).says("a2").says("a3");
		ask(mode, "q1");
		ask(mode, "q2");
		starts.clear();
		ask(mode, "q3");
		assertThat(starts).hasSize(4).containsOnly(List.of(0, 2));
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void verdictThatIsRepeatedWhereATurnGoesOnIsOne(ClientSetup.Mode mode) {
		threads((threads) -> threads
			.hooks(TestHooks.beforeModel("scoring", (request) -> HookResult.keep("score 0.1"))));
		this.model.calls(cancel("c2", 2)).says("fine");
		ask(mode, "q");
		approve(waiting());
		assertThat(SessionAdvisor.turn(goOn(mode)).orElseThrow().turn().verdicts())
			.containsExactly(new Verdict("scoring", Verdict.Phase.BEFORE_MODEL, Verdict.Kind.PASSED, "score 0.1"));
	}

	@Test
	void partToTryAHookWithNeedsItsMessagesOnly() {
		Message user = new UserMessage("q");
		AssistantMessage reply = new AssistantMessage("a");
		assertThat(TurnPart.of(TurnStatus.COMPLETED, List.of(user, reply)).reply()).isSameAs(reply);
		assertThat(TurnPart.of(TurnStatus.FAILED, List.of(user, reply)).reply()).isNull();
		assertThat(TurnPart.of(TurnStatus.COMPLETED, List.of(user)).reply()).isNull();
		assertThat(TurnPart.of(TurnStatus.COMPLETED, List.of()).messages()).isEmpty();
		assertThat(TurnPart.of(TurnStatus.COMPLETED, List.of(user, reply)).toString()).doesNotContain("q");
	}

	private static Message rebuilt(Message message) {
		if (message instanceof UserMessage user) {
			return new UserMessage(user.getText());
		}
		if (message instanceof ToolResponseMessage results) {
			return ToolResponseMessage.builder().responses(results.getResponses()).build();
		}
		AssistantMessage reply = (AssistantMessage) message;
		String text = reply.hasToolCalls() ? "" : reply.getText() + " again";
		return AssistantMessage.builder().content(text).toolCalls(reply.getToolCalls()).build();
	}

	private static <T> List<T> joined(List<? extends T> first, List<? extends T> second) {
		return Stream.concat(first.stream(), second.stream()).map((each) -> (T) each).toList();
	}

	/**
	 * Notes what it is told and leaves all as it is.
	 */
	private final class Told implements SessionHook {

		@Override
		public HookResult<List<Message>> beforeTurn(HookContext context, List<Message> input) {
			note("beforeTurn", context);
			return HookResult.keep();
		}

		@Override
		public HookResult<List<Message>> beforeModel(HookContext context, ModelRequest request) {
			note("beforeModel", context);
			return HookResult.keep();
		}

		@Override
		public HookResult<AssistantMessage> afterModel(HookContext context, AssistantMessage reply) {
			note("afterModel", context);
			return HookResult.keep();
		}

		@Override
		public HookResult<List<Message>> beforeSave(HookContext context, TurnPart part) {
			note("beforeSave", context);
			List<String> rounds = part.rounds()
				.stream()
				.map((round) -> String.join(" ",
						round.calls().getToolCalls().stream().map((call) -> call.name()).toList())
						+ ((round.results() != null) ? "" : " unanswered"))
				.toList();
			Message reply = part.reply();
			HookFactsTests.this.parts.add(part.number() + (part.isWhole() ? " whole " : " part ") + part.status() + " "
					+ Lines.of(part.input()) + " " + rounds + " "
					+ ((reply != null) ? Lines.of(List.of(reply)).get(0) : null));
			return HookResult.keep();
		}

		private void note(String method, HookContext context) {
			HookFactsTests.this.turns.add(method + " " + Lines.of(context.turn()));
		}

	}

}
