package io.sessionkit.context;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;

import io.sessionkit.SessionKey;
import io.sessionkit.advisor.SessionAdvisor;
import io.sessionkit.codec.JsonMessageCodec;
import io.sessionkit.conversation.Conversation;
import io.sessionkit.conversation.Conversations;
import io.sessionkit.extension.BriefHistory;
import io.sessionkit.extension.KeywordTurns;
import io.sessionkit.extension.PlainCopies;
import io.sessionkit.guard.Redactor;
import io.sessionkit.hook.HistoryBlock;
import io.sessionkit.hook.HistoryMerge;
import io.sessionkit.hook.HookFailedException;
import io.sessionkit.hook.HookResult;
import io.sessionkit.hook.SessionHook;
import io.sessionkit.hook.TestHooks;
import io.sessionkit.internal.view.TokenMemory;
import io.sessionkit.internal.view.ViewReader;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.StoreOptions;
import io.sessionkit.store.memory.InMemorySessionStore;
import io.sessionkit.test.ClientSetup;
import io.sessionkit.test.ScriptedChatModel;
import io.sessionkit.test.ScriptedChatModel.Lines;
import io.sessionkit.test.ValidSequence;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

import org.springframework.ai.chat.client.AdvisorParams;
import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.AssistantMessage.ToolCall;
import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.ToolResponseMessage;
import org.springframework.ai.chat.messages.ToolResponseMessage.ToolResponse;
import org.springframework.ai.chat.messages.UserMessage;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * Applications that run the tools themselves: a turn ends with calls, and the next one
 * begins with their results. What the caller has just passed reaches the model.
 */
class ApplicationToolsTests {

	private static final SessionKey T1 = SessionKey.of("t1");

	/** Longer than what stands in the place of an old result. */
	private static final String LONG = "x".repeat(Prune.PLACEHOLDER.length() + 1);

	private final SessionStore store = new InMemorySessionStore(
			StoreOptions.of(JsonMessageCodec.create()).tokens((message) -> 10));

	private final ScriptedChatModel model = new ScriptedChatModel().reports(0);

	static List<UnaryOperator<Conversations.Builder>> limits() {
		List<UnaryOperator<Conversations.Builder>> limits = new ArrayList<>();
		limits.add((conversations) -> conversations);
		limits.add((conversations) -> conversations.trim(Trim.keepLastTurns(0)));
		limits.add((conversations) -> conversations.trim(Trim.keepLastTurns(1)));
		limits.add((conversations) -> conversations.trim(Trim.keepLastMessages(1)));
		limits.add((conversations) -> conversations.trim(Trim.keepLastMessages(3)));
		limits.add((conversations) -> conversations.trim(Trim.keepLastTokens(15)));
		limits.add((conversations) -> conversations.merge((context, history, input) -> input));
		limits.add((conversations) -> conversations.merge(HistoryMerge.keepLastTurns(0)));
		limits.add((conversations) -> conversations.merge(new KeywordTurns("keyword", 0)));
		limits.add((conversations) -> conversations.merge(new PlainCopies()));
		limits.add((conversations) -> conversations.hooks(new BriefHistory(10, 10)));
		limits.add((conversations) -> conversations.hooks(HistoryBlock.inSystemText()));
		limits.add((conversations) -> conversations.hooks(HistoryBlock.inUserText()));
		return limits;
	}

	@ParameterizedTest
	@MethodSource("limits")
	void callsAndResultsOfOneQuestionAreSentWhateverTheLimits(UnaryOperator<Conversations.Builder> limits) {
		for (ClientSetup.Mode mode : ClientSetup.Mode.values()) {
			SessionKey key = SessionKey.of(mode.name());
			this.store.add(key, List.of(new UserMessage("q0"), new AssistantMessage("a0")));
			ChatClient chat = client(limits);
			this.model.calls(call("c1")).calls(call("c2"), call("c3")).says("done");
			ask(mode, chat.prompt().user("q1"), key);
			ask(mode, chat.prompt().messages(results("c1")), key);
			ask(mode, chat.prompt().messages(results("c2", "c3")), key);
			List<String> sent = this.model.lastRequestLines();
			assertThat(sent.get(sent.size() - 5)).startsWith("user: ").endsWith("q1");
			assertThat(sent.subList(sent.size() - 4, sent.size())).containsExactly("assistant t({})", "tool t=r-c1",
					"assistant t({}) t({})", "tool t=r-c2 t=r-c3");
			assertThat(Lines.of(this.store.messages(key))).containsExactly("user: q0", "assistant: a0", "user: q1",
					"assistant t({})", "tool t=r-c1", "assistant t({}) t({})", "tool t=r-c2 t=r-c3", "assistant: done");
		}
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void limitOfACallLeavesNoCallOfTheQuestionOutHoweverManyThereAre(ClientSetup.Mode mode) {
		ChatClient chat = client((conversations) -> conversations);
		this.model.calls(call("c0"));
		ask(mode, chat.prompt().user("q"), T1);
		for (int i = 0; i < 40; i++) {
			this.model.calls(call("c" + (i + 1)));
			ask(mode, chat.prompt().messages(results("c" + i)).advisors(SessionAdvisor.limit(0)), T1);
			assertThat(this.model.lastRequest()).hasSize(3 + 2 * i);
		}
		assertThat(this.model.lastRequestLines()).startsWith("user: q", "assistant t({})", "tool t=r-c0");
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void resultsOfTheQuestionAreNotOldToolResults(ClientSetup.Mode mode) {
		ChatClient chat = client((conversations) -> conversations.prune(Prune.keepLastToolResults(0)));
		this.model.calls(call("c1")).calls(call("c2")).says("done").says("more");
		ask(mode, chat.prompt().user("q1"), T1);
		ask(mode, chat.prompt().messages(longResults("c1")), T1);
		ask(mode, chat.prompt().messages(longResults("c2")), T1);
		assertThat(this.model.lastRequestLines()).containsExactly("user: q1", "assistant t({})", "tool t=" + LONG,
				"assistant t({})", "tool t=" + LONG);
		ask(mode, chat.prompt().user("q2"), T1);
		String placeholder = "tool t=" + Prune.PLACEHOLDER;
		assertThat(this.model.lastRequestLines()).containsExactly("user: q1", "assistant t({})", placeholder,
				"assistant t({})", placeholder, "assistant: done", "user: q2");
	}

	@Test
	void aSummaryDoesNotStandInTheWayOfTheCalls() {
		this.store.add(T1, List.of(new UserMessage("q0"), new AssistantMessage("a0")));
		ScriptedChatModel summaries = new ScriptedChatModel().says("SUM");
		ChatClient chat = client((conversations) -> conversations.trim(Trim.keepLastMessages(3))
			.summarize(Summarize.by(summaries).mode(Summarize.Mode.BEFORE).triggerMessages(2).keepTurns(0).build()));
		this.model.calls(call("c1")).says("done");
		ask(ClientSetup.Mode.CALL, chat.prompt().user("q1"), T1);
		ask(ClientSetup.Mode.CALL, chat.prompt().messages(results("c1")), T1);
		assertThat(summaries.prompts()).hasSize(1);
		assertThat(thread(T1).summary()).isPresent();
		assertThat(this.model.lastRequestLines()).containsExactly("user: q1", "assistant t({})", "tool t=r-c1");
	}

	/**
	 * Random rules on random threads: each request is valid and ends with what was
	 * passed.
	 */
	@Test
	void everyRequestIsValidAndHasAllThatBelongsToTheQuestion() {
		long seed = Long.getLong("sessionkit.seed", System.nanoTime());
		System.out.println("ApplicationToolsTests: seed " + seed);
		Random random = new Random(seed);
		for (int thread = 0; thread < 400; thread++) {
			SessionKey key = SessionKey.of("random " + thread);
			for (int i = random.nextInt(6); i > 0; i--) {
				this.store.add(key, seeds(random));
			}
			ChatClient chat = client((conversations) -> randomRules(conversations, random));
			List<String> question = new ArrayList<>(List.of("user: q" + thread));
			this.model.calls(call("c0"));
			ask(mode(random), chat.prompt().user("q" + thread), key);
			for (int round = 0, rounds = random.nextInt(5); round <= rounds; round++) {
				this.model.calls(call("c" + (round + 1)));
				ask(mode(random),
						chat.prompt().messages(results("c" + round)).advisors(SessionAdvisor.limit(random.nextInt(4))),
						key);
				question.addAll(List.of("assistant t({})", "tool t=r-c" + round));
				String about = "seed " + seed + ", thread " + thread + ", round " + round;
				assertThat(ValidSequence.faults(this.model.lastRequest())).as(about).isEmpty();
				List<String> sent = this.model.lastRequestLines();
				assertThat(sent.subList(sent.size() - question.size(), sent.size())).as(about).isEqualTo(question);
			}
		}
	}

	private static ClientSetup.Mode mode(Random random) {
		return ClientSetup.Mode.values()[random.nextInt(2)];
	}

	private static List<Message> seeds(Random random) {
		AssistantMessage calls = AssistantMessage.builder().content("").toolCalls(List.of(call("x"))).build();
		return switch (random.nextInt(5)) {
			case 0 -> List.of(new AssistantMessage("greeting"));
			case 1 -> List.of(new UserMessage("s"), calls);
			case 2 -> List.of(results("x"), new AssistantMessage("s"));
			case 3 -> List.of(new UserMessage("s"), calls, results("x"), new AssistantMessage("s"));
			default -> List.of(new UserMessage("s"), new AssistantMessage("s"));
		};
	}

	private static Conversations.Builder randomRules(Conversations.Builder conversations, Random random) {
		Trim trim = Trim.keepLastTurns(random.nextInt(4))
			.maxMessages(1 + random.nextInt(8))
			.maxTokens(10 + random.nextInt(80));
		if (random.nextInt(3) == 0) {
			trim = trim.pins(Pins.firstUser());
		}
		conversations.trim(trim);
		if (random.nextInt(3) == 0) {
			conversations.summarize(Summarize.by(summarizer())
				.mode(Summarize.Mode.BEFORE)
				.triggerMessages(1 + random.nextInt(4))
				.keepTurns(Math.min(random.nextInt(2), trim.maxTurns()))
				.build());
		}
		return switch (random.nextInt(4)) {
			case 0 -> conversations.merge((context, history, input) -> input);
			case 1 -> conversations.merge(HistoryMerge.keepLastTurns(random.nextInt(3)));
			case 2 -> conversations.prune(Prune.keepLastToolResults(random.nextInt(3) + 5));
			default -> conversations;
		};
	}

	private static ScriptedChatModel summarizer() {
		ScriptedChatModel summarizer = new ScriptedChatModel();
		for (int i = 0; i < 20; i++) {
			summarizer.says("SUM");
		}
		return summarizer;
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void mergeIsToldWhereTheTurnsBeginOfTheHistoryThatItIsGiven(ClientSetup.Mode mode) {
		List<Boolean> told = new ArrayList<>();
		ChatClient chat = client((conversations) -> conversations.merge((context, history, input) -> {
			told.add(context.history().size() == history.size()
					&& context.turnStarts().stream().allMatch((start) -> start < history.size()));
			List<Message> all = new ArrayList<>(history);
			all.addAll(input);
			return all;
		}));
		this.model.calls(call("c1")).says("done");
		ask(mode, chat.prompt().user("q"), T1);
		ask(mode, chat.prompt().messages(results("c1")), T1);
		assertThat(told).containsExactly(true, true);
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void resultThatAnswersNoCallIsRefusedByItsNameAndNothingIsStored(ClientSetup.Mode mode) {
		ChatClient chat = client((conversations) -> conversations);
		this.model.calls(call("c1"));
		ask(mode, chat.prompt().user("q1"), T1);
		for (Message wrong : List.of(results("c9"), results("c1", "c9"))) {
			assertThatExceptionOfType(InvalidSequenceException.class)
				.isThrownBy(() -> ask(mode, chat.prompt().messages(wrong), T1))
				.withMessageContaining("'c9'")
				.withMessageContaining("'t1'")
				.withMessageNotContaining("r-c9");
		}
		assertThat(this.model.prompts()).hasSize(1);
		assertThat(this.store.find(T1).orElseThrow().turns()).isEqualTo(1);
		this.model.says("done");
		ask(mode, chat.prompt().messages(results("c1")), T1);
		assertThatExceptionOfType(InvalidSequenceException.class)
			.isThrownBy(() -> ask(mode, chat.prompt().messages(results("c1")), T1))
			.withMessageContaining("'c1'");
		assertThat(this.store.messages(T1)).hasSize(4);
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void replyBeforeTheFirstQuestionIsRefusedUnlessTheProviderTakesIt(ClientSetup.Mode mode) {
		List<Message> greeted = List.of(new AssistantMessage("welcome"), new UserMessage("hi"));
		ChatClient chat = client((conversations) -> conversations);
		assertThatExceptionOfType(InvalidSequenceException.class)
			.isThrownBy(() -> ask(mode, chat.prompt().messages(greeted), T1))
			.withMessageContaining("sessionkit.sequence-guard.leading-replies")
			.withMessageNotContaining("welcome");
		assertThat(this.store.find(T1)).isEmpty();
		ChatClient taking = client(
				(conversations) -> conversations.sequenceGuard(SequenceGuard.repairing().withLeadingReplies()));
		this.model.says("one").says("two");
		ask(mode, taking.prompt().messages(greeted), T1);
		assertThat(this.model.lastRequestLines()).containsExactly("assistant: welcome", "user: hi");
		ask(mode, taking.prompt().user("more"), T1);
		assertThat(this.model.lastRequestLines()).containsExactly("assistant: welcome", "user: hi", "assistant: one",
				"user: more");
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void resultsMayComeInAMessageEach(ClientSetup.Mode mode) {
		ChatClient chat = client((conversations) -> conversations);
		this.model.calls(call("c1"), call("c2")).says("done");
		ask(mode, chat.prompt().user("q"), T1);
		assertThat(ask(mode, chat.prompt().messages(results("c1"), results("c2")), T1)).isEqualTo("done");
		assertThat(this.model.lastRequestLines()).containsExactly("user: q", "assistant t({}) t({})",
				"tool t=r-c1 t=r-c2");
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void whatIsKeptMayBeChangedWhereResultsComeInAMessageEach(ClientSetup.Mode mode) {
		ChatClient chat = client((conversations) -> conversations.hooks(Redactor.standard()));
		this.model.calls(call("c1"), call("c2"))
			.calls(new ToolCall("c3", "function", "t", "{\"to\":\"ada@example.org\"}"));
		ask(mode, chat.prompt().user("q"), T1);
		ask(mode, chat.prompt().messages(results("c1"), results("c2")), T1);
		assertThat(Lines.of(this.store.messages(T1))).containsExactly("user: q", "assistant t({}) t({})", "tool t=r-c1",
				"tool t=r-c2", "assistant t({\"to\":\"[email]\"})");
	}

	static List<List<Message>> resultsInFormsOfTheirOwn() {
		return List.of(List.of(results("a"), results("b")), List.of(results("b"), results("a")),
				List.of(results("b", "a")), List.of(results("a")));
	}

	@ParameterizedTest
	@MethodSource("resultsInFormsOfTheirOwn")
	void whatIsKeptMayBeChangedWhateverFormTheResultsOfTheInputHave(List<Message> results) {
		for (ClientSetup.Mode mode : ClientSetup.Mode.values()) {
			SessionKey key = SessionKey.of(mode.name());
			this.model.says("done");
			List<Message> input = joined(List.of(new UserMessage("q"), calls("a", "b")), results);
			ChatClient chat = withToolAdvisor(mode, TestHooks.beforeSave("changing", (kept) -> HookResult
				.replace(joined(kept.subList(0, kept.size() - 1), List.of(new AssistantMessage("changed"))))));
			ask(mode, chat.prompt().messages(input), key);
			List<String> expected = new ArrayList<>(Lines.of(input));
			expected.add("assistant: changed");
			assertThat(Lines.of(this.store.messages(key))).isEqualTo(expected);
		}
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void hookThatKeepsOnlySomeOfTheMessagesWithResultsIsRefused(ClientSetup.Mode mode) {
		for (int left : List.of(1, 2, 3)) {
			ChatClient chat = withToolAdvisor(mode, TestHooks.beforeSave("losing", (kept) -> {
				List<Message> rest = new ArrayList<>(kept);
				rest.remove(left);
				return HookResult.replace(rest);
			}));
			this.model.says("done");
			List<Message> input = List.of(new UserMessage("q"), calls("a", "b"), results("a"), results("b"));
			assertThatExceptionOfType(HookFailedException.class)
				.isThrownBy(() -> ask(mode, chat.prompt().messages(input), SessionKey.of("without " + left)))
				.withMessageContaining("losing")
				.withMessageContaining("message 1 has tool");
		}
	}

	/** An input with a whole tool round could as well come from one that is outside. */
	private ChatClient withToolAdvisor(ClientSetup.Mode mode, SessionHook hook) {
		return new ClientSetup(mode, ClientSetup.ToolLoop.AUTOMATIC, false)
			.builder(this.model, SessionAdvisor.of(Conversations.builder(this.store).hooks(hook).build()))
			.build();
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void resultBehindAMessageOfTheUserIsRefusedByItsName(ClientSetup.Mode mode) {
		ChatClient chat = client((conversations) -> conversations);
		this.model.calls(call("c1"));
		ask(mode, chat.prompt().user("q"), T1);
		assertThatExceptionOfType(InvalidSequenceException.class)
			.isThrownBy(() -> ask(mode, chat.prompt().messages(new UserMessage("and"), results("c1")), T1))
			.withMessageContaining("'c1'");
	}

	static List<HistoryMerge> mergesThatLoseResults() {
		return List.of((context, history, input) -> joined(history, joined(List.of(new UserMessage("note")), input)),
				(context, history, input) -> joined(history, input.subList(1, input.size())),
				(context, history, input) -> joined(history, List.of(results("c2"), input.get(1))));
	}

	@ParameterizedTest
	@MethodSource("mergesThatLoseResults")
	void mergeThatLosesAResultIsRefused(HistoryMerge merge) {
		for (ClientSetup.Mode mode : ClientSetup.Mode.values()) {
			SessionKey key = SessionKey.of(mode.name());
			ScriptedChatModel asked = new ScriptedChatModel().calls(call("c1"), call("c2")).says("done");
			ask(mode, client(asked, (conversations) -> conversations).prompt().user("q"), key);
			Message[] passed = { results("c1", "c2"), new UserMessage("and") };
			ChatClient merging = client(asked, (conversations) -> conversations.merge(merge));
			assertThatIllegalStateException().isThrownBy(() -> ask(mode, merging.prompt().messages(passed), key))
				.withMessageContaining("HistoryMerge")
				.withMessageContaining("'c1'")
				.withMessageContaining(key.id())
				.withMessageNotContaining("r-c1");
			assertThat(asked.prompts()).hasSize(1);
			assertThat(this.store.messages(key)).hasSize(2);
			ChatClient chat = client(asked, (conversations) -> conversations);
			assertThat(ask(mode, chat.prompt().messages(passed), key)).isEqualTo("done");
		}
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void hookThatLosesAResultIsRefusedAndOneThatRewritesItIsNot(ClientSetup.Mode mode) {
		this.model.calls(call("c1")).says("done");
		ask(mode, client((conversations) -> conversations).prompt().user("q"), T1);
		Message[] passed = { results("c1"), new UserMessage("and") };
		ChatClient losing = client((conversations) -> conversations
			.hooks(TestHooks.beforeTurn("losing", (input) -> HookResult.replace(input.subList(1, 2)))));
		assertThatIllegalStateException().isThrownBy(() -> ask(mode, losing.prompt().messages(passed), T1))
			.withMessageContaining("beforeTurn")
			.withMessageContaining("'c1'");
		assertThat(this.model.prompts()).hasSize(1);
		ToolResponseMessage other = ToolResponseMessage.builder()
			.responses(List.of(new ToolResponse("c1", "t", "other")))
			.build();
		ChatClient rewriting = client((conversations) -> conversations.hooks(TestHooks.beforeTurn("rewriting",
				(input) -> HookResult.replace(joined(List.of(other), input.subList(1, 2))))));
		assertThat(ask(mode, rewriting.prompt().messages(passed), T1)).isEqualTo("done");
		assertThat(this.model.lastRequestLines()).endsWith("tool t=other", "user: and");
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void resultsOfTheQuestionAreNotPruned(ClientSetup.Mode mode) {
		ChatClient chat = client((conversations) -> conversations.prune(Prune.keepLastToolResults(0)));
		String result = "long ".repeat(30);
		for (int i = 0; i < 2; i++) {
			this.model.calls(call("c1")).calls(call("c2")).says("done");
			ask(mode, chat.prompt().user("q" + i), T1);
			for (String id : List.of("c1", "c2")) {
				ask(mode,
						chat.prompt()
							.messages(ToolResponseMessage.builder()
								.responses(List.of(new ToolResponse(id, "t", result)))
								.build()),
						T1);
			}
			assertThat(this.model.lastRequestLines()).endsWith("user: q" + i, "assistant t({})", "tool t=" + result,
					"assistant t({})", "tool t=" + result);
		}
		assertThat(this.model.lastRequestLines().subList(0, 3)).containsExactly("user: q0", "assistant t({})",
				"tool t=" + Prune.PLACEHOLDER);
	}

	/** Some providers give each call the same id, or none. */
	static List<String> idsOfProviders() {
		return List.of("c1", "");
	}

	@ParameterizedTest
	@MethodSource("idsOfProviders")
	void callThatWasPinnedIsNotTheOneThatIsAnswered(String id) {
		ScriptedChatModel summaries = new ScriptedChatModel().says("SUM").says("SUM");
		List<UnaryOperator<Conversations.Builder>> limits = List.of((conversations) -> conversations.trim(Trim
			.keepLastTurns(1)
			.pins(Pins.firstUser())), (conversations) -> conversations.trim(Trim.NONE.pins(Pins.firstUser()))
				.summarize(
						Summarize.by(summaries).mode(Summarize.Mode.BEFORE).triggerMessages(1).keepTurns(0).build()));
		for (UnaryOperator<Conversations.Builder> limit : limits) {
			this.store.clear(T1);
			this.store.add(T1, List.of(new UserMessage("q0"),
					AssistantMessage.builder().content("").toolCalls(List.of(call(id))).build()));
			this.store.add(T1, List.of(new UserMessage("q1"), new AssistantMessage("a1")));
			ChatClient chat = client(limit);
			this.model.says("a2");
			ask(ClientSetup.Mode.CALL, chat.prompt().user("q2"), T1);
			assertThatExceptionOfType(InvalidSequenceException.class)
				.isThrownBy(() -> ask(ClientSetup.Mode.CALL, chat.prompt().messages(results(id)), T1))
				.withMessageContaining("'" + id + "'");
		}
	}

	@ParameterizedTest
	@MethodSource("idsOfProviders")
	void turnsOfOneQuestionStayOrGoTogetherSoThatNoResultAnswersTheCallOfAnotherTurn(String id) {
		ChatClient chat = client((conversations) -> conversations.trim(Trim.keepLastTurns(2).pins(Pins.firstUser())));
		this.model.calls(call(id)).calls(call(id)).says("a0").says("a1").says("a2").says("a3");
		ask(ClientSetup.Mode.CALL, chat.prompt().user("q0"), T1);
		ask(ClientSetup.Mode.CALL, chat.prompt().messages(result(id, "first")), T1);
		ask(ClientSetup.Mode.CALL, chat.prompt().messages(result(id, "second")), T1);
		List<String> pinned = List.of("user: q0", "assistant t({})", "tool t=first", "assistant t({})", "tool t=second",
				"assistant: a0");
		ask(ClientSetup.Mode.CALL, chat.prompt().user("q1"), T1);
		assertThat(this.model.lastRequestLines()).startsWith(pinned.toArray(String[]::new));
		ask(ClientSetup.Mode.CALL, chat.prompt().user("q2"), T1);
		ask(ClientSetup.Mode.CALL, chat.prompt().user("q3"), T1);
		assertThat(this.model.lastRequestLines()).startsWith(pinned.toArray(String[]::new))
			.endsWith("user: q2", "assistant: a2", "user: q3")
			.doesNotContain("user: q1");
	}

	static List<UnaryOperator<Conversations.Builder>> limitsOfTwoTurns() {
		return List.of((conversations) -> conversations.trim(Trim.keepLastTurns(2)),
				(conversations) -> conversations.trim(Trim.keepLastTurns(2).maxMessages(100)),
				(conversations) -> conversations.trim(Trim.keepLastMessages(7)),
				(conversations) -> conversations.trim(Trim.keepLastTurns(2)).sequenceGuard(SequenceGuard.strict()));
	}

	/** The store counts turns and messages, and does not know which belong together. */
	@ParameterizedTest
	@MethodSource("limitsOfTwoTurns")
	void turnsOfOneQuestionAreOneForALimitThatTheStoreCounts(UnaryOperator<Conversations.Builder> limits) {
		ChatClient chat = client(limits);
		this.model.says("a0").says("a1").calls(call("c1")).says("done").says("a3").says("a4");
		ask(ClientSetup.Mode.CALL, chat.prompt().user("q0"), T1);
		ask(ClientSetup.Mode.CALL, chat.prompt().user("q1"), T1);
		ask(ClientSetup.Mode.CALL, chat.prompt().user("q2"), T1);
		ask(ClientSetup.Mode.CALL, chat.prompt().messages(result("c1", "found")), T1);
		ask(ClientSetup.Mode.CALL, chat.prompt().user("q3"), T1);
		assertThat(this.model.lastRequestLines()).containsExactly("user: q1", "assistant: a1", "user: q2",
				"assistant t({})", "tool t=found", "assistant: done", "user: q3");
		ask(ClientSetup.Mode.CALL, chat.prompt().user("q4"), T1);
		assertThat(this.model.lastRequestLines()).containsExactly("user: q2", "assistant t({})", "tool t=found",
				"assistant: done", "user: q3", "assistant: a3", "user: q4");
	}

	/** A limit on messages, or on tokens, says nothing of turns. */
	@Test
	void linkedTurnsOfALongThreadAreReadWithoutTheRestOfIt() {
		for (int i = 0; i < 400; i++) {
			this.store.add(T1, List.of(new UserMessage("q" + i), new AssistantMessage("a" + i)));
		}
		this.store.add(T1,
				List.of(new UserMessage("q"), AssistantMessage.builder().toolCalls(List.of(call("c1"))).build()));
		this.store.add(T1, List.of(result("c1", "found"), new AssistantMessage("done")));
		for (Trim trim : List.of(Trim.keepLastMessages(3), Trim.NONE.maxTokens(30))) {
			ViewReader reader = new ViewReader(this.store, trim, Prune.NONE, new TokenMemory());
			assertThat(reader.open(T1, null, List.of(new UserMessage("next"))).orElseThrow().items().size())
				.isBetween(4, 100);
		}
	}

	@Test
	void limitThatLeavesHalfAQuestionLeavesAllOrNothingOfIt() {
		ChatClient chat = client((conversations) -> conversations.sequenceGuard(SequenceGuard.strict()));
		this.model.calls(call("c1")).says("done").says("a1").says("a2");
		ask(ClientSetup.Mode.CALL, chat.prompt().user("q0"), T1);
		ask(ClientSetup.Mode.CALL, chat.prompt().messages(result("c1", "found")), T1);
		ask(ClientSetup.Mode.CALL, chat.prompt().user("q1").advisors(SessionAdvisor.limit(2)), T1);
		assertThat(this.model.lastRequestLines()).containsExactly("user: q1");
		ask(ClientSetup.Mode.CALL, chat.prompt().user("q2").advisors(SessionAdvisor.limit(6)), T1);
		assertThat(this.model.lastRequestLines()).containsExactly("user: q0", "assistant t({})", "tool t=found",
				"assistant: done", "user: q1", "assistant: a1", "user: q2");
	}

	@ParameterizedTest
	@MethodSource("idsOfProviders")
	void summaryTakesTurnsOfOneQuestionOrPinsThemTogether(String id) {
		ScriptedChatModel summaries = new ScriptedChatModel().says("SUM").says("SUM");
		ChatClient chat = client((conversations) -> conversations.trim(Trim.NONE.pins(Pins.NONE.andMetadata("pin")))
			.summarize(Summarize.by(summaries).mode(Summarize.Mode.BEFORE).triggerMessages(8).keepTurns(0).build()));
		this.model.calls(call(id)).calls(call(id)).says("a0").says("a1").says("a2").says("a3");
		ask(ClientSetup.Mode.CALL,
				chat.prompt().messages(UserMessage.builder().text("q0").metadata(Map.of("pin", true)).build()), T1);
		ask(ClientSetup.Mode.CALL, chat.prompt().messages(result(id, "first")), T1);
		ask(ClientSetup.Mode.CALL, chat.prompt().messages(result(id, "second")), T1);
		ask(ClientSetup.Mode.CALL, chat.prompt().user("q1"), T1);
		ask(ClientSetup.Mode.CALL, chat.prompt().user("q2"), T1);
		assertThat(this.model.lastRequestLines())
			.containsSubsequence("user: q0", "assistant t({})", "tool t=first", "assistant t({})", "tool t=second",
					"assistant: a0", "user: q2")
			.doesNotContain("user: q1");
	}

	private static List<Message> joined(List<? extends Message> first, List<? extends Message> second) {
		List<Message> joined = new ArrayList<>(first);
		joined.addAll(second);
		return joined;
	}

	private ChatClient client(ScriptedChatModel model, UnaryOperator<Conversations.Builder> limits) {
		Conversations conversations = limits.apply(Conversations.builder(this.store)).build();
		return ChatClient.builder(model)
			.defaultAdvisors(SessionAdvisor.of(conversations))
			.defaultAdvisors(AdvisorParams.toolCallingAdvisorAutoRegister(false))
			.build();
	}

	private Conversation thread(SessionKey key) {
		return Conversations.of(this.store).get(key);
	}

	private ChatClient client(UnaryOperator<Conversations.Builder> limits) {
		return client(this.model, limits);
	}

	private static @Nullable String ask(ClientSetup.Mode mode, ChatClient.ChatClientRequestSpec call, SessionKey key) {
		return new ClientSetup(mode, ClientSetup.ToolLoop.AUTOMATIC, false)
			.content(call.advisors(SessionAdvisor.session(key)));
	}

	private static ToolCall call(String id) {
		return new ToolCall(id, "function", "t", "{}");
	}

	private static Message calls(String... ids) {
		return AssistantMessage.builder()
			.content("")
			.toolCalls(Stream.of(ids).map(ApplicationToolsTests::call).toList())
			.build();
	}

	private static Message longResults(String id) {
		return ToolResponseMessage.builder().responses(List.of(new ToolResponse(id, "t", LONG))).build();
	}

	private static Message result(String id, String text) {
		return ToolResponseMessage.builder().responses(List.of(new ToolResponse(id, "t", text))).build();
	}

	private static Message results(String... ids) {
		List<ToolResponse> results = new ArrayList<>();
		for (String id : ids) {
			results.add(new ToolResponse(id, "t", "r-" + id));
		}
		return ToolResponseMessage.builder().responses(results).build();
	}

}
