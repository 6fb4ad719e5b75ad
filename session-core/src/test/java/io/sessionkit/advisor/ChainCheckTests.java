package io.sessionkit.advisor;

import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;

import io.micrometer.observation.tck.TestObservationRegistry;
import io.micrometer.observation.tck.TestObservationRegistryAssert;
import io.sessionkit.SessionKey;
import io.sessionkit.codec.JsonMessageCodec;
import io.sessionkit.conversation.Approvals;
import io.sessionkit.conversation.Conversation;
import io.sessionkit.conversation.Conversations;
import io.sessionkit.internal.approval.GatedTurns;
import io.sessionkit.internal.door.InnerParts;
import io.sessionkit.store.StoreOptions;
import io.sessionkit.store.Tail;
import io.sessionkit.store.memory.InMemorySessionStore;
import io.sessionkit.test.ClientSetup;
import io.sessionkit.test.ScriptedChatModel;
import org.awaitility.Awaitility;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.chat.client.advisor.MessageChatMemoryAdvisor;
import org.springframework.ai.chat.client.advisor.ToolCallingAdvisor;
import org.springframework.ai.chat.memory.ChatMemory;
import org.springframework.ai.chat.memory.MessageWindowChatMemory;
import org.springframework.ai.tool.ToolCallback;
import org.springframework.ai.tool.function.FunctionToolCallback;
import org.springframework.core.Ordered;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

class ChainCheckTests {

	private final Conversations conversations = Conversations
		.of(new InMemorySessionStore(StoreOptions.of(JsonMessageCodec.create())));

	private final SessionAdvisor advisor = SessionAdvisor.of(this.conversations);

	private final Conversation thread = this.conversations.get(SessionKey.of("t1"));

	private final ScriptedChatModel model = new ScriptedChatModel();

	private final AtomicInteger toolRuns = new AtomicInteger();

	@ParameterizedTest
	@ValueSource(ints = { Ordered.HIGHEST_PRECEDENCE + 500, 0, Ordered.LOWEST_PRECEDENCE - 5000,
			Ordered.HIGHEST_PRECEDENCE + 100, Ordered.HIGHEST_PRECEDENCE + 1 })
	void aToolAdvisorAtAnotherPlaceIsRefusedBeforeAToolCouldRunUnseen(int order) {
		for (ClientSetup setup : List.of(ClientSetup.plain(), ClientSetup.streaming())) {
			this.model.calls(SessionAdvisorTests.call("c1", "count", "1")).says("done");
			ChatClient chat = setup.builder(this.model, this.advisor)
				.defaultTools(counting())
				.defaultAdvisors(ToolCallingAdvisor.builder().advisorOrder(order).build())
				.build();
			assertThatIllegalStateException()
				.isThrownBy(() -> setup.content(chat.prompt().user("go").advisors(SessionAdvisor.session("t1"))))
				.withMessageContaining("spring.ai.chat.client.tool-calling.advisor-order");
		}
		assertThat(this.toolRuns).hasValue(0);
		assertThat(this.model.prompts()).isEmpty();
		assertThat(this.thread.turns(Tail.ALL)).isEmpty();
	}

	@ParameterizedTest
	@ValueSource(ints = { Ordered.HIGHEST_PRECEDENCE + 211, Ordered.HIGHEST_PRECEDENCE + 399 })
	void aToolAdvisorAnywhereBetweenTheTwoIsFine(int order) {
		for (ClientSetup setup : List.of(ClientSetup.plain(), ClientSetup.streaming())) {
			this.model.calls(SessionAdvisorTests.call("c1", "count", "1")).says("done");
			ChatClient chat = setup.builder(this.model, this.advisor)
				.defaultTools(counting())
				.defaultAdvisors(ToolCallingAdvisor.builder().advisorOrder(order).build())
				.build();
			setup.content(chat.prompt().user("go").advisors(SessionAdvisor.session("t1")));
		}
		assertThat(this.thread.messages()).hasSize(8);
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void anotherMemoryOnACallThatNamesASessionIsRefusedNamingBoth(ClientSetup.Mode mode) {
		ClientSetup setup = new ClientSetup(mode, ClientSetup.ToolLoop.AUTOMATIC, false);
		ChatMemory other = MessageWindowChatMemory.builder().build();
		ChatClient chat = setup.builder(this.model, this.advisor)
			.defaultAdvisors(MessageChatMemoryAdvisor.builder(other).build())
			.build();
		assertThatIllegalStateException()
			.isThrownBy(() -> setup.content(chat.prompt().user("go").advisors(SessionAdvisor.session("t1"))))
			.withMessageContaining("MessageChatMemoryAdvisor")
			.withMessageContaining("SessionKitAdvisor");
		assertThat(this.model.prompts()).isEmpty();
		assertThat(other.get("t1")).isEmpty();
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void anAdvisorRegisteredTwiceActsOnce(ClientSetup.Mode mode) {
		ClientSetup setup = new ClientSetup(mode, ClientSetup.ToolLoop.AUTOMATIC, false);
		ChatClient chat = setup.builder(this.model, this.advisor)
			.defaultAdvisors(this.advisor)
			.defaultTools(counting())
			.build();
		this.model.calls(SessionAdvisorTests.call("c1", "count", "1")).says("a");
		setup.content(chat.prompt().user("q").advisors(this.advisor).advisors(SessionAdvisor.session("t1")));
		assertThat(this.thread.messages()).hasSize(4);
		this.model.says("b");
		setup.content(chat.mutate()
			.defaultAdvisors(this.advisor)
			.build()
			.prompt()
			.user("r")
			.advisors(SessionAdvisor.session("t1")));
		assertThat(this.thread.messages()).hasSize(6);
		assertThat(this.model.lastRequest()).hasSize(5);
		assertThat(this.toolRuns).hasValue(1);
	}

	/** The guards of the other one would not be asked. */
	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void anotherSessionAdvisorOnACallThatNamesASessionIsRefused(ClientSetup.Mode mode) {
		ClientSetup setup = new ClientSetup(mode, ClientSetup.ToolLoop.AUTOMATIC, false);
		SessionAdvisor own = SessionAdvisor
			.of(Conversations.of(new InMemorySessionStore(StoreOptions.of(JsonMessageCodec.create()))));
		ChatClient one = setup.builder(this.model, this.advisor).build();
		ChatClient both = one.mutate().defaultAdvisors(own).build();
		for (ChatClient.ChatClientRequestSpec call : List.of(both.prompt(), one.prompt().advisors(own),
				both.prompt().advisors(this.advisor))) {
			assertThatIllegalStateException()
				.isThrownBy(() -> setup.content(call.user("go").advisors(SessionAdvisor.session("t1"))))
				.withMessageContaining("two SessionAdvisors")
				.withMessageContaining("ChatClient.builder(model)");
		}
		assertThat(this.model.prompts()).isEmpty();
		this.model.says("a");
		assertThat(setup.content(both.prompt().user("go").advisors(SessionAdvisor.none()))).isEqualTo("a");
	}

	private SessionTurnAdvisor turnAdvisor() {
		GatedTurns turns = InnerParts.of(Approvals.of(this.conversations), GatedTurns.class);
		return new SessionTurnAdvisor(turns, this.conversations, (request) -> Optional.empty(), false,
				CallRules.DEFAULT);
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void oneOfTheTwoAdvisorsAloneIsRefused(ClientSetup.Mode mode) {
		ClientSetup setup = new ClientSetup(mode, ClientSetup.ToolLoop.AUTOMATIC, false);
		ChatClient chat = setup.builder(this.model, null).defaultAdvisors(turnAdvisor()).build();
		assertThatIllegalStateException()
			.isThrownBy(() -> setup.content(chat.prompt().user("go").advisors(SessionAdvisor.session("t1"))))
			.withMessageContaining("Register all three");
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void twoOfTheThreeAdvisorsAreRefused(ClientSetup.Mode mode) {
		ClientSetup setup = new ClientSetup(mode, ClientSetup.ToolLoop.AUTOMATIC, false);
		ChatClient chat = setup.builder(this.model, null)
			.defaultAdvisors(turnAdvisor(), new SessionRoundAdvisor(false, false))
			.build();
		assertThatIllegalStateException()
			.isThrownBy(() -> setup.content(chat.prompt().user("go").advisors(SessionAdvisor.session("t1"))))
			.withMessageContaining("before the model is missing")
			.withMessageContaining("Register all three");
		assertThat(this.model.prompts()).isEmpty();
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void theSessionIdReachesSpringAisOwnObservation(ClientSetup.Mode mode) {
		TestObservationRegistry registry = TestObservationRegistry.create();
		this.model.says("a");
		ChatClient chat = ClientSetup.observed(this.model, this.advisor, registry, (builder) -> {
		});
		new ClientSetup(mode, ClientSetup.ToolLoop.AUTOMATIC, false)
			.content(chat.prompt().user("q").advisors(SessionAdvisor.session(SessionKey.of("ada", "t1"))));
		TestObservationRegistryAssert.assertThat(registry)
			.hasObservationWithNameEqualTo("spring.ai.chat.client")
			.that()
			.hasHighCardinalityKeyValue("spring.ai.chat.client.conversation.id", "t1");
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void theIdOfAResolvedSessionReachesItToo(ClientSetup.Mode mode) {
		TestObservationRegistry registry = TestObservationRegistry.create();
		this.model.says("a");
		SessionAdvisor resolved = SessionAdvisor.builder(this.conversations)
			.resolver((request) -> Optional.of(SessionKey.of("ada", "t1")))
			.build();
		ChatClient chat = ClientSetup.observed(this.model, resolved, registry, (builder) -> {
		});
		new ClientSetup(mode, ClientSetup.ToolLoop.AUTOMATIC, false).content(chat.prompt().user("q"));
		// the observation of a stream ends a little later than the stream
		Awaitility.await()
			.untilAsserted(() -> TestObservationRegistryAssert.assertThat(registry)
				.hasObservationWithNameEqualTo("spring.ai.chat.client")
				.that()
				.hasHighCardinalityKeyValue("spring.ai.chat.client.conversation.id", "t1"));
		assertThat(this.conversations.get(SessionKey.of("ada", "t1")).messages()).hasSize(2);
	}

	private ToolCallback counting() {
		return FunctionToolCallback
			.builder("count", (SessionAdvisorTests.Value value) -> String.valueOf(this.toolRuns.incrementAndGet()))
			.description("counts")
			.inputType(SessionAdvisorTests.Value.class)
			.build();
	}

}
