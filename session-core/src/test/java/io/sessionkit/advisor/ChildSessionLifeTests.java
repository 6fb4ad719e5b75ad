package io.sessionkit.advisor;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.stream.Stream;

import io.sessionkit.Concurrency;
import io.sessionkit.SessionKey;
import io.sessionkit.codec.JsonMessageCodec;
import io.sessionkit.conversation.Conversations;
import io.sessionkit.hook.SessionContext;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.StoreOptions;
import io.sessionkit.store.memory.InMemorySessionStore;
import io.sessionkit.stream.TurnStreams;
import io.sessionkit.test.ScriptedChatModel;
import io.sessionkit.test.ScriptedChatModel.Lines;
import io.sessionkit.test.SetClock;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import reactor.core.publisher.Flux;

import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.chat.client.ChatClient.ChatClientRequestSpec;
import org.springframework.ai.tool.ToolCallback;
import org.springframework.ai.tool.function.FunctionToolCallback;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A child for one turn whose call takes long.
 */
class ChildSessionLifeTests {

	private final SessionKey key = SessionKey.of("t1");

	private final SetClock clock = new SetClock();

	private final SessionStore store = new InMemorySessionStore(
			StoreOptions.of(JsonMessageCodec.create()).clock(this.clock));

	/** No call shows that it is there while the clock jumps. */
	private final Conversations conversations = Conversations.builder(this.store).lease(Duration.ofHours(2)).build();

	private final ScriptedChatModel model = new ScriptedChatModel();

	private final ChatClient client = ChatClient.builder(this.model)
		.defaultAdvisors(SessionAdvisor.of(this.conversations))
		.build();

	private final AtomicReference<List<String>> log = new AtomicReference<>(List.of());

	@AfterEach
	void close() {
		this.conversations.close();
	}

	static Stream<Consumer<ChatClientRequestSpec>> linesInWhichItStands() {
		return Stream.of((call) -> call.advisors(SessionAdvisor.concurrency(Concurrency.SERIALIZE)),
				(call) -> call.advisors(SessionAdvisor.idempotencyKey("r1")));
	}

	@ParameterizedTest
	@MethodSource("linesInWhichItStands")
	void childDoesNotExpireUnderACallThatTakesMoreThanAnHour(Consumer<ChatClientRequestSpec> line) {
		inTurn((call) -> {
			line.accept(call);
			call.call().content();
		});
		assertThat(this.log.get()).containsExactly("user: c1", "assistant: re c1");
	}

	@Test
	void childDoesNotExpireUnderAStreamThatTakesMoreThanAnHour() {
		inTurn((call) -> {
			try (TurnStreams streams = TurnStreams.builder(this.conversations).build()) {
				streams.start(call).blockLast();
			}
		});
		assertThat(this.log.get()).containsExactly("user: c1", "assistant: re c1");
	}

	/** Runs a turn of the parent whose tool calls the child. */
	private void inTurn(Consumer<ChatClientRequestSpec> calling) {
		this.model.calls(SessionAdvisorTests.call("c1", "work", "1")).step((prompt) -> {
			this.clock.pass(Duration.ofMinutes(61));
			return Flux.just(this.model.chunk("re c1", List.of(), true));
		}).says("done");
		this.client.prompt()
			.user("outer")
			.toolCallbacks(tool(calling))
			.advisors(SessionAdvisor.session(this.key))
			.call()
			.content();
	}

	private ToolCallback tool(Consumer<ChatClientRequestSpec> calling) {
		return FunctionToolCallback.builder("work", (SessionAdvisorTests.Value value) -> {
			calling.accept(this.client.prompt()
				.user("c1")
				.advisors(SessionAdvisor.child(ChildSession.of("scratch").forThisTurn())));
			SessionKey child = this.key.child("scratch").child(new SessionContext().turnId());
			this.log.set(Lines.of(this.store.messages(child)));
			return "ok";
		}).description("works").inputType(SessionAdvisorTests.Value.class).build();
	}

}
