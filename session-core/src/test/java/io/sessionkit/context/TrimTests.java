package io.sessionkit.context;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

import io.sessionkit.SessionKey;
import io.sessionkit.advisor.CachedUsage;
import io.sessionkit.advisor.SessionAdvisor;
import io.sessionkit.advisor.SessionAdvisorTests;
import io.sessionkit.codec.JsonMessageCodec;
import io.sessionkit.context.SnapshotProperties.TestSummaries;
import io.sessionkit.conversation.Conversation;
import io.sessionkit.conversation.Conversations;
import io.sessionkit.guard.Redactor;
import io.sessionkit.guard.Redactor.Action;
import io.sessionkit.hook.HookResult;
import io.sessionkit.hook.TestHooks;
import io.sessionkit.store.MessageTokens;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.StoreOptions;
import io.sessionkit.store.memory.InMemorySessionStore;
import io.sessionkit.test.ClientSetup;
import io.sessionkit.test.ObservedStore;
import io.sessionkit.test.ScriptedChatModel;
import io.sessionkit.test.ScriptedChatModel.Lines;
import io.sessionkit.test.ValidSequence;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.AssistantMessage.ToolCall;
import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.MessageType;
import org.springframework.ai.chat.messages.SystemMessage;
import org.springframework.ai.chat.messages.ToolResponseMessage;
import org.springframework.ai.chat.messages.ToolResponseMessage.ToolResponse;
import org.springframework.ai.chat.messages.UserMessage;
import org.springframework.ai.chat.model.ChatResponse;
import org.springframework.ai.chat.prompt.Prompt;
import org.springframework.ai.content.Media;
import org.springframework.ai.tokenizer.JTokkitTokenCountEstimator;
import org.springframework.core.io.ByteArrayResource;
import org.springframework.util.MimeTypeUtils;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/**
 * Tests which part of the history goes with a request: by turns, messages and tokens,
 * what is pinned, and what is left of old tool results.
 */
class TrimTests {

	private static final SessionKey T1 = SessionKey.of("t1");

	/** Of whatever it says. */
	private static final int TOKENS_OF_A_MESSAGE = 10;

	private final ObservedStore store = new ObservedStore(new InMemorySessionStore(
			StoreOptions.of(JsonMessageCodec.create()).tokens((message) -> TOKENS_OF_A_MESSAGE)));

	private final ScriptedChatModel model = new ScriptedChatModel().reports(0);

	static List<ClientSetup> setups() {
		return ClientSetup.all();
	}

	@ParameterizedTest
	@MethodSource("setups")
	void asManyOfTheNewestTurnsGoAsFitIntoTheTokens(ClientSetup setup) {
		history(10);
		ask(setup, Trim.keepLastTokens(70), "u11");
		assertThat(this.model.lastRequestLines()).isEqualTo(setup.lines("user: u8", "assistant: a8", "user: u9",
				"assistant: a9", "user: u10", "assistant: a10", "user: u11"));
	}

	@Test
	void severalLimitsHoldTogether() {
		history(10);
		ask(Trim.NONE.maxTokens(70), "one");
		assertThat(this.model.lastRequest()).hasSize(7);
		ask(Trim.keepLastTurns(2).maxMessages(100).maxTokens(70), "two");
		assertThat(this.model.lastRequest()).hasSize(5);
		ask(Trim.keepLastTurns(100).maxMessages(4).maxTokens(70), "three");
		assertThat(this.model.lastRequest()).hasSize(3);
		ask(Trim.keepLastTurns(100).maxMessages(100).maxTokens(15), "four");
		assertThat(this.model.lastRequestLines()).containsExactly("user: four");
	}

	@Test
	void limitsAreSetByNameAndEachLeavesTheOthers() {
		Trim trim = Trim.keepLastTokens(70).maxTurns(2).maxMessages(40).pins(Pins.firstUser());
		assertThat(trim).isEqualTo(new Trim(2, 40, 70, Pins.firstUser()));
		assertThat(Trim.keepLastMessages(4).maxTurns(2)).isEqualTo(Trim.keepLastTurns(2).maxMessages(4));
		assertThat(Retention.keepFor(Duration.ofDays(1)).batch(3).maxTurns(2))
			.isEqualTo(Retention.keepLastTurns(2).maxAge(Duration.ofDays(1)).batch(3));
	}

	/**
	 * A message that a hook has changed is not known any more, and stands in the middle
	 * of its turn.
	 */
	@ParameterizedTest
	@MethodSource("setups")
	void aTurnOfTwoQuestionsIsNotCutWhereAHookHasChangedTheSecond(ClientSetup setup) {
		this.store.add(T1,
				List.of(new UserMessage("u1"), new UserMessage("u1 mail a@example.org"), new AssistantMessage("a1")));
		// the result that the guard adds is too much when the hooks have seen the request
		this.store.add(T1, List.of(new UserMessage("u2"),
				AssistantMessage.builder().content("").toolCalls(List.of(call())).build()));
		this.model.calls(call()).says("a3");
		Conversations conversations = Conversations.builder(this.store)
			.trim(Trim.keepLastTokens(80))
			.hooks(Redactor.builder().emails(Action.REDACT).build())
			.build();
		setup.content(setup.builder(this.model, SessionAdvisor.of(conversations))
			.defaultTools(SessionAdvisorTests.echo("t"))
			.build()
			.prompt()
			.user("u3")
			.advisors(SessionAdvisor.session(T1)));
		assertThat(Lines.of(this.model.prompts().get(0).getInstructions())).contains("user: u1",
				"user: u1 mail [email]", "assistant: a1");
		assertThat(this.model.lastRequestLines()).doesNotContain("user: u1", "user: u1 mail [email]", "assistant: a1")
			.contains("user: u2");
	}

	@Test
	void theCurrentTurnIsNeverCutAndItsBreachOfTheTokensIsReported() {
		history(2);
		this.model.calls(call(), call()).calls(call()).says("done");
		ChatResponse response = chat(ClientSetup.plain(), Trim.keepLastTokens(25), Prune.NONE).prompt()
			.user("u3")
			.advisors(SessionAdvisor.session(T1))
			.call()
			.chatResponse();
		assertThat(this.model.lastRequest()).hasSize(5);
		assertThat(this.model.lastRequestLines()).startsWith("user: u3");
		assertThat(SessionAdvisor.turn(response).orElseThrow().overLimit()).isTrue();
	}

	@Test
	void aLimitOnTokensIsReadInOneRoundTripOnceTheSizeOfTheItemsIsKnown() {
		history(500);
		ChatClient chat = chat(ClientSetup.plain(), Trim.keepLastTokens(2000), Prune.NONE);
		for (int i = 0; i < 4; i++) {
			this.model.says("a");
			chat.prompt().user("u").advisors(SessionAdvisor.session(T1)).call().content();
			assertThat(this.model.lastRequest()).hasSizeBetween(199, 200);
		}
		List<String> calls = this.store.calls();
		assertThat(calls.subList(calls.size() - 6, calls.size())).containsExactly("open", "commit", "open", "commit",
				"open", "commit");
	}

	@Test
	void aViewThatGrowsAnewAfterASummaryIsReadInOneRoundTripToo() {
		ObservedStore sized = new ObservedStore(new InMemorySessionStore(StoreOptions.of(JsonMessageCodec.create())
			.tokens((message) -> "long".equals(message.getText()) ? 100 : 10)));
		ChatClient chat = ClientSetup.plain()
			.builder(this.model,
					SessionAdvisor.of(Conversations.builder(sized).trim(Trim.keepLastTokens(1000)).build()))
			.build();
		for (int i = 0; i < 20; i++) {
			this.model.says("long");
			chat.prompt().user("long").advisors(SessionAdvisor.session(T1)).call().content();
		}
		TestSummaries.move(sized, T1, 20, "the-summary", "summary");
		for (int turn = 1; turn <= 60; turn++) {
			int before = sized.calls().size();
			this.model.says("a");
			chat.prompt().user("u").advisors(SessionAdvisor.session(T1)).call().content();
			assertThat(sized.calls().subList(before, sized.calls().size())).as("turn %s", turn)
				.containsExactly("open", "commit");
		}
	}

	@Test
	void aMergeIsGivenTheHistoryThatFitsHoweverMuchOfItWasRead() {
		history(100);
		List<List<String>> given = new ArrayList<>();
		Conversations conversations = Conversations.builder(this.store)
			.trim(Trim.keepLastTokens(70))
			.merge((context, history, input) -> {
				given.add(Lines.of(history));
				return Stream.concat(history.stream(), input.stream()).toList();
			})
			.build();
		ChatClient chat = ClientSetup.plain().builder(this.model, SessionAdvisor.of(conversations)).build();
		for (int turn = 101; turn <= 103; turn++) {
			this.model.says("a" + turn);
			chat.prompt().user("u" + turn).advisors(SessionAdvisor.session(T1)).call().content();
			assertThat(given.get(given.size() - 1)).containsExactly("user: u" + (turn - 3), "assistant: a" + (turn - 3),
					"user: u" + (turn - 2), "assistant: a" + (turn - 2), "user: u" + (turn - 1),
					"assistant: a" + (turn - 1));
		}
	}

	@Test
	void asManyTurnsAreReadAsFitWhenOldToolResultsAreShort() {
		ObservedStore sized = new ObservedStore(
				new InMemorySessionStore(
						StoreOptions.of(JsonMessageCodec.create())
							.tokens((message) -> (message instanceof ToolResponseMessage results
									&& !results.getResponses().get(0).responseData().equals(Prune.PLACEHOLDER)) ? 100
											: 10)));
		for (int i = 1; i <= 60; i++) {
			sized.add(T1, toolTurn("u" + i, "a" + i));
		}
		Conversations conversations = Conversations.builder(sized)
			.trim(Trim.keepLastTokens(1000))
			.prune(Prune.keepLastToolResults(2))
			.build();
		ChatClient chat = ClientSetup.plain().builder(this.model, SessionAdvisor.of(conversations)).build();
		for (int i = 0; i < 3; i++) {
			int before = sized.calls().size();
			this.model.says("a");
			chat.prompt().user("u").advisors(SessionAdvisor.session(T1)).call().content();
			// the newest two results 130, the plain turns since then 20 each, and others
			// 40
			int turns = 21 - i / 2;
			assertThat(this.model.lastRequestLines()).hasSize(1 + 2 * i + 4 * (turns + 1))
				.startsWith("user: u" + (60 - turns));
			if (i > 0) {
				assertThat(sized.calls().subList(before, sized.calls().size())).containsExactly("open", "commit");
			}
		}
	}

	@Test
	void aTurnThatIsLargerThanWhatWasReadAtFirstIsFoundAllTheSame() {
		List<Message> large = new ArrayList<>(List.of(new UserMessage("u1")));
		for (int i = 0; i < 40; i++) {
			large.add(AssistantMessage.builder().content("").toolCalls(List.of(call())).build());
			large.add(results("42"));
		}
		large.add(new AssistantMessage("a1"));
		this.store.add(T1, large);
		ask(Trim.keepLastTokens(1000), "u2");
		assertThat(this.model.lastRequest()).hasSize(83);
	}

	// the mistakes of well-known samples

	@ParameterizedTest
	@ValueSource(ints = { 1, 2, 3, 4, 5, 6, 7, 8 })
	void limitIncludesPinnedMessagesAndIsNeverExceeded(int limit) {
		history(6);
		ask(Trim.keepLastMessages(limit).pins(Pins.firstUser()), "u7");
		assertThat(this.model.lastRequest()).hasSizeLessThanOrEqualTo(limit);
		if (limit >= 3) {
			assertThat(this.model.lastRequestLines()).startsWith("user: u1", "assistant: a1").endsWith("user: u7");
		}
	}

	@Test
	void noToolResultLosesItsCallAndNoAnswerItsQuestion() {
		for (int limit = 1; limit < 20; limit++) {
			String thread = "limit-" + limit;
			this.store.add(SessionKey.of(thread), toolTurn("u1", "a1"));
			this.store.add(SessionKey.of(thread), List.of(new UserMessage("u2"), new AssistantMessage("a2")));
			this.store.add(SessionKey.of(thread), toolTurn("u3", "a3"));
			this.model.says("a4");
			chat(ClientSetup.plain(), Trim.keepLastMessages(limit), Prune.NONE).prompt()
				.system("be brief")
				.user("u4")
				.advisors(SessionAdvisor.session(thread))
				.call()
				.content();
			assertThat(ValidSequence.faults(this.model.lastRequest())).isEmpty();
			List<String> lines = this.model.lastRequestLines();
			assertThat(lines.contains("user: u2")).isEqualTo(lines.contains("assistant: a2"));
			assertThat(lines.contains("user: u1")).isEqualTo(lines.contains("assistant: a1"));
		}
	}

	@ParameterizedTest
	@ValueSource(ints = { 1, 3, 5, 7, 100 })
	void pinnedMessageIsSentOnceWhetherOrNotTheWindowHasIt(int limit) {
		history(3);
		ask(Trim.keepLastMessages(limit).pins(Pins.firstUser()), "u4");
		assertThat(this.model.lastRequestLines()).filteredOn("user: u1"::equals).hasSizeLessThanOrEqualTo(1);
		assertThat(ValidSequence.faults(this.model.lastRequest())).isEmpty();
	}

	@Test
	void questionStaysInALongToolLoop() {
		history(3);
		this.model.calls(call()).calls(call()).calls(call()).calls(call()).says("done");
		chat(ClientSetup.plain(), Trim.keepLastMessages(3), Prune.NONE).prompt()
			.user("u4")
			.advisors(SessionAdvisor.session(T1))
			.call()
			.content();
		for (Prompt prompt : this.model.prompts()) {
			assertThat(Lines.of(prompt.getInstructions())).contains("user: u4");
		}
	}

	@Test
	void trimmingAndPruningWriteNothing() {
		this.store.add(T1, toolTurn("u1", "a1"));
		history(5);
		List<String> before = Lines.of(thread().messages());
		ask(Trim.keepLastTurns(1).maxMessages(5).maxTokens(40), "u6");
		assertThat(Lines.of(thread().messages())).startsWith(before.toArray(String[]::new)).hasSize(before.size() + 2);
	}

	@Test
	void firstUserMessageIsPinnedNotWhateverComesFirst() {
		this.store.add(T1, List.of(new SystemMessage("rhyme"), new AssistantMessage("hello")));
		this.store.add(T1, List.of(new UserMessage("I am Bob"), new AssistantMessage("hello Bob")));
		history(5);
		ask(Trim.keepLastMessages(3).pins(Pins.firstUser()), "u6");
		assertThat(this.model.lastRequestLines()).containsExactly("user: I am Bob", "assistant: hello Bob", "user: u6");
	}

	@Test
	void messagesArePinnedByRoleAndByMetadataWithTheirTurn() {
		this.store.add(T1, List.of(new SystemMessage("rhyme"), new UserMessage("u0"), new AssistantMessage("a0")));
		this.store.add(T1, List.of(UserMessage.builder().text("important").metadata(Map.of("pin", true)).build(),
				new AssistantMessage("noted")));
		this.store.add(T1, List.of(UserMessage.builder().text("not so").metadata(Map.of("pin", false)).build(),
				new AssistantMessage("well")));
		history(5);
		ask(Trim.keepLastTurns(3).pins(Pins.NONE.andRole(MessageType.SYSTEM).andMetadata("pin")), "u6");
		assertThat(this.model.lastRequestLines()).containsExactly("system: rhyme", "user: u0", "assistant: a0",
				"user: important", "assistant: noted", "user: u5", "assistant: a5", "user: u6");
	}

	@Test
	void aPinnedTurnOfAnyAgeIsFoundWhereTokensAreLimited() {
		this.store.add(T1, List.of(new UserMessage("I am Bob"), new AssistantMessage("hello Bob")));
		history(500);
		ask(Trim.keepLastTokens(70).pins(Pins.firstUser()), "u501");
		assertThat(this.model.lastRequestLines()).startsWith("user: I am Bob", "assistant: hello Bob", "user: u499")
			.hasSize(7);
	}

	@Test
	void limitOfACallLeavesNothingThatIsOlderPinnedOrNot() {
		history(10);
		for (Trim trim : List.of(Trim.NONE, Trim.keepLastTurns(2), Trim.keepLastMessages(5), Trim.keepLastTokens(50))) {
			this.model.says("a");
			chat(ClientSetup.plain(), trim.pins(Pins.firstUser()), Prune.NONE).prompt()
				.user("u")
				.advisors(SessionAdvisor.session(T1))
				.advisors(SessionAdvisor.limit(4))
				.call()
				.content();
			assertThat(this.model.lastRequestLines()).as("%s", trim).hasSize(5).doesNotContain("user: u1");
		}
	}

	@Test
	void hooksSeeWhatFitsAndLimitsHoldForWhatTheyMakeOfIt() {
		history(10);
		List<Integer> seen = new ArrayList<>();
		this.model.says("a");
		SessionAdvisor advisor = SessionAdvisor.of(Conversations.builder(this.store)
			.trim(Trim.keepLastTokens(50))
			.hooks(TestHooks.beforeModel("twice", (request) -> {
				seen.add(request.size());
				List<Message> twice = new ArrayList<>(request.subList(0, request.size() - 1));
				twice.addAll(request);
				return HookResult.replace(twice);
			}))
			.build());
		ClientSetup.plain()
			.builder(this.model, advisor)
			.build()
			.prompt()
			.user("u11")
			.advisors(SessionAdvisor.session(T1))
			.call()
			.content();
		assertThat(seen).containsExactly(5);
		assertThat(this.model.lastRequest()).hasSizeLessThanOrEqualTo(5);
		assertThat(this.model.lastRequestLines()).endsWith("user: u11");
	}

	@Test
	void turnThatAHookMakesFitIsNotOverTheLimit() {
		this.model.says("a");
		SessionAdvisor advisor = SessionAdvisor.of(Conversations.builder(this.store)
			.trim(Trim.keepLastMessages(2))
			.hooks(TestHooks.beforeModel("newest",
					(request) -> HookResult.replace(List.of(request.get(request.size() - 1)))))
			.build());
		ChatResponse response = ClientSetup.plain()
			.builder(this.model, advisor)
			.build()
			.prompt()
			.messages(new UserMessage("x"), new AssistantMessage("y"), new UserMessage("z"))
			.advisors(SessionAdvisor.session(T1))
			.call()
			.chatResponse();
		assertThat(this.model.lastRequestLines()).containsExactly("user: z");
		assertThat(SessionAdvisor.turn(response).orElseThrow().overLimit()).isFalse();
	}

	@Test
	void whatAProviderCountsCalibratesTheEstimate() {
		history(20);
		ChatClient chat = chat(ClientSetup.plain(), Trim.keepLastTokens(100), Prune.NONE);
		this.model.responds(CachedUsage.response("a21", 200, 0));
		chat.prompt().user("u21").advisors(SessionAdvisor.session(T1)).call().content();
		assertThat(this.model.lastRequest()).as("uncalibrated").hasSize(9);
		this.model.responds(CachedUsage.response("a22", 60, 0));
		chat.prompt().user("u22").advisors(SessionAdvisor.session(T1)).call().content();
		assertThat(this.model.lastRequest()).as("it counts twice as much").hasSize(5);
		this.model.responds(CachedUsage.response("a23", 0, 0));
		chat.prompt().user("u23").advisors(SessionAdvisor.session(T1)).call().content();
		assertThat(this.model.lastRequest()).as("as estimated").hasSize(9);
		this.model.says("a24");
		chat.prompt().user("u24").advisors(SessionAdvisor.session(T1)).call().content();
		assertThat(this.model.lastRequest()).as("a provider that does not count changes nothing").hasSize(9);
	}

	/**
	 * Spring AI's validation asks again within the round, and returns the usage of both.
	 */
	@Test
	void usageOfSeveralAttemptsInOneRoundTeachesNothing() {
		history(20);
		ChatClient chat = chat(ClientSetup.plain(), Trim.keepLastTokens(100), Prune.NONE);
		this.model.responds(CachedUsage.response("no json", 100, 0))
			.responds(CachedUsage.response("{\"name\":\"Ada\"}", 100, 0));
		chat.prompt()
			.user("u21")
			.advisors(SessionAdvisor.session(T1))
			.call()
			.entity(SessionAdvisorTests.Person.class, (spec) -> spec.validateSchema());
		assertThat(this.model.prompts()).hasSize(2);
		this.model.responds(CachedUsage.response("a22", 200, 0));
		chat.prompt().user("u22").advisors(SessionAdvisor.session(T1)).call().content();
		assertThat(this.model.lastRequest()).as("as estimated").hasSize(9);
		this.model.says("a23");
		chat.prompt().user("u23").advisors(SessionAdvisor.session(T1)).call().content();
		assertThat(this.model.lastRequest()).as("the next round teaches again").hasSize(5);
	}

	@Test
	void eachRoundOfATurnTeaches() {
		history(20);
		ChatClient chat = chat(ClientSetup.plain(), Trim.keepLastTokens(100), Prune.NONE);
		this.model.calls(call()).responds(CachedUsage.response("a21", 180, 0)).says("a22");
		chat.prompt().user("u21").advisors(SessionAdvisor.session(T1)).call().content();
		chat.prompt().user("u22").advisors(SessionAdvisor.session(T1)).call().content();
		assertThat(this.model.lastRequest()).hasSize(5);
	}

	@Test
	void reportOutOfAllProportionCountsWithinBounds() {
		history(20);
		ChatClient small = chat(ClientSetup.plain(), Trim.keepLastTokens(100), Prune.NONE);
		ChatClient large = chat(ClientSetup.plain(), Trim.keepLastTokens(400), Prune.NONE);
		this.model.responds(CachedUsage.response("a", 1, 0)).says("a");
		small.prompt().user("u").advisors(SessionAdvisor.session(T1)).call().content();
		small.prompt().user("u").advisors(SessionAdvisor.session(T1)).call().content();
		assertThat(this.model.lastRequest()).as("half as much at least").hasSize(19);
		this.model.responds(CachedUsage.response("a", 1_000_000, 0)).says("a");
		large.prompt().user("u").advisors(SessionAdvisor.session(T1)).call().content();
		large.prompt().user("u").advisors(SessionAdvisor.session(T1)).call().content();
		assertThat(this.model.lastRequest()).as("four times as much at most").hasSize(9);
	}

	/**
	 * Nobody else has a tool of that name.
	 */
	@Test
	void aToolIsCountedByTheEstimateOfItsOwnStore() {
		InMemorySessionStore other = new InMemorySessionStore(
				StoreOptions.of(JsonMessageCodec.create()).tokens((message) -> 100 * TOKENS_OF_A_MESSAGE));
		this.model.says("a");
		askWithATool(Conversations.builder(other).trim(Trim.keepLastTokens(10_000)).build(), "u");
		history(20);
		Conversations own = Conversations.builder(this.store).trim(Trim.keepLastTokens(100)).build();
		this.model.responds(CachedUsage.response("a21", 200, 0));
		askWithATool(own, "u21");
		this.model.says("a22");
		askWithATool(own, "u22");
		assertThat(this.model.lastRequest()).as("nine messages and a tool were 200 tokens").hasSize(5);
	}

	private void askWithATool(Conversations conversations, String question) {
		ClientSetup.plain()
			.builder(this.model, SessionAdvisor.of(conversations))
			.defaultTools(SessionAdvisorTests.echo("counted"))
			.build()
			.prompt()
			.user(question)
			.advisors(SessionAdvisor.session(T1))
			.call()
			.content();
	}

	@Test
	void whatIsReadFromACacheDoesNotMakeTheEstimateSmaller() {
		history(40);
		ChatClient chat = chat(ClientSetup.plain(), Trim.keepLastTokens(100), Prune.NONE);
		this.model.responds(CachedUsage.response("a", 10, 90)).responds(CachedUsage.response("a", 10, 5)).says("a");
		for (int i = 0; i < 3; i++) {
			chat.prompt().user("u").advisors(SessionAdvisor.session(T1)).call().content();
			assertThat(this.model.lastRequest()).hasSize(9);
		}
	}

	@Test
	void aMessageWithTheNameOfASpecialTokenIsStoredAndALongOneIsCountedInTime() {
		MessageTokens tokens = new MessageTokens(new JTokkitTokenCountEstimator());
		assertThat(tokens.applyAsInt(new UserMessage("what is <|endoftext|> ?"))).isBetween(5, 15);
		assertThat(tokens.applyAsInt(new UserMessage("a".repeat(1_000_000)))).isBetween(50_000, 1_000_000);
	}

	@Test
	void aTurnThatWasDeletedAmongTheNewestDoesNotCostRoundTripsAgainAndAgain() {
		history(250);
		thread().delete(240);
		ChatClient chat = chat(ClientSetup.plain(), Trim.keepLastTurns(40).maxTokens(8_000), Prune.NONE);
		for (int i = 0; i < 3; i++) {
			int before = this.store.calls().size();
			this.model.says("a");
			chat.prompt().user("u").advisors(SessionAdvisor.session(T1)).call().content();
			assertThat(this.store.calls().size() - before).isLessThanOrEqualTo((i == 0) ? 3 : 2);
			assertThat(this.model.lastRequestLines()).contains("user: u250", "user: u239", "user: u241")
				.doesNotContain("user: u240");
		}
	}

	@ParameterizedTest
	@ValueSource(ints = { 20, 60, 100, 400 })
	void aTurnOfAnySizeIsFoundIfItFits(int rounds) {
		List<Message> large = new ArrayList<>(List.of(new UserMessage("u1")));
		for (int i = 0; i < rounds; i++) {
			large.add(AssistantMessage.builder().content("").toolCalls(List.of(call())).build());
			large.add(results("42"));
		}
		large.add(new AssistantMessage("a1"));
		SessionStore small = new InMemorySessionStore(this.store.options().tokens((message) -> 2));
		small.add(T1, large);
		this.model.says("a");
		ClientSetup.plain()
			.builder(this.model,
					SessionAdvisor
						.of(Conversations.builder(small).trim(Trim.keepLastTokens(2 * (2 * rounds + 3))).build()))
			.build()
			.prompt()
			.user("u2")
			.advisors(SessionAdvisor.session(T1))
			.call()
			.content();
		assertThat(this.model.lastRequest()).hasSize(2 * rounds + 3);
	}

	@Test
	void textArgumentsResultsAndMediaAreCounted() {
		MessageTokens tokens = new MessageTokens(new JTokkitTokenCountEstimator());
		String text = "The quick brown fox jumps over the lazy dog. ".repeat(20);
		int plain = tokens.applyAsInt(new UserMessage(text));
		assertThat(plain).isBetween(190, 230);
		assertThat(tokens.applyAsInt(AssistantMessage.builder()
			.content(null)
			.toolCalls(List.of(new ToolCall("c", "function", "t", text)))
			.build())).isBetween(plain, plain + 5);
		assertThat(tokens.applyAsInt(results(text))).isBetween(plain, plain + 5);
		assertThat(tokens.applyAsInt(UserMessage.builder()
			.text(text)
			.media(new Media(MimeTypeUtils.IMAGE_PNG, new ByteArrayResource(new byte[10])))
			.build())).isEqualTo(plain + MessageTokens.PER_MEDIUM);
		assertThat(tokens.applyAsInt(new UserMessage("今天天气怎么样？我需要带伞吗？"))).isGreaterThan(15);
		assertThat(tokens.applyAsInt(new UserMessage("ok"))).isPositive();
		assertThat(tokens.applyAsInt(new UserMessage(""))).as("the frame").isEqualTo(4);
		assertThat(MessageTokens.PER_MEDIUM).isEqualTo(1000);
	}

	@Test
	void oldToolResultsBecomeAPlaceholderAndTheNewestStay() {
		for (int i = 1; i <= 4; i++) {
			this.store.add(T1, toolTurn("u" + i, "a" + i));
		}
		this.model.calls(new ToolCall("c5", "function", "t", "{\"value\":\"" + "x".repeat(100) + "\"}")).says("a5");
		chat(ClientSetup.plain(), Trim.NONE, Prune.keepLastToolResults(3)).prompt()
			.user("u5")
			.advisors(SessionAdvisor.session(T1))
			.call()
			.content();
		List<ToolResponseMessage> results = this.model.lastRequest()
			.stream()
			.filter(ToolResponseMessage.class::isInstance)
			.map(ToolResponseMessage.class::cast)
			.toList();
		assertThat(results).hasSize(5);
		assertThat(results).extracting((message) -> message.getResponses().get(0).responseData())
			.containsExactly(Prune.PLACEHOLDER, Prune.PLACEHOLDER, "result of u3 ".repeat(20),
					"result of u4 ".repeat(20), "x".repeat(100));
		assertThat(results.get(0).getResponses()).extracting(ToolResponse::id).containsExactly("c1", "c2");
		assertThat(this.model.lastRequestLines()).contains("assistant t({\"value\":\"1\"}) t({\"value\":\"2\"})");
		assertThat(ValidSequence.faults(this.model.lastRequest())).isEmpty();
		assertThat(Lines.of(thread().messages())).noneMatch((line) -> line.contains(Prune.PLACEHOLDER));
		assertThat(results.subList(0, 4)).isEqualTo(this.model.prompts()
			.get(0)
			.getInstructions()
			.stream()
			.filter(ToolResponseMessage.class::isInstance)
			.toList());
	}

	@Test
	void resultsOfPinnedTurnsStayWhenOldOnesBecomeAPlaceholder() {
		this.store.add(T1, toolTurn("u1", "a1"));
		List<Message> important = new ArrayList<>(toolTurn("u2", "a2"));
		important.set(0, UserMessage.builder().text("u2").metadata(Map.of("pin", true)).build());
		this.store.add(T1, important);
		for (int i = 3; i <= 4; i++) {
			this.store.add(T1, toolTurn("u" + i, "a" + i));
		}
		Trim pinned = Trim.NONE.pins(Pins.NONE.andMetadata("pin"));
		assertThat(resultsWith(pinned, Prune.keepLastToolResults(1))).containsExactly(Prune.PLACEHOLDER,
				"result of u2 ".repeat(20), Prune.PLACEHOLDER, "result of u4 ".repeat(20));
		assertThat(resultsWith(Trim.NONE.pins(Pins.firstUser()), Prune.keepLastToolResults(0)))
			.containsExactly("result of u1 ".repeat(20), Prune.PLACEHOLDER, Prune.PLACEHOLDER, Prune.PLACEHOLDER);
		assertThat(resultsWith(Trim.NONE.pins(Pins.NONE.andRole(MessageType.TOOL)), Prune.keepLastToolResults(0)))
			.doesNotContain(Prune.PLACEHOLDER);
	}

	@Test
	void resultsThatASummaryHasPinnedStayWhenOldOnesBecomeAPlaceholder() {
		for (int i = 1; i <= 4; i++) {
			this.store.add(T1, toolTurn("u" + i, "a" + i));
		}
		Trim pinned = Trim.NONE.pins(Pins.firstUser());
		try (Conversations conversations = Conversations.builder(this.store)
			.trim(pinned)
			.summarize(Summarize.by(new ScriptedChatModel().says("u2")).keepTurns(2).build())
			.build()) {
			conversations.get(T1).summarize(true);
		}
		assertThat(resultsWith(pinned, Prune.keepLastToolResults(0))).containsExactly("result of u1 ".repeat(20),
				Prune.PLACEHOLDER, Prune.PLACEHOLDER);
	}

	/** Returns the first result of each message of results in a request. */
	private List<String> resultsWith(Trim trim, Prune prune) {
		this.model.says("a");
		chat(ClientSetup.plain(), trim, prune).prompt().user("u").advisors(SessionAdvisor.session(T1)).call().content();
		return this.model.lastRequest()
			.stream()
			.filter(ToolResponseMessage.class::isInstance)
			.map((message) -> ((ToolResponseMessage) message).getResponses().get(0).responseData())
			.toList();
	}

	@Test
	void firstUserMessageBehindAResetIsPinned() {
		history(3);
		thread().reset();
		this.store.add(T1, List.of(new UserMessage("I am Bob"), new AssistantMessage("hello Bob")));
		history(5);
		ask(Trim.keepLastMessages(5).pins(Pins.firstUser()), "u6");
		assertThat(this.model.lastRequestLines()).containsExactly("user: I am Bob", "assistant: hello Bob", "user: u5",
				"assistant: a5", "user: u6");
		thread().undo(7);
		thread().undo(1);
		ask(Trim.keepLastMessages(3).pins(Pins.firstUser()), "u4");
		assertThat(this.model.lastRequestLines()).as("the reset is taken back")
			.containsExactly("user: u1", "assistant: a1", "user: u4");
	}

	@Test
	void aResultThatIsShorterThanThePlaceholderStays() {
		this.store.add(T1,
				List.of(new UserMessage("u1"),
						AssistantMessage.builder().content("").toolCalls(List.of(call())).build(), results("42"),
						new AssistantMessage("a1")));
		this.model.says("a2");
		chat(ClientSetup.plain(), Trim.NONE, Prune.keepLastToolResults(0)).prompt()
			.user("u2")
			.advisors(SessionAdvisor.session(T1))
			.call()
			.content();
		assertThat(this.model.lastRequestLines()).contains("tool t=42");
	}

	@Test
	void aLimitThatCannotWorkIsRefused() {
		assertThatIllegalArgumentException().isThrownBy(() -> Trim.keepLastTokens(0)).withMessageContaining("0");
		assertThatIllegalArgumentException().isThrownBy(() -> Prune.keepLastToolResults(-1))
			.withMessageContaining("-1");
	}

	private void history(int turns) {
		for (int i = 1; i <= turns; i++) {
			this.store.add(T1, List.of(new UserMessage("u" + i), new AssistantMessage("a" + i)));
		}
	}

	private static List<Message> toolTurn(String question, String answer) {
		List<ToolCall> calls = List.of(new ToolCall("c1", "function", "t", "{\"value\":\"1\"}"),
				new ToolCall("c2", "function", "t", "{\"value\":\"2\"}"));
		String result = ("result of " + question + " ").repeat(20);
		return List.of(new UserMessage(question), AssistantMessage.builder().content("").toolCalls(calls).build(),
				ToolResponseMessage.builder()
					.responses(List.of(new ToolResponse("c1", "t", result), new ToolResponse("c2", "t", result)))
					.build(),
				new AssistantMessage(answer));
	}

	private static ToolCall call() {
		return new ToolCall("c", "function", "t", "{\"value\":\"42\"}");
	}

	private static ToolResponseMessage results(String text) {
		return ToolResponseMessage.builder().responses(List.of(new ToolResponse("c", "t", text))).build();
	}

	private void ask(Trim trim, String question) {
		ask(ClientSetup.plain(), trim, question);
	}

	private void ask(ClientSetup setup, Trim trim, String question) {
		this.model.says("a");
		setup.content(chat(setup, trim, Prune.keepLastToolResults(1)).prompt()
			.user(question)
			.advisors(SessionAdvisor.session(T1)));
	}

	private ChatClient chat(ClientSetup setup, Trim trim, Prune prune) {
		return setup
			.builder(this.model, SessionAdvisor.of(Conversations.builder(this.store).trim(trim).prune(prune).build()))
			.defaultTools(SessionAdvisorTests.echo("t"))
			.build();
	}

	private Conversation thread() {
		return Conversations.of(this.store).get(T1);
	}

}
