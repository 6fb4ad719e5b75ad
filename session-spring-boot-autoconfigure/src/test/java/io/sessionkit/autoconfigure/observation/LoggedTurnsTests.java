package io.sessionkit.autoconfigure.observation;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

import io.micrometer.context.ContextRegistry;
import io.micrometer.context.ContextSnapshotFactory;
import io.micrometer.context.ThreadLocalAccessor;
import io.sessionkit.SessionKey;
import io.sessionkit.advisor.SessionAdvisor;
import io.sessionkit.codec.JsonMessageCodec;
import io.sessionkit.conversation.Conversations;
import io.sessionkit.hook.HookContext;
import io.sessionkit.hook.HookResult;
import io.sessionkit.hook.SessionHook;
import io.sessionkit.hook.TurnPart;
import io.sessionkit.store.StoreOptions;
import io.sessionkit.store.Tail;
import io.sessionkit.store.memory.InMemorySessionStore;
import io.sessionkit.test.ClientSetup;
import io.sessionkit.test.ClientSetup.Mode;
import io.sessionkit.test.ScriptedChatModel;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.MDC;
import reactor.core.publisher.Flux;

import org.springframework.ai.chat.messages.Message;

import static org.assertj.core.api.Assertions.assertThat;

class LoggedTurnsTests {

	private static final SessionKey KEY = SessionKey.of("t1");

	private final ContextRegistry contexts = new ContextRegistry().loadContextAccessors();

	private final LoggedTurns logged = new LoggedTurns(this.contexts);

	private final List<String> seen = new CopyOnWriteArrayList<>();

	private final ScriptedChatModel model = new ScriptedChatModel();

	private final Conversations conversations = Conversations
		.builder(new InMemorySessionStore(StoreOptions.of(JsonMessageCodec.create())))
		.observers(List.of(this.logged))
		.hooks(List.of(new Noting()))
		.build();

	@AfterEach
	void close() {
		this.logged.close();
	}

	@ParameterizedTest
	@EnumSource
	void stagesOfATurnHaveItsIdAndNothingIsLeftBehind(Mode mode) {
		this.model.step((prompt) -> {
			note();
			return Flux.just(this.model.chunk("a", List.of(), true));
		});
		ask(mode);
		String id = this.conversations.get(KEY).turns(Tail.ALL).get(0).id();
		List<String> expected = new ArrayList<>(List.of("beforeTurn " + id, "beforeSave " + id));
		if (mode == Mode.CALL) {
			expected.add("model " + id);
		}
		assertThat(this.seen).containsAll(expected);
		assertThat(MDC.get("sessionkit.turn")).isNull();
	}

	@Test
	void whatTheCallerHadIsThereAgain() {
		MDC.put("sessionkit.turn", "outer");
		try {
			this.model.says("a");
			ask(Mode.CALL);
			assertThat(MDC.get("sessionkit.turn")).isEqualTo("outer");
			assertThat(this.seen).doesNotContain("beforeTurn outer");
		}
		finally {
			MDC.remove("sessionkit.turn");
		}
	}

	/** As Reactor does for operators if the application has switched that on. */
	@Test
	void contextOfAStreamRestoresTheIdOnOtherThreads() {
		ContextSnapshotFactory snapshots = ContextSnapshotFactory.builder().contextRegistry(this.contexts).build();
		this.model.step((prompt) -> Flux.deferContextual((context) -> {
			snapshots.captureFrom(context).wrap(this::note).run();
			return Flux.just(this.model.chunk("a", List.of(), true));
		}));
		ask(Mode.STREAM);
		String id = this.conversations.get(KEY).turns(Tail.ALL).get(0).id();
		assertThat(this.seen).contains("model " + id);
	}

	/** The registry is one for all contexts of a process, such as those of its tests. */
	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void contextThatEndsLeavesTheIdToTheOthers(boolean endsFirst) {
		LoggedTurns second = new LoggedTurns(this.contexts);
		LoggedTurns ended = endsFirst ? this.logged : second;
		LoggedTurns other = endsFirst ? second : this.logged;
		ended.close();
		assertThat(this.contexts.getThreadLocalAccessors()).extracting(ThreadLocalAccessor::key)
			.contains(LoggedTurns.KEY);
		other.close();
		assertThat(this.contexts.getThreadLocalAccessors()).extracting(ThreadLocalAccessor::key)
			.doesNotContain(LoggedTurns.KEY);
	}

	private void note() {
		this.seen.add("model " + MDC.get("sessionkit.turn"));
	}

	private @Nullable String ask(Mode mode) {
		return new ClientSetup(mode, ClientSetup.ToolLoop.AUTOMATIC, false).content(ClientSetup.plain()
			.builder(this.model, SessionAdvisor.of(this.conversations))
			.build()
			.prompt()
			.user("q")
			.advisors(SessionAdvisor.session(KEY)));
	}

	private final class Noting implements SessionHook {

		@Override
		public HookResult<List<Message>> beforeTurn(HookContext context, List<Message> input) {
			LoggedTurnsTests.this.seen.add("beforeTurn " + MDC.get("sessionkit.turn"));
			return HookResult.keep();
		}

		@Override
		public HookResult<List<Message>> beforeSave(HookContext context, TurnPart part) {
			LoggedTurnsTests.this.seen.add("beforeSave " + MDC.get("sessionkit.turn"));
			return HookResult.keep();
		}

	}

}
