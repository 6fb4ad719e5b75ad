package io.sessionkit.conversation;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.sessionkit.NestedTurnException;
import io.sessionkit.SessionKey;
import io.sessionkit.Turn;
import io.sessionkit.TurnStatus;
import io.sessionkit.advisor.SessionAdvisor;
import io.sessionkit.store.HeaderChange;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.Tail;
import io.sessionkit.test.ScriptedChatModel;
import io.sessionkit.test.TestStores;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.AssistantMessage.ToolCall;
import org.springframework.ai.chat.messages.UserMessage;
import org.springframework.ai.tool.function.FunctionToolCallback;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What a tool may do with a {@link Conversation} on the session of its own turn. A method
 * that is new has to be listed: docs/time.md and docs/history.md have the rules.
 */
class NestedOperationsTests {

	/** What changes nothing. */
	private static final Set<String> READING = Set.of("key", "session", "head", "openTurn", "isOpenTurnRunning", "view",
			"summary", "summaries", "messages", "items", "turns", "snapshot", "settings", "attributes", "attribute",
			"cancelling", "siblings", "branches", "branchSizes", "forkedFrom", "children");

	/** What is written beside the turn, which becomes history all the same. */
	private static final Set<String> BESIDE = Set.of("title", "tags", "timeToLive", "settings", "fork", "summarize");

	/** What writes attributes, which the turn writes too. */
	private static final Set<String> ATTRIBUTES = Set.of("create", "putAttribute", "removeAttribute");

	/** What adds to the history, or takes from it. */
	private static final Set<String> HISTORY = Set.of("seed", "addTurn", "adopt", "pop", "delete");

	/** What the turn would be lost with. */
	private static final Set<String> REFUSED = Stream.of(Moves.NAMES, ATTRIBUTES, HISTORY)
		.flatMap(Set::stream)
		.collect(Collectors.toUnmodifiableSet());

	/** What erases sessions, whoever asks for it. */
	private static final Set<String> ERASING = Set.of("clear", "erase", "eraseChildren");

	private static final SessionKey KEY = SessionKey.of("ada", "t1");

	private final SessionStore store = TestStores.MEMORY.create();

	private final ScriptedChatModel model = new ScriptedChatModel();

	private final Conversations conversations = Conversations.of(this.store);

	private final Conversation conversation = this.conversations.get(KEY);

	private final ChatClient client = ChatClient.builder(this.model)
		.defaultAdvisors(SessionAdvisor.of(this.conversations))
		.build();

	private final Map<Class<?>, Object> values = new HashMap<>(Map.of(int.class, 1, long.class, 1L, boolean.class, true,
			String.class, "q1", Object.class, "value", Set.class, Set.of("a"), Tail.class, Tail.ALL, Duration.class,
			Duration.ofDays(1), UnaryOperator.class, UnaryOperator.identity(), Class.class, String.class));

	@Test
	void everyMethodIsOfAKnownKind() {
		assertThat(methods()).allSatisfy((method) -> assertThat(
				Stream.of(READING, BESIDE, REFUSED, ERASING).filter((kind) -> kind.contains(method.getName())))
			.as("%s: does it read, write beside the turn, or cost it a conflict? One that moves the head is in Moves.",
					method)
			.isNotEmpty());
	}

	@Test
	void everyMoveIsAStepOfRandomPrograms() {
		Set<String> steps = Stream.of(TimeProgram.class.getDeclaredMethods())
			.map(Method::getName)
			.collect(Collectors.toSet());
		assertThat(Moves.NAMES).as("a move is a step of TimeProgram, by its name, and of TimeModel")
			.allMatch(steps::contains);
	}

	@Test
	void everyMoveIsNamedWhereMovesAreListed() throws Exception {
		String javadoc = Files.readString(Path.of("src/main/java/io/sessionkit/conversation/Conversation.java"))
			.split("public final class")[0];
		String compensation = Files.readString(Path.of("../docs/compensation.md"));
		assertThat(Moves.NAMES).as("the Javadoc of Conversation has a list of all moves")
			.allMatch((move) -> javadoc.contains("#" + move));
		assertThat(Moves.NAMES).as("docs/compensation.md says whether a move takes out a turn that is being rewound")
			.allMatch((move) -> compensation.contains("`" + move + "`"));
	}

	@Test
	void toolReadsItsSessionAndWritesBesideItsTurn() {
		inATool(() -> {
			long version = this.conversation.session().orElseThrow().version();
			of(READING, Set.of("settings")).forEach((method) -> assertThat(thrown(method)).as("%s", method).isNull());
			assertThat(this.conversation.session().orElseThrow().version()).isEqualTo(version);
			of(BESIDE, Set.of("summarize")).forEach((method) -> assertThat(thrown(method)).as("%s", method).isNull());
		});
	}

	@Test
	void toolIsRefusedWhatItsTurnWouldBeLostWith() {
		List<String> refused = new ArrayList<>();
		inATool(() -> of(REFUSED, Set.of()).forEach((method) -> {
			assertThat(thrown(method)).as("%s", method).isExactlyInstanceOf(NestedTurnException.class);
			refused.add(method.getName());
		}));
		assertThat(refused).containsAll(REFUSED);
	}

	private static List<Method> methods() {
		return Stream.of(Conversation.class.getMethods())
			.filter((method) -> method.getDeclaringClass() == Conversation.class)
			.toList();
	}

	private static Stream<Method> of(Set<String> kind, Set<String> others) {
		return methods().stream()
			.filter((method) -> kind.contains(method.getName()) && !others.contains(method.getName()));
	}

	/** Does the work in a tool of the third turn, which has to become history. */
	private void inATool(Runnable work) {
		this.values.put(SessionKey.class, SessionKey.of("ada", "copy"));
		this.values.put(HeaderChange.class, HeaderChange.NONE.attributes(Map.of("a", "x")));
		this.values.put(List.class, List.of(new UserMessage("q"), new AssistantMessage("a")));
		this.values.put(Approvals.class, Approvals.builder(this.conversations).build());
		this.model.says("a1").says("a2").calls(new ToolCall("c1", "function", "work", "{}")).says("done");
		ask("q1");
		ask("q2");
		List<AssertionError> failures = new ArrayList<>();
		this.client.prompt().user("q3").toolCallbacks(FunctionToolCallback.builder("work", () -> {
			try {
				work.run();
			}
			catch (AssertionError ex) {
				failures.add(ex);
			}
			return "done";
		}).description("works").build()).advisors(SessionAdvisor.session(KEY)).call().content();
		assertThat(failures).isEmpty();
		assertThat(this.conversation.head()).get()
			.returns(3L, Turn::number)
			.returns(TurnStatus.COMPLETED, Turn::status);
	}

	private void ask(String question) {
		this.client.prompt().user(question).advisors(SessionAdvisor.session(KEY)).call().content();
	}

	private @Nullable Throwable thrown(Method method) {
		Object[] arguments = Stream.of(method.getParameterTypes()).map(this.values::get).toArray();
		assertThat(arguments).as("values for %s", method).doesNotContainNull();
		if (method.getName().equals("fork")) {
			this.store.erase((SessionKey) arguments[0]);
		}
		try {
			method.invoke(this.conversation, arguments);
			return null;
		}
		catch (InvocationTargetException ex) {
			return ex.getCause();
		}
		catch (IllegalAccessException ex) {
			throw new AssertionError(ex);
		}
	}

}
