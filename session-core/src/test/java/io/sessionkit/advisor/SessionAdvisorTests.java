package io.sessionkit.advisor;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;

import io.sessionkit.Durability;
import io.sessionkit.NothingWaitsException;
import io.sessionkit.Round;
import io.sessionkit.SessionItem;
import io.sessionkit.SessionKey;
import io.sessionkit.SessionNotFoundException;
import io.sessionkit.TokenUsage;
import io.sessionkit.Turn;
import io.sessionkit.TurnResult;
import io.sessionkit.TurnStatus;
import io.sessionkit.codec.JsonMessageCodec;
import io.sessionkit.context.InvalidSequenceException;
import io.sessionkit.context.SequenceGuard;
import io.sessionkit.context.Trim;
import io.sessionkit.conversation.Conversation;
import io.sessionkit.conversation.Conversations;
import io.sessionkit.guard.StopWords;
import io.sessionkit.internal.call.SessionParameters;
import io.sessionkit.store.Page;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.StoreOptions;
import io.sessionkit.store.Tail;
import io.sessionkit.store.memory.InMemorySessionStore;
import io.sessionkit.test.ClientSetup;
import io.sessionkit.test.ScriptedChatModel;
import io.sessionkit.test.ScriptedChatModel.Lines;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import reactor.core.publisher.Flux;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

import org.springframework.ai.chat.client.AdvisorParams;
import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.chat.client.ChatClientRequest;
import org.springframework.ai.chat.client.ChatClientResponse;
import org.springframework.ai.chat.client.advisor.ToolCallingAdvisor;
import org.springframework.ai.chat.client.advisor.api.AdvisorChain;
import org.springframework.ai.chat.client.advisor.api.BaseAdvisor;
import org.springframework.ai.chat.client.advisor.api.CallAdvisor;
import org.springframework.ai.chat.client.advisor.api.CallAdvisorChain;
import org.springframework.ai.chat.client.advisor.api.StreamAdvisor;
import org.springframework.ai.chat.client.advisor.api.StreamAdvisorChain;
import org.springframework.ai.chat.memory.ChatMemory;
import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.AssistantMessage.ToolCall;
import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.ToolResponseMessage;
import org.springframework.ai.chat.messages.UserMessage;
import org.springframework.ai.chat.metadata.ChatGenerationMetadata;
import org.springframework.ai.chat.metadata.ChatResponseMetadata;
import org.springframework.ai.chat.metadata.DefaultUsage;
import org.springframework.ai.chat.model.ChatResponse;
import org.springframework.ai.chat.model.Generation;
import org.springframework.ai.chat.prompt.ChatOptions;
import org.springframework.ai.content.Media;
import org.springframework.ai.model.tool.DefaultToolCallingManager;
import org.springframework.ai.tool.ToolCallback;
import org.springframework.ai.tool.execution.DefaultToolExecutionExceptionProcessor;
import org.springframework.ai.tool.execution.ToolExecutionException;
import org.springframework.ai.tool.function.FunctionToolCallback;
import org.springframework.ai.tool.metadata.ToolMetadata;
import org.springframework.core.io.ByteArrayResource;
import org.springframework.util.MimeTypeUtils;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

public class SessionAdvisorTests {

	private static final SessionKey T1 = SessionKey.of("t1");

	private final SessionStore store = store();

	private final Conversations conversations = Conversations.of(this.store);

	private final SessionAdvisor advisor = SessionAdvisor.of(this.conversations);

	private final Conversation thread = this.conversations.get(T1);

	private final ScriptedChatModel model = new ScriptedChatModel();

	/**
	 * A new store to try.
	 */
	protected SessionStore store() {
		return new InMemorySessionStore(StoreOptions.of(JsonMessageCodec.create()));
	}

	static List<ClientSetup> setups() {
		return ClientSetup.all();
	}

	@ParameterizedTest
	@MethodSource("setups")
	void theSecondTurnSeesTheFirst(ClientSetup setup) {
		this.model.says("hello Ada").says("Ada");
		ChatClient chat = client(setup);
		assertThat(ask(setup, chat, "I am Ada")).isEqualTo("hello Ada");
		assertThat(ask(setup, chat, "who am I?")).isEqualTo("Ada");
		assertThat(this.model.lastRequestLines())
			.isEqualTo(setup.lines("user: I am Ada", "assistant: hello Ada", "user: who am I?"));
		assertThat(Lines.of(this.thread.messages())).containsExactly("user: I am Ada", "assistant: hello Ada",
				"user: who am I?", "assistant: Ada");
	}

	@ParameterizedTest
	@MethodSource("setups")
	void parallelAndRepeatedToolRoundsAreStoredOnceAndInOrder(ClientSetup setup) {
		this.model.calls(call("c1", "add", "1"), call("c2", "add", "2"))
			.calls(call("c3", "add", "3"))
			.says("done")
			.says("again");
		ChatClient chat = client(setup, echo("add"));
		assertThat(ask(setup, chat, "go")).isEqualTo("done");
		String[] turn = { "user: go", "assistant add({\"value\":\"1\"}) add({\"value\":\"2\"})", "tool add=1 add=2",
				"assistant add({\"value\":\"3\"})", "tool add=3", "assistant: done" };
		assertThat(Lines.of(this.thread.messages())).containsExactly(turn);
		ask(setup, chat, "more");
		List<String> expected = new ArrayList<>(List.of(turn));
		expected.add("user: more");
		assertThat(this.model.lastRequestLines()).isEqualTo(setup.lines(expected.toArray(String[]::new)));
	}

	@ParameterizedTest
	@MethodSource("setups")
	void eachModelCallOfATurnGetsAValidWholeRequest(ClientSetup setup) {
		this.model.says("one").calls(call("c1", "add", "1")).says("two");
		ChatClient chat = client(setup, echo("add"));
		ask(setup, chat, "first");
		ask(setup, chat, "second");
		assertThat(this.model.lastRequestLines()).isEqualTo(setup.lines("user: first", "assistant: one", "user: second",
				"assistant add({\"value\":\"1\"})", "tool add=1"));
	}

	@ParameterizedTest
	@MethodSource("setups")
	void resultsThatReturnDirectlyAreStored(ClientSetup setup) {
		this.model.calls(call("c1", "now", "a"), call("c2", "now", "b")).says("next");
		ChatClient chat = client(setup, direct("now"));
		ask(setup, chat, "what time is it?");
		assertThat(Lines.of(this.thread.messages())).containsExactly("user: what time is it?",
				"assistant now({\"value\":\"a\"}) now({\"value\":\"b\"})", "tool now=a now=b");
		ask(setup, chat, "and now?");
		assertThat(this.model.lastRequestLines()).isEqualTo(setup.lines("user: what time is it?",
				"assistant now({\"value\":\"a\"}) now({\"value\":\"b\"})", "tool now=a now=b", "user: and now?"));
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void partialResultsOfALoopEndedByALimitAreStored(ClientSetup.Mode mode) {
		ClientSetup setup = new ClientSetup(mode, ClientSetup.ToolLoop.AUTOMATIC, false);
		this.model.calls(call("c1", "add", "1"), call("c2", "add", "2"), call("c3", "add", "3")).says("next");
		ChatClient chat = setup.builder(this.model, this.advisor)
			.defaultTools(echo("add"))
			.defaultAdvisors(limited(1))
			.build();
		ask(setup, chat, "go");
		List<Message> messages = this.thread.messages();
		assertThat(messages).hasSize(3);
		List<ToolResponseMessage.ToolResponse> results = ((ToolResponseMessage) messages.get(2)).getResponses();
		assertThat(results).hasSize(3);
		assertThat(results.get(0).responseData()).isEqualTo("1");
		assertThat(results).extracting(ToolResponseMessage.ToolResponse::id).containsExactly("c1", "c2", "c3");
		ask(setup, chat, "more");
		assertThat(this.model.lastRequest()).hasSize(4);
	}

	@Test
	void aModelWithoutToolOptionsContinuesItsThread() {
		ScriptedChatModel plain = new ScriptedChatModel("plain", ChatOptions.builder().model("plain").build());
		plain.says("one").says("two");
		for (ClientSetup setup : List.of(ClientSetup.plain(), ClientSetup.streaming())) {
			ask(setup, setup.builder(plain, this.advisor).build(), "hi");
		}
		assertThat(plain.lastRequestLines()).containsExactly("user: hi", "assistant: one", "user: hi");
	}

	@ParameterizedTest
	@MethodSource("setups")
	void whatTheUserSaidIsStoredNotTheTextThatRetrievalAdded(ClientSetup setup) {
		this.model.says("42").says("43");
		ChatClient chat = setup.builder(this.model, this.advisor).defaultAdvisors(new Augmenting()).build();
		ask(setup, chat, "q1");
		ask(setup, chat, "q2");
		assertThat(this.model.lastRequestLines())
			.isEqualTo(setup.lines("user: q1", "assistant: 42", "user: q2 [retrieved]"));
		assertThat(Lines.of(this.thread.messages())).containsExactly("user: q1", "assistant: 42", "user: q2",
				"assistant: 43");
	}

	@Test
	void structuredOutputLeavesOneTurnAndNoFormatText() {
		this.model.says("{\"name\":\"Ada\"}").says("{\"name\":\"Bob\"}");
		ChatClient chat = client(ClientSetup.plain());
		assertThat(chat.prompt().user("who?").advisors(SessionAdvisor.session("t1")).call().entity(Person.class))
			.isEqualTo(new Person("Ada"));
		assertThat(this.model.lastRequest().get(0).getText()).contains("JSON");
		chat.prompt().user("and?").advisors(SessionAdvisor.session("t1")).call().entity(Person.class);
		assertThat(Lines.of(this.thread.messages())).containsExactly("user: who?", "assistant: {\"name\":\"Ada\"}",
				"user: and?", "assistant: {\"name\":\"Bob\"}");
		assertThat(this.model.lastRequest().get(0).getText()).isEqualTo("who?");
	}

	@Test
	void schemaValidationThatAsksAgainLeavesOneTurn() {
		this.model.says("not json").says("{\"name\":\"Ada\"}");
		ChatClient chat = client(ClientSetup.plain());
		Person person = chat.prompt()
			.user("who?")
			.advisors(SessionAdvisor.session("t1"))
			.call()
			.entity(Person.class, (spec) -> spec.validateSchema());
		assertThat(person).isEqualTo(new Person("Ada"));
		assertThat(Lines.of(this.thread.messages())).containsExactly("user: who?", "assistant: {\"name\":\"Ada\"}");
		assertThat(this.thread.turns(Tail.ALL)).hasSize(1);
	}

	@ParameterizedTest
	@MethodSource("setups")
	void allMessagesThatTheCallerPassesAreTheInput(ClientSetup setup) {
		this.model.says("ok");
		setup.content(client(setup).prompt()
			.messages(new UserMessage("a"), new AssistantMessage("b"), new UserMessage("c"))
			.user("d")
			.advisors(SessionAdvisor.session("t1")));
		assertThat(Lines.of(this.thread.messages())).containsExactly("user: a", "assistant: b", "user: c", "user: d",
				"assistant: ok");
		assertThat(this.model.lastRequestLines())
			.isEqualTo(setup.lines("user: a", "assistant: b", "user: c", "user: d"));
	}

	@Test
	void twoClientsWithOtherModelsSystemTextsAndToolsContinueOneSession() {
		ScriptedChatModel billingModel = new ScriptedChatModel("large", this.model.getOptions());
		this.model.says("hello");
		billingModel.calls(call("c1", "invoice", "7")).says("paid");
		ChatClient front = ChatClient.builder(this.model).defaultAdvisors(this.advisor).defaultSystem("front").build();
		ChatClient billing = ChatClient.builder(billingModel)
			.defaultAdvisors(this.advisor)
			.defaultSystem("billing")
			.defaultTools(echo("invoice"))
			.build();
		front.prompt()
			.user("hi")
			.advisors(SessionAdvisor.session("t1"))
			.advisors(SessionAdvisor.agent("front"))
			.call()
			.content();
		billing.prompt()
			.user("is 7 paid?")
			.advisors(SessionAdvisor.session("t1"))
			.advisors(SessionAdvisor.agent("billing"))
			.call()
			.content();
		assertThat(billingModel.lastRequestLines()).startsWith("system: billing", "user: hi", "assistant: hello",
				"user: is 7 paid?");
		List<Turn> turns = this.thread.turns(Tail.ALL);
		assertThat(turns).extracting(Turn::agent).containsExactly("front", "billing");
		assertThat(turns).extracting(Turn::model).containsExactly("scripted", "large");
		assertThat(turns.get(1).tools()).containsOnlyKeys("invoice");
		assertThat(turns.get(0).tools()).isEmpty();
	}

	@ParameterizedTest
	@MethodSource("setups")
	void theResponseCarriesItsTurnWithTheUsageOfEachRound(ClientSetup setup) {
		this.model.calls(call("c1", "add", "1")).says("done");
		ChatResponse response = setup
			.response(client(setup, echo("add")).prompt().user("go").advisors(SessionAdvisor.session("t1")));
		TurnResult result = SessionAdvisor.turn(response).orElseThrow();
		Turn stored = this.thread.turns(Tail.ALL).get(0);
		assertThat(result.turn()).isEqualTo(stored);
		assertThat(result.items()).isEqualTo(this.thread.items(Tail.ALL));
		Round round = new Round("scripted", new TokenUsage(10, 5, 0, 0));
		assertThat(stored.rounds()).containsExactly(round, round);
		assertThat(stored.usage()).isEqualTo(new TokenUsage(20, 10, 0, 0));
		assertThat(stored.status()).isEqualTo(TurnStatus.COMPLETED);
		assertThat(stored.endedAt()).isAfterOrEqualTo(stored.startedAt());
		if (setup.mode() == ClientSetup.Mode.STREAM) {
			// said by the element before; an advisor that acts on it must not act twice
			assertThat(response.getResult().getMetadata().getFinishReason()).isNull();
		}
	}

	@Test
	void aThinkingBlockInFrontOfTheAnswerIsNotTheAnswer() {
		Generation thinking = new Generation(
				AssistantMessage.builder().content("hm").properties(Map.of("signature", "s")).build());
		this.model.responds(new ChatResponse(List.of(thinking, new Generation(new AssistantMessage("yes")))));
		ask(ClientSetup.plain(), client(ClientSetup.plain()), "so?");
		assertThat(Lines.of(this.thread.messages())).containsExactly("user: so?", "assistant: yes");
	}

	/**
	 * In the shape of Gemini's model: a generation for each part, the thought first.
	 */
	@ParameterizedTest
	@MethodSource("setups")
	void thoughtInFrontOfTheAnswerIsNotTheReply(ClientSetup setup) {
		for (Conversations each : List.of(this.conversations,
				Conversations.builder(this.store).hooks(StopWords.of("forbidden")).build())) {
			boolean checked = each != this.conversations;
			SessionKey key = SessionKey.of(checked ? "checked" : "plain");
			this.model.responds(thoughtAndAnswer("yes")).says("two");
			ChatClient chat = setup.builder(this.model, SessionAdvisor.of(each)).build();
			String answer = setup.content(chat.prompt().user("so?").advisors(SessionAdvisor.session(key)));
			assertThat(Lines.of(this.store.messages(key))).containsExactly("user: so?", "assistant: yes");
			if (checked) {
				assertThat(answer).as("what is checked is handed on alone").isEqualTo("yes");
			}
			setup.content(chat.prompt().user("and?").advisors(SessionAdvisor.session(key)));
			assertThat(this.model.lastRequestLines())
				.isEqualTo(setup.lines("user: so?", "assistant: yes", "user: and?"));
		}
	}

	@Test
	void thoughtThatACacheRepeatsInFrontOfItsAnswerIsNotTheReply() {
		ChatClient chat = ClientSetup.plain()
			.builder(this.model, this.advisor)
			.defaultAdvisors(new Cached(thoughtAndAnswer("yes")))
			.build();
		ask(ClientSetup.plain(), chat, "so?");
		assertThat(Lines.of(this.thread.messages())).containsExactly("user: so?", "assistant: yes");
	}

	/** As when the limit on tokens is reached while the model thinks. */
	@ParameterizedTest
	@MethodSource("setups")
	void replyOfThoughtsAloneIsNoReply(ClientSetup setup) {
		this.model
			.responds(new ChatResponse(List.of(new Generation(
					AssistantMessage.builder().content("hm").properties(Map.of("isThought", true)).build()))))
			.says("two");
		ask(setup, client(setup), "so?");
		assertThat(this.thread.messages()).isEmpty();
		Turn turn = this.thread.turns(Tail.ALL).get(0);
		assertThat(turn.status()).isEqualTo(TurnStatus.FAILED);
		assertThat(turn.failure()).isEqualTo("no reply");
		ask(setup, client(setup), "and?");
		assertThat(this.model.lastRequestLines()).isEqualTo(setup.lines("user: and?"));
	}

	@Test
	void thoughtsThatACacheRepeatsAreNoReply() {
		ChatResponse thought = new ChatResponse(List.of(new Generation(
				AssistantMessage.builder().content("hm").properties(Map.of("isThought", true)).build())));
		ChatClient chat = ClientSetup.plain()
			.builder(this.model, this.advisor)
			.defaultAdvisors(new Cached(thought))
			.build();
		ask(ClientSetup.plain(), chat, "so?");
		assertThat(this.thread.messages()).isEmpty();
	}

	/** Providers refuse a request with an answer that is empty. */
	@ParameterizedTest
	@MethodSource("setups")
	void replyOfWhichNothingCanBeStoredIsNoReply(ClientSetup setup) {
		Media lost = new Media(MimeTypeUtils.IMAGE_PNG, new ByteArrayResource(new byte[] { 1 })) {
		};
		this.model
			.responds(new ChatResponse(
					List.of(new Generation(AssistantMessage.builder().content("").media(List.of(lost)).build()))))
			.says("two");
		ask(setup, client(setup), "draw");
		assertThat(this.thread.messages()).isEmpty();
		assertThat(this.thread.turns(Tail.ALL)).extracting(Turn::failure).containsExactly("no reply");
		ask(setup, client(setup), "and?");
		assertThat(this.model.lastRequestLines()).isEqualTo(setup.lines("user: and?"));
	}

	private static ChatResponse thoughtAndAnswer(String answer) {
		ChatGenerationMetadata stop = ChatGenerationMetadata.builder().finishReason("STOP").build();
		return new ChatResponse(List.of(
				new Generation(AssistantMessage.builder().content("hm").properties(Map.of("isThought", true)).build(),
						stop),
				new Generation(
						AssistantMessage.builder().content(answer).properties(Map.of("isThought", false)).build(),
						stop)));
	}

	@Test
	void theGenerationWithToolCallsIsTheOneThatIsKept() {
		Generation text = new Generation(new AssistantMessage("let me see"));
		Generation calls = new Generation(
				AssistantMessage.builder().content("").toolCalls(List.of(call("", "add", "1"))).build());
		this.model.responds(new ChatResponse(List.of(text, calls))).says("one");
		ask(ClientSetup.plain(), client(ClientSetup.plain(), echo("add")), "go");
		assertThat(Lines.of(this.thread.messages())).containsExactly("user: go", "assistant add({\"value\":\"1\"})",
				"tool add=1", "assistant: one");
	}

	/**
	 * In the shape that Ollama's model streams: each chunk has the next piece. Spring
	 * AI's model for the protocol of OpenAI has all so far in each chunk, see
	 * OpenAiWireTests.
	 */
	@Test
	void thinkingThatComesInPiecesIsStoredWhole() {
		this.model.responds(chunk("", Map.of("thinking", "First ")), chunk("", Map.of("thinking", "the sum.")),
				chunk("a", Map.of()), new ChatResponse(List.of(new Generation(new AssistantMessage("b"),
						ChatGenerationMetadata.builder().finishReason("stop").build()))));
		ask(ClientSetup.streaming(), client(ClientSetup.streaming()), "q");

		AssistantMessage stored = (AssistantMessage) this.thread.messages().get(1);
		assertThat(stored.getText()).isEqualTo("ab");
		assertThat(stored.getMetadata()).containsEntry("thinking", "First the sum.");
	}

	@Test
	void streamsKeepMediaAndProviderStateAndLeaveThoughtsOut() {
		Media picture = Media.builder().mimeType(MimeTypeUtils.IMAGE_PNG).data(new byte[] { 1, 2 }).name("p").build();
		this.model.responds(
				chunk("thinking", Map.of("isThought", true, "thoughtSignatures", List.of(new byte[] { 1 }))),
				chunk("a", Map.of("thoughtSignatures", List.of(new byte[] { 2 }))), new ChatResponse(List
					.of(new Generation(AssistantMessage.builder().content("b").media(List.of(picture)).build()))));
		ask(ClientSetup.streaming(), client(ClientSetup.streaming()), "draw");
		AssistantMessage stored = (AssistantMessage) this.thread.messages().get(1);
		assertThat(stored.getText()).isEqualTo("ab");
		assertThat(stored.getMedia()).hasSize(1);
		assertThat((List<?>) stored.getMetadata().get("thoughtSignatures")).hasSize(2);
	}

	@ParameterizedTest
	@MethodSource("setups")
	void aRetryOutsideTheToolLoopIsRecordedOnce(ClientSetup setup) {
		this.model.calls(call("c1", "add", "1")).fails(new IllegalStateException("429")).says("done");
		ChatClient chat = setup.builder(this.model, this.advisor)
			.defaultTools(echo("add"))
			.defaultAdvisors(new Retrying())
			.build();
		assertThat(ask(setup, chat, "go")).endsWith("done");
		assertThat(Lines.of(this.thread.messages())).containsExactly("user: go", "assistant: done");
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void toolsThatTheApplicationRunsItselfContinueTheThread(ClientSetup.Mode mode) {
		ClientSetup setup = new ClientSetup(mode, ClientSetup.ToolLoop.AUTOMATIC, false);
		this.model.step((prompt) -> Flux.just(this.model.chunk("", List.of(call("c1", "add", "1")), true), usage()))
			.says("one");
		ChatClient chat = client(setup, echo("add"));
		setup.response(byHand(chat).user("go"));
		ToolResponseMessage results = ToolResponseMessage.builder()
			.responses(List.of(new ToolResponseMessage.ToolResponse("c1", "add", "1")))
			.build();
		setup.response(byHand(chat).messages(results));
		assertThat(this.model.lastRequestLines()).containsExactly("user: go", "assistant add({\"value\":\"1\"})",
				"tool add=1");
		assertThat(Lines.of(this.thread.messages())).hasSize(4);
	}

	private static ChatClient.ChatClientRequestSpec byHand(ChatClient chat) {
		return chat.prompt()
			.advisors(SessionAdvisor.session("t1"))
			.advisors(AdvisorParams.toolCallingAdvisorAutoRegister(false));
	}

	/**
	 * Returns the last chunk of OpenAI: usage, and no generation.
	 */
	private static ChatResponse usage() {
		return new ChatResponse(List.of(),
				ChatResponseMetadata.builder().model("scripted").usage(new DefaultUsage(10, 5)).build());
	}

	@Test
	void anAnswerThatAnAdvisorStreamsItselfIsStoredWhole() {
		ChatClient chat = ClientSetup.streaming()
			.builder(this.model, this.advisor)
			.defaultAdvisors(new Answering())
			.build();
		ask(ClientSetup.streaming(), chat, "q");
		assertThat(Lines.of(this.thread.messages())).containsExactly("user: q", "assistant: from the cache");
		assertThat(this.thread.turns(Tail.ALL).get(0).status()).isEqualTo(TurnStatus.COMPLETED);
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void whatAnAdvisorPutsBehindToolResultsDoesNotHideThem(ClientSetup.Mode mode) {
		ClientSetup setup = new ClientSetup(mode, ClientSetup.ToolLoop.AUTOMATIC, false);
		this.model.calls(call("c1", "add", "1")).calls(call("c1", "add", "1")).says("done");
		ChatClient chat = setup.builder(this.model, this.advisor)
			.defaultTools(echo("add"))
			.defaultAdvisors(new Reminding(false))
			.build();
		ask(setup, chat, "go");
		assertThat(Lines.of(this.thread.messages())).containsExactly("user: go", "assistant add({\"value\":\"1\"})",
				"tool add=1", "assistant add({\"value\":\"1\"})", "tool add=1", "assistant: done");
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void reminderBehindEveryRequestHidesNoToolRound(ClientSetup.Mode mode) {
		for (Durability durability : Durability.values()) {
			for (ClientSetup.ToolLoop loop : List.of(ClientSetup.ToolLoop.AUTOMATIC, ClientSetup.ToolLoop.EXPLICIT)) {
				ClientSetup setup = new ClientSetup(mode, loop, true);
				SessionKey key = SessionKey.of(durability + " " + loop);
				this.store.add(key, List.of(new UserMessage("q0"), new AssistantMessage("a0")));
				this.model.calls(call("c1", "add", "1")).calls(call("c1", "add", "1")).says("done");
				ChatClient chat = setup
					.builder(this.model,
							SessionAdvisor.of(Conversations.builder(this.store).durability(durability).build()))
					.defaultTools(echo("add"))
					.defaultAdvisors(new Reminding(true))
					.build();
				setup.content(chat.prompt().user("go").advisors(SessionAdvisor.session(key)));
				assertThat(Lines.of(this.store.messages(key))).containsExactly("user: q0", "assistant: a0", "user: go",
						"assistant add({\"value\":\"1\"})", "tool add=1", "assistant add({\"value\":\"1\"})",
						"tool add=1", "assistant: done");
			}
		}
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void requestWithAReminderThatIsMadeAgainLosesNoToolRound(ClientSetup.Mode mode) {
		ClientSetup setup = new ClientSetup(mode, ClientSetup.ToolLoop.AUTOMATIC, false);
		this.model.calls(call("c1", "add", "1")).fails(new IllegalStateException("429")).says("done");
		ChatClient chat = setup.builder(this.model, this.advisor)
			.defaultTools(echo("add"))
			.defaultAdvisors(new Reminding(true), new Retrying(SessionParameters.ROUND_ORDER - 40))
			.build();
		assertThat(ask(setup, chat, "go")).endsWith("done");
		assertThat(Lines.of(this.thread.messages())).containsExactly("user: go", "assistant add({\"value\":\"1\"})",
				"tool add=1", "assistant: done");
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void retryOfAnInputThatEndsWithResultsBeginsAnew(ClientSetup.Mode mode) {
		ClientSetup setup = new ClientSetup(mode, ClientSetup.ToolLoop.AUTOMATIC, false);
		ToolCallback failing = FunctionToolCallback.<Value, String>builder("add", (value) -> {
			throw new IllegalStateException("not now");
		}).description("fails").inputType(Value.class).build();
		this.model.calls(call("c1", "add", "1")).says("done");
		ChatClient chat = setup.builder(this.model, this.advisor)
			.defaultTools(failing)
			.defaultAdvisors(throwing(), new Retrying())
			.build();
		ToolResponseMessage results = ToolResponseMessage.builder()
			.responses(List.of(new ToolResponseMessage.ToolResponse("c0", "look", "found")))
			.build();
		this.store.add(T1, List.of(new UserMessage("q"),
				AssistantMessage.builder().content("").toolCalls(List.of(call("c0", "look", "0"))).build()));
		assertThat(setup.content(chat.prompt().messages(results).advisors(SessionAdvisor.session("t1"))))
			.endsWith("done");
		assertThat(Lines.of(this.thread.messages())).containsExactly("user: q", "assistant look({\"value\":\"0\"})",
				"tool look=found", "assistant: done");
	}

	@Test
	void aCallWithoutASessionPassesThrough() {
		this.model.says("one").says("two");
		ChatClient chat = client(ClientSetup.plain());
		ChatResponse response = chat.prompt().user("hi").call().chatResponse();
		chat.prompt().user("hi").stream().content().blockLast();
		assertThat(SessionAdvisor.turn(response)).isEmpty();
		assertThat(this.model.lastRequestLines()).containsExactly("user: hi");
		assertThat(this.store.list("", Page.first(10))).isEmpty();
	}

	@Test
	void aCallWithoutASessionIsRefusedWhereOneIsRequired() {
		SessionAdvisor required = SessionAdvisor.builder(this.conversations).requireSession(true).build();
		ChatClient chat = ClientSetup.plain().builder(this.model, required).build();
		assertThatExceptionOfType(SessionRequiredException.class)
			.isThrownBy(() -> chat.prompt().user("hi").call().content())
			.withMessageContaining("sessionkit.require-session")
			.withMessageContaining("SessionAdvisor.session");
		assertThatExceptionOfType(SessionRequiredException.class)
			.isThrownBy(() -> chat.prompt().user("hi").stream().content().blockLast());
		assertThat(this.model.prompts()).isEmpty();
	}

	@Test
	void aResolverNamesTheSessionOfACallThatNamesNone() {
		this.model.says("one").says("two").says("three");
		SessionAdvisor resolved = SessionAdvisor.builder(this.conversations)
			.resolver((request) -> Optional.of(SessionKey.of("ada", "t1")))
			.build();
		ChatClient chat = ClientSetup.plain().builder(this.model, resolved).build();
		chat.prompt().user("hi").call().content();
		chat.prompt().user("hi").stream().content().blockLast();
		assertThat(this.conversations.get(SessionKey.of("ada", "t1")).messages()).hasSize(4);
		chat.prompt().user("hi").advisors(SessionAdvisor.session("t1")).call().content();
		assertThat(this.thread.messages()).hasSize(2);
	}

	@Test
	void aResolverIsAskedOnTheThreadThatCallsOrSubscribes() {
		List<String> threads = new CopyOnWriteArrayList<>();
		SessionAdvisor resolved = SessionAdvisor.builder(this.conversations).resolver((request) -> {
			threads.add(Thread.currentThread().getName());
			return Optional.of(T1);
		}).build();
		ChatClient chat = ClientSetup.plain().builder(this.model, resolved).build();
		this.model.says("one").says("two").says("three");
		chat.prompt().user("hi").call().content();
		chat.prompt().user("hi").stream().content().blockLast();
		Scheduler subscriber = Schedulers.newSingle("subscriber");
		chat.prompt().user("hi").stream().content().subscribeOn(subscriber).blockLast();
		subscriber.dispose();
		String caller = Thread.currentThread().getName();
		assertThat(threads).hasSize(3).startsWith(caller, caller);
		assertThat(threads.get(2)).startsWith("subscriber");
	}

	@ParameterizedTest
	@MethodSource("setups")
	void aCallThatIsToHaveNoSessionHasNoneWhoeverNamesOne(ClientSetup setup) {
		SessionAdvisor resolved = SessionAdvisor.builder(this.conversations)
			.resolver((request) -> Optional.of(SessionKey.of("ada", "t1")))
			.requireSession(true)
			.build();
		ChatClient chat = setup.builder(this.model, resolved).defaultAdvisors(SessionAdvisor.session("t1")).build();
		this.model.says("a title");
		setup.content(chat.prompt().user("title").advisors(SessionAdvisor.none()));
		assertThat(this.model.lastRequestLines()).isEqualTo(setup.lines("user: title"));
		assertThat(this.thread.messages()).isEmpty();
		this.model.says("an answer");
		setup.content(chat.prompt().user("hi"));
		assertThat(this.thread.messages()).hasSize(2);
	}

	@ParameterizedTest
	@MethodSource("setups")
	void aToolCallsTheModelBesideTheSessionThatAResolverNames(ClientSetup setup) {
		SessionAdvisor resolved = SessionAdvisor.builder(this.conversations)
			.resolver((request) -> Optional.of(SessionKey.of("t1")))
			.build();
		ChatClient helper = ChatClient.builder(this.model).defaultAdvisors(resolved).build();
		ToolCallback classify = FunctionToolCallback
			.builder("classify",
					(Object nothing) -> helper.prompt().user("which?").advisors(SessionAdvisor.none()).call().content())
			.description("classifies")
			.inputType(Object.class)
			.build();
		this.model.calls(new ToolCall("c1", "function", "classify", "{}")).says("a cat").says("done");
		setup.content(setup.builder(this.model, resolved).defaultTools(classify).build().prompt().user("hi"));
		assertThat(Lines.of(this.model.prompts().get(1).getInstructions())).containsExactly("user: which?");
		assertThat(Lines.of(this.thread.messages())).containsExactly("user: hi", "assistant classify({})",
				"tool classify=\"a cat\"", "assistant: done");
	}

	@Test
	void theConversationIdOfSpringAiIsAnAlias() {
		this.model.says("one");
		client(ClientSetup.plain()).prompt()
			.user("hi")
			.advisors((advisors) -> advisors.param(ChatMemory.CONVERSATION_ID, "t1"))
			.call()
			.content();
		assertThat(this.thread.messages()).hasSize(2);
	}

	@Test
	void twoDifferentIdsOnOneCallAreRefused() {
		assertThatIllegalStateException()
			.isThrownBy(() -> client(ClientSetup.plain()).prompt()
				.user("hi")
				.advisors(SessionAdvisor.session("t1"))
				.advisors((advisors) -> advisors.param(ChatMemory.CONVERSATION_ID, "t2"))
				.call()
				.content())
			.withMessageContaining("t1")
			.withMessageContaining("t2");
		assertThat(this.model.prompts()).isEmpty();
	}

	@Test
	void aCallWithoutAMessageIsRefusedBeforeTheModel() {
		assertThatExceptionOfType(NothingWaitsException.class)
			.isThrownBy(() -> client(ClientSetup.plain()).prompt()
				.system("be brief")
				.advisors(SessionAdvisor.session("t1"))
				.call()
				.content())
			.withMessageContaining("no message");
		assertThat(this.model.prompts()).isEmpty();
	}

	/** Spring AI drops the media of a message that has no text. */
	@Test
	void aMessageOfMediaAloneIsNoneAndTheRefusalSaysSo() {
		assertThatExceptionOfType(NothingWaitsException.class)
			.isThrownBy(() -> client(ClientSetup.plain()).prompt()
				.user((user) -> user.media(MimeTypeUtils.IMAGE_PNG, new ByteArrayResource(new byte[] { 1 })))
				.advisors(SessionAdvisor.session("t1"))
				.call()
				.content())
			.withMessageContaining("media needs a text");
		assertThat(this.model.prompts()).isEmpty();
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void turnsBeyondTheLimitAreNotSent(ClientSetup.Mode mode) {
		ClientSetup setup = new ClientSetup(mode, ClientSetup.ToolLoop.AUTOMATIC, true);
		ChatClient chat = trimmed(setup, Trim.keepLastTurns(2));
		for (int i = 1; i <= 4; i++) {
			this.model.says("a" + i);
			ask(setup, chat, "q" + i);
		}
		assertThat(this.model.lastRequestLines())
			.isEqualTo(setup.lines("user: q2", "assistant: a2", "user: q3", "assistant: a3", "user: q4"));
	}

	@Test
	void theMessageLimitCountsTheWholeRequestAndCutsAtTurns() {
		ChatClient chat = trimmed(ClientSetup.plain(), Trim.keepLastMessages(4));
		for (int i = 1; i <= 4; i++) {
			this.model.says("a" + i);
			ask(ClientSetup.plain(), chat, "q" + i);
		}
		assertThat(this.model.lastRequestLines()).containsExactly("user: q3", "assistant: a3", "user: q4");
	}

	@ParameterizedTest
	@MethodSource("setups")
	void theMessageLimitHoldsWhileTheToolLoopMakesTheTurnLonger(ClientSetup setup) {
		ChatClient chat = setup.builder(this.model, advisor(Trim.keepLastMessages(5)))
			.defaultTools(echo("add"))
			.build();
		this.model.says("a1").says("a2");
		ask(setup, chat, "q1");
		ask(setup, chat, "q2");
		this.model.calls(call("c1", "add", "1")).says("a3");
		ask(setup, chat, "q3");
		assertThat(this.model.lastRequestLines()).isEqualTo(
				setup.lines("user: q2", "assistant: a2", "user: q3", "assistant add({\"value\":\"1\"})", "tool add=1"));
	}

	@Test
	void aTurnThatAloneIsOverTheLimitIsSentWholeAndSaysSo() {
		ChatClient chat = trimmed(ClientSetup.plain(), Trim.keepLastMessages(2));
		this.model.says("a1").says("a2");
		ask(ClientSetup.plain(), chat, "q1");
		ChatResponse response = chat.prompt()
			.messages(new UserMessage("x"), new AssistantMessage("y"), new UserMessage("z"))
			.advisors(SessionAdvisor.session("t1"))
			.call()
			.chatResponse();
		assertThat(this.model.lastRequestLines()).containsExactly("user: x", "assistant: y", "user: z");
		assertThat(SessionAdvisor.turn(response).orElseThrow().overLimit()).isTrue();
	}

	@Test
	void aCallMayLimitItsOwnHistory() {
		ChatClient chat = client(ClientSetup.plain());
		for (int i = 1; i <= 3; i++) {
			this.model.says("a" + i);
			ask(ClientSetup.plain(), chat, "q" + i);
		}
		this.model.says("a4").says("a5");
		chat.prompt()
			.user("q4")
			.advisors(SessionAdvisor.session("t1"))
			.advisors(SessionAdvisor.limit(3))
			.call()
			.content();
		assertThat(this.model.lastRequestLines()).containsExactly("user: q3", "assistant: a3", "user: q4");
		chat.prompt()
			.user("q5")
			.advisors(SessionAdvisor.session("t1"))
			.advisors(SessionAdvisor.limit(0))
			.call()
			.content();
		assertThat(this.model.lastRequestLines()).containsExactly("user: q5");
		assertThat(this.thread.messages()).hasSize(10);
	}

	@Test
	void aNegativeLimitIsRefused() {
		assertThatExceptionOfType(IllegalArgumentException.class)
			.isThrownBy(() -> client(ClientSetup.plain()).prompt()
				.user("q")
				.advisors(SessionAdvisor.session("t1"))
				.advisors(SessionAdvisor.limit(-1))
				.call()
				.content())
			.withMessageContaining("-1");
	}

	@Test
	void aStrictGuardThrowsWhereTheOtherRepairs() {
		this.store.add(T1, List.of(new UserMessage("q"),
				AssistantMessage.builder().content("").toolCalls(List.of(call("c1", "add", "1"))).build()));
		this.model.says("ok");
		ask(ClientSetup.plain(), client(ClientSetup.plain()), "next");
		assertThat(this.model.lastRequestLines()).containsExactly("user: q", "assistant add({\"value\":\"1\"})",
				"tool add=" + SequenceGuard.NO_RESULT, "user: next");
		assertThat(Lines.of(this.thread.messages())).containsExactly("user: q", "assistant add({\"value\":\"1\"})",
				"user: next", "assistant: ok");
		SessionAdvisor strict = SessionAdvisor
			.of(Conversations.builder(this.store).sequenceGuard(SequenceGuard.strict()).build());
		ChatClient chat = ClientSetup.plain().builder(this.model, strict).build();
		assertThatExceptionOfType(InvalidSequenceException.class)
			.isThrownBy(() -> ask(ClientSetup.plain(), chat, "again"));
	}

	@Test
	void titleAndTurnsAreReadThroughTheHandle() {
		this.model.says("a1").says("a2");
		ChatClient chat = client(ClientSetup.plain());
		ask(ClientSetup.plain(), chat, "q1");
		ask(ClientSetup.plain(), chat, "q2");
		this.thread.title("Greetings");
		assertThat(this.thread.session().orElseThrow().title()).isEqualTo("Greetings");
		assertThat(this.thread.turns(Tail.newest(1))).extracting(Turn::number).containsExactly(2L);
		assertThat(this.thread.turns(Tail.newest(1).before(2))).extracting(Turn::number).containsExactly(1L);
		assertThat(this.thread.items(1L)).extracting(SessionItem::sequence).containsExactly(1L, 2L);
		assertThat(this.thread.view()).hasSize(4);
		this.thread.clear();
		assertThat(this.thread.session()).isEmpty();
		assertThatExceptionOfType(SessionNotFoundException.class).isThrownBy(() -> this.thread.title("x"));
	}

	private ChatClient client(ClientSetup setup, ToolCallback... tools) {
		return setup.builder(this.model, this.advisor).defaultTools((Object[]) tools).build();
	}

	private ChatClient trimmed(ClientSetup setup, Trim trim) {
		return setup.builder(this.model, advisor(trim)).build();
	}

	private SessionAdvisor advisor(Trim trim) {
		return SessionAdvisor.of(Conversations.builder(this.store).trim(trim).build());
	}

	private static String ask(ClientSetup setup, ChatClient chat, String text) {
		return setup.content(chat.prompt().user(text).advisors(SessionAdvisor.session("t1")));
	}

	private static ChatResponse chunk(String text, Map<String, Object> metadata) {
		return new ChatResponse(
				List.of(new Generation(AssistantMessage.builder().content(text).properties(metadata).build())));
	}

	public static ToolCall call(String id, String tool, String value) {
		return new ToolCall(id, "function", tool, "{\"value\":\"" + value + "\"}");
	}

	public static ToolCallback echo(String name) {
		return FunctionToolCallback.builder(name, (Value value) -> value.value())
			.description("echoes")
			.inputType(Value.class)
			.toolCallResultConverter((result, type) -> String.valueOf(result))
			.build();
	}

	public static ToolCallback direct(String name) {
		return FunctionToolCallback.builder(name, (Value value) -> value.value())
			.description("echoes")
			.inputType(Value.class)
			.toolMetadata(ToolMetadata.builder().returnDirect(true).build())
			.toolCallResultConverter((result, type) -> String.valueOf(result))
			.build();
	}

	private static ToolCallingAdvisor throwing() {
		return ToolCallingAdvisor.builder()
			.toolCallingManager(DefaultToolCallingManager.builder()
				.toolExecutionExceptionProcessor(new DefaultToolExecutionExceptionProcessor(true))
				.build())
			.build();
	}

	private static ToolCallingAdvisor limited(int calls) {
		return ToolCallingAdvisor.builder()
			.toolCallingManager(DefaultToolCallingManager.builder().maxTotalToolCalls(calls).build())
			.build();
	}

	public record Value(String value) {
	}

	public record Person(String name) {
	}

	/**
	 * Adds to the user's text, as retrieval does.
	 */
	private static final class Augmenting implements BaseAdvisor {

		@Override
		public ChatClientRequest before(ChatClientRequest request, AdvisorChain chain) {
			return request.mutate()
				.prompt(request.prompt()
					.augmentUserMessage((user) -> user.mutate().text(user.getText() + " [retrieved]").build()))
				.build();
		}

		@Override
		public ChatClientResponse after(ChatClientResponse response, AdvisorChain chain) {
			return response;
		}

		@Override
		public int getOrder() {
			return 0;
		}

	}

	/**
	 * Answers a stream without asking the model.
	 */
	private static final class Answering implements StreamAdvisor {

		@Override
		public Flux<ChatClientResponse> adviseStream(ChatClientRequest request, StreamAdvisorChain chain) {
			return Flux.just("from ", "the ", "cache")
				.map((text) -> new ChatClientResponse(chunk(text, Map.of()), request.context()));
		}

		@Override
		public String getName() {
			return "Answering";
		}

		@Override
		public int getOrder() {
			return SessionParameters.TURN_ORDER + 40;
		}

	}

	/**
	 * Answers with a response that it has kept.
	 */
	private record Cached(ChatResponse response) implements CallAdvisor {

		@Override
		public ChatClientResponse adviseCall(ChatClientRequest request, CallAdvisorChain chain) {
			return new ChatClientResponse(this.response, request.context());
		}

		@Override
		public String getName() {
			return "Cached";
		}

		@Override
		public int getOrder() {
			return SessionParameters.TURN_ORDER + 40;
		}

	}

	/**
	 * Puts a reminder behind the results of tools, or behind every request.
	 */
	private record Reminding(boolean always) implements BaseAdvisor {

		@Override
		public ChatClientRequest before(ChatClientRequest request, AdvisorChain chain) {
			List<Message> messages = new ArrayList<>(request.prompt().getInstructions());
			if (this.always || messages.get(messages.size() - 1) instanceof ToolResponseMessage) {
				messages.add(new UserMessage("Answer briefly."));
			}
			return request.mutate().prompt(request.prompt().mutate().messages(messages).build()).build();
		}

		@Override
		public ChatClientResponse after(ChatClientResponse response, AdvisorChain chain) {
			return response;
		}

		@Override
		public int getOrder() {
			return SessionParameters.ROUND_ORDER - 50;
		}

	}

	/**
	 * Makes a call again when it fails: where nothing else is said, the whole tool loop.
	 */
	private record Retrying(int order) implements CallAdvisor, StreamAdvisor {

		Retrying() {
			this(SessionParameters.TURN_ORDER + 40);
		}

		@Override
		public ChatClientResponse adviseCall(ChatClientRequest request, CallAdvisorChain chain) {
			try {
				return chain.copy(this).nextCall(request);
			}
			catch (IllegalStateException | ToolExecutionException ex) {
				return chain.copy(this).nextCall(request);
			}
		}

		@Override
		public Flux<ChatClientResponse> adviseStream(ChatClientRequest request, StreamAdvisorChain chain) {
			return Flux.defer(() -> chain.copy(this).nextStream(request)).retry(1);
		}

		@Override
		public String getName() {
			return "Retrying";
		}

		@Override
		public int getOrder() {
			return this.order;
		}

	}

}
