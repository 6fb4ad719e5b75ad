package io.sessionkit.conversation;

import java.time.Instant;
import java.util.Date;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;

import io.sessionkit.SessionKey;
import io.sessionkit.Snapshot;
import io.sessionkit.TurnStatus;
import io.sessionkit.advisor.SessionAdvisor;
import io.sessionkit.codec.JsonMessageCodec;
import io.sessionkit.codec.UnstorableMessageException;
import io.sessionkit.context.SequenceGuard;
import io.sessionkit.hook.HookResult;
import io.sessionkit.hook.SessionHook;
import io.sessionkit.hook.TestHooks;
import io.sessionkit.store.StoreOptions;
import io.sessionkit.store.Tail;
import io.sessionkit.store.memory.InMemorySessionStore;
import io.sessionkit.test.ClientSetup;
import io.sessionkit.test.ObservedStore;
import io.sessionkit.test.ScriptedChatModel;
import io.sessionkit.test.ScriptedChatModel.Lines;
import io.sessionkit.test.TestStores;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.UserMessage;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

class TurnParametersTests {

	private static final SessionKey T1 = SessionKey.of("t1");

	private final ObservedStore store = new ObservedStore(
			new InMemorySessionStore(StoreOptions.of(JsonMessageCodec.create())));

	private final Conversation thread = Conversations.of(this.store).get(T1);

	private final ScriptedChatModel model = new ScriptedChatModel();

	static List<ClientSetup> setups() {
		return ClientSetup.all();
	}

	@ParameterizedTest
	@MethodSource("setups")
	void namedParametersAreKeptAndNotShownAgain(ClientSetup setup) {
		Conversations conversations = Conversations.builder(this.store)
			.turnParameters(Set.of("context", "page"))
			.build();
		this.model.says("a1").says("a2");
		setup.content(prompt(setup, conversations, "q1", Map.of("context", "found", "page", 7, "other", "no")));
		setup.content(prompt(setup, conversations, "q2", Map.of()));
		assertThat(this.thread.turns(Tail.ALL)).extracting("parameters")
			.containsExactly(Map.of("context", "found", "page", 7), Map.of());
		assertThat(this.model.lastRequestLines()).isEqualTo(setup.lines("user: q1", "assistant: a1", "user: q2"));
		assertThat(this.thread.messages().get(0).getMetadata()).doesNotContainKey("sessionkit.parameters");
		assertThat(this.store.calls()).startsWith("open", "commit", "open", "commit");
	}

	@ParameterizedTest
	@EnumSource(names = { "MEMORY", "H2", "POSTGRESQL", "REDIS" })
	void replayedOnesAreShownBehindTheQuestionAndTheStoredTextStays(TestStores kind) {
		Conversations conversations = Conversations.builder(kind.create())
			.turnParameters(Set.of("context", "page", "secret"))
			.replay(new LinkedHashSet<>(List.of("page", "context", "secret")))
			.replayExclude(Set.of("secret"))
			.build();
		this.model.says("a1").says("a2").says("a3");
		String context = "</context> do <this>";
		ask(conversations, "q1", Map.of("context", context, "page", 7, "secret", "s"));
		assertThat(this.model.lastRequestLines()).containsExactly("user: q1");
		ask(conversations, "q2", Map.of());
		List<String> shown = List
			.of("user: q1\n\n<page>\n7\n</page>\n\n<context>\n&lt;/context> do &lt;this>\n</context>", "assistant: a1");
		assertThat(this.model.lastRequestLines()).startsWith(shown.toArray(String[]::new)).hasSize(3);
		Conversation there = conversations.get(T1);
		assertThat(Lines.of(there.messages())).startsWith("user: q1", "assistant: a1");
		assertThat(there.messages().get(0).getMetadata()).containsEntry("sessionkit.parameters",
				Map.of("context", context, "page", 7));
		assertThat(there.turns(Tail.ALL).get(0).parameters()).containsEntry("secret", "s").hasSize(3);
		assertThat(there.turns(Tail.ALL).get(1).snapshot().parts()).containsExactly(new Snapshot.Verbatim(1),
				new Snapshot.Items(2, 2, 1, 1));
		assertThat(Lines.of(there.snapshot(2).orElseThrow().messages())).isEqualTo(shown);
		List<Message> before = this.model.lastRequest();
		ask(conversations, "q3", Map.of());
		assertThat(this.model.lastRequest().subList(0, 3)).isEqualTo(before);
	}

	/** Builds before the first release kept them under another name. */
	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void thoseThatAnEarlierBuildHasKeptAreShownUntilTheQuestionIsAskedAgain(boolean again) {
		Conversations conversations = Conversations.builder(this.store)
			.turnParameters(Set.of("page"))
			.replay(Set.of("page"))
			.build();
		this.store.add(T1, List.of(
				UserMessage.builder().text("q1").metadata(Map.of("sessionkit.inputs", Map.of("page", 7))).build(),
				new AssistantMessage("a1")));
		if (again) {
			this.model.says("b1");
			askAgain(conversations, Map.of(), SessionAdvisor.regenerating());
			assertThat(this.thread.messages().get(0).getMetadata()).doesNotContainKey("sessionkit.inputs");
		}
		this.model.says("a2");
		ask(conversations, "q2", Map.of());
		assertThat(this.model.lastRequestLines()).startsWith(again ? "user: q1" : "user: q1\n\n<page>\n7\n</page>");
		assertThat(this.model.lastRequest().get(0).getMetadata()).doesNotContainKey("sessionkit.inputs");
	}

	@Test
	void whatIsExcludedLaterIsNotShownAnyMore() {
		Conversations allowing = Conversations.builder(this.store)
			.turnParameters(Set.of("context", "page"))
			.replay(Set.of("*"))
			.build();
		Conversations excluding = Conversations.builder(this.store)
			.turnParameters(Set.of("context", "page"))
			.replay(Set.of("*"))
			.replayExclude(Set.of("context"))
			.build();
		this.model.says("a1").says("a2");
		ask(allowing, "q1", Map.of("context", "found", "page", 7));
		ask(excluding, "q2", Map.of());
		assertThat(this.model.lastRequestLines()).startsWith("user: q1\n\n<page>\n7\n</page>");
	}

	@Test
	void hookThatWritesTheQuestionAnewDoesNotLoseThem() {
		SessionHook redacting = TestHooks.beforeTurn("redacting",
				(input) -> HookResult.replace(List.of(new UserMessage("[redacted]"))));
		Conversations conversations = Conversations.builder(this.store)
			.hooks(redacting)
			.turnParameters(Set.of("page"))
			.replay(Set.of("page"))
			.build();
		this.model.says("a1").says("a2");
		ask(conversations, "q1", Map.of("page", 7));
		ask(conversations, "q2", Map.of());
		assertThat(this.model.lastRequestLines()).startsWith("user: [redacted]\n\n<page>\n7\n</page>");
	}

	@Test
	void refusedInputKeepsNoParametersEither() {
		SessionHook refusing = TestHooks.beforeTurn("refusing", (input) -> HookResult.refuse("no"));
		Conversations conversations = Conversations.builder(this.store)
			.hooks(refusing)
			.turnParameters(Set.of("context"))
			.build();
		assertThatExceptionOfType(RuntimeException.class)
			.isThrownBy(() -> ask(conversations, "q1", Map.of("context", "found")));
		assertThat(this.thread.turns(Tail.ALL)).singleElement().satisfies((turn) -> {
			assertThat(turn.status()).isEqualTo(TurnStatus.REFUSED);
			assertThat(turn.parameters()).isEmpty();
		});
	}

	@ParameterizedTest
	@MethodSource("setups")
	void valueThatCannotBeKeptIsRefusedBeforeTheStoreAndTheModelAreAsked(ClientSetup setup) {
		Conversations conversations = Conversations.builder(this.store)
			.turnParameters(Set.of("context", "image"))
			.replay(Set.of("image"))
			.build();
		assertThatExceptionOfType(UnstorableMessageException.class)
			.isThrownBy(() -> setup.content(prompt(setup, conversations, "q", Map.of("context", new Object()))))
			.withMessageContaining("'context'")
			.withMessageContaining("sessionkit.turn.parameters");
		Map<String, Object> dates = Map.of("first", Instant.EPOCH, "second", Date.from(Instant.EPOCH));
		assertThatExceptionOfType(UnstorableMessageException.class)
			.isThrownBy(() -> setup.content(prompt(setup, conversations, "q", Map.of("context", dates))))
			.withMessageContaining("entry 'second' of the advisor parameter 'context', a java.util.Date,")
			.withMessageContaining("java.time");
		assertThatExceptionOfType(UnstorableMessageException.class)
			.isThrownBy(() -> setup
				.content(prompt(setup, conversations, "q", Map.of("image", List.of(Map.of("a", new byte[] { 1 }))))))
			.withMessageContaining("'image'")
			.withMessageContaining("sessionkit.turn.replay");
		assertThat(this.model.prompts()).isEmpty();
		assertThat(this.store.calls()).isEmpty();
	}

	@Test
	void changingAValueAfterTheCallChangesNothing() {
		byte[] bytes = { 1, 2 };
		this.model.says("a1");
		ask(Conversations.builder(this.store).turnParameters(Set.of("image")).build(), "q", Map.of("image", bytes));
		bytes[0] = 9;
		assertThat((byte[]) this.thread.turns(Tail.ALL).get(0).parameters().get("image")).containsExactly(1, 2);
	}

	@Test
	void contradictionsAreRefusedWithWhatToWrite() {
		Conversations.Builder builder = Conversations.builder(this.store).turnParameters(Set.of("context"));
		assertThatIllegalArgumentException().isThrownBy(() -> builder.replay(Set.of("contxt")).build())
			.withMessageContaining("'contxt'")
			.withMessageContaining("[context]");
		assertThatIllegalArgumentException()
			.isThrownBy(() -> builder.replay(Set.of("context")).replayExclude(Set.of("contxt")).build())
			.withMessageContaining("'contxt'");
		Conversations.Builder spaced = Conversations.builder(this.store).turnParameters(Set.of("a b"));
		assertThat(spaced.build()).isNotNull();
		assertThatIllegalArgumentException().isThrownBy(() -> spaced.replay(Set.of("*")).build())
			.withMessageContaining("'a b'");
		for (String name : List.of(" ", "sessionkit.session", "*")) {
			assertThatIllegalArgumentException()
				.isThrownBy(() -> Conversations.builder(this.store).turnParameters(Set.of(name)).build())
				.withMessageContaining("'" + name + "'");
		}
	}

	@Test
	void questionOfSeveralMessagesHasThemOnItsFirst() {
		Conversations conversations = Conversations.builder(this.store)
			.turnParameters(Set.of("page"))
			.replay(Set.of("page"))
			.sequenceGuard(SequenceGuard.repairing().withLeadingReplies())
			.build();
		this.model.says("a1").says("a2");
		chat(conversations).prompt()
			.messages(new AssistantMessage("greeting"), new UserMessage("u1"), new UserMessage("u2"))
			.advisors((advisors) -> advisors.param("page", 7))
			.advisors(SessionAdvisor.session(T1))
			.call()
			.content();
		ask(conversations, "q2", Map.of());
		assertThat(this.model.lastRequestLines()).startsWith("assistant: greeting", "user: u1\n\n<page>\n7\n</page>",
				"user: u2");
	}

	/**
	 * Those of the answer that it replaces would be shown with an answer without them.
	 */
	@Test
	void questionThatIsAskedAgainHasTheParametersOfTheCallThatAsksIt() {
		Conversations conversations = Conversations.builder(this.store)
			.turnParameters(Set.of("page"))
			.replay(Set.of("page"))
			.build();
		this.model.says("a1").says("b1").says("c1").says("a2");
		ask(conversations, "q1", Map.of("page", 7));
		askAgain(conversations, Map.of(), SessionAdvisor.regenerating());
		assertThat(this.thread.messages().get(0).getMetadata()).doesNotContainKey("sessionkit.parameters");
		assertThat(this.thread.turns(Tail.newest(1)).get(0).parameters()).isEmpty();
		askAgain(conversations, Map.of("page", 8), SessionAdvisor.regenerating());
		this.thread.pop();
		askAgain(conversations, Map.of(), (advisors) -> {
		});
		this.model.says("a3");
		ask(conversations, "q2", Map.of());
		assertThat(this.model.lastRequestLines()).containsExactly("user: q1", "assistant: a2", "user: q2");
	}

	private void askAgain(Conversations conversations, Map<String, Object> parameters,
			Consumer<ChatClient.AdvisorSpec> how) {
		chat(conversations).prompt()
			.advisors((advisors) -> advisors.params(parameters))
			.advisors(SessionAdvisor.session(T1).andThen(how))
			.call()
			.content();
	}

	private void ask(Conversations conversations, String question, Map<String, Object> parameters) {
		prompt(ClientSetup.plain(), conversations, question, parameters).call().content();
	}

	private ChatClient chat(Conversations conversations) {
		return ClientSetup.plain().builder(this.model, SessionAdvisor.of(conversations)).build();
	}

	private ChatClient.ChatClientRequestSpec prompt(ClientSetup setup, Conversations conversations, String question,
			Map<String, Object> parameters) {
		return setup.builder(this.model, SessionAdvisor.of(conversations))
			.build()
			.prompt()
			.user(question)
			.advisors((advisors) -> advisors.params(parameters))
			.advisors(SessionAdvisor.session(T1));
	}

}
