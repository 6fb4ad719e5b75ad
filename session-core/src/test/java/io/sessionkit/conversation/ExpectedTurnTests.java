package io.sessionkit.conversation;

import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import java.util.stream.Stream;

import io.sessionkit.Concurrency;
import io.sessionkit.NothingWaitsException;
import io.sessionkit.SessionKey;
import io.sessionkit.SessionLostException;
import io.sessionkit.advisor.SessionAdvisor;
import io.sessionkit.approval.ApprovalScenario;
import io.sessionkit.approval.ApprovalScenario.Participant;
import io.sessionkit.codec.JsonMessageCodec;
import io.sessionkit.context.Summarize;
import io.sessionkit.internal.opening.Extensions;
import io.sessionkit.internal.opening.TurnRequest;
import io.sessionkit.store.ChangeRefusedException;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.StoreOptions;
import io.sessionkit.store.Tail;
import io.sessionkit.store.redis.RedisSessionStore;
import io.sessionkit.test.ClientSetup;
import io.sessionkit.test.ClientSetup.Mode;
import io.sessionkit.test.RedisServers;
import io.sessionkit.test.ScriptedChatModel;
import io.sessionkit.test.TestStores;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.chat.messages.UserMessage;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * A caller who has seen a turn of a session is told when it is not there any more, before
 * a model is paid for; one who expects nothing begins anew.
 */
class ExpectedTurnTests {

	private static final Map<TestStores, SessionStore> stores = new EnumMap<>(TestStores.class);

	private final SessionKey key = SessionKey.of("owner", UUID.randomUUID().toString());

	private final ScriptedChatModel model = new ScriptedChatModel();

	static Stream<Arguments> storesAndModes() {
		return Stream.of(TestStores.MEMORY, TestStores.H2, TestStores.POSTGRESQL, TestStores.REDIS)
			.flatMap((kind) -> Stream.of(Mode.values()).map((mode) -> Arguments.of(kind, mode)));
	}

	@ParameterizedTest
	@MethodSource("storesAndModes")
	void aSessionThatIsGoneIsNotBegunAnew(TestStores kind, Mode mode) {
		SessionStore store = store(kind);
		long seen = ask(client(store), mode, "q1", 0);
		seen = ask(client(store), mode, "q2", seen);
		assertThat(seen).isEqualTo(2);
		store.erase(this.key);
		assertLost(store, mode, 2, 0);
		assertThat(store.find(this.key)).isEmpty();
		assertThat(ask(client(store), mode, "anew", 0)).isEqualTo(1);
		assertLost(store, mode, 2, 1);
		assertThat(store.messages(this.key)).hasSize(2);
	}

	/** A line would begin the session. */
	@ParameterizedTest
	@MethodSource("storesAndModes")
	void aCallInLineBeginsNoSessionEither(TestStores kind, Mode mode) {
		SessionStore store = store(kind);
		ChatClient inLine = client(store).mutate()
			.defaultAdvisors(SessionAdvisor.concurrency(Concurrency.SERIALIZE))
			.build();
		ChatClient named = client(store).mutate().defaultAdvisors(SessionAdvisor.idempotencyKey("r1")).build();
		for (ChatClient chat : List.of(inLine, named)) {
			assertThatExceptionOfType(SessionLostException.class).isThrownBy(() -> call(chat, mode, "q", 2));
			assertThatExceptionOfType(NothingWaitsException.class)
				.isThrownBy(() -> content(mode, chat.prompt().advisors(SessionAdvisor.session(this.key))));
			assertThat(store.find(this.key)).isEmpty();
		}
		assertThat(ask(inLine, mode, "anew", 0)).isEqualTo(1);
	}

	@ParameterizedTest
	@MethodSource("storesAndModes")
	void aSessionThatHasMovedOnIsNotLost(TestStores kind, Mode mode) {
		SessionStore store = store(kind);
		long seen = ask(client(store), mode, "q1", 0);
		store.add(this.key, List.of(new UserMessage("from another window")));
		assertThat(ask(client(store), mode, "q3", seen)).isEqualTo(3);
		store.pop(this.key);
		store.pop(this.key);
		assertThat(store.find(this.key).orElseThrow().head()).as("turn 3 is history no more").isEqualTo(2);
		assertThat(ask(client(store), mode, "q4", 3)).isEqualTo(4);
	}

	/** What the call names is not there because the session is not. */
	@ParameterizedTest
	@MethodSource("storesAndModes")
	void aCallThatNamesItsPlaceIsToldTooThatTheSessionIsGone(TestStores kind, Mode mode) {
		SessionStore store = store(kind);
		ClientSetup setup = (mode == Mode.CALL) ? ClientSetup.plain() : ClientSetup.streaming();
		for (long left : new long[] { 0, 1, 2 }) {
			List<Consumer<ChatClient.AdvisorSpec>> asking = List.of(SessionAdvisor.regenerating(),
					SessionAdvisor.regenerating(3));
			List<Consumer<ChatClient.AdvisorSpec>> places = List.of(SessionAdvisor.editing(3),
					SessionAdvisor.editing(1), SessionAdvisor.branch("b"), SessionAdvisor.branch("main"));
			asking.forEach((place) -> assertLost(left,
					() -> setup.content(client(store).prompt().advisors(on(3)).advisors(place))));
			places.forEach((place) -> assertLost(left,
					() -> setup.content(client(store).prompt().user("secret words").advisors(on(3)).advisors(place))));
			ask(client(store), mode, "q", 0);
		}
		assertThat(this.model.prompts()).hasSize(3);
		assertThatExceptionOfType(ChangeRefusedException.class).as("nothing is lost")
			.isThrownBy(() -> setup
				.content(client(store).prompt().user("q").advisors(on(3)).advisors(SessionAdvisor.editing(9))));
	}

	private Consumer<ChatClient.AdvisorSpec> on(long expected) {
		return SessionAdvisor.session(this.key).andThen(SessionAdvisor.expectTurn(expected));
	}

	private static void assertLost(long found, ThrowingCallable call) {
		assertThatExceptionOfType(SessionLostException.class).isThrownBy(call)
			.satisfies((lost) -> assertThat(lost.expected()).isEqualTo(3))
			.satisfies((lost) -> assertThat(lost.found()).isEqualTo(found));
	}

	@ParameterizedTest
	@EnumSource(Mode.class)
	void aCallThatIsToContinueATurnIsToldToo(Mode mode) {
		SessionStore store = store(TestStores.MEMORY);
		ChatClient chat = client(store);
		assertThatExceptionOfType(SessionLostException.class).isThrownBy(() -> goOn(chat, mode, 1));
		assertThatExceptionOfType(NothingWaitsException.class)
			.isThrownBy(() -> content(mode, chat.prompt().advisors(SessionAdvisor.session(this.key))))
			.withMessageContaining("nothing in the session waits");
	}

	@ParameterizedTest
	@EnumSource(Mode.class)
	void aTurnThatWaitsInAnotherSessionIsNotContinued(Mode mode) {
		ApprovalScenario one = ApprovalScenario.ofOneCall();
		List<String> runs = new CopyOnWriteArrayList<>();
		ClientSetup setup = (mode == Mode.CALL) ? ClientSetup.plain() : ClientSetup.streaming();
		ApprovalScenario scenario = new ApprovalScenario(one.siblings(), one.durability(), setup, one.lease(),
				one.replies());
		try (Participant us = scenario.takePart(store(TestStores.MEMORY), (id) -> {
		}, runs::add)) {
			us.pauseAndApprove(this.key, scenario);
			assertThatExceptionOfType(SessionLostException.class).isThrownBy(() -> goOn(us.chat(), mode, 2))
				.satisfies((lost) -> assertThat(lost.found()).isEqualTo(1));
			assertThat(runs).isEmpty();
			us.model().says("done");
			assertThat(goOn(us.chat(), mode, 1)).isEqualTo("done");
			assertThat(runs).hasSize(1);
		}
	}

	@ParameterizedTest
	@EnumSource(Mode.class)
	void noSummaryIsPaidForEither(Mode mode) {
		SessionStore store = store(TestStores.MEMORY);
		ScriptedChatModel small = new ScriptedChatModel();
		try (Conversations conversations = Conversations.builder(store)
			.summarize(Summarize.by(small).mode(Summarize.Mode.BEFORE).triggerMessages(1).keepTurns(1).build())
			.build()) {
			for (String text : List.of("q1", "q2", "q3")) {
				store.add(this.key, List.of(new UserMessage(text)));
			}
			ChatClient chat = ChatClient.builder(this.model).defaultAdvisors(SessionAdvisor.of(conversations)).build();
			assertThatExceptionOfType(SessionLostException.class).isThrownBy(() -> call(chat, mode, "q", 4));
			assertThat(small.prompts()).isEmpty();
			assertThat(this.model.prompts()).isEmpty();
		}
	}

	@ParameterizedTest
	@EnumSource(value = TestStores.class, names = { "MEMORY", "H2", "POSTGRESQL", "REDIS" })
	void theLowerDoorSaysSoToo(TestStores kind) {
		SessionStore store = store(kind);
		store.add(this.key, List.of(new UserMessage("q1")));
		try (Conversations conversations = Conversations.of(store)) {
			assertThatExceptionOfType(SessionLostException.class)
				.isThrownBy(() -> conversations.turns().open(request(this.key, 2), null))
				.satisfies((lost) -> assertThat(lost.expected()).isEqualTo(2))
				.satisfies((lost) -> assertThat(lost.found()).isEqualTo(1));
			conversations.turns().begin(conversations.turns().open(request(this.key, 1), null)).cancel();
			assertThat(store.turns(this.key, Tail.ALL)).hasSize(2);
		}
	}

	@Test
	void aRedisThatCameBackEmptyIsNoticed() {
		LettuceConnectionFactory connections = RedisServers.behindProxy().connections();
		try {
			SessionStore store = new RedisSessionStore(connections, StoreOptions.of(JsonMessageCodec.create()));
			long seen = ask(client(store), Mode.CALL, "q1", 0);
			try (RedisConnection connection = connections.getConnection()) {
				connection.serverCommands().flushAll();
			}
			assertLost(store, Mode.CALL, seen, 0);
		}
		finally {
			connections.destroy();
		}
	}

	@Test
	void aNumberThatCannotBeOneIsRefused() {
		assertThatIllegalArgumentException().isThrownBy(() -> SessionAdvisor.expectTurn(-1))
			.withMessageContaining("-1");
		assertThatIllegalArgumentException().isThrownBy(() -> request(this.key, -1)).withMessageContaining("-1");
		ChatClient chat = client(store(TestStores.MEMORY));
		assertThatIllegalStateException()
			.isThrownBy(() -> chat.prompt()
				.user("q")
				.advisors(SessionAdvisor.session(this.key))
				.advisors((advisors) -> advisors.param(SessionAdvisor.EXPECT_TURN, "2"))
				.call()
				.content())
			.withMessageContaining("SessionAdvisor.expectTurn(..)");
	}

	private void assertLost(SessionStore store, Mode mode, long expected, long found) {
		int asked = this.model.prompts().size();
		assertThatExceptionOfType(SessionLostException.class)
			.isThrownBy(() -> call(client(store), mode, "secret words", expected))
			.withMessageContaining(this.key.id())
			.withMessageContaining("turn " + expected)
			.withMessageNotContaining("secret words")
			.satisfies((lost) -> assertThat(lost.expected()).isEqualTo(expected))
			.satisfies((lost) -> assertThat(lost.found()).isEqualTo(found));
		assertThat(this.model.prompts()).hasSize(asked);
	}

	private long ask(ChatClient chat, Mode mode, String text, long seen) {
		this.model.says("a");
		return call(chat, mode, text, seen);
	}

	private long call(ChatClient chat, Mode mode, String text, long seen) {
		ClientSetup setup = (mode == Mode.CALL) ? ClientSetup.plain() : ClientSetup.streaming();
		return SessionAdvisor.turn(setup.response(chat.prompt()
			.user(text)
			.advisors(SessionAdvisor.session(this.key))
			.advisors(SessionAdvisor.expectTurn(seen)))).orElseThrow().turn().number();
	}

	private String goOn(ChatClient chat, Mode mode, long seen) {
		return content(mode,
				chat.prompt().advisors(SessionAdvisor.session(this.key)).advisors(SessionAdvisor.expectTurn(seen)));
	}

	private static String content(Mode mode, ChatClient.ChatClientRequestSpec spec) {
		return ((mode == Mode.CALL) ? ClientSetup.plain() : ClientSetup.streaming()).content(spec);
	}

	private ChatClient client(SessionStore store) {
		return ChatClient.builder(this.model).defaultAdvisors(SessionAdvisor.of(Conversations.of(store))).build();
	}

	private static TurnRequest request(SessionKey key, long expected) {
		return new TurnRequest(key, List.of(new UserMessage("q")), Integer.MAX_VALUE, expected, TurnRequest.Start.HEAD,
				TurnRequest.Call.UNKNOWN, Extensions.NONE, null);
	}

	private static SessionStore store(TestStores kind) {
		return stores.computeIfAbsent(kind, TestStores::create);
	}

}
