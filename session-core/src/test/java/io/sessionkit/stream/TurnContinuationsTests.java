package io.sessionkit.stream;

import java.lang.reflect.Proxy;
import java.net.URL;
import java.net.URLClassLoader;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.sessionkit.NothingWaitsException;
import io.sessionkit.SessionKey;
import io.sessionkit.TurnInProgressException;
import io.sessionkit.TurnStatus;
import io.sessionkit.access.Caller;
import io.sessionkit.access.SessionAccess;
import io.sessionkit.advisor.SessionAdvisor;
import io.sessionkit.approval.ApprovalNotice;
import io.sessionkit.approval.Decision;
import io.sessionkit.approval.InboxQuery;
import io.sessionkit.approval.OnNewMessage;
import io.sessionkit.approval.StandingDecision;
import io.sessionkit.approval.ToolApproval;
import io.sessionkit.codec.JsonMessageCodec;
import io.sessionkit.conversation.ApprovalNotices;
import io.sessionkit.conversation.Approvals;
import io.sessionkit.conversation.Conversations;
import io.sessionkit.docs.SimpleSessionStore;
import io.sessionkit.internal.door.InnerParts;
import io.sessionkit.internal.ledger.Continuations;
import io.sessionkit.store.Page;
import io.sessionkit.store.RecordWrite;
import io.sessionkit.store.SessionRecord;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.StoreOptions;
import io.sessionkit.store.StoreUnavailableException;
import io.sessionkit.store.Tail;
import io.sessionkit.store.memory.InMemorySessionStore;
import io.sessionkit.test.ObservedStore;
import io.sessionkit.test.ScriptedChatModel;
import io.sessionkit.test.SetClock;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.publisher.Flux;

import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.chat.messages.AssistantMessage.ToolCall;
import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.ToolResponseMessage;
import org.springframework.ai.tool.function.FunctionToolCallback;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/**
 * A turn continues by itself once its calls are decided, and once in effect.
 */
class TurnContinuationsTests {

	private static final Duration NEVER = Duration.ofHours(10);

	static final Duration OFTEN = Duration.ofMillis(20);

	static final SessionKey KEY = SessionKey.of("ada", "thread");

	private final SetClock clock = new SetClock();

	private final SessionStore store = new InMemorySessionStore(
			StoreOptions.of(JsonMessageCodec.create()).clock(this.clock));

	final ScriptedChatModel model = new ScriptedChatModel();

	final List<String> cancelled = new CopyOnWriteArrayList<>();

	private final List<AutoCloseable> opened = new ArrayList<>();

	final Instance here = instance(UnaryOperator.identity());

	/** The arguments of the tool. */
	record Order(String id) {
	}

	/** A process of the application. */
	record Instance(Conversations conversations, Approvals approvals, ChatClient chat) {

		Optional<String> resume(SessionKey key) {
			return Optional.ofNullable(this.chat.prompt().advisors(SessionAdvisor.session(key)).call().content());
		}

		ToolApproval waiting(SessionKey key) {
			return this.approvals.pending(key).get(0);
		}

	}

	@AfterEach
	void close() throws Exception {
		for (int i = this.opened.size() - 1; i >= 0; i--) {
			this.opened.get(i).close();
		}
	}

	@Test
	void processThatDiesHoldsANoticeNoLongerThanItsTurn() {
		assertThat(claim(Duration.ofSeconds(6))).isEqualTo(Duration.ofSeconds(6));
		assertThat(claim(Duration.ofMinutes(5))).isEqualTo(Duration.ofMinutes(1));
	}

	private Duration claim(Duration lease) {
		try (Conversations conversations = Conversations.builder(this.store).lease(lease).build()) {
			return InnerParts.of(Approvals.builder(conversations).continuations(true).build(), Continuations.class)
				.claim();
		}
	}

	@Test
	void decidedTurnContinuesAtOnceAndWithoutACall() {
		List<DecidedTurn> turns = new CopyOnWriteArrayList<>();
		start(this.here, (turn) -> {
			turns.add(turn);
			return this.here.chat().prompt();
		}, NEVER);
		pause(KEY, "o7");
		this.model.says("done");
		ToolApproval call = this.here.waiting(KEY);
		this.here.approvals().approve(call, "anna");
		awaitOver();
		assertThat(this.cancelled).containsExactly("o7");
		assertThat(turns).singleElement().satisfies((turn) -> {
			assertThat(turn.key()).isEqualTo(KEY);
			assertThat(turn.turnId()).isEqualTo(call.turnId());
			assertThat(turn.calls()).extracting(ToolApproval::id).containsExactly(call.id());
		});
		assertStatus(KEY, TurnStatus.COMPLETED);
		assertThat(this.store.messages(KEY)).last().extracting(Message::getText).isEqualTo("done");
	}

	/** Nothing of a tool context is kept. */
	@Test
	void callThatContinuesATurnIsMadeOfItsKeptParameters() {
		Instance keeping = instance(Conversations.builder(this.store).turnParameters(Set.of("tenant")),
				UnaryOperator.identity(), () -> {
				});
		List<DecidedTurn> turns = new CopyOnWriteArrayList<>();
		start(keeping, (turn) -> {
			turns.add(turn);
			return keeping.chat().prompt().toolContext(turn.parameters());
		}, NEVER);
		this.model.calls(cancel("o1"));
		keeping.chat()
			.prompt()
			.user("q")
			.advisors(SessionAdvisor.session(KEY))
			.advisors((advisors) -> advisors.param("tenant", "acme").param("other", "x"))
			.call()
			.chatResponse();
		this.model.says("done");
		keeping.approvals().approve(keeping.waiting(KEY), "anna");
		awaitOver();
		assertThat(turns).extracting(DecidedTurn::parameters).containsExactly(Map.of("tenant", "acme"));
	}

	@Test
	void turnWaitsForTheLastOfItsCalls() {
		start(this.here, OFTEN);
		pause(KEY, "o1", "o2");
		this.here.approvals().approve(this.here.waiting(KEY), "anna");
		await().until(() -> notices().get(0).payload().contains("\"looks\":1"));
		assertThat(this.cancelled).isEmpty();
		this.model.says("done");
		this.here.approvals().reject(this.here.waiting(KEY), "bob", "not this one");
		awaitOver();
		assertThat(this.cancelled).containsExactly("o1");
		assertThat(results()).containsExactly("\"ok o1\"", "not this one");
	}

	@Test
	void standingDecisionDecidesTheOtherCallsToo() {
		start(this.here, NEVER);
		pause(KEY, "o1", "o2");
		this.model.says("done");
		this.here.approvals()
			.decide(this.here.waiting(KEY), Decision.approve("anna").always(StandingDecision.Scope.TOOL));
		awaitOver();
		assertThat(this.cancelled).containsExactly("o1", "o2");
	}

	@Test
	void turnThatWaitsAgainContinuesAfterTheNextDecision() {
		start(this.here, NEVER);
		pause(KEY, "o1");
		this.model.calls(cancel("o2"));
		this.here.approvals().approve(this.here.waiting(KEY), "anna");
		awaitOver();
		assertStatus(KEY, TurnStatus.AWAITING_APPROVAL);
		this.model.says("done");
		this.here.approvals().approve(this.here.waiting(KEY), "anna");
		awaitOver();
		assertStatus(KEY, TurnStatus.COMPLETED);
		assertThat(this.cancelled).containsExactly("o1", "o2");
	}

	@Test
	void expiredCallsAreDecidedAndAModelThatRepeatsThemGoesOnOnce() {
		Instance expiring = instance((approvals) -> approvals.expiresAfter(Duration.ofMinutes(90)));
		start(expiring, OFTEN);
		pause(expiring, KEY, "o1");
		this.clock.pass(Duration.ofMinutes(61));
		await().until(() -> notices().get(0).payload().contains("\"looks\":12") && !isClaimed());
		assertThat(this.model.prompts()).hasSize(1);
		this.model.calls(cancel("o1"));
		this.clock.pass(Duration.ofMinutes(31));
		awaitOver();
		assertThat(this.model.prompts()).hasSize(2);
		assertStatus(KEY, TurnStatus.AWAITING_APPROVAL);
		this.model.says("done");
		expiring.approvals().approve(expiring.waiting(KEY), "anna");
		awaitOver();
		assertThat(this.cancelled).containsExactly("o1");
		assertStatus(KEY, TurnStatus.COMPLETED);
	}

	/** The reply with which the turn then continues has no call that has expired. */
	@Test
	void modelThatRepeatsExpiredCallsGoesOnOnceAlsoIfItHasFailedBehindALaterReply() {
		Instance expiring = instance((approvals) -> approvals.expiresAfter(Duration.ofMinutes(90)));
		start(expiring, OFTEN);
		pause(expiring, KEY, "o1");
		this.clock.pass(Duration.ofMinutes(61));
		await().until(() -> notices().get(0).payload().contains("\"looks\":12") && !isClaimed());
		this.model.calls(new ToolCall("l1", "function", "look", "{\"id\":\"o1\"}"))
			.fails(new IllegalStateException("not now"))
			.calls(cancel("o1"));
		this.clock.pass(Duration.ofMinutes(31));
		await().until(() -> this.model.prompts().size() == 3 && isDueIn(Duration.ofSeconds(1)));
		this.clock.pass(Duration.ofSeconds(1));
		awaitOver();
		assertThat(this.model.prompts()).hasSize(4);
		assertStatus(KEY, TurnStatus.AWAITING_APPROVAL);
		assertThat(this.cancelled).containsExactly("looked o1");
		this.model.says("done");
		expiring.approvals().approve(expiring.waiting(KEY), "anna");
		awaitOver();
		assertStatus(KEY, TurnStatus.COMPLETED);
	}

	@Test
	void modelThatFailsIsAskedAgainLaterAndTheToolIsNot() {
		start(this.here, OFTEN);
		pause(KEY, "o1");
		this.model.fails(new IllegalStateException("secret")).says("done");
		this.here.approvals().approve(this.here.waiting(KEY), "anna");
		await().until(() -> this.model.prompts().size() == 2 && isDueIn(Duration.ofSeconds(1)));
		this.clock.pass(Duration.ofSeconds(1));
		awaitOver();
		assertStatus(KEY, TurnStatus.COMPLETED);
		assertThat(this.cancelled).containsExactly("o1");
	}

	@Test
	void toolOfALaterReplyIsNotRunAgainWhenTheModelIsAskedAgainLater() {
		start(this.here, OFTEN);
		pause(KEY, "o1");
		this.model.calls(new ToolCall("l1", "function", "look", "{\"id\":\"o1\"}"))
			.fails(new IllegalStateException("not now"))
			.says("done");
		this.here.approvals().approve(this.here.waiting(KEY), "anna");
		await().until(() -> this.model.prompts().size() == 3 && isDueIn(Duration.ofSeconds(1)));
		this.clock.pass(Duration.ofSeconds(1));
		awaitOver();
		assertStatus(KEY, TurnStatus.COMPLETED);
		assertThat(this.cancelled).containsExactly("o1", "looked o1");
		assertThat(results()).containsExactly("\"ok o1\"", "\"seen\"");
	}

	/** Models that think before they answer do so. */
	@Test
	void modelWhoseReplyIsEmptyIsAskedAgainLaterAndTheToolIsNot() {
		start(this.here, OFTEN);
		pause(KEY, "o1");
		this.model.says("").says("done");
		this.here.approvals().approve(this.here.waiting(KEY), "anna");
		await().until(() -> this.model.prompts().size() == 2 && isDueIn(Duration.ofSeconds(1)));
		this.clock.pass(Duration.ofSeconds(1));
		awaitOver();
		assertStatus(KEY, TurnStatus.COMPLETED);
		assertThat(this.model.prompts()).hasSize(3);
		assertThat(this.cancelled).containsExactly("o1");
	}

	@Test
	void turnIsGivenUpAfterManyAttemptsAndWaitsForACall() {
		List<DecidedTurn> tried = new CopyOnWriteArrayList<>();
		start(this.here, (turn) -> {
			tried.add(turn);
			throw new IllegalStateException("never");
		}, OFTEN);
		pause(KEY, "o1");
		this.here.approvals().approve(this.here.waiting(KEY), "anna");
		await().pollInterval(OFTEN).until(() -> {
			this.clock.pass(Duration.ofMinutes(61));
			return notices().isEmpty();
		});
		assertThat(tried).hasSize(TurnContinuations.MAX_ATTEMPTS);
		this.model.says("done");
		assertThat(this.here.resume(KEY)).contains("done");
	}

	@Test
	void clockThatJumpsBackDoesNotKeepATurnForLong() {
		start(this.here, OFTEN);
		pause(KEY, "o1");
		this.model.fails(new IllegalStateException("not now")).says("done");
		this.here.approvals().approve(this.here.waiting(KEY), "anna");
		await().until(() -> this.model.prompts().size() == 2 && isDueIn(Duration.ofSeconds(1)));
		this.clock.pass(Duration.ofDays(-1));
		awaitOver();
		assertStatus(KEY, TurnStatus.COMPLETED);
	}

	@Test
	void noticeThatCannotBeClaimedHoldsNobodyUp() {
		SessionKey other = SessionKey.of("ada", "other");
		pause(KEY, "o1");
		String broken = this.here.waiting(KEY).turnId();
		this.here.approvals().approve(this.here.waiting(KEY), "anna");
		pause(other, "o2");
		this.here.approvals().approve(this.here.waiting(other), "anna");
		this.model.says("done");
		ObservedStore failing = new ObservedStore(this.store);
		failing.beforePut((record) -> {
			if (record.id().equals(broken)) {
				throw new StoreUnavailableException("down", null);
			}
		});
		start(instance(Conversations.builder(failing), UnaryOperator.identity(), () -> {
		}), OFTEN);
		this.clock.pass(Duration.ofSeconds(6));
		await().until(() -> notices().size() == 1);
		assertThat(this.cancelled).containsExactly("o2");
		assertStatus(other, TurnStatus.COMPLETED);
	}

	@Test
	void twoInstancesAndThePageHaveEachEffectOnce() {
		Instance other = instance(UnaryOperator.identity());
		start(this.here, OFTEN);
		start(other, OFTEN);
		List<SessionKey> keys = IntStream.range(0, 12).mapToObj((i) -> SessionKey.of("ada", "s" + i)).toList();
		keys.forEach((key) -> pause(key, key.id()));
		keys.forEach((key) -> this.model.says("done"));
		CompletableFuture<Void> page = CompletableFuture.runAsync(() -> keys.forEach((key) -> resumeIfItWaits(key)));
		keys.forEach((key) -> this.here.approvals().approve(this.here.waiting(key), "anna"));
		page.join();
		await().until(() -> {
			this.clock.pass(Duration.ofSeconds(5));
			return notices().isEmpty();
		});
		assertThat(this.cancelled).containsExactlyInAnyOrderElementsOf(keys.stream().map(SessionKey::id).toList());
		keys.forEach((key) -> assertStatus(key, TurnStatus.COMPLETED));
		assertThat(this.model.prompts()).hasSize(2 * keys.size());
	}

	private void resumeIfItWaits(SessionKey key) {
		try {
			this.here.resume(key);
		}
		catch (NothingWaitsException | TurnInProgressException ex) {
			// the server was first
		}
	}

	@Test
	void turnAtWorkElsewhereIsLeftAloneAndLookedAtAgain() {
		CompletableFuture<Void> asked = new CompletableFuture<>();
		CompletableFuture<Void> answers = new CompletableFuture<>();
		pause(KEY, "o1");
		this.here.approvals().approve(this.here.waiting(KEY), "anna");
		this.model.step((prompt) -> {
			asked.complete(null);
			answers.join();
			return Flux.just(this.model.chunk("done", List.of(), true));
		});
		CompletableFuture<Optional<String>> page = CompletableFuture.supplyAsync(() -> this.here.resume(KEY));
		asked.join();
		start(instance(UnaryOperator.identity()), OFTEN);
		this.clock.pass(Duration.ofSeconds(5));
		await().until(() -> isDueIn(Duration.ofSeconds(10)));
		answers.complete(null);
		assertThat(page.join()).contains("done");
		this.clock.pass(Duration.ofSeconds(10));
		awaitOver();
		assertThat(this.cancelled).containsExactly("o1");
	}

	@ParameterizedTest
	@ValueSource(strings = { "message", "another place", "child", "no session advisor", "no call" })
	void callThatDoesNotContinueTheTurnIsAFailureAndCancelsNothing(String flaw) {
		Instance cancelling = instance((approvals) -> approvals.onNewMessage(OnNewMessage.CANCEL));
		List<DecidedTurn> tried = new CopyOnWriteArrayList<>();
		start(cancelling, (turn) -> {
			tried.add(turn);
			return switch (flaw) {
				case "message" -> cancelling.chat().prompt().user("go on");
				case "another place" -> cancelling.chat().prompt().advisors(SessionAdvisor.regenerating());
				case "child" -> cancelling.chat().prompt().advisors(SessionAdvisor.child("scout"));
				case "no call" -> null;
				default -> ChatClient.create(new ScriptedChatModel().says("hello")).prompt();
			};
		}, OFTEN);
		pause(KEY, "o1");
		cancelling.approvals().approve(cancelling.waiting(KEY), "anna");
		await().until(() -> tried.size() == 1 && isDueIn(Duration.ofSeconds(1)));
		assertThat(notices()).hasSize(1);
		assertStatus(KEY, TurnStatus.AWAITING_APPROVAL);
		assertThat(cancelling.approvals().ledger(KEY)).extracting("status")
			.extracting(Object::toString)
			.containsExactly("APPROVED");
	}

	@Test
	void sessionThatIsErasedBeforeItsTurnContinuesStaysErased() {
		AtomicInteger calls = new AtomicInteger();
		start(this.here, (turn) -> {
			this.store.erase(KEY);
			calls.incrementAndGet();
			return this.here.chat().prompt();
		}, OFTEN);
		pause(KEY, "o1");
		this.here.approvals().approve(this.here.waiting(KEY), "anna");
		await().during(Duration.ofMillis(300)).until(() -> calls.get() == 1 && notices().isEmpty());
		assertThat(this.store.find(KEY)).isEmpty();
		assertThat(this.cancelled).isEmpty();
	}

	/** A decision of a process may be made by any of its threads. */
	@Test
	void toolFindsTheClassesOfTheApplicationAndNothingOfWhoeverDecides() {
		InheritableThreadLocal<String> user = new InheritableThreadLocal<>();
		ClassLoader before = Thread.currentThread().getContextClassLoader();
		ClassLoader application = new URLClassLoader(new URL[0], getClass().getClassLoader());
		List<Optional<String>> users = new CopyOnWriteArrayList<>();
		List<ClassLoader> loaders = new CopyOnWriteArrayList<>();
		Instance watched = instance(Conversations.builder(this.store), UnaryOperator.identity(), () -> {
			users.add(Optional.ofNullable(user.get()));
			loaders.add(Thread.currentThread().getContextClassLoader());
		});
		try {
			Thread.currentThread().setContextClassLoader(application);
			start(watched, NEVER);
			user.set("anna");
			Thread.currentThread().setContextClassLoader(before);
			pause(watched, KEY, "o1");
			this.model.says("done");
			watched.approvals().approve(watched.waiting(KEY), "anna");
			awaitOver();
		}
		finally {
			user.remove();
			Thread.currentThread().setContextClassLoader(before);
		}
		assertThat(users).containsExactly(Optional.empty());
		if (runsToolsItself()) {
			assertThat(loaders).containsExactly(application);
		}
	}

	/** Returns whether tools run on the threads that continue turns. */
	boolean runsToolsItself() {
		return true;
	}

	@Test
	void ownerOfTheSessionCallsWhoeverDecides() {
		SessionAccess access = SessionAccess.of(Optional::empty);
		List<Caller> callers = new CopyOnWriteArrayList<>();
		Instance owned = instance(Conversations.builder(this.store).access(access),
				(approvals) -> approvals.deciders(Map.of("cancel", Set.of("LEAD"))), () -> {
					callers.add(access.caller());
				});
		start(owned, (turn) -> {
			callers.add(access.caller());
			return owned.chat().prompt();
		}, NEVER);
		this.model.calls(cancel("o1")).says("done");
		access.callAs(Caller.of("ada"),
				() -> owned.chat()
					.prompt()
					.user("q")
					.advisors(SessionAdvisor.session("thread"))
					.call()
					.chatClientResponse());
		access.callAs(Caller.of("anna", "LEAD"), () -> {
			ToolApproval shown = owned.approvals().inbox(InboxQuery.ofAnyOwner(), Page.first(1)).get(0);
			return owned.approvals().approve(shown, "anna");
		});
		awaitOver();
		assertStatus(KEY, TurnStatus.COMPLETED);
		assertThat(callers).containsExactly(Caller.of("ada"), Caller.of("ada"));
	}

	@Test
	void nothingBeginsWhileTheProcessShutsDown() {
		start(this.here, OFTEN);
		pause(KEY, "o1");
		this.here.conversations().drain(Duration.ZERO);
		this.here.approvals().approve(this.here.waiting(KEY), "anna");
		this.clock.pass(Duration.ofSeconds(5));
		String before = notices().get(0).payload();
		this.model.says("done");
		start(instance(UnaryOperator.identity()), OFTEN);
		awaitOver();
		assertThat(before).contains("\"attempts\":0");
		assertThat(this.cancelled).containsExactly("o1");
	}

	@Test
	void turnThatIsHandedOverGoesOnElsewhere() {
		CompletableFuture<Void> asked = new CompletableFuture<>();
		CompletableFuture<Void> answers = new CompletableFuture<>();
		start(this.here, OFTEN);
		pause(KEY, "o1");
		this.model.step((prompt) -> {
			asked.complete(null);
			answers.join();
			return Flux
				.just(this.model.chunk("", List.of(new ToolCall("l1", "function", "look", "{\"id\":\"o2\"}")), true));
		}).says("done");
		this.here.approvals().approve(this.here.waiting(KEY), "anna");
		asked.join();
		this.here.conversations().drain(Duration.ZERO);
		answers.complete(null);
		await().until(() -> isDueIn(Duration.ZERO));
		assertStatus(KEY, TurnStatus.INCOMPLETE);
		start(instance(UnaryOperator.identity()), OFTEN);
		awaitOver();
		assertStatus(KEY, TurnStatus.COMPLETED);
		assertThat(this.cancelled).containsExactly("o1", "looked o2");
	}

	@Test
	void noticesOfBothKindsAreLeftToThoseWhoKnowThem() {
		Instance both = instance((approvals) -> approvals.notices(true));
		List<ApprovalNotice> heard = new CopyOnWriteArrayList<>();
		pause(both, KEY, "o1");
		both.approvals().approve(both.waiting(KEY), "anna");
		assertThat(notices()).hasSize(2);
		try (ApprovalNotices delivery = ApprovalNotices.builder(both.approvals(), heard::add).interval(OFTEN).start()) {
			await().until(() -> notices().size() == 1);
			assertThat(delivery).isNotNull();
		}
		assertThat(heard).hasSize(1);
		pause(both, SessionKey.of("other"), "o2");
		this.model.says("done");
		this.clock.pass(Duration.ofSeconds(5));
		start(both, OFTEN);
		await().until(() -> notices().size() == 1);
		assertStatus(KEY, TurnStatus.COMPLETED);
		assertThat(notices()).extracting((record) -> record.key().id()).containsExactly("other");
	}

	@Test
	void nothingIsDecidedIfItsNoticeCannotBeStored() {
		pause(KEY, "o1");
		SessionStore failing = (SessionStore) Proxy.newProxyInstance(SessionStore.class.getClassLoader(),
				new Class<?>[] { SessionStore.class }, (proxy, method, arguments) -> {
					if (method.getName().equals("put") && ((RecordWrite) arguments[1]).kind().equals("notice")) {
						throw new StoreUnavailableException("away", null);
					}
					return method.invoke(this.store, arguments);
				});
		Instance deciding = instance(Conversations.builder(failing), UnaryOperator.identity(), () -> {
		});
		assertThatExceptionOfType(StoreUnavailableException.class)
			.isThrownBy(() -> deciding.approvals().approve(deciding.waiting(KEY), "anna"));
		assertThat(this.here.waiting(KEY).decisions()).isEmpty();
	}

	@Test
	void renewalOfANoticeThatHangsKeepsNoThread() {
		ObservedStore hanging = new ObservedStore(this.store);
		CompletableFuture<Void> hangs = new CompletableFuture<>();
		CompletableFuture<Void> alive = new CompletableFuture<>();
		hanging.beforePut((record) -> {
			if (record.kind().equals("notice") && Thread.currentThread().getName().startsWith("sessionkit-lease")) {
				hangs.complete(null);
				alive.join();
			}
		});
		Instance slow = instance(Conversations.builder(hanging), UnaryOperator.identity(), () -> {
		});
		TurnContinuations.Builder builder = TurnContinuations
			.builder(slow.conversations(), slow.approvals(), (turn) -> slow.chat().prompt())
			.interval(NEVER)
			.threads(1);
		this.opened.add(configured(builder, slow.conversations()).lease(Duration.ofMillis(600)).start());
		this.opened.add(() -> alive.complete(null));
		pause(slow, KEY, "o1");
		this.model.step((prompt) -> {
			hangs.join();
			return Flux.just(this.model.chunk("done", List.of(), true));
		});
		slow.approvals().approve(slow.waiting(KEY), "anna");
		awaitOver();
		SessionKey other = SessionKey.of("ada", "other");
		pause(slow, other, "o2");
		this.model.says("done");
		slow.approvals().approve(slow.waiting(other), "anna");
		awaitOver();
		assertThat(this.cancelled).containsExactly("o1", "o2");
	}

	/** The form is stored, so it never changes; that of a later version is left alone. */
	@ParameterizedTest
	@ValueSource(ints = { 2, 3 })
	void noticeIsReadInTheFormOfItsFirstVersion(int version) {
		Instance quiet = instance((approvals) -> approvals.continuations(false));
		pause(quiet, KEY, "o1");
		ToolApproval call = quiet.waiting(KEY);
		quiet.approvals().approve(call, "anna");
		String payload = "{\"v\":1,\"t\":\"values\",\"values\":{\"looks\":0,\"due\":{\"$t\":\"instant\","
				+ "\"v\":\"2026-01-01T12:00:00Z\"},\"continues\":true,\"version\":" + version + ",\"attempts\":0}}";
		this.store.put(KEY, RecordWrite.put("notice", call.turnId(), payload));
		SessionKey read = SessionKey.of("read");
		pause(read, "o2");
		this.model.says("done").says("done");
		this.here.approvals().approve(this.here.waiting(read), "anna");
		start(this.here, OFTEN);
		this.clock.pass(Duration.ofSeconds(5));
		await().until(() -> notices().size() == version - 2);
		assertThat(this.cancelled).contains("o2").hasSize(4 - version);
	}

	@Test
	void nothingIsWrittenUnlessAskedFor() {
		Conversations conversations = Conversations.of(this.store);
		this.opened.add(conversations);
		Approvals approvals = Approvals.builder(conversations).tools(Set.of("cancel")).build();
		Instance quiet = new Instance(conversations, approvals, chat(conversations, approvals, () -> {
		}));
		pause(quiet, KEY, "o1");
		approvals.approve(quiet.waiting(KEY), "anna");
		assertThat(notices()).isEmpty();
	}

	@Test
	void whatCannotWorkIsRefusedAtStart() {
		try (Conversations others = Conversations.of(new SimpleSessionStore(this.store.options()))) {
			Approvals unlisted = Approvals.builder(others).continuations(true).build();
			assertThatExceptionOfType(UnsupportedOperationException.class).isThrownBy(
					() -> TurnContinuations.builder(others, unlisted, (turn) -> this.here.chat().prompt()).start());
		}
		TurnContinuations.Builder builder = TurnContinuations.builder(this.here.conversations(), this.here.approvals(),
				(turn) -> this.here.chat().prompt());
		assertThatIllegalArgumentException().isThrownBy(() -> builder.threads(0));
		assertThatIllegalArgumentException().isThrownBy(() -> builder.interval(Duration.ZERO));
	}

	// instances

	private Instance instance(UnaryOperator<Approvals.Builder> settings) {
		return instance(Conversations.builder(this.store), settings, () -> {
		});
	}

	private Instance instance(Conversations.Builder sessions, UnaryOperator<Approvals.Builder> settings,
			Runnable inTool) {
		Conversations conversations = sessions.build();
		this.opened.add(conversations);
		Approvals approvals = settings
			.apply(Approvals.builder(conversations).tools(Set.of("cancel")).continuations(true))
			.build();
		return new Instance(conversations, approvals, chat(conversations, approvals, inTool));
	}

	private ChatClient chat(Conversations conversations, Approvals approvals, Runnable inTool) {
		return ChatClient.builder(this.model)
			.defaultAdvisors(SessionAdvisor.builder(conversations).approvals(approvals).build())
			.defaultToolCallbacks(FunctionToolCallback.<Order, String>builder("cancel", (order) -> {
				inTool.run();
				this.cancelled.add(order.id());
				return "ok " + order.id();
			}).description("Cancels").inputType(Order.class).build(),
					FunctionToolCallback.<Order, String>builder("look", (order) -> {
						this.cancelled.add("looked " + order.id());
						return "seen";
					}).description("Looks").inputType(Order.class).build())
			.build();
	}

	void start(Instance instance, Duration interval) {
		start(instance, (turn) -> instance.chat().prompt(), interval);
	}

	private void start(Instance instance, TurnContinuation continuation, Duration interval) {
		TurnContinuations.Builder builder = TurnContinuations
			.builder(instance.conversations(), instance.approvals(), continuation)
			.interval(interval);
		this.opened.add(configured(builder, instance.conversations()).start());
	}

	/** Calls are streamed in a subclass. */
	TurnContinuations.Builder configured(TurnContinuations.Builder builder, Conversations conversations) {
		return builder;
	}

	private static ToolCall cancel(String order) {
		return new ToolCall("c-" + order, "function", "cancel", "{\"id\":\"" + order + "\"}");
	}

	void pause(SessionKey key, String... orders) {
		pause(this.here, key, orders);
	}

	private void pause(Instance instance, SessionKey key, String... orders) {
		this.model.calls(Stream.of(orders).map(TurnContinuationsTests::cancel).toArray(ToolCall[]::new));
		instance.chat().prompt().user("q").advisors(SessionAdvisor.session(key)).call().chatResponse();
	}

	private List<SessionRecord> notices() {
		return this.store.oldestRecords("notice", null, 100).records();
	}

	/** Returns whether a notice is claimed: due in a minute, when nothing else is. */
	private boolean isClaimed() {
		return isDueIn(Duration.ofMinutes(1));
	}

	private boolean isDueIn(Duration time) {
		return notices().stream()
			.anyMatch((record) -> record.payload().contains(this.clock.instant().plus(time).toString()));
	}

	void pass(Duration time) {
		this.clock.pass(time);
	}

	/** A busy machine takes its time for a turn. */
	static ConditionFactory await() {
		return Awaitility.await().atMost(Duration.ofMinutes(1));
	}

	void awaitOver() {
		await().until(() -> notices().isEmpty());
	}

	void assertStatus(SessionKey key, TurnStatus status) {
		assertThat(this.store.turns(key, Tail.newest(1))).extracting("status").containsExactly(status);
	}

	private List<String> results() {
		return this.store.messages(KEY)
			.stream()
			.filter(ToolResponseMessage.class::isInstance)
			.flatMap((message) -> ((ToolResponseMessage) message).getResponses().stream())
			.map(ToolResponseMessage.ToolResponse::responseData)
			.toList();
	}

}
