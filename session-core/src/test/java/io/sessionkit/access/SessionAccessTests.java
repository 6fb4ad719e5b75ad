package io.sessionkit.access;

import java.lang.reflect.Proxy;
import java.nio.file.AccessDeniedException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.Function;
import java.util.stream.Stream;

import io.sessionkit.Durability;
import io.sessionkit.InvalidSessionKeyException;
import io.sessionkit.SessionKey;
import io.sessionkit.SessionLostException;
import io.sessionkit.SessionNotFoundException;
import io.sessionkit.advisor.SessionAdvisor;
import io.sessionkit.approval.DeciderRequiredException;
import io.sessionkit.approval.Decision;
import io.sessionkit.approval.DecisionRefusedException;
import io.sessionkit.approval.InboxQuery;
import io.sessionkit.approval.StandingDecision;
import io.sessionkit.approval.ToolApproval;
import io.sessionkit.approval.UnknownToolException;
import io.sessionkit.codec.JsonMessageCodec;
import io.sessionkit.compensation.RewindPlan;
import io.sessionkit.conversation.Approvals;
import io.sessionkit.conversation.Compensations;
import io.sessionkit.conversation.Conversation;
import io.sessionkit.conversation.Conversations;
import io.sessionkit.hook.SessionEvent;
import io.sessionkit.hook.SessionListener;
import io.sessionkit.internal.door.ApprovalChecks;
import io.sessionkit.internal.door.InnerParts;
import io.sessionkit.internal.door.StoreGuard;
import io.sessionkit.store.Commit;
import io.sessionkit.store.HeaderChange;
import io.sessionkit.store.Page;
import io.sessionkit.store.RecordWrite;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.StoreLayer;
import io.sessionkit.store.StoreOptions;
import io.sessionkit.store.memory.InMemorySessionStore;
import io.sessionkit.stream.CallEvents;
import io.sessionkit.test.ClientSetup;
import io.sessionkit.test.ScriptedChatModel;
import io.sessionkit.test.TestStores;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.Exceptions;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;
import reactor.util.context.Context;
import reactor.util.context.ContextView;

import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.chat.messages.AssistantMessage.ToolCall;
import org.springframework.ai.chat.messages.UserMessage;
import org.springframework.ai.tool.function.FunctionToolCallback;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;
import static org.assertj.core.api.Assertions.catchThrowable;

/**
 * Tests who the caller is, and which sessions each caller reaches and decides on.
 */
class SessionAccessTests {

	private static final SessionKey ADAS = SessionKey.of("ada", "thread");

	private final SessionStore store = new InMemorySessionStore(StoreOptions.of(JsonMessageCodec.create()));

	private final ScriptedChatModel model = new ScriptedChatModel();

	private final ThreadLocal<@Nullable Caller> signedIn = new ThreadLocal<>();

	private final SessionAccess access = SessionAccess.of(new CallerResolver() {

		@Override
		public Optional<Caller> current() {
			return Optional.ofNullable(SessionAccessTests.this.signedIn.get());
		}

		@Override
		public Mono<Caller> current(ContextView context) {
			return context.getOrDefault("caller", Mono.empty());
		}

	});

	private final Conversations conversations = Conversations.builder(this.store).access(this.access).build();

	private final List<SessionKey> reachedByTool = new ArrayList<>();

	record Order(String id) {
	}

	@AfterEach
	void close() {
		this.conversations.close();
	}

	private Approvals approvals(Map<String, Set<String>> deciders, boolean ownerDecides) {
		return Approvals.builder(this.conversations)
			.tools(Set.of("cancel"))
			.deciders(deciders)
			.ownerDecides(ownerDecides)
			.build();
	}

	private ChatClient chat(Approvals approvals) {
		return ChatClient.builder(this.model)
			.defaultAdvisors(SessionAdvisor.builder(this.conversations).approvals(approvals).build())
			.defaultToolCallbacks(tool("cancel"), tool("look"))
			.build();
	}

	private ChatClient chat() {
		return chat(approvals(Map.of(), true));
	}

	private FunctionToolCallback<Order, String> tool(String name) {
		return FunctionToolCallback.<Order, String>builder(name, (order) -> {
			this.reachedByTool.add(this.conversations.get(order.id()).key());
			return "ok";
		}).description(name).inputType(Order.class).build();
	}

	private static ToolCall call(String tool, String id) {
		return new ToolCall("c-" + id, "function", tool, "{\"id\":\"" + id + "\"}");
	}

	@Test
	void callsWithoutACallerAreRefusedBeforeTheModelIsAsked() {
		assertThatExceptionOfType(CallerRequiredException.class)
			.isThrownBy(() -> chat().prompt().user("q").advisors(SessionAdvisor.session("t")).call().content())
			.withMessageContaining("sessionkit.owner=none")
			.withMessageContaining("no CallerResolver bean");
		assertThatExceptionOfType(CallerRequiredException.class).isThrownBy(
				() -> chat().prompt().user("q").advisors(SessionAdvisor.session("t")).stream().content().blockLast());
		assertThatExceptionOfType(CallerRequiredException.class).isThrownBy(() -> this.conversations.get("t"));
		assertThatExceptionOfType(CallerRequiredException.class).isThrownBy(() -> this.conversations.get(ADAS));
		assertThat(this.model.prompts()).isEmpty();
	}

	/** A database might take it for another owner. */
	@ParameterizedTest
	@EnumSource(names = { "MEMORY", "H2", "REDIS" })
	void ownerThatNoSessionCanHaveHasNoList(TestStores kind) {
		SessionStore open = kind.create();
		Page page = Page.first(10);
		this.signedIn.set(Caller.server());
		for (String owner : List.of("\ud800", " ", "a\nb")) {
			assertThatExceptionOfType(InvalidSessionKeyException.class)
				.isThrownBy(() -> this.access.guard(open).list(owner, page));
			assertThatExceptionOfType(InvalidSessionKeyException.class)
				.isThrownBy(() -> this.access.guard(open).records(owner, "note", page));
			assertThatExceptionOfType(InvalidSessionKeyException.class)
				.isThrownBy(() -> approvals(Map.of(), true).pendingOf(owner, page));
			assertThatExceptionOfType(InvalidSessionKeyException.class)
				.isThrownBy(() -> InboxQuery.of(List.of("ada", owner)));
		}
		if (kind != TestStores.MEMORY) {
			assertThatExceptionOfType(InvalidSessionKeyException.class).isThrownBy(() -> open.list("\ud800", page));
		}
	}

	@Test
	void resolverThatReturnsNullIsNamed() {
		SessionAccess broken = SessionAccess.of(new CallerResolver() {

			@Override
			@SuppressWarnings("NullAway")
			public Optional<Caller> current() {
				return null;
			}

			@Override
			@SuppressWarnings("NullAway")
			public Mono<Caller> current(ContextView context) {
				return null;
			}

		});
		assertThatNullPointerException().isThrownBy(broken::caller)
			.withMessageContaining("CallerResolver")
			.withMessageContaining("Optional.empty()");
		assertThatNullPointerException().isThrownBy(() -> broken.caller(Context.empty()).block())
			.withMessageContaining("Mono.empty()");
	}

	@Test
	void callsWithoutASessionNeedNoCaller() {
		this.model.says("a").says("b");
		assertThat(chat().prompt().user("q").call().content()).isEqualTo("a");
		assertThat(chat().prompt().user("q").stream().content().blockLast()).isNotNull();
	}

	/** As a user may have whose name no owner can have. */
	@Test
	void streamWithoutASessionNeedsNoCallerWhoIsNotRefused() {
		this.model.says("a");
		assertThat(chat().prompt()
			.user("q")
			.advisors(SessionAdvisor.none())
			.stream()
			.content()
			.contextWrite((context) -> context.put("caller", refused()))
			.collectList()
			.block()).isEqualTo(List.of("a"));
		assertThatExceptionOfType(CallerRefusedException.class).isThrownBy(() -> chat().prompt()
			.user("q")
			.advisors(SessionAdvisor.session("t"))
			.stream()
			.content()
			.contextWrite((context) -> context.put("caller", refused()))
			.blockLast());
		assertThat(this.model.prompts()).hasSize(1);
	}

	private static Stream<Function<ContextView, @Nullable Mono<Caller>>> lookupsThatFail() {
		return Stream.of((context) -> Mono.error(new IllegalStateException("The directory is down.")),
				(context) -> Mono.error(new AccessDeniedException("denied")), (context) -> {
					throw new CallerRefusedException("Nobody has such a name.");
				}, (context) -> null);
	}

	@ParameterizedTest
	@MethodSource("lookupsThatFail")
	void streamWithoutASessionNeedsNoCallerWhoCanBeFound(Function<ContextView, @Nullable Mono<Caller>> lookup) {
		this.model.says("a").says("b");
		ChatClient chat = chat(lookup);
		assertThat(chat.prompt().user("q").advisors(SessionAdvisor.none()).stream().content().collectList().block())
			.containsExactly("a");
		assertThat(chat.prompt().user("q").stream().content().collectList().block()).containsExactly("b");
		Throwable thrown = catchThrowable(
				() -> chat.prompt().user("q").advisors(SessionAdvisor.session("t")).stream().content().blockLast());
		Throwable cause = catchThrowable(() -> Mono.deferContextual(lookup::apply).block());
		assertThat(Exceptions.unwrap(thrown)).hasSameClassAs(Exceptions.unwrap(cause));
		assertThat(this.model.prompts()).hasSize(2);
	}

	@Test
	void streamThatSaysThatItHasNoSessionWaitsForNoCaller() {
		this.model.says("a");
		assertThat(chat((context) -> Mono.never()).prompt()
			.user("q")
			.advisors(SessionAdvisor.none())
			.stream()
			.content()
			.collectList()
			.block(Duration.ofSeconds(10))).containsExactly("a");
	}

	private ChatClient chat(Function<ContextView, @Nullable Mono<Caller>> lookup) {
		SessionAccess looking = SessionAccess.of(new CallerResolver() {

			@Override
			public Optional<Caller> current() {
				return Optional.empty();
			}

			@Override
			@SuppressWarnings("NullAway")
			public Mono<Caller> current(ContextView context) {
				return lookup.apply(context);
			}

		});
		return ChatClient.builder(this.model)
			.defaultAdvisors(SessionAdvisor.of(Conversations.builder(this.store).access(looking).build()))
			.build();
	}

	private static Mono<Caller> refused() {
		return Mono.error(new CallerRefusedException("Nobody has such a name."));
	}

	@Test
	void streamTakesTheCallerOfItsSubscriberWhereverItRuns() {
		this.model.says("a");
		String text = chat().prompt()
			.user("q")
			.advisors(SessionAdvisor.session("thread"))
			.stream()
			.content()
			.subscribeOn(Schedulers.boundedElastic())
			.contextWrite(
					(context) -> context.put("caller", Mono.delay(Duration.ofMillis(10)).thenReturn(Caller.of("ada"))))
			.collectList()
			.map((parts) -> String.join("", parts))
			.block();
		assertThat(text).isEqualTo("a");
		assertThat(this.store.find(ADAS)).isPresent();
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void toolReachesTheSessionsOfTheOwnerOfItsTurnAndNoOthers(ClientSetup.Mode mode) {
		ClientSetup setup = new ClientSetup(mode, ClientSetup.ToolLoop.AUTOMATIC, false);
		this.model.calls(call("look", "other")).says("done");
		ChatClient chat = setup
			.builder(this.model,
					SessionAdvisor.builder(this.conversations).approvals(approvals(Map.of(), true)).build())
			.defaultToolCallbacks(tool("look"))
			.build();
		this.signedIn.set(Caller.of("ada"));
		assertThat(setup.content(chat.prompt().user("q").advisors(SessionAdvisor.session("thread")))).isEqualTo("done");
		assertThat(this.reachedByTool).containsExactly(SessionKey.of("ada", "other"));
	}

	/** Some events come from the stream of the call, others from its turn. */
	@Test
	void readerOfACallIsTheSameForAllItsEvents() {
		List<String> callers = new CopyOnWriteArrayList<>();
		List<String> events = new CopyOnWriteArrayList<>();
		this.model.calls(call("look", "notes")).says("done");
		CallEvents.of(chat().prompt().user("q").advisors(SessionAdvisor.session(ADAS))).doOnNext((event) -> {
			events.add(event.getClass().getSimpleName());
			callers.add(callerHere());
		}).contextWrite((context) -> context.put("caller", Mono.just(Caller.of("root", Set.of(), true)))).blockLast();
		assertThat(events).contains("Begun", "ToolCalled", "ToolReturned", "Text", "Ended");
		assertThat(callers).containsOnly("nobody");
	}

	private String callerHere() {
		try {
			return this.access.caller().name();
		}
		catch (CallerRequiredException ex) {
			return "nobody";
		}
	}

	/**
	 * The call is made by a job, or by somebody who reaches all: what tools name is the
	 * owner's.
	 */
	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void toolWorksForTheOwnerOfItsTurnWhoeverHasMadeTheCall(ClientSetup.Mode mode) {
		ClientSetup setup = new ClientSetup(mode, ClientSetup.ToolLoop.AUTOMATIC, false);
		ChatClient chat = setup
			.builder(this.model,
					SessionAdvisor.builder(this.conversations).approvals(approvals(Map.of(), true)).build())
			.defaultToolCallbacks(tool("look"))
			.build();
		for (String owner : List.of("ada", "bob")) {
			this.model.calls(call("look", "notes")).says("done");
			this.access.callAs(Caller.server(), () -> setup
				.content(chat.prompt().user("q").advisors(SessionAdvisor.session(SessionKey.of(owner, "thread")))));
		}
		this.signedIn.set(Caller.of("root", Set.of(), true));
		this.model.calls(call("look", "notes")).says("done");
		setup.content(chat.prompt().user("q").advisors(SessionAdvisor.session(ADAS)));
		assertThat(this.reachedByTool).extracting(SessionKey::owner).containsExactly("ada", "bob", "ada");
	}

	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void compensatingToolWorksForTheOwnerOfItsSessionWhoeverRewinds(boolean limited) {
		try (Conversations rewound = Conversations.builder(this.store)
			.access(this.access)
			.toolTimeouts(limited ? Map.of("restore", Duration.ofSeconds(30)) : Map.of())
			.build()) {
			Approvals approvals = Approvals.of(rewound);
			Compensations compensations = Compensations.builder(rewound, approvals)
				.tools(tool("look"), tool("restore"))
				.compensating(Map.of("look", "restore"))
				.build();
			ChatClient chat = chat(approvals);
			for (Caller caller : List.of(Caller.server(), Caller.of("root", Set.of(), true))) {
				this.signedIn.set(Caller.of("ada"));
				this.model.calls(call("look", "notes")).says("done");
				chat.prompt().user("q").advisors(SessionAdvisor.session("thread")).call().content();
				this.reachedByTool.clear();
				this.access.callAs(caller, () -> compensations.rewind(compensations.plan(ADAS, 1)));
				assertThat(this.reachedByTool).containsExactly(SessionKey.of("ada", "notes"));
				this.signedIn.set(Caller.of("root", Set.of(), true));
				assertThat(this.access.caller().name()).isEqualTo("root");
			}
		}
	}

	/** The turn could not become history after that. */
	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void toolDoesNotWriteToTheSessionOfItsTurnByTheStore(ClientSetup.Mode mode) {
		SessionStore guarded = this.conversations.store();
		List<Runnable> writes = List.of(() -> guarded.add(ADAS, List.of(new UserMessage("x"))), () -> guarded.pop(ADAS),
				() -> guarded.commit(Commit.any(ADAS).header(HeaderChange.NONE.attributes(Map.of("a", 1)))));
		List<String> refused = new CopyOnWriteArrayList<>();
		ClientSetup setup = new ClientSetup(mode, ClientSetup.ToolLoop.AUTOMATIC, false);
		ChatClient chat = setup.builder(this.model, SessionAdvisor.of(this.conversations))
			.defaultToolCallbacks(FunctionToolCallback.builder("write", () -> {
				writes.forEach((write) -> refused.add(String.valueOf(catchThrowable(write::run))));
				guarded.commit(Commit.any(ADAS).header(HeaderChange.NONE.title("x")));
				guarded.add(SessionKey.of("other"), List.of(new UserMessage("x")));
				return "refused";
			}).description("writes").build())
			.build();
		this.signedIn.set(Caller.of("ada"));
		this.model.calls(new ToolCall("c1", "function", "write", "{}")).says("done");
		assertThat(setup.content(chat.prompt().user("q").advisors(SessionAdvisor.session("thread")))).isEqualTo("done");
		assertThat(refused).hasSize(3).allMatch((text) -> text.contains("Nothing was changed"));
		assertThat(this.store.find(SessionKey.of("ada", "other"))).isPresent();
	}

	/**
	 * A request to be forgotten is not refused, and nothing of the turn comes after it.
	 */
	@Test
	void toolThatErasesTheSessionOfItsFirstTurnByTheStoreTakesTheTurnWithIt() {
		SessionStore guarded = this.conversations.store();
		for (Runnable erasing : List.<Runnable>of(() -> guarded.erase(SessionKey.of("thread")),
				() -> guarded.clear(SessionKey.of("thread")))) {
			this.model.calls(new ToolCall("c1", "function", "erase", "{}")).says("done");
			assertTakesItsTurnWithIt(this.conversations, erasing);
		}
	}

	@Test
	void toolThatClearsTheSessionOfItsOpenTurnByTheStoreTakesTheTurnWithIt() {
		this.model.calls(new ToolCall("c1", "function", "erase", "{}"));
		SessionStore guarded = this.conversations.store();
		try (Conversations stepwise = Conversations.builder(this.store)
			.access(this.access)
			.durability(Durability.STEP)
			.build()) {
			assertTakesItsTurnWithIt(stepwise, () -> guarded.clear(SessionKey.of("thread")));
		}
	}

	private void assertTakesItsTurnWithIt(Conversations conversations, Runnable erasing) {
		this.signedIn.set(Caller.of("ada"));
		ChatClient chat = ChatClient.builder(this.model)
			.defaultAdvisors(SessionAdvisor.of(conversations))
			.defaultToolCallbacks(FunctionToolCallback.builder("erase", () -> {
				erasing.run();
				return "erased";
			}).description("erases").build())
			.build();
		assertThatExceptionOfType(SessionLostException.class)
			.isThrownBy(() -> chat.prompt().user("q").advisors(SessionAdvisor.session("thread")).call().content());
		assertThat(this.store.find(ADAS)).isEmpty();
	}

	@Test
	void storeThatOnlyPassesOnIsTheStoreThatItAsks() {
		SessionStore guarded = this.access.guard(this.store);
		List<String> refused = new ArrayList<>();
		try (Conversations counted = Conversations.builder(layer(layer(this.store))).access(this.access).build()) {
			ChatClient chat = ChatClient.builder(this.model)
				.defaultAdvisors(SessionAdvisor.of(counted))
				.defaultToolCallbacks(FunctionToolCallback.builder("write", () -> {
					refused.add(String.valueOf(catchThrowable(() -> guarded.pop(ADAS))));
					return "refused";
				}).description("writes").build())
				.build();
			this.signedIn.set(Caller.of("ada"));
			this.model.calls(new ToolCall("c1", "function", "write", "{}")).says("done");
			assertThat(chat.prompt().user("q").advisors(SessionAdvisor.session("thread")).call().content())
				.isEqualTo("done");
		}
		assertThat(refused).singleElement().asString().contains("Nothing was changed");
	}

	/** As a store that counts the calls. */
	private static SessionStore layer(SessionStore store) {
		return (SessionStore) Proxy.newProxyInstance(SessionStore.class.getClassLoader(),
				new Class<?>[] { SessionStore.class, StoreLayer.class },
				(proxy, method, values) -> method.getName().equals("layered") ? store : method.invoke(store, values));
	}

	@Test
	void deciderSeesTheCompensatingCallsOfOthersThatTheDeciderDecides() {
		Approvals approvals = Approvals.builder(this.conversations)
			.tools(Set.of("cancel"))
			.deciders(Map.of("restore", Set.of("ROLE_LEAD"), "mend", Set.of("ROLE_FINANCE")))
			.ownerDecides(false)
			.build();
		Compensations compensations = Compensations.builder(this.conversations, approvals)
			.tools(tool("look"), tool("restore"), tool("note"), tool("mend"))
			.compensating(Map.of("look", "restore", "note", "mend"))
			.build();
		ChatClient chat = chat(approvals).mutate().defaultToolCallbacks(tool("note")).build();
		this.signedIn.set(Caller.of("ada"));
		this.model.calls(call("look", "notes"), call("note", "notes")).says("done");
		chat.prompt().user("q").advisors(SessionAdvisor.session("thread")).call().content();
		RewindPlan plan = compensations.plan(ADAS, 1);
		compensations.rewind(plan);
		assertThat(compensations.pending(ADAS)).hasSize(2);
		assertThat(compensations.pendingOf("", Page.first(10))).hasSize(2);
		this.signedIn.set(Caller.of("lea", Set.of("ROLE_LEAD"), false));
		assertThat(compensations.pending(ADAS)).extracting(ToolApproval::tool).containsExactly("restore");
		List<ToolApproval> listed = compensations.pendingOf("ada", Page.first(10));
		assertThat(listed).extracting(ToolApproval::tool).containsExactly("restore");
		assertThat(compensations.pendingOf("ada", new Page(1, 10))).isEmpty();
		compensations.decide(listed.get(0), Decision.reject("lea"));
		assertThat(compensations.pending(ADAS)).isEmpty();
		assertThatExceptionOfType(SessionNotFoundException.class).isThrownBy(() -> compensations.plan(ADAS, 1));
		assertThatExceptionOfType(SessionNotFoundException.class).isThrownBy(() -> compensations.ledger(ADAS));
		this.signedIn.set(Caller.of("bob", Set.of("ROLE_BOSS"), false));
		assertThatExceptionOfType(SessionNotFoundException.class).isThrownBy(() -> compensations.pending(ADAS));
		assertThatExceptionOfType(SessionNotFoundException.class)
			.isThrownBy(() -> compensations.pendingOf("ada", Page.first(10)));
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void listenerReachesTheSessionOfItsEventInCallsAndStreams(ClientSetup.Mode mode) {
		ClientSetup setup = new ClientSetup(mode, ClientSetup.ToolLoop.AUTOMATIC, false);
		List<SessionKey> reached = new CopyOnWriteArrayList<>();
		SessionListener listener = new SessionListener() {

			@Override
			public void modelCalled(SessionEvent.ModelCalled event) {
				reached.add(SessionAccessTests.this.conversations.get("notes").key());
			}

			@Override
			public void committed(SessionEvent.Committed event) {
				reached.add(SessionAccessTests.this.conversations.get(event.key()).key());
			}

		};
		for (Caller caller : List.of(Caller.of("ada"), Caller.server())) {
			reached.clear();
			this.model.says("a");
			SessionKey key = SessionKey.of("ada", mode + caller.name());
			ChatClient chat = setup.builder(this.model, SessionAdvisor.of(this.conversations)).build();
			this.access.callAs(caller,
					() -> setup.content(chat.prompt()
						.user("q")
						.advisors(SessionAdvisor.session(key))
						.advisors(SessionAdvisor.listener(listener))));
			assertThat(reached).containsExactly(SessionKey.of("ada", "notes"), key);
		}
	}

	@Test
	void toolMaySayForWhomItWorks() {
		this.signedIn.set(Caller.of("ada"));
		List<SessionKey> reached = new ArrayList<>();
		ChatClient chat = ChatClient.builder(this.model)
			.defaultAdvisors(SessionAdvisor.of(this.conversations))
			.defaultToolCallbacks(FunctionToolCallback.<Order, String>builder("look", (order) -> {
				reached.add(this.access.callAs(Caller.of("team"), () -> this.conversations.get(order.id()).key()));
				reached.add(this.conversations.get(order.id()).key());
				return "ok";
			}).description("looks").inputType(Order.class).build())
			.build();
		this.model.calls(call("look", "notes")).says("done");
		chat.prompt().user("q").advisors(SessionAdvisor.session("thread")).call().content();
		assertThat(reached).extracting(SessionKey::owner).containsExactly("team", "ada");
	}

	/** It would run when the caller is another one again. */
	@Test
	void workThatIsDoneLaterIsRefused() {
		assertThatExceptionOfType(IllegalStateException.class)
			.isThrownBy(() -> this.access.callAs(Caller.of("ada"), () -> Mono.just("x")))
			.withMessageContaining("inside callAs");
		assertThatExceptionOfType(IllegalStateException.class)
			.isThrownBy(() -> this.access.callAs(Caller.of("ada"), () -> Stream.of(1)));
		ExecutorService pool = Executors.newSingleThreadExecutor();
		try {
			assertThatExceptionOfType(IllegalStateException.class)
				.isThrownBy(() -> this.access.callAs(Caller.of("ada"), () -> pool.submit(() -> "x")))
				.withMessageContaining("inside callAs");
		}
		finally {
			pool.shutdown();
		}
	}

	/** Whoever has the handle reaches its session, and no other. */
	@Test
	void handleThatCancelsActsOnItsOwnSession() {
		Approvals approvals = approvals(Map.of(), true);
		waiting(approvals, "cancel");
		Conversation handle = this.conversations.get("thread").cancelling(approvals);
		this.signedIn.set(Caller.of("bob"));
		handle.undo(1);
		assertThat(this.store.find(ADAS).orElseThrow().openTurn()).isZero();
	}

	@Test
	void callerWithTheAuthorityNamesOtherOwnersInFull() {
		this.signedIn.set(Caller.of("root", Set.of(), true));
		assertThat(this.access.key(ADAS)).isEqualTo(ADAS);
		assertThat(this.access.key(SessionKey.of("thread"))).isEqualTo(SessionKey.of("root", "thread"));
		assertThat(this.access.owner("ada")).isEqualTo("ada");
		assertThat(this.access.owner("")).isEqualTo("root");
	}

	@Test
	void jobsOfTheServerReachAllAndLeaveNothingBehind() {
		this.access.runAs(Caller.of("bob"), () -> {
			assertThat(this.access.callAs(Caller.server(), () -> this.access.key(ADAS))).isEqualTo(ADAS);
			assertThat(this.access.callAs(Caller.server(), () -> this.access.key(SessionKey.of("thread"))))
				.isEqualTo(SessionKey.of("thread"));
			assertThatExceptionOfType(SessionNotFoundException.class).isThrownBy(() -> this.access.key(ADAS));
		});
		assertThatExceptionOfType(CallerRequiredException.class).isThrownBy(this.access::caller);
		assertThatExceptionOfType(IllegalStateException.class)
			.isThrownBy(() -> this.access.runAs(Caller.server(), () -> {
				throw new IllegalStateException();
			}));
		assertThatExceptionOfType(CallerRequiredException.class).isThrownBy(this.access::caller);
	}

	@Test
	void workForAnotherCallerMayHaveNoResult() {
		List<SessionKey> reached = new ArrayList<>();
		this.access.runAs(Caller.server(), () -> reached.add(this.access.key(ADAS)));
		assertThat(reached).containsExactly(ADAS);
		String nothing = this.access.callAs(Caller.server(), () -> null);
		assertThat(nothing).isNull();
	}

	@Test
	void nameThatNoOwnerCanHaveIsRefused() {
		assertThatExceptionOfType(InvalidSessionKeyException.class).isThrownBy(() -> Caller.of("a\nb"));
		assertThatExceptionOfType(InvalidSessionKeyException.class).isThrownBy(() -> Caller.of(" "));
		assertThatExceptionOfType(InvalidSessionKeyException.class).isThrownBy(() -> Caller.of(""));
		assertThat(Caller.server()).hasToString("the server");
	}

	/** It would be the server to all that asks for its name. */
	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void onlyTheServerHasNoName(boolean anyOwner) {
		for (String name : List.of("", " ")) {
			assertThatExceptionOfType(InvalidSessionKeyException.class)
				.isThrownBy(() -> Caller.of(name, Set.of("ROLE_LEAD"), anyOwner))
				.withMessageContaining("owner");
		}
	}

	/** Lines of a log are what the application writes, whatever a client sends. */
	@ParameterizedTest
	@ValueSource(strings = { "x\n2026-11-26 ERROR forged", "%5000s" })
	void namesOfARequestAreOneShortLineInExceptions(String written) {
		String name = String.format(written, "x");
		this.signedIn.set(Caller.of("ada"));
		this.model.says("a");
		chat().prompt().user("q").advisors(SessionAdvisor.session("thread")).call().content();
		SessionStore guarded = this.access.guard(this.store);
		Approvals approvals = approvals(Map.of(), true);
		for (ThrowingCallable request : List.<ThrowingCallable>of(() -> guarded.list(name, Page.first(1)),
				() -> approvals.decide(ADAS, name, "digest", Decision.approve("x")),
				() -> this.conversations.get("thread").switchTo(name),
				() -> chat().prompt()
					.user("q")
					.advisors(SessionAdvisor.session("thread").andThen(SessionAdvisor.branch(name)))
					.call()
					.content(),
				() -> this.store.oldestRecords("approval", name, 1))) {
			assertThat(catchThrowable(request).getMessage()).doesNotContain("\n").hasSizeLessThan(400);
		}
	}

	@Test
	void keyOfAResolverIsNotChecked() {
		this.model.says("a").says("b");
		ChatClient chat = ChatClient.builder(this.model)
			.defaultAdvisors(SessionAdvisor.builder(this.conversations)
				.resolver((request) -> Optional.of(SessionKey.of("acme/ada", "thread")))
				.build())
			.build();
		this.signedIn.set(Caller.of("ada"));
		chat.prompt().user("q").call().content();
		assertThat(this.store.find(SessionKey.of("acme/ada", "thread"))).isPresent();
		assertThatExceptionOfType(SessionNotFoundException.class).isThrownBy(() -> chat.prompt()
			.user("q")
			.advisors(SessionAdvisor.session(SessionKey.of("acme/ada", "thread")))
			.call()
			.content());
	}

	/** An application that builds its own conversations does not lose the check by it. */
	@Test
	void conversationsOnAGuardedStoreAreGuarded() {
		this.signedIn.set(Caller.of("bob"));
		try (Conversations own = Conversations.of(this.access.guard(this.store))) {
			assertThat(own.access()).isSameAs(this.access);
			assertThat(own.get("t").key()).isEqualTo(SessionKey.of("bob", "t"));
			assertThatExceptionOfType(SessionNotFoundException.class).isThrownBy(() -> own.get(ADAS));
			assertThatExceptionOfType(SessionNotFoundException.class).isThrownBy(() -> Approvals.of(own).pending(ADAS));
		}
	}

	@Test
	void withoutAccessNothingChanges() {
		SessionAccess unlimited = SessionAccess.unlimited();
		assertThat(unlimited.key(ADAS)).isEqualTo(ADAS);
		assertThat(unlimited.guard(this.store)).isSameAs(this.store);
		assertThat(StoreGuard.unguarded(this.access.guard(this.store))).isSameAs(this.store);
		assertThat(StoreGuard.unguarded(this.access.guard(this.access.guard(this.store)))).isSameAs(this.store);
	}

	// decisions

	private ToolApproval waiting(Approvals approvals, String tool) {
		this.signedIn.set(Caller.of("ada"));
		this.model.calls(call(tool, "4711"));
		chat(approvals).prompt().user("q").advisors(SessionAdvisor.session("thread")).call().content();
		return approvals.pending(SessionKey.of("thread")).get(0);
	}

	@Test
	void decisionIsMadeInTheNameOfTheCaller() {
		Approvals approvals = approvals(Map.of(), true);
		ToolApproval decided = approvals.approve(waiting(approvals, "cancel"), "the boss");
		assertThat(decided.decision().by()).isEqualTo("ada");
	}

	@Test
	void jobOfTheServerDecidesInTheNameThatItSays() {
		Approvals approvals = approvals(Map.of(), true);
		ToolApproval call = waiting(approvals, "cancel");
		ToolApproval decided = this.access.callAs(Caller.server(), () -> approvals.approve(call, "the rules"));
		assertThat(decided.decision().by()).isEqualTo("the rules");
	}

	@Test
	void deciderDecidesInSessionsOfOthersAndTheOwnerWithoutTheAuthorityDoesNot() {
		Approvals approvals = approvals(Map.of("look", Set.of("ROLE_LEAD")), true);
		ToolApproval call = waiting(approvals, "look");
		assertThatExceptionOfType(DeciderRequiredException.class).isThrownBy(() -> approvals.approve(call, "ada"))
			.withMessageContaining("[ROLE_LEAD]");
		this.signedIn.set(Caller.of("bob", "ROLE_OTHER"));
		assertThatExceptionOfType(SessionNotFoundException.class).isThrownBy(() -> approvals.approve(call, "bob"));
		this.signedIn.set(Caller.of("root", Set.of(), true));
		assertThatExceptionOfType(DeciderRequiredException.class).isThrownBy(() -> approvals.approve(call, "root"));
		this.signedIn.set(Caller.of("eve", "ROLE_LEAD"));
		ToolApproval decided = approvals.decide(call, Decision.approve("x").always(StandingDecision.Scope.TOOL));
		assertThat(decided.decision().by()).isEqualTo("eve");
		assertThatExceptionOfType(SessionNotFoundException.class).isThrownBy(() -> this.conversations.get(ADAS));
		assertThatExceptionOfType(SessionNotFoundException.class).isThrownBy(() -> approvals.pending(ADAS));
	}

	@Test
	void deciderTakesBackTheOwnDecisionOnLaterCallsAndWhoMayNotIsTold() {
		Approvals approvals = approvals(Map.of("cancel", Set.of("ROLE_LEAD")), true);
		ToolApproval call = waiting(approvals, "cancel");
		this.signedIn.set(Caller.of("eve", "ROLE_LEAD"));
		approvals.decide(call, Decision.approve("x").always(StandingDecision.Scope.TOOL));
		StandingDecision standing = approvals.standingDecisions(ADAS).get(0);
		assertThat(standing.by()).isEqualTo("eve");
		this.signedIn.set(Caller.of("ada"));
		assertThat(approvals.standingDecisions(ADAS)).containsExactly(standing);
		assertThatExceptionOfType(DeciderRequiredException.class).isThrownBy(() -> approvals.revoke(standing))
			.withMessageContaining("tool 'cancel' are decided by those who have one of [ROLE_LEAD]")
			.withMessageContaining("may not revoke");
		this.signedIn.set(Caller.of("mallory"));
		assertThatExceptionOfType(SessionNotFoundException.class).isThrownBy(() -> approvals.standingDecisions(ADAS));
		assertThatExceptionOfType(SessionNotFoundException.class).isThrownBy(() -> approvals.revoke(standing));
		this.signedIn.set(Caller.of("eve", "ROLE_LEAD"));
		assertThat(approvals.revoke(standing)).isTrue();
		assertThat(approvals.revoke(standing)).isFalse();
		assertThat(approvals.standingDecisions(ADAS)).isEmpty();
	}

	@Test
	void deciderOfOneToolLearnsNothingOfStandingDecisionsOnAnother() {
		Approvals approvals = approvals(Map.of("look", Set.of("ROLE_LEAD")), true);
		ToolApproval call = waiting(approvals, "cancel");
		approvals.decide(call, Decision.approve("ada").always(StandingDecision.Scope.TOOL));
		StandingDecision standing = approvals.standingDecisions(ADAS).get(0);
		this.signedIn.set(Caller.of("eve", "ROLE_LEAD"));
		assertThat(approvals.standingDecisions(ADAS)).isEmpty();
		assertThat(approvals.revoke(standing)).isFalse();
	}

	/** A call of another tool looks to a decider like one that is not there. */
	@Test
	void deciderOfOneToolLearnsNothingOfTheCallsOfAnother() {
		Approvals approvals = approvals(Map.of("look", Set.of("ROLE_LEAD")), true);
		ToolApproval call = waiting(approvals, "cancel");
		this.signedIn.set(Caller.of("eve", "ROLE_LEAD"));
		List<String> told = new ArrayList<>();
		for (SessionKey key : List.of(ADAS, SessionKey.of("nobody", "thread"))) {
			assertThatExceptionOfType(DecisionRefusedException.class)
				.isThrownBy(() -> approvals.decide(key, call.id(), call.digest(), Decision.approve("eve")))
				.satisfies((ex) -> told.add(ex.getMessage().replace(key.owner(), "X")));
		}
		assertThat(told.get(0)).isEqualTo(told.get(1));
		assertThat(approvals
			.revoke(new StandingDecision(ADAS, "x", new StandingDecision.Calls("cancel", null, "none", null),
					new StandingDecision.Decided(true, null, "ada", java.time.Instant.EPOCH))))
			.isFalse();
	}

	@Test
	void ownerWhoIsADeciderMayBeExcluded() {
		Approvals approvals = approvals(Map.of("*", Set.of("ROLE_LEAD")), false);
		ToolApproval call = waiting(approvals, "cancel");
		this.signedIn.set(Caller.of("ada", "ROLE_LEAD"));
		assertThatExceptionOfType(DeciderRequiredException.class).isThrownBy(() -> approvals.approve(call, "ada"))
			.withMessageContaining("not the owner");
		this.signedIn.set(Caller.of("eve", "ROLE_LEAD"));
		assertThat(approvals.approve(call, "eve").decision().by()).isEqualTo("eve");
	}

	@Test
	void inboxHasTheCallsThatItsReaderMayDecideAndNoOthers() {
		Approvals approvals = approvals(Map.of("look", Set.of("ROLE_LEAD")), true);
		InboxQuery all = InboxQuery.of(List.of("ada", "bob", "nobody"));
		ToolApproval ofAda = waiting(approvals, "look");
		this.signedIn.set(Caller.of("bob"));
		this.model.calls(call("cancel", "1"), call("look", "2"));
		chat(approvals).prompt().user("q").advisors(SessionAdvisor.session("thread")).call().content();
		assertThat(approvals.inbox(all, Page.first(10))).extracting(ToolApproval::tool).containsExactly("cancel");
		this.signedIn.set(Caller.of("mallory"));
		assertThat(approvals.inbox(all, Page.first(10))).isEmpty();
		this.signedIn.set(Caller.of("eve", "ROLE_LEAD"));
		assertThat(approvals.inbox(all, Page.first(10))).extracting((call) -> call.key().owner() + " " + call.tool())
			.containsExactly("ada look", "bob look");
		assertThat(approvals.inbox(all, new Page(1, 1))).extracting((call) -> call.key().owner())
			.containsExactly("bob");
		assertThat(approvals.inbox(all.tools(Set.of("cancel")), Page.first(10))).isEmpty();
		assertThat(approvals.inbox(all.waitingFor(Duration.ofHours(1)), Page.first(10))).isEmpty();
		assertThat(approvals.inbox(all.waitingFor(Duration.ZERO), Page.first(10))).hasSize(2);
		assertThat(approvals.inbox(all.waitingFor(Duration.ofSeconds(Long.MAX_VALUE)), Page.first(10))).isEmpty();
		assertThat(approvals.inbox(all.waitingFor(Duration.ofSeconds(Long.MIN_VALUE)), Page.first(10))).hasSize(2);
		approvals.approve(ofAda, "eve");
		assertThat(approvals.inbox(all, Page.first(10))).hasSize(1);
		assertThat(this.access.callAs(Caller.server(), () -> approvals.inbox(all, Page.first(10)))).hasSize(2);
		assertThatExceptionOfType(IllegalArgumentException.class).isThrownBy(() -> InboxQuery.of(List.of()));
		assertThatExceptionOfType(IllegalArgumentException.class)
			.isThrownBy(() -> new InboxQuery(List.of(), Set.of(), null));
		this.signedIn.set(Caller.of("bob"));
		assertThat(approvals.inbox(InboxQuery.of(List.of("", "bob")), Page.first(10))).hasSize(1);
	}

	@Test
	void callThatCannotBeReadTakesNoInboxFromOthers() {
		Approvals approvals = approvals(Map.of("look", Set.of("ROLE_LEAD")), true);
		ToolApproval ofAda = waiting(approvals, "look");
		SessionKey broken = SessionKey.of("zoe", "broken");
		this.store.commit(Commit.first(broken).records(List.of(RecordWrite.create("approval", "c1", "no JSON"))));
		this.signedIn.set(Caller.of("eve", "ROLE_LEAD"));
		assertThat(approvals.inbox(InboxQuery.ofAnyOwner(), Page.first(10))).extracting(ToolApproval::id)
			.containsExactly(ofAda.id());
	}

	@Test
	void inboxOfAnyOwnerLeavesOutCallsThatTheCallerCannotReach() {
		Approvals approvals = approvals(Map.of("look", Set.of("ROLE_LEAD")), true);
		this.signedIn.set(Caller.server());
		this.model.calls(call("look", "1"));
		chat(approvals).prompt().user("q").advisors(SessionAdvisor.session("thread")).call().content();
		assertThat(approvals.inbox(InboxQuery.ofAnyOwner(), Page.first(10))).extracting((call) -> call.key().owner())
			.containsExactly("");
		this.signedIn.set(Caller.of("eve", "ROLE_LEAD"));
		assertThat(approvals.inbox(InboxQuery.ofAnyOwner(), Page.first(10))).isEmpty();
	}

	@Test
	void inboxOfAnyOwnerNeedsNoNamesAndShowsNothingToWhoDecidesNothing() {
		Approvals approvals = approvals(Map.of("look", Set.of("ROLE_LEAD")), true);
		InboxQuery all = InboxQuery.ofAnyOwner();
		ToolApproval ofAda = waiting(approvals, "look");
		this.signedIn.set(Caller.of("bob"));
		this.model.calls(call("cancel", "1"), call("look", "2"));
		chat(approvals).prompt().user("q").advisors(SessionAdvisor.session("thread")).call().content();
		assertThat(approvals.inbox(all, Page.first(10))).extracting(ToolApproval::tool).containsExactly("cancel");
		this.signedIn.set(Caller.of("mallory"));
		assertThat(approvals.inbox(all, Page.first(10))).isEmpty();
		this.signedIn.set(Caller.of("eve", "ROLE_LEAD"));
		assertThat(approvals.inbox(all, Page.first(10))).extracting((call) -> call.key().owner() + " " + call.tool())
			.containsExactly("ada look", "bob look");
		assertThat(approvals.inbox(all, new Page(1, 1))).extracting((call) -> call.key().owner())
			.containsExactly("bob");
		assertThat(approvals.inbox(all.tools(Set.of("cancel")), Page.first(10))).isEmpty();
		assertThat(approvals.inbox(all.waitingFor(Duration.ofHours(1)), Page.first(10))).isEmpty();
		approvals.approve(ofAda, "eve");
		assertThat(approvals.inbox(all, Page.first(10))).hasSize(1);
		assertThat(this.access.callAs(Caller.server(), () -> approvals.inbox(all, Page.first(10)))).hasSize(2);
		SessionStore guarded = this.access.guard(this.store);
		assertThatExceptionOfType(SessionNotFoundException.class)
			.isThrownBy(() -> guarded.oldestRecords("approval", null, 10));
		assertThat(this.access.callAs(Caller.server(), () -> guarded.oldestRecords("approval", null, 10)).records())
			.hasSize(3);
	}

	@Test
	void decidersWhomNobodyKnowsAreRefused() {
		try (Conversations unlimited = Conversations.of(this.store)) {
			assertThatExceptionOfType(IllegalStateException.class)
				.isThrownBy(() -> Approvals.builder(unlimited).deciders(Map.of("look", Set.of("ROLE_LEAD"))).build())
				.withMessageContaining("the caller is unknown");
		}
		assertThatExceptionOfType(IllegalStateException.class)
			.isThrownBy(() -> Approvals.builder(this.conversations).ownerDecides(false).build());
	}

	/**
	 * The tool that was meant is gated by its name already, and would be decided by its
	 * owner.
	 */
	@Test
	void misspeltToolOfADeciderIsRefused() {
		Approvals approvals = Approvals.builder(this.conversations)
			.tools(Set.of("cancel"))
			.knownTools(() -> List.of("cancel", "look"))
			.deciders(Map.of("cancels", Set.of("ROLE_LEAD")))
			.build();
		ApprovalChecks checks = InnerParts.of(approvals, ApprovalChecks.class);
		assertThatExceptionOfType(UnknownToolException.class).isThrownBy(checks::checkNames)
			.withMessageContaining("sessionkit.approval.deciders names [cancels]")
			.withMessageContaining("write 'cancel' instead of 'cancels'");
	}

	@Test
	void toolWithDecidersNeedsConsent() {
		Approvals approvals = approvals(Map.of("look", Set.of("ROLE_LEAD")), true);
		assertThat(waiting(approvals, "look").tool()).isEqualTo("look");
		assertThat(this.reachedByTool).isEmpty();
		assertThatExceptionOfType(IllegalArgumentException.class)
			.isThrownBy(() -> Approvals.builder(this.conversations).deciders(Map.of("look", Set.of())));
	}

}
