package io.sessionkit.access;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Proxy;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.UnaryOperator;

import io.sessionkit.SessionKey;
import io.sessionkit.SessionNotFoundException;
import io.sessionkit.advisor.SessionAdvisor;
import io.sessionkit.approval.Decision;
import io.sessionkit.approval.InboxQuery;
import io.sessionkit.approval.StandingDecision;
import io.sessionkit.approval.ToolApproval;
import io.sessionkit.chatmemory.SessionChatMemory;
import io.sessionkit.chatmemory.SessionChatMemoryRepository;
import io.sessionkit.compensation.RewindPlan;
import io.sessionkit.conversation.Approvals;
import io.sessionkit.conversation.Compensations;
import io.sessionkit.conversation.Conversation;
import io.sessionkit.conversation.Conversations;
import io.sessionkit.store.Commit;
import io.sessionkit.store.HeaderChange;
import io.sessionkit.store.Page;
import io.sessionkit.store.PathQuery;
import io.sessionkit.store.Point;
import io.sessionkit.store.RecordWrite;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.Tail;
import io.sessionkit.store.Window;
import io.sessionkit.stream.TurnStreams;
import io.sessionkit.test.ScriptedChatModel;
import io.sessionkit.test.TestStores;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import reactor.core.publisher.Flux;

import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.AssistantMessage.ToolCall;
import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.UserMessage;
import org.springframework.ai.tool.function.FunctionToolCallback;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * Somebody calls every public method with the sessions of somebody else, on every store.
 * Nothing is read, written or learned by it. A method that is new is attacked too, or has
 * to be listed as one that names no session.
 */
class ForeignCallerTests {

	private static final String VICTIM = "ada";

	private static final String ATTACKER = "mallory";

	private static final SessionKey TARGET = SessionKey.of(VICTIM, "thread");

	private static final SessionKey ABSENT = SessionKey.of("nobody", "thread");

	/**
	 * Methods of these names name no session, unless they have one of {@link #NAMING}.
	 */
	private static final Map<Class<?>, Set<String>> HARMLESS = Map.of(SessionStore.class,
			Set.of("options", "deleteExpired", "mayRollBack", "whenRolledBack"), Conversations.class,
			Set.of("of", "builder", "store", "access", "drain", "accept", "close"), Approvals.class,
			Set.of("of", "builder", "running", "access"), Compensations.class, Set.of("builder", "access"),
			TurnStreams.class, Set.of("builder", "access", "start", "awaitWritten", "close"));

	/** What names a session, or an owner's sessions. */
	private static final Set<Class<?>> NAMING = Set.of(SessionKey.class, ToolApproval.class, StandingDecision.class,
			RewindPlan.class, Commit.class, InboxQuery.class, Page.class);

	private static final Set<String> WRITING = Set.of("commit", "put", "add", "pop", "clear", "erase");

	private static final Set<String> OF_OBJECT = Set.of("equals", "hashCode", "toString", "wait", "notify", "notifyAll",
			"getClass");

	private final ScriptedChatModel model = new ScriptedChatModel();

	private Caller caller = Caller.of(VICTIM);

	private final SessionAccess access = SessionAccess.of(() -> Optional.of(this.caller));

	/** What was written while somebody else was to be attacked. */
	private final List<String> written = new CopyOnWriteArrayList<>();

	private SessionStore raw;

	private Conversations conversations;

	private Approvals approvals;

	private Compensations compensations;

	private TurnStreams streams;

	private ChatClient chat;

	record Order(int id) {
	}

	private void use(TestStores kind) {
		this.raw = noted(kind.create());
		this.conversations = Conversations.builder(this.raw).access(this.access).build();
		this.approvals = Approvals.builder(this.conversations).tools(Set.of("cancel")).build();
		this.compensations = Compensations.builder(this.conversations, this.approvals).build();
		this.streams = TurnStreams.builder(this.conversations).resumable(true).build();
		this.chat = ChatClient.builder(this.model)
			.defaultAdvisors(SessionAdvisor.builder(this.conversations).approvals(this.approvals).build())
			.defaultToolCallbacks(FunctionToolCallback.builder("cancel", (Order order) -> "cancelled")
				.description("cancels")
				.inputType(Order.class)
				.build())
			.build();
	}

	/** Notes what is written while the attacker calls, whatever comes of it. */
	private SessionStore noted(SessionStore store) {
		return (SessionStore) Proxy.newProxyInstance(getClass().getClassLoader(), new Class<?>[] { SessionStore.class },
				(proxy, method, arguments) -> {
					if (WRITING.contains(method.getName()) && this.caller.name().equals(ATTACKER)) {
						this.written.add(method.getName() + Arrays.toString(arguments));
					}
					try {
						return method.invoke(store, arguments);
					}
					catch (InvocationTargetException ex) {
						throw ex.getTargetException();
					}
				});
	}

	@AfterEach
	void close() {
		this.streams.close();
		this.conversations.close();
	}

	@ParameterizedTest
	@EnumSource
	void noMethodReachesASessionOfSomebodyElseOrSaysWhetherItExists(TestStores kind) {
		use(kind);
		givenVictim();
		RewindPlan plan = planOf(this.raw, TARGET);
		ToolApproval call = this.approvals.pending(TARGET).get(0);
		StandingDecision standing = this.approvals.standingDecisions(TARGET).get(0);
		List<Object> before = content();
		this.caller = Caller.of(ATTACKER);
		Map<String, Integer> attacked = new TreeMap<>();
		for (Object door : List.of(this.access.guard(this.raw), this.conversations.store(), this.conversations,
				this.approvals, this.compensations, this.streams)) {
			for (Method method : methods(door)) {
				String there = attack(door, method, values(TARGET, call, standing, plan));
				String absent = attack(door, method, values(ABSENT, of(call, ABSENT),
						new StandingDecision(ABSENT, standing.id(),
								new StandingDecision.Calls("cancel", null, "none", null),
								new StandingDecision.Decided(false, null, "a", Instant.EPOCH)),
						of(plan, ABSENT)));
				assertThat(there.replace(VICTIM, "X")).as("%s", method).isEqualTo(absent.replace("nobody", "X"));
				attacked.merge(method.getDeclaringClass().getSimpleName(), 1, Integer::sum);
			}
		}
		assertThat(content()).isEqualTo(before);
		assertThat(this.written).isEmpty();
		assertThat(this.raw.list(ATTACKER, Page.first(10))).isEmpty();
		System.out.println("Attacked on " + kind + ": " + attacked);
		assertThat(attacked.keySet()).contains("SessionStore", "Conversations", "Approvals", "Compensations",
				"TurnStreams");
	}

	/** A turn, a call that waits, and a decision on later ones. */
	private void givenVictim() {
		this.model.says("a secret");
		assertThat(this.chat.prompt().user("q").advisors(SessionAdvisor.session("thread")).call().content())
			.isEqualTo("a secret");
		Conversation thread = this.conversations.get("thread");
		assertThat(thread.key()).isEqualTo(TARGET);
		for (int i = 0; i < 2; i++) {
			this.model.calls(new ToolCall("c" + i, "function", "cancel", "{\"id\":" + i + "}"));
			this.chat.prompt().user("cancel").advisors(SessionAdvisor.session("thread")).call().content();
			if (i == 0) {
				this.approvals.decide(this.approvals.pending(TARGET).get(0),
						Decision.reject("x").always(StandingDecision.Scope.ARGUMENTS));
				this.model.says("done");
				this.chat.prompt().advisors(SessionAdvisor.session("thread")).call().content();
			}
		}
		assertThat(this.approvals.pending(TARGET)).hasSize(1);
	}

	private List<Object> content() {
		List<Object> all = new ArrayList<>(List.of(this.raw.find(TARGET), this.raw.turns(TARGET, Tail.ALL),
				this.raw.items(TARGET, Tail.ALL), this.raw.list(VICTIM, Page.first(10))));
		for (String kind : List.of("approval", "standing", "ledger", "pause", "lease", "note")) {
			all.add(this.raw.records(TARGET, kind));
		}
		return all;
	}

	private static RewindPlan planOf(SessionStore store, SessionKey key) {
		return new RewindPlan(new RewindPlan.Place(key, store.find(key).orElseThrow().incarnation(), "main", 1),
				List.of(), List.of(), List.of(), true);
	}

	private static RewindPlan of(RewindPlan plan, SessionKey key) {
		RewindPlan.Place place = plan.place();
		return new RewindPlan(new RewindPlan.Place(key, place.incarnation(), place.branch(), place.head()),
				plan.turns(), plan.irreversible(), plan.compensations(), plan.accepted());
	}

	private static ToolApproval of(ToolApproval call, SessionKey key) {
		return new ToolApproval(key, call.id(), call.origin(), call.call(), call.request(), call.progress());
	}

	private static List<Method> methods(Object door) {
		Class<?> type = (door instanceof SessionStore) ? SessionStore.class : door.getClass();
		return Arrays.stream(type.getMethods())
			.filter((method) -> !OF_OBJECT.contains(method.getName()))
			.filter((method) -> !Modifier.isStatic(method.getModifiers()))
			.filter((method) -> !HARMLESS.get(type).contains(method.getName()) || namesASession(method))
			.filter((method) -> !(method.getName().equals("get") && method.getParameterTypes()[0] == String.class))
			.toList();
	}

	private static boolean namesASession(Method method) {
		return Arrays.stream(method.getParameterTypes()).anyMatch(NAMING::contains);
	}

	/**
	 * Returns an argument of each type.
	 */
	private static Map<Class<?>, Object> values(SessionKey key, ToolApproval call, StandingDecision standing,
			RewindPlan plan) {
		Map<Class<?>, Object> values = new HashMap<>();
		for (Object value : List.of(key, call, standing, plan, Window.HEADER, Tail.ALL, Page.first(10),
				PathQuery.to(Point.HEAD), InboxQuery.of(List.of(key.owner())), RecordWrite.put("note", "n", "{}"),
				Decision.approve(VICTIM), Commit.any(key).header(HeaderChange.NONE.title("mine")))) {
			values.put(value.getClass(), value);
		}
		values.put(long.class, 1L);
		values.put(int.class, 1);
		values.put(boolean.class, true);
		values.put(Set.class, Set.of("note"));
		values.put(Map.class, Map.of());
		values.put(List.class, List.of(new UserMessage("q"), new AssistantMessage("a")));
		values.put(String.class, call.id());
		return values;
	}

	private static String attack(Object door, Method method, Map<Class<?>, Object> values) {
		Class<?>[] types = method.getParameterTypes();
		Object[] arguments = Arrays.stream(types).map(values::get).toArray();
		assertThat(arguments).as("values for %s", method).doesNotContainNull();
		boolean ofOwner = types[0] == String.class;
		if (ofOwner) {
			arguments[0] = ((SessionKey) values.get(SessionKey.class)).owner();
		}
		try {
			method.setAccessible(true);
			Object result = method.invoke(door, arguments);
			if (result instanceof Flux<?> events) {
				return told(method, events);
			}
			if (method.getName().equals("inbox")) {
				return String.valueOf(result);
			}
			throw new AssertionError(method + " answered " + result);
		}
		catch (InvocationTargetException ex) {
			assertThat(ex.getCause()).as("%s", method).isExactlyInstanceOf(SessionNotFoundException.class);
			return ex.getCause().getMessage();
		}
		catch (IllegalAccessException ex) {
			throw new AssertionError(ex);
		}
	}

	private static String told(Method method, Flux<?> events) {
		try {
			throw new AssertionError(method + " answered " + events.collectList().block());
		}
		catch (SessionNotFoundException ex) {
			return ex.getMessage();
		}
	}

	/** A chat memory works with the store that applications inject. */
	@ParameterizedTest
	@EnumSource(names = { "MEMORY", "POSTGRESQL", "REDIS" })
	void chatMemoryOnTheInjectedStoreReachesNoSessionOfSomebodyElse(TestStores kind) {
		use(kind);
		givenVictim();
		List<Object> before = content();
		this.caller = Caller.of(ATTACKER);
		SessionStore injected = this.access.guard(this.raw);
		SessionChatMemory memory = SessionChatMemory.of(injected, () -> VICTIM);
		SessionChatMemoryRepository repository = SessionChatMemoryRepository.of(injected, () -> VICTIM);
		List<Message> messages = List.of(new UserMessage("q"), new AssistantMessage("a"));
		for (ThrowingCallable attack : List.<ThrowingCallable>of(() -> memory.get("thread"),
				() -> memory.add("thread", messages), () -> memory.clear("thread"), repository::findConversationIds,
				() -> repository.findByConversationId("thread"), () -> repository.saveAll("thread", messages),
				() -> repository.deleteByConversationId("thread"))) {
			assertThatThrownBy(attack).isExactlyInstanceOf(SessionNotFoundException.class);
		}
		assertThat(content()).isEqualTo(before);
		assertThat(this.written).isEmpty();
		assertThat(SessionChatMemory.of(injected, () -> "").get("thread")).isEmpty();
	}

	@ParameterizedTest
	@EnumSource
	void noCallOfAModelReachesASessionOfSomebodyElse(TestStores kind) {
		use(kind);
		givenVictim();
		List<Object> before = content();
		int asked = this.model.prompts().size();
		this.caller = Caller.of(ATTACKER);
		List<UnaryOperator<ChatClient.ChatClientRequestSpec>> calls = List.of(
				(spec) -> spec.user("q").advisors(SessionAdvisor.session(TARGET)),
				(spec) -> spec.advisors(SessionAdvisor.session(TARGET)),
				(spec) -> spec.user("q").advisors((advisors) -> advisors.param("chat_memory_conversation_id", TARGET)),
				(spec) -> spec.user("q").advisors(SessionAdvisor.session(TARGET).andThen(SessionAdvisor.reading())),
				(spec) -> spec.user("q").advisors(SessionAdvisor.session(TARGET).andThen(SessionAdvisor.child("x"))),
				(spec) -> spec.user("q")
					.advisors(SessionAdvisor.session(TARGET).andThen(SessionAdvisor.idempotencyKey("k"))));
		for (UnaryOperator<ChatClient.ChatClientRequestSpec> call : calls) {
			assertThatThrownBy(() -> call.apply(this.chat.prompt()).call().content())
				.isExactlyInstanceOf(SessionNotFoundException.class);
			assertThatThrownBy(() -> call.apply(this.chat.prompt()).stream().content().blockLast())
				.isExactlyInstanceOf(SessionNotFoundException.class);
			assertThatThrownBy(() -> this.streams.start(call.apply(this.chat.prompt())).blockLast())
				.isExactlyInstanceOf(SessionNotFoundException.class);
		}
		assertThat(this.model.prompts()).hasSize(asked);
		assertThat(content()).isEqualTo(before);
		assertThat(this.written).isEmpty();
	}

	@ParameterizedTest
	@EnumSource
	void sameIdWithoutOwnerIsAnotherSessionForEachCaller(TestStores kind) {
		use(kind);
		givenVictim();
		List<Object> before = content();
		this.caller = Caller.of(ATTACKER);
		this.model.says("hello");
		assertThat(this.chat.prompt().user("hi").advisors(SessionAdvisor.session("thread")).call().content())
			.isEqualTo("hello");
		assertThat(this.model.lastRequestLines()).hasSize(1);
		assertThat(this.conversations.store().list("", Page.first(10))).extracting((session) -> session.key())
			.containsExactly(SessionKey.of(ATTACKER, "thread"));
		assertThat(this.conversations.store().messages(SessionKey.of("thread"))).hasSize(2);
		assertThat(this.approvals.pendingOf("", Page.first(10))).isEmpty();
		this.conversations.store()
			.add(SessionKey.of("thread"), List.of(new UserMessage("q"), new AssistantMessage("a")));
		this.conversations.store().clear(SessionKey.of("thread"));
		assertThat(content()).isEqualTo(before);
	}

	@ParameterizedTest
	@EnumSource
	void ownThreadIsNotForkedIntoTheSessionsOfSomebodyElse(TestStores kind) {
		use(kind);
		this.model.says("a");
		this.chat.prompt().user("q").advisors(SessionAdvisor.session("thread")).call().content();
		Conversation own = this.conversations.get("thread");
		assertThatThrownBy(() -> own.fork(SessionKey.of("bob", "copy")))
			.isExactlyInstanceOf(SessionNotFoundException.class);
		assertThatThrownBy(() -> own.fork(SessionKey.of("bob", "copy"), 1))
			.isExactlyInstanceOf(SessionNotFoundException.class);
		assertThat(this.raw.list("bob", Page.first(10))).isEmpty();
		own.fork(SessionKey.of("copy"));
		assertThat(this.raw.find(SessionKey.of(VICTIM, "copy"))).isPresent();
	}

}
