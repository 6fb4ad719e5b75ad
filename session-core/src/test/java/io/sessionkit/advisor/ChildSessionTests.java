package io.sessionkit.advisor;

import java.time.Duration;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.function.Supplier;

import io.sessionkit.Concurrency;
import io.sessionkit.InvalidSessionKeyException;
import io.sessionkit.Session;
import io.sessionkit.SessionKey;
import io.sessionkit.SessionLostException;
import io.sessionkit.context.HistoryPolicy;
import io.sessionkit.context.Pins;
import io.sessionkit.context.Prune;
import io.sessionkit.context.Trim;
import io.sessionkit.conversation.Conversation;
import io.sessionkit.conversation.Conversations;
import io.sessionkit.hook.HookContext;
import io.sessionkit.hook.HookResult;
import io.sessionkit.hook.SessionContext;
import io.sessionkit.hook.SessionHook;
import io.sessionkit.store.Commit;
import io.sessionkit.store.HeaderChange;
import io.sessionkit.store.Page;
import io.sessionkit.store.SessionStore;
import io.sessionkit.stream.TurnStreams;
import io.sessionkit.test.ScriptedChatModel;
import io.sessionkit.test.ScriptedChatModel.Lines;
import io.sessionkit.test.TestStores;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;

import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.chat.client.ChatClient.ChatClientRequestSpec;
import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.tool.ToolCallback;
import org.springframework.ai.tool.function.FunctionToolCallback;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * Sessions that belong to another one, on every store.
 */
@ParameterizedClass
@EnumSource
class ChildSessionTests {

	private static final Map<TestStores, SessionStore> stores = new EnumMap<>(TestStores.class);

	@Parameter
	TestStores kind;

	private final SessionKey key = SessionKey.of("parent " + UUID.randomUUID(), "t1");

	private final ScriptedChatModel model = new ScriptedChatModel();

	private SessionStore store;

	private Conversations conversations;

	private ChatClient client;

	@BeforeEach
	void open() {
		this.store = stores.computeIfAbsent(this.kind, TestStores::create);
		this.conversations = Conversations.of(this.store);
		this.client = ChatClient.builder(this.model).defaultAdvisors(SessionAdvisor.of(this.conversations)).build();
	}

	@Test
	void childHasAHistoryOfItsOwnAndStays() {
		ask("q1", named());
		outer(() -> ask("hallo", SessionAdvisor.child("translator")));
		outer(() -> {
			ask("welt", SessionAdvisor.child("translator"));
			assertThat(this.model.lastRequestLines()).containsExactly("user: hallo", "assistant: re hallo",
					"user: welt");
			return "ok";
		});
		assertThat(log(this.key.child("translator"))).containsExactly("user: hallo", "assistant: re hallo",
				"user: welt", "assistant: re welt");
		assertThat(this.key.child("translator")).isEqualTo(SessionKey.of(this.key.owner(), "t1/translator"));
		assertThat(log(this.key)).hasSize(10);
	}

	@Test
	void childThatReadsItsParentIsSentItsHistoryInFront() {
		ask("q1", named());
		ChildSession child = ChildSession.of("translator").readingParent();
		outer(() -> ask("c1", SessionAdvisor.child(child)));
		assertThat(log(this.key.child("translator"))).containsExactly("user: c1", "assistant: re c1");
		assertThat(snapshot(1)).containsExactly("user: q1", "assistant: re q1");
		ask("c2", named().andThen(SessionAdvisor.child(child)));
		assertThat(this.model.lastRequestLines()).startsWith("user: q1", "assistant: re q1", "user: outer")
			.endsWith("user: c1", "assistant: re c1", "user: c2")
			.hasSize(9);
		assertThat(snapshot(2)).hasSize(8);
	}

	@Test
	void oldToolResultsOfTheParentAreLeftOutAsInACallOnIt() {
		try (Conversations pruning = Conversations.builder(this.store).prune(Prune.keepLastToolResults(0)).build()) {
			this.client = ChatClient.builder(this.model).defaultAdvisors(SessionAdvisor.of(pruning)).build();
			outer(() -> "long".repeat(50));
			ask("c1", named().andThen(SessionAdvisor.child(ChildSession.of("translator").readingParent())));
			assertThat(this.model.lastRequestLines()).noneMatch((line) -> line.contains("longlong"))
				.anyMatch((line) -> line.contains(Prune.PLACEHOLDER));
		}
	}

	/** A view with pins is read as a whole, whatever its limits. */
	@Test
	void limitsOfTheParentApplyToWhatAChildReadsOfItOutsideOfATurn() {
		Trim trimming = Trim.NONE.pins(Pins.firstUser());
		try (Conversations pinning = Conversations.builder(this.store).trim(trimming).build()) {
			this.client = ChatClient.builder(this.model).defaultAdvisors(SessionAdvisor.of(pinning)).build();
			for (String question : List.of("pinned", "q2", "q3", "q4")) {
				ask(question, named());
			}
			ChildSession child = ChildSession.of("translator").readingParent();
			pinning.get(this.key).settings((settings) -> settings.limit(2));
			ask("c1", named().andThen(SessionAdvisor.child(child)));
			assertThat(this.model.lastRequestLines()).containsExactly("user: q4", "assistant: re q4", "user: c1");
			pinning.get(this.key).settings((settings) -> settings.limit(null).trim((own) -> own.maxTurns(2)));
			ask("c2", named().andThen(SessionAdvisor.child(child)));
			assertThat(this.model.lastRequestLines()).containsExactly("user: pinned", "assistant: re pinned",
					"user: q4", "assistant: re q4", "user: c1", "assistant: re c1", "user: c2");
		}
	}

	@Test
	void childReadsTheNewestTurnsOfItsParentAlsoIfTheRecordOfASummaryIsGone() {
		try (Conversations trimming = Conversations.builder(this.store).trim(Trim.keepLastTurns(1)).build()) {
			this.client = ChatClient.builder(this.model).defaultAdvisors(SessionAdvisor.of(trimming)).build();
			for (String question : List.of("q1", "q2", "q3")) {
				ask(question, named());
			}
			this.store.commit(Commit.any(this.key).header(HeaderChange.NONE.summary(2, "gone")));
			ask("c1", named().andThen(SessionAdvisor.child(ChildSession.of("translator").readingParent())));
			assertThat(this.model.lastRequestLines()).containsExactly("user: q3", "assistant: re q3", "user: c1");
		}
	}

	@Test
	void childOfAChildAndItsTurnsAreCallsOfTheirOwn() {
		outer(() -> {
			this.model.calls(SessionAdvisorTests.call("c2", "spell", "2"));
			ToolCallback spell = tool("spell", () -> ask("s1", SessionAdvisor.child("speller")));
			this.model.says("re s1").says("re c1");
			return this.client.prompt()
				.user("c1")
				.toolCallbacks(spell)
				.advisors(SessionAdvisor.child("translator"))
				.call()
				.content();
		});
		assertThat(log(this.key.child("translator").child("speller"))).containsExactly("user: s1", "assistant: re s1");
	}

	@Test
	void childForOneTurnIsGoneWithTheTurnHoweverItEnds() {
		ChildSession child = ChildSession.of("scratch").forThisTurn();
		AtomicReference<SessionKey> seen = new AtomicReference<>();
		Supplier<String> work = () -> {
			seen.set(this.key.child("scratch").child(new SessionContext().turnId()));
			ask("c1", SessionAdvisor.child(child));
			ask("c2", SessionAdvisor.child(child));
			assertThat(log(seen.get())).hasSize(4);
			Session there = this.store.find(seen.get()).orElseThrow();
			assertThat(there.timeToLive()).isEqualTo(Duration.ofDays(1));
			return "ok";
		};
		ask("kept", named().andThen(SessionAdvisor.child("scratch")));
		outer(work);
		assertThat(this.store.find(seen.get())).isEmpty();
		this.model.calls(SessionAdvisorTests.call("c1", "work", "1"));
		assertThatIllegalStateException().isThrownBy(() -> working(() -> {
			String done = work.get();
			this.model.fails(new IllegalStateException("down"));
			return done;
		})).withMessage("down");
		assertThat(this.store.find(seen.get())).isEmpty();
		assertThat(log(this.key.child("scratch"))).containsExactly("user: kept", "assistant: re kept");
	}

	@Test
	void childForATurnWhoseStreamIsCancelledIsGone() throws Exception {
		CountDownLatch called = new CountDownLatch(1);
		CountDownLatch cancelled = new CountDownLatch(1);
		AtomicReference<SessionKey> seen = new AtomicReference<>();
		this.model.calls(SessionAdvisorTests.call("c1", "work", "1")).says("re c1").says("unseen");
		ToolCallback work = tool("work", () -> {
			seen.set(this.key.child("scratch").child(new SessionContext().turnId()));
			call("c1", SessionAdvisor.child(ChildSession.of("scratch").forThisTurn()));
			called.countDown();
			await(cancelled);
			return "ok";
		});
		Disposable running = this.client.prompt()
			.user("outer")
			.toolCallbacks(work)
			.advisors(named())
			.stream()
			.content()
			.subscribe();
		called.await();
		running.dispose();
		cancelled.countDown();
		Awaitility.await().untilAsserted(() -> assertThat(this.store.find(seen.get())).isEmpty());
	}

	@Test
	void childForATurnThatWasCancelledBeforeItsModelWasCalledIsGone() throws Exception {
		CountDownLatch called = new CountDownLatch(1);
		CountDownLatch cancelled = new CountDownLatch(1);
		AtomicReference<SessionKey> seen = new AtomicReference<>();
		this.client = client(new SessionHook() {

			@Override
			public HookResult<List<Message>> beforeTurn(HookContext context, List<Message> input) {
				if (context.key().equals(ChildSessionTests.this.key)) {
					seen.set(context.key().child("scratch").child(context.turnId()));
					ask("c1", SessionAdvisor.child(ChildSession.of("scratch").forThisTurn()));
					called.countDown();
					await(cancelled);
				}
				return HookResult.keep();
			}

		});
		Disposable running = this.client.prompt().user("outer").advisors(named()).stream().content().subscribe();
		called.await();
		running.dispose();
		assertThat(this.store.find(seen.get())).isPresent();
		cancelled.countDown();
		Awaitility.await().untilAsserted(() -> assertThat(this.store.find(seen.get())).isEmpty());
		assertThat(this.store.find(this.key)).isEmpty();
	}

	private ChatClient client(SessionHook hook) {
		Conversations hooked = Conversations.builder(this.store).hooks(hook).build();
		return ChatClient.builder(this.model).defaultAdvisors(SessionAdvisor.of(hooked)).build();
	}

	/**
	 * Nothing of its turn is stored yet, and nobody erases it if the process dies now.
	 */
	@Test
	void childForOneTurnExpiresFromItsFirstRecordOn() {
		for (Consumer<ChatClient.AdvisorSpec> more : List.of(SessionAdvisor.concurrency(Concurrency.SERIALIZE),
				SessionAdvisor.idempotencyKey("r1"))) {
			assertThat(lifeOfChildAtWork((spec) -> spec.advisors(more).call().content())).isEqualTo(Duration.ofDays(1));
		}
		assertThat(lifeOfChildAtWork((spec) -> {
			try (TurnStreams streams = TurnStreams.builder(this.conversations).build()) {
				streams.start(spec).blockLast();
			}
		})).isEqualTo(Duration.ofDays(1));
	}

	/**
	 * Returns how long a child for one turn lives while its first call asks the model.
	 */
	private Duration lifeOfChildAtWork(Consumer<ChatClientRequestSpec> calling) {
		AtomicReference<Duration> life = new AtomicReference<>();
		outer(() -> {
			SessionKey child = this.key.child("scratch").child(new SessionContext().turnId());
			this.model.step((prompt) -> {
				life.set(this.store.find(child).orElseThrow().timeToLive());
				return Flux.just(this.model.chunk("re c1", List.of(), true));
			});
			calling.accept(this.client.prompt()
				.user("c1")
				.advisors(SessionAdvisor.child(ChildSession.of("scratch").forThisTurn())));
			return "ok";
		});
		return life.get();
	}

	@Test
	void nameCannotLeadOutOfItsParent() {
		for (String name : List.of("../t2", "a/b", "", " ", "a\nb", "\u202e", "\ud800", "x".repeat(253))) {
			assertThatExceptionOfType(InvalidSessionKeyException.class)
				.isThrownBy(() -> call("c1", named().andThen(SessionAdvisor.child(name))))
				.withMessageContaining("child");
		}
		assertThat(this.model.prompts()).isEmpty();
		assertThat(this.store.list(this.key.owner(), Page.first(10))).isEmpty();
	}

	@Test
	void nameThatFitsNoParentIsRefusedAtOnce() {
		for (String name : List.of("a/b", "", " ", "a\nb", "x".repeat(256))) {
			assertThatExceptionOfType(InvalidSessionKeyException.class).isThrownBy(() -> SessionAdvisor.child(name))
				.withMessageContaining("child");
		}
	}

	@Test
	void childWithoutAParentAndOneForNoTurnAreRefused() {
		assertThatExceptionOfType(SessionRequiredException.class)
			.isThrownBy(() -> call("c1", SessionAdvisor.child("translator")))
			.withMessageContaining("no session that could be its parent");
		assertThatIllegalStateException().isThrownBy(
				() -> call("c1", named().andThen(SessionAdvisor.child(ChildSession.of("translator").forThisTurn()))))
			.withMessageContaining("for one turn");
		assertThatExceptionOfType(SessionRequiredException.class)
			.isThrownBy(() -> call("c1", SessionAdvisor.none().andThen(SessionAdvisor.child("translator"))))
			.withMessageContaining("no session");
		assertThatIllegalStateException()
			.isThrownBy(() -> call("c1", named().andThen((spec) -> spec.param("sessionkit.child", "translator"))))
			.withMessageContaining("ChildSession");
		assertThat(this.model.prompts()).isEmpty();
	}

	/** The history of the parent would silently be left out. */
	@ParameterizedTest
	@EnumSource
	void childThatReadsItsParentBringsNoHistory(HistoryPolicy policy) {
		Consumer<ChatClient.AdvisorSpec> given = SessionAdvisor.history(List.of(), policy);
		ChildSession child = ChildSession.of("translator").readingParent();
		assertThatIllegalStateException()
			.isThrownBy(() -> call("c1", named().andThen(SessionAdvisor.child(child)).andThen(given)))
			.withMessageContainingAll("brings a history", "readingParent()");
		assertThat(this.model.prompts()).isEmpty();
		ask("c1", named().andThen(SessionAdvisor.child("translator")).andThen(given));
		assertThat(this.model.lastRequestLines()).containsExactly("user: c1");
	}

	@Test
	void childrenAreListedAndErased() {
		Conversation parent = this.conversations.get(this.key);
		ask("q1", named());
		ask("c1", named().andThen(SessionAdvisor.child("a")));
		ask("c2", named().andThen(SessionAdvisor.child("b")));
		ask("c3", SessionAdvisor.session(this.key.child("a").child("c")));
		ask("other", SessionAdvisor.session(SessionKey.of(this.key.owner(), "t10")));
		assertThat(parent.children()).extracting((child) -> child.key().id())
			.containsExactlyInAnyOrder("t1/a", "t1/b", "t1/a/c");
		assertThat(parent.eraseChildren()).isEqualTo(3);
		assertThat(parent.children()).isEmpty();
		assertThat(this.store.list(this.key.owner(), Page.first(10))).extracting((session) -> session.key().id())
			.containsExactlyInAnyOrder("t1", "t10");
	}

	/** The list of the owner does not have the child yet. */
	@Test
	void childIsErasedWithTheOthersByItsOwnFirstTurn() {
		ask("c1", named().andThen(SessionAdvisor.child("b")));
		ToolCallback erase = tool("erase", () -> "erased " + this.conversations.get(this.key).eraseChildren());
		this.model.calls(SessionAdvisorTests.call("c1", "erase", "1")).says("done");
		assertThatExceptionOfType(SessionLostException.class).isThrownBy(() -> this.client.prompt()
			.user("forget me")
			.toolCallbacks(erase)
			.advisors(named().andThen(SessionAdvisor.child("a")))
			.call()
			.content());
		assertThat(this.conversations.get(this.key).children()).isEmpty();
	}

	/** Runs a turn of the parent whose tool does the work. */
	private void outer(Supplier<String> work) {
		this.model.calls(SessionAdvisorTests.call("c1", "work", "1"));
		working(() -> {
			String done = work.get();
			this.model.says("done");
			return done;
		});
	}

	private void working(Supplier<String> work) {
		this.client.prompt().user("outer").toolCallbacks(tool("work", work)).advisors(named()).call().content();
	}

	private Consumer<ChatClient.AdvisorSpec> named() {
		return SessionAdvisor.session(this.key);
	}

	private String ask(String text, Consumer<ChatClient.AdvisorSpec> advisors) {
		this.model.says("re " + text);
		return call(text, advisors);
	}

	private String call(String text, Consumer<ChatClient.AdvisorSpec> advisors) {
		return this.client.prompt().user(text).advisors(advisors).call().content();
	}

	private static void await(CountDownLatch latch) {
		try {
			latch.await();
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

	private static ToolCallback tool(String name, Supplier<String> work) {
		return FunctionToolCallback.builder(name, (SessionAdvisorTests.Value value) -> work.get())
			.description("does something")
			.inputType(SessionAdvisorTests.Value.class)
			.build();
	}

	private List<String> log(SessionKey session) {
		return Lines.of(this.store.messages(session));
	}

	private List<String> snapshot(long turn) {
		return Lines.of(this.conversations.get(this.key.child("translator")).snapshot(turn).orElseThrow().messages());
	}

}
