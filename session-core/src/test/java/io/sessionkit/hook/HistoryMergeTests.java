package io.sessionkit.hook;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.sessionkit.SessionKey;
import io.sessionkit.Turn;
import io.sessionkit.TurnResult;
import io.sessionkit.TurnStatus;
import io.sessionkit.advisor.AdvisorNames;
import io.sessionkit.advisor.SessionAdvisor;
import io.sessionkit.advisor.SessionAdvisorTests;
import io.sessionkit.codec.JsonMessageCodec;
import io.sessionkit.codec.UnstorableMessageException;
import io.sessionkit.context.Trim;
import io.sessionkit.conversation.Conversations;
import io.sessionkit.extension.KeywordTurns;
import io.sessionkit.extension.PlainCopies;
import io.sessionkit.store.Commit;
import io.sessionkit.store.NewItem;
import io.sessionkit.store.SessionStoreFixture;
import io.sessionkit.store.StoreOptions;
import io.sessionkit.store.Tail;
import io.sessionkit.store.TurnWrite;
import io.sessionkit.store.memory.InMemorySessionStore;
import io.sessionkit.test.ClientSetup;
import io.sessionkit.test.ObservedStore;
import io.sessionkit.test.ScriptedChatModel;
import io.sessionkit.test.ScriptedChatModel.Lines;
import io.sessionkit.test.ValidSequence;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.LoggerFactory;

import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.chat.client.ChatClientRequest;
import org.springframework.ai.chat.client.ChatClientResponse;
import org.springframework.ai.chat.client.advisor.api.AdvisorChain;
import org.springframework.ai.chat.client.advisor.api.BaseAdvisor;
import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.SystemMessage;
import org.springframework.ai.chat.messages.ToolResponseMessage;
import org.springframework.ai.chat.messages.ToolResponseMessage.ToolResponse;
import org.springframework.ai.chat.messages.UserMessage;
import org.springframework.ai.chat.model.ChatResponse;
import org.springframework.ai.chat.model.Generation;
import org.springframework.ai.content.Media;
import org.springframework.util.MimeTypeUtils;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

@Isolated
class HistoryMergeTests {

	private static final SessionKey T1 = SessionKey.of("t1");

	private static final List<String> BEFORE = List.of("user: q1", "assistant: a1", "user: q2", "assistant: a2");

	private final ObservedStore store = new ObservedStore(
			new InMemorySessionStore(StoreOptions.of(JsonMessageCodec.create())));

	private static final Logger LOGGER = (Logger) LoggerFactory.getLogger("io.sessionkit.internal");

	private final ListAppender<ILoggingEvent> log = new ListAppender<>();

	private final ScriptedChatModel model = new ScriptedChatModel();

	@BeforeEach
	void twoTurns() {
		this.store.add(T1, List.of(new UserMessage("q1"), new AssistantMessage("a1")));
		this.store.add(T1, List.of(new UserMessage("q2"), new AssistantMessage("a2")));
	}

	static List<ClientSetup> setups() {
		return ClientSetup.all();
	}

	@ParameterizedTest
	@MethodSource("setups")
	void mergeIsAskedOnceAndToolRoundsFollowWhatItReturned(ClientSetup setup) {
		AtomicInteger asked = new AtomicInteger();
		this.model.calls(SessionAdvisorTests.call("c1", "add", "1")).says("a3");
		ChatClient chat = client(setup, (context, history, input) -> {
			asked.incrementAndGet();
			return joined(history.subList(2, 4), input);
		});
		TurnResult turn = SessionAdvisor.turn(setup.response(prompt(chat, "q3"))).orElseThrow();
		assertThat(asked).hasValue(1);
		String[] round = { "assistant add({\"value\":\"1\"})", "tool add=1" };
		assertThat(this.model.lastRequestLines())
			.isEqualTo(setup.lines("user: q2", "assistant: a2", "user: q3", round[0], round[1]));
		assertThat(turn.items()).extracting((item) -> Lines.of(List.of(item.message())).get(0))
			.containsExactly("user: q3", round[0], round[1], "assistant: a3");
		assertThat(stored()).containsExactly("user: q3", round[0], round[1], "assistant: a3");
	}

	@Test
	void filteredHistoryIsNotStoredAgain() {
		say((context, history,
				input) -> joined(history.stream().filter((message) -> !text(message).startsWith("a")).toList(), input));
		assertThat(sent()).containsExactly("user: q1", "user: q2", "user: q3");
		assertThat(stored()).containsExactly("user: q3", "assistant: a3");
	}

	@Test
	void reorderedHistoryIsNotStoredAgain() {
		say((context, history, input) -> {
			Collections.rotate(history, 2);
			return joined(history, input);
		});
		assertThat(sent()).containsExactly("user: q2", "assistant: a2", "user: q1", "assistant: a1", "user: q3");
		assertThat(stored()).containsExactly("user: q3", "assistant: a3");
	}

	@Test
	void duplicatedHistoryIsNotStoredAgain() {
		say((context, history, input) -> joined(joined(history, history), input));
		assertThat(sent()).hasSize(9);
		assertThat(stored()).containsExactly("user: q3", "assistant: a3");
	}

	@Test
	void droppedNewMessageIsNotStored() {
		say((context, history, input) -> joined(history, input.subList(1, 2)), user("noise"), user("q3"));
		assertThat(sent()).containsExactlyElementsOf(lines("user: q3"));
		assertThat(stored()).containsExactly("user: q3", "assistant: a3");
	}

	@Test
	void reorderedNewMessagesAreStoredInTheReturnedOrder() {
		say((context, history, input) -> {
			Collections.reverse(input);
			return joined(history, input);
		}, user("one"), user("two"));
		assertThat(sent()).containsExactlyElementsOf(lines("user: two", "user: one"));
		assertThat(stored()).containsExactly("user: two", "user: one", "assistant: a3");
	}

	@Test
	void rewrittenNewMessageIsStoredAsRewritten() {
		say((context, history, input) -> joined(history, List.of(user(text(input.get(0)) + "!"))));
		assertThat(sent()).containsExactlyElementsOf(lines("user: q3!"));
		assertThat(stored()).containsExactly("user: q3!", "assistant: a3");
	}

	@Test
	void inventedMessageIsStored() {
		say((context, history, input) -> joined(joined(history, List.of(user("by the way"))), input));
		assertThat(stored()).containsExactly("user: by the way", "user: q3", "assistant: a3");
	}

	@Test
	void secondCopyOfAHistoryMessageIsStored() {
		say((context, history, input) -> joined(joined(history, List.of(user("q1"))), input));
		assertThat(stored()).containsExactly("user: q1", "user: q3", "assistant: a3");
	}

	@Test
	void historyMadeAnewIsNotStoredAgain() {
		say((context, history, input) -> List.of(user("q1"), new AssistantMessage("a1"), user("q3")));
		assertThat(sent()).containsExactly("user: q1", "assistant: a1", "user: q3");
		assertThat(stored()).containsExactly("user: q3", "assistant: a3");
	}

	@ParameterizedTest
	@MethodSource("setups")
	void historyMadeAnewWithoutItsMetadataIsNotStoredAgain(ClientSetup setup) {
		ChatClient chat = client(setup, new PlainCopies());
		for (int i = 3; i <= 6; i++) {
			this.model.calls(SessionAdvisorTests.call("c" + i, "add", "1")).responds(signed("a" + i));
			setup.content(prompt(chat, "q" + i));
			assertThat(stored()).hasSize(4);
		}
		assertThat(log()).hasSize(20);
		assertThat(this.store.messages(T1).get(7).getMetadata()).containsEntry("signature", "a3");
		List<String> sent = new ArrayList<>(log().subList(0, 19));
		assertThat(sent()).isEqualTo(setup.lines(sent.toArray(String[]::new)));
	}

	@Test
	void messageThatIsExactlyOneOfTheHistoryIsThatOneAndTheOtherIsNew() {
		this.store.add(T1, List.of(user("again"), signed("same").getResult().getOutput()));
		say((context, history, input) -> joined(
				List.of(user("again"), new AssistantMessage("same"), signed("same").getResult().getOutput()), input));
		assertThat(stored()).containsExactly("assistant: same", "user: q3", "assistant: a3");
		Message kept = this.store.messages(T1).get(6);
		assertThat(kept.getMetadata()).doesNotContainKey("signature");
	}

	@Test
	void inputMadeAnewIsNewAlthoughTheHistorySaysTheSame() {
		say((context, history, input) -> input.stream().map(HistoryMergeTests::rebuilt).toList(), user("q1"));
		assertThat(sent()).containsExactly("user: q1");
		assertThat(stored()).containsExactly("user: q1", "assistant: a3");
		say((context, history, input) -> Stream.concat(history.subList(2, 4).stream(), input.stream())
			.map(HistoryMergeTests::rebuilt)
			.toList(), user("q1"));
		assertThat(sent()).containsExactly("user: q2", "assistant: a2", "user: q1");
		assertThat(stored()).containsExactly("user: q1", "assistant: a3");
	}

	private static Message rebuilt(Message message) {
		if (message instanceof ToolResponseMessage results) {
			return ToolResponseMessage.builder().responses(results.getResponses()).build();
		}
		return (message instanceof AssistantMessage reply)
				? AssistantMessage.builder().content(reply.getText()).toolCalls(reply.getToolCalls()).build()
				: user(text(message));
	}

	private static ChatResponse signed(String text) {
		AssistantMessage reply = AssistantMessage.builder().content(text).properties(Map.of("signature", text)).build();
		return new ChatResponse(List.of(new Generation(reply)));
	}

	@Test
	void summarySetIntoTheListOfTheHistoryIsHistory() {
		say((context, history, input) -> {
			history.set(0, user("summary"));
			return joined(history, input);
		});
		assertThat(sent()).containsExactly("user: summary", "assistant: a1", "user: q2", "assistant: a2", "user: q3");
		assertThat(stored()).containsExactly("user: q3", "assistant: a3");
		assertThat(log()).startsWith("user: q1");
	}

	@Test
	void messageSetIntoTheListOfTheInputIsNew() {
		say((context, history, input) -> {
			input.set(0, user("q1"));
			return joined(history.subList(2, 4), input);
		});
		assertThat(sent()).containsExactly("user: q2", "assistant: a2", "user: q1");
		assertThat(stored()).as("although the history has one that says the same")
			.containsExactly("user: q1", "assistant: a3");
	}

	@Test
	void inputAddedToTheListOfTheHistoryIsStillNew() {
		say((context, history, input) -> {
			history.addAll(input);
			return history;
		});
		assertThat(sent()).containsExactlyElementsOf(lines("user: q3"));
		assertThat(stored()).containsExactly("user: q3", "assistant: a3");
	}

	@Test
	void historyAddedToTheListOfTheInputIsStillHistory() {
		say((context, history, input) -> {
			input.addAll(0, history);
			return input;
		});
		assertThat(sent()).containsExactlyElementsOf(lines("user: q3"));
		assertThat(stored()).containsExactly("user: q3", "assistant: a3");
	}

	@Test
	void questionThatWasAskedBeforeIsStoredWhereTheHistoryIsDropped() {
		say((context, history, input) -> input, user("q1"));
		assertThat(sent()).containsExactly("user: q1");
		assertThat(stored()).containsExactly("user: q1", "assistant: a3");
	}

	@Test
	void mediaTellMessagesOfAUserApart() {
		say((context, history, input) -> joined(List.of(image("q1", 7)), input));
		assertThat(stored()).containsExactly("user: q1", "user: q3", "assistant: a3");
		say((context, history, input) -> joined(List.of(image("q1", 7)), input));
		assertThat(stored()).as("the same picture is history now").containsExactly("user: q3", "assistant: a3");
	}

	@Test
	void changesOfACopyHaveNoEffect() {
		List<Message> kept = new ArrayList<>();
		say((context, history, input) -> {
			history.get(0).getMetadata().put("k", "v");
			input.get(0).getMetadata().put("k", "v");
			kept.addAll(joined(history, input));
			return kept;
		});
		kept.clear();
		assertThat(this.model.lastRequest()).noneMatch((message) -> message.getMetadata().containsKey("k"));
		assertThat(this.store.messages(T1)).noneMatch((message) -> message.getMetadata().containsKey("k"));
		assertThat(sent()).containsExactlyElementsOf(lines("user: q3"));
	}

	@Test
	void unknownToTheStoreIsRefusedBeforeTheModel() {
		Throwable thrown = catchThrowable(
				() -> say((context, history, input) -> joined(history, List.of(user("half a character: \uD83D")))));
		assertThat(thrown).isInstanceOf(UnstorableMessageException.class);
		assertFailedWithItsInput();
	}

	@ParameterizedTest
	@MethodSource("faults")
	void resultThatCannotBeSentFailsTheTurnAndSaysWhatToReturn(HistoryMerge merge, String fault) {
		for (ClientSetup.Mode mode : ClientSetup.Mode.values()) {
			ClientSetup setup = new ClientSetup(mode, ClientSetup.ToolLoop.AUTOMATIC, false);
			assertThatThrownBy(() -> setup.content(prompt(client(setup, merge), "q3")))
				.isInstanceOf(IllegalStateException.class)
				.hasMessageContaining(fault)
				.hasMessageContaining("Return what is sent");
			assertFailedWithItsInput();
		}
	}

	static Stream<Arguments> faults() {
		return Stream.of(fault((context, history, input) -> null, "returned null"),
				fault((context, history, input) -> Arrays.asList(input.get(0), null), "null in it"),
				fault((context, history, input) -> List.of(), "no message that is new"),
				fault((context, history, input) -> history, "no message that is new"),
				fault((context, history, input) -> List.of(user("q1"), user("q2")), "no message that is new"),
				fault((context, history, input) -> joined(List.of(new SystemMessage("s")), input), "system text"),
				fault((context, history, input) -> joined(input, history), "does not end with a user message"));
	}

	private static Arguments fault(HistoryMerge merge, String fault) {
		return Arguments.of(merge, fault);
	}

	@Test
	void whatItThrowsReachesTheCallerAsItIs() {
		IllegalArgumentException down = new IllegalArgumentException("down");
		assertThatThrownBy(() -> say((context, history, input) -> {
			throw down;
		})).isSameAs(down);
		assertFailedWithItsInput();
	}

	@Test
	void mergeOfTheCallOutranksTheConfiguredOne() {
		this.model.says("a3").says("a4");
		ChatClient chat = client(ClientSetup.plain(),
				(context, history, input) -> joined(history.subList(2, 4), input));
		prompt(chat, "q3").advisors(SessionAdvisor.merge((context, history, input) -> input)).call().content();
		assertThat(sent()).containsExactly("user: q3");
		prompt(chat, "q4").call().content();
		assertThat(sent()).containsExactly("user: q2", "assistant: a2", "user: q4");
	}

	@Test
	void parameterThatIsNoMergeIsRefused() {
		assertThatThrownBy(() -> prompt(client(ClientSetup.plain(), null), "q")
			.advisors((advisors) -> advisors.param(AdvisorNames.MERGE, "x"))
			.call()
			.content()).isInstanceOf(IllegalStateException.class).hasMessageContaining("SessionAdvisor.merge(..)");
	}

	@ParameterizedTest
	@MethodSource("setups")
	void trimmingKeepsAllThatIsNewWhereTheOrderIsAnother(ClientSetup setup) {
		this.model.calls(SessionAdvisorTests.call("c1", "add", "1"))
			.calls(SessionAdvisorTests.call("c2", "add", "2"))
			.says("a3");
		List<Message> input = List.of(user("first"), user("last"));
		HistoryMerge around = (context, history, now) -> joined(joined(history.subList(0, 2), now.subList(0, 1)),
				joined(history.subList(2, 4), now.subList(1, 2)));
		Conversations conversations = Conversations.builder(this.store)
			.trim(Trim.keepLastMessages(6))
			.merge(around)
			.build();
		ChatClient chat = setup.builder(this.model, SessionAdvisor.of(conversations))
			.defaultTools(SessionAdvisorTests.echo("add"))
			.defaultAdvisors(new Copying())
			.build();
		ChatResponse response = setup.response(chat.prompt().messages(input).advisors(SessionAdvisor.session(T1)));
		String[] rounds = { "assistant add({\"value\":\"1\"})", "tool add=1", "assistant add({\"value\":\"2\"})",
				"tool add=2" };
		assertThat(Lines.of(this.model.prompts().get(0).getInstructions())).isEqualTo(
				setup.lines("user: q1", "assistant: a1", "user: first", "user: q2", "assistant: a2", "user: last"));
		List<String> kept = setup.lines("user: first", "user: q2", "assistant: a2", "user: last");
		kept.addAll(List.of(rounds));
		assertThat(this.model.lastRequestLines()).as("over the limit, and whole").isEqualTo(kept);
		assertThat(SessionAdvisor.turn(response).orElseThrow().overLimit()).isTrue();
		assertThat(stored()).containsExactly("user: first", "user: last", rounds[0], rounds[1], rounds[2], rounds[3],
				"assistant: a3");
	}

	@Test
	void callsWhoseResultsTheMergeDroppedAreAnsweredByTheGuard() {
		this.store.add(T1, List.of(user("sum"),
				AssistantMessage.builder().toolCalls(List.of(SessionAdvisorTests.call("c1", "add", "1"))).build(),
				ToolResponseMessage.builder().responses(List.of(new ToolResponse("c1", "add", "1"))).build(),
				new AssistantMessage("1")));
		say((context, history, input) -> joined(
				history.stream().filter((message) -> !(message instanceof ToolResponseMessage)).toList(), input));
		assertThat(ValidSequence.faults(this.model.lastRequest())).isEmpty();
		assertThat(stored()).containsExactly("user: q3", "assistant: a3");
	}

	@Test
	void hooksOnTheInputComeBeforeAndThoseOnTheRequestAfter() {
		List<String> seen = new CopyOnWriteArrayList<>();
		SessionHook input = TestHooks.beforeTurn("input",
				(messages) -> HookResult.replace(List.of(user("asked: " + text(messages.get(0))))));
		SessionHook request = TestHooks.beforeModel("request", (messages) -> {
			seen.addAll(Lines.of(messages));
			return HookResult.keep();
		});
		this.model.says("a3");
		Conversations conversations = Conversations.builder(this.store)
			.hooks(input, request)
			.merge((context, history, now) -> now)
			.build();
		prompt(ClientSetup.plain().builder(this.model, SessionAdvisor.of(conversations)).build(), "q3").call()
			.content();
		assertThat(seen).containsExactly("user: asked: q3");
		assertThat(stored()).containsExactly("user: asked: q3", "assistant: a3");
	}

	@Test
	void answerOfAHookIsGivenWithoutTheMerge() {
		Conversations conversations = Conversations.builder(this.store)
			.hooks(TestHooks.beforeTurn("faq", (messages) -> HookResult.answer("at nine")))
			.merge((context, history, now) -> {
				throw new IllegalStateException("nothing is sent");
			})
			.build();
		ChatClient chat = ClientSetup.plain().builder(this.model, SessionAdvisor.of(conversations)).build();
		assertThat(prompt(chat, "when?").call().content()).isEqualTo("at nine");
		assertThat(stored()).containsExactly("user: when?", "assistant: at nine");
	}

	@Test
	void mergeCostsNoStoreCalls() {
		say((context, history, input) -> input);
		assertThat(this.store.calls()).endsWith("open", "commit");
	}

	static Stream<Arguments> setupsAndNewestTurn() {
		return setups().stream().flatMap((setup) -> newestTurns(1).map((merge) -> Arguments.of(setup, merge)));
	}

	/**
	 * The merge that ships, and one that is written as the documentation says.
	 */
	private static Stream<HistoryMerge> newestTurns(int turns) {
		return Stream.of(HistoryMerge.keepLastTurns(turns), new KeywordTurns("keyword", turns));
	}

	@ParameterizedTest
	@MethodSource("setupsAndNewestTurn")
	void newestTurnsAreSentWithTheirToolRounds(ClientSetup setup, HistoryMerge merge) {
		ChatClient chat = client(setup, merge);
		String[] round = { "assistant add({\"value\":\"1\"})", "tool add=1" };
		List<String> before = List.of("user: q2", "assistant: a2");
		for (int i = 3; i <= 5; i++) {
			this.model.calls(SessionAdvisorTests.call("c" + i, "add", "1")).says("a" + i);
			setup.content(prompt(chat, "q" + i));
			List<String> sent = new ArrayList<>(before);
			sent.addAll(List.of("user: q" + i, round[0], round[1]));
			assertThat(sent()).isEqualTo(setup.lines(sent.toArray(String[]::new)));
			assertThat(ValidSequence.faults(this.model.lastRequest())).isEmpty();
			assertThat(stored()).containsExactly("user: q" + i, round[0], round[1], "assistant: a" + i);
			before = stored();
		}
		assertThat(warnings()).isEmpty();
	}

	@ParameterizedTest
	@ValueSource(ints = { 0, 1 })
	void asManyTurnsAreSentAsThereAre(int which) {
		say(newestTurns(0).toList().get(which));
		assertThat(sent()).containsExactly("user: q3");
		say(newestTurns(2).toList().get(which));
		assertThat(sent()).containsExactly("user: q2", "assistant: a2", "user: q3", "assistant: a3", "user: q3");
		say(newestTurns(99).toList().get(which));
		assertThat(sent()).hasSize(9).startsWith("user: q1");
		assertThatIllegalArgumentException().isThrownBy(() -> HistoryMerge.keepLastTurns(-1))
			.withMessageContaining("-1");
	}

	@Test
	void turnsBeginWhereTheyWereOpenedAndNotWhereAUserSpeaks() {
		this.store.clear(T1);
		List<NewItem> items = Stream.of(user("q1"), new AssistantMessage("a1"), user("q2"), new AssistantMessage("a2"))
			.map((message) -> new NewItem(message, SessionStoreFixture.AT, 1))
			.toList();
		this.store
			.commit(Commit.first(T1).turn(new TurnWrite(Turn.builder("t", SessionStoreFixture.AT).build(), 0, items)));
		say(HistoryMerge.keepLastTurns(1));
		assertThat(sent()).containsExactly("user: q1", "assistant: a1", "user: q2", "assistant: a2", "user: q3");
		HistoryMerge latest = HistoryMerge.keepLastTurns(1);
		say((context, history, input) -> latest.merge(context, history.subList(0, 4), input));
		assertThat(sent()).as("of a list that it cannot know").containsExactly("user: q2", "assistant: a2", "user: q3");
	}

	@Test
	void mergeIsToldOfTheTurn() {
		List<HookContext> told = new ArrayList<>();
		this.model.says("a3");
		prompt(client(ClientSetup.plain(), (context, history, input) -> {
			told.add(context);
			return joined(history.subList(context.turnStarts().get(1), history.size()), input);
		}), "q3").advisors(SessionAdvisor.agent("billing")).call().content();
		assertThat(sent()).containsExactly("user: q2", "assistant: a2", "user: q3");
		assertThat(told).singleElement().satisfies((context) -> {
			assertThat(context.agent()).isEqualTo("billing");
			assertThat(context.turnStarts()).containsExactly(0, 2);
			assertThat(Lines.of(context.turn())).containsExactly("user: q3");
		});
	}

	@ParameterizedTest
	@MethodSource("setups")
	void cutThroughATurnIsInTheLogWithoutItsTexts(ClientSetup setup) {
		addToolTurn();
		HistoryMerge lastTwo = (context, history, input) -> joined(history.subList(history.size() - 2, history.size()),
				input);
		this.model.says("a3");
		setup.content(prompt(client(setup, lastTwo), "q3"));
		assertThat(sent()).isEqualTo(setup.lines("user: q3"));
		assertThat(warnings()).singleElement()
			.asString()
			.contains("'t1'", "2 messages are not sent", "keepLastTurns")
			.doesNotContain("q3")
			.doesNotContain("sum");
	}

	@Test
	void whatIsCutOffIsCounted() {
		addToolTurn();
		say((context, history, input) -> joined(history.subList(history.size() - 1, history.size()), input));
		assertThat(warnings()).singleElement().asString().contains("1 messages are not sent", "0 replies");
		say((context, history, input) -> joined(history.subList(0, 6), input));
		assertThat(warnings()).hasSize(2).last().asString().contains("0 messages are not sent", "1 replies");
		say((context, history, input) -> joined(history.subList(0, 4), input));
		say((context, history, input) -> joined(history.subList(4, 8), input));
		say((context, history, input) -> input);
		assertThat(warnings()).as("whole turns").hasSize(2);
	}

	@Test
	void historyThatNeedsRepairWithoutAMergeIsNotItsFault() {
		this.store.add(T1,
				List.of(ToolResponseMessage.builder().responses(List.of(new ToolResponse("c1", "add", "1"))).build()));
		say((context, history, input) -> joined(history.subList(2, 5), input));
		assertThat(warnings()).isEmpty();
	}

	@Test
	void repliesThatAMergeHasRewrittenAreInTheLogWithoutTheirTexts() {
		say((context, history, input) -> {
			List<Message> shortened = new ArrayList<>();
			for (Message message : history) {
				shortened.add((message instanceof AssistantMessage) ? new AssistantMessage("short") : message);
			}
			return joined(shortened, input);
		});
		assertThat(stored()).as("it says so").contains("assistant: short");
		assertThat(warnings()).singleElement()
			.asString()
			.contains("2 replies", "history.set(..)")
			.doesNotContain("short");
		say((context, history, input) -> {
			history.replaceAll(
					(message) -> (message instanceof AssistantMessage) ? new AssistantMessage("shorter") : message);
			return joined(history, input);
		});
		assertThat(sent()).contains("assistant: shorter");
		assertThat(stored()).containsExactly("user: q3", "assistant: a3");
		assertThat(warnings()).hasSize(1);
	}

	@ParameterizedTest
	@MethodSource("setups")
	void inputThatTheModelCannotAnswerIsRefusedWhoeverHasMadeIt(ClientSetup setup) {
		List<Message> spoken = List.of(user("q3"), new AssistantMessage("Dear customer,"));
		HistoryMerge merge = (context, history, input) -> joined(history, spoken);
		SessionHook hook = TestHooks.beforeTurn("prefill", (input) -> HookResult.replace(spoken));
		Conversations hooked = Conversations.builder(this.store).hooks(hook).build();
		for (ChatClient chat : List.of(client(setup, merge),
				setup.builder(this.model, SessionAdvisor.of(hooked)).build())) {
			assertThatIllegalStateException().isThrownBy(() -> setup.content(prompt(chat, "q3")))
				.withMessageContaining("does not end with a user message or tool results");
		}
		assertThat(this.model.prompts()).isEmpty();
		assertThat(log()).isEqualTo(BEFORE);
		this.model.says("we are sorry").says("we are glad");
		for (ChatClient chat : List.of(client(setup, (context, history, input) -> joined(history, input)),
				setup.builder(this.model, SessionAdvisor.of(hooked)).build())) {
			setup.content(chat.prompt().messages(spoken).advisors(SessionAdvisor.session(T1)));
			assertThat(sent()).as("the caller has begun the reply itself")
				.last()
				.isEqualTo("assistant: Dear customer,");
		}
	}

	private void addToolTurn() {
		this.store.add(T1, List.of(user("sum"),
				AssistantMessage.builder().toolCalls(List.of(SessionAdvisorTests.call("c1", "add", "1"))).build(),
				ToolResponseMessage.builder().responses(List.of(new ToolResponse("c1", "add", "1"))).build(),
				new AssistantMessage("1")));
	}

	private List<String> warnings() {
		return this.log.list.stream().map(ILoggingEvent::getFormattedMessage).toList();
	}

	@BeforeEach
	void captureLog() {
		this.log.start();
		LOGGER.addAppender(this.log);
	}

	@AfterEach
	void releaseLog() {
		LOGGER.detachAppender(this.log);
	}

	private void say(HistoryMerge merge) {
		say(merge, user("q3"));
	}

	private void say(HistoryMerge merge, Message... input) {
		this.model.says("a3");
		client(ClientSetup.plain(), merge).prompt()
			.messages(List.of(input))
			.advisors(SessionAdvisor.session(T1))
			.call()
			.content();
	}

	private void assertFailedWithItsInput() {
		assertThat(this.model.prompts()).isEmpty();
		List<Turn> turns = this.store.turns(T1, Tail.ALL);
		Turn failed = turns.get(turns.size() - 1);
		assertThat(failed.status()).isEqualTo(TurnStatus.FAILED);
		assertThat(stored()).containsExactly("user: q3");
		assertThat(log()).isEqualTo(BEFORE);
	}

	private ChatClient client(ClientSetup setup, HistoryMerge merge) {
		Conversations.Builder conversations = Conversations.builder(this.store);
		if (merge != null) {
			conversations.merge(merge);
		}
		return setup.builder(this.model, SessionAdvisor.of(conversations.build()))
			.defaultTools(SessionAdvisorTests.echo("add"))
			.build();
	}

	private static ChatClient.ChatClientRequestSpec prompt(ChatClient chat, String text) {
		return chat.prompt().user(text).advisors(SessionAdvisor.session(T1));
	}

	private List<String> sent() {
		return this.model.lastRequestLines();
	}

	private static List<String> lines(String... input) {
		List<String> lines = new ArrayList<>(BEFORE);
		lines.addAll(List.of(input));
		return lines;
	}

	/**
	 * Returns the messages that the newest turn has stored.
	 */
	private List<String> stored() {
		List<Turn> turns = this.store.turns(T1, Tail.ALL);
		return Lines.of(this.store.items(T1, turns.get(turns.size() - 1).number())
			.stream()
			.map((item) -> item.message())
			.toList());
	}

	private List<String> log() {
		return Lines.of(this.store.messages(T1));
	}

	private static UserMessage user(String text) {
		return new UserMessage(text);
	}

	private static UserMessage image(String text, int content) {
		Media media = Media.builder().mimeType(MimeTypeUtils.IMAGE_PNG).data(new byte[] { (byte) content }).build();
		return UserMessage.builder().text(text).media(media).build();
	}

	private static String text(Message message) {
		return String.valueOf(message.getText());
	}

	private static List<Message> joined(List<? extends Message> first, List<? extends Message> second) {
		List<Message> joined = new ArrayList<>(first);
		joined.addAll(second);
		return joined;
	}

	/**
	 * Copies all messages on their way, as advisors do that change one of them.
	 */
	private static final class Copying implements BaseAdvisor {

		@Override
		public ChatClientRequest before(ChatClientRequest request, AdvisorChain chain) {
			return request.mutate().prompt(request.prompt().copy()).build();
		}

		@Override
		public ChatClientResponse after(ChatClientResponse response, AdvisorChain chain) {
			return response;
		}

		@Override
		public int getOrder() {
			return AdvisorNames.TURN_ORDER + 1;
		}

	}

}
