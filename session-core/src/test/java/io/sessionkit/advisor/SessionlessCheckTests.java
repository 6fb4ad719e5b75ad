package io.sessionkit.advisor;

import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.sessionkit.Concurrency;
import io.sessionkit.OnCancel;
import io.sessionkit.codec.JsonMessageCodec;
import io.sessionkit.conversation.Conversations;
import io.sessionkit.hook.HistoryMerge;
import io.sessionkit.hook.HookResult;
import io.sessionkit.hook.SessionListener;
import io.sessionkit.hook.TestHooks;
import io.sessionkit.internal.call.SessionParameters;
import io.sessionkit.store.StoreOptions;
import io.sessionkit.store.memory.InMemorySessionStore;
import io.sessionkit.test.ClientSetup;
import io.sessionkit.test.ScriptedChatModel;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.chat.messages.UserMessage;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * A call without a session does not pass silently if it says something of its session.
 */
class SessionlessCheckTests {

	private static final Map<String, Consumer<ChatClient.AdvisorSpec>> OF_ONE = ofOne();

	private static final Map<String, Consumer<ChatClient.AdvisorSpec>> OF_ANY = Map.of("agent",
			SessionAdvisor.agent("clerk"), "limit", SessionAdvisor.limit(0), "merge",
			SessionAdvisor.merge(HistoryMerge.keepLastTurns(1)), "concurrency",
			SessionAdvisor.concurrency(Concurrency.SERIALIZE), "ownTurn", SessionAdvisor.ownTurn(), "onCancel",
			SessionAdvisor.onCancel(OnCancel.KEEP));

	private static final Map<String, Consumer<ChatClient.AdvisorSpec>> OF_NONE = Map.of("hook",
			SessionAdvisor.hook(TestHooks.beforeTurn("h", (messages) -> HookResult.keep())), "listener",
			SessionAdvisor.listener(new SessionListener() {
			}));

	private final ScriptedChatModel model = new ScriptedChatModel();

	private static Map<String, Consumer<ChatClient.AdvisorSpec>> ofOne() {
		Map<String, Consumer<ChatClient.AdvisorSpec>> words = new LinkedHashMap<>();
		words.put("editing", SessionAdvisor.editing(1));
		words.put("regenerating", SessionAdvisor.regenerating());
		words.put("branch", SessionAdvisor.branch("b"));
		words.put("history", SessionAdvisor.history(List.of(new UserMessage("before"))));
		words.put("reading", SessionAdvisor.reading());
		words.put("expectTurn", SessionAdvisor.expectTurn(1));
		words.put("idempotencyKey", SessionAdvisor.idempotencyKey("r1"));
		return words;
	}

	@Test
	void thatIsAllThatCanBeSaidInACall() {
		Set<String> methods = Arrays.stream(SessionAdvisor.class.getMethods())
			.filter((method) -> method.getReturnType() == Consumer.class)
			.map((method) -> method.getName())
			.collect(Collectors.toCollection(TreeSet::new));
		methods.removeAll(Set.of("session", "none", "child", "andThen"));
		assertThat(methods).isEqualTo(Stream.of(OF_ONE, OF_ANY, OF_NONE)
			.flatMap((words) -> words.keySet().stream())
			.collect(Collectors.toCollection(TreeSet::new)));
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void callThatSaysSomethingOfItsSessionAndHasNoneIsRefused(ClientSetup.Mode mode) {
		Stream.of(OF_ONE, OF_ANY)
			.flatMap((words) -> words.entrySet().stream())
			.forEach((word) -> assertRefused(mode, word.getKey(), word.getValue()));
		OF_ONE.forEach((word, said) -> assertRefused(mode, word, SessionAdvisor.none().andThen(said)));
		assertThat(this.model.prompts()).isEmpty();
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void callThatIsToHaveNoSessionLeavesTheSettingsOfItsClientAside(ClientSetup.Mode mode) {
		ClientSetup setup = setup(mode);
		OF_ANY.values().forEach((said) -> {
			this.model.says("a title");
			ChatClient chat = client(setup).mutate().defaultAdvisors(said).build();
			assertThat(setup.content(chat.prompt().user("q").advisors(SessionAdvisor.none()))).isEqualTo("a title");
		});
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void callWithoutASessionPassesWithoutItsHooksAndListeners(ClientSetup.Mode mode) {
		ClientSetup setup = setup(mode);
		OF_NONE.values().forEach((said) -> {
			this.model.says("a");
			assertThat(setup.content(client(setup).prompt().user("q").advisors(said))).isEqualTo("a");
		});
	}

	@Test
	void refusalNamesAllThatWasSaid() {
		assertThatExceptionOfType(SessionRequiredException.class).isThrownBy(
				() -> SessionlessCheck.check(Map.of(SessionParameters.LIMIT, 1, SessionParameters.AGENT, "a"), false))
			.withMessage("This call has no session, and says something of it: SessionAdvisor.agent(..),"
					+ " SessionAdvisor.limit(..). Add .advisors(SessionAdvisor.session(..)), or leave that out. A call"
					+ " that is to have no session says so with SessionAdvisor.none().");
	}

	private void assertRefused(ClientSetup.Mode mode, String word, Consumer<ChatClient.AdvisorSpec> said) {
		ClientSetup setup = setup(mode);
		assertThatExceptionOfType(SessionRequiredException.class).as(word)
			.isThrownBy(() -> setup.content(client(setup).prompt().user("q").advisors(said)))
			.withMessageContaining("SessionAdvisor." + word + "(")
			.withMessageContaining("SessionAdvisor.session(..)");
	}

	private static ClientSetup setup(ClientSetup.Mode mode) {
		return new ClientSetup(mode, ClientSetup.ToolLoop.AUTOMATIC, false);
	}

	private ChatClient client(ClientSetup setup) {
		Conversations conversations = Conversations
			.of(new InMemorySessionStore(StoreOptions.of(JsonMessageCodec.create())));
		return setup.builder(this.model, SessionAdvisor.of(conversations)).build();
	}

}
