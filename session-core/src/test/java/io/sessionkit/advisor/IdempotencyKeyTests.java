package io.sessionkit.advisor;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;

import io.sessionkit.Concurrency;
import io.sessionkit.Durability;
import io.sessionkit.IdempotencyKeyException;
import io.sessionkit.SessionKey;
import io.sessionkit.TurnResult;
import io.sessionkit.TurnStatus;
import io.sessionkit.approval.ApprovalStatus;
import io.sessionkit.approval.OnNewMessage;
import io.sessionkit.approval.ToolApproval;
import io.sessionkit.codec.JsonMessageCodec;
import io.sessionkit.conversation.Approvals;
import io.sessionkit.conversation.Conversations;
import io.sessionkit.hook.HookResult;
import io.sessionkit.hook.SessionHook;
import io.sessionkit.hook.SessionRefusedException;
import io.sessionkit.hook.TestHooks;
import io.sessionkit.store.CommitFailedException;
import io.sessionkit.store.SessionRecord;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.StoreOptions;
import io.sessionkit.store.StoreUnavailableException;
import io.sessionkit.store.Tail;
import io.sessionkit.store.memory.InMemorySessionStore;
import io.sessionkit.test.ClientSetup;
import io.sessionkit.test.ObservedStore;
import io.sessionkit.test.ScriptedChatModel;
import io.sessionkit.test.ScriptedChatModel.Lines;
import io.sessionkit.test.TestStores;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.publisher.Flux;

import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.chat.client.ChatClientResponse;
import org.springframework.ai.chat.client.advisor.ToolCallingAdvisor;
import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.ToolResponseMessage;
import org.springframework.ai.chat.messages.UserMessage;
import org.springframework.ai.chat.model.ChatResponse;
import org.springframework.ai.chat.model.Generation;
import org.springframework.ai.content.Media;
import org.springframework.ai.model.tool.DefaultToolCallingManager;
import org.springframework.ai.tool.ToolCallback;
import org.springframework.ai.tool.function.FunctionToolCallback;
import org.springframework.ai.tool.metadata.ToolMetadata;
import org.springframework.util.MimeTypeUtils;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * Calls that repeat a request, which must not be paid for twice.
 */
class IdempotencyKeyTests {

	private static final Map<TestStores, SessionStore> STORES = new EnumMap<>(TestStores.class);

	private static final Duration LONG = Duration.ofSeconds(30);

	private final SessionKey key = SessionKey.of("order", UUID.randomUUID().toString());

	private final ScriptedChatModel model = new ScriptedChatModel();

	private final List<Conversations> opened = new ArrayList<>();

	private final ExecutorService threads = Executors.newCachedThreadPool();

	private Durability durability = Durability.TURN;

	private OnNewMessage onNewMessage = OnNewMessage.REJECT;

	private Duration timeToLive = Duration.ofDays(1);

	private @Nullable Duration expiresAfter;

	private List<SessionHook> hooks = List.of();

	@AfterEach
	void close() {
		this.threads.shutdownNow();
		this.opened.forEach(Conversations::close);
	}

	@ParameterizedTest
	@EnumSource
	void aRepeatedCallGetsTheReplyThatIsStored(TestStores kind) {
		SessionStore store = STORES.computeIfAbsent(kind, TestStores::create);
		this.model.says("a1").says("a2").says("a3");
		ChatResponse first = call(chat(store), "q1", "r1");
		call(chat(store), "q2", "r2");
		ChatResponse again = call(chat(store), "q1", "r1");
		assertThat(SessionAdvisor.isRepeated(first)).isFalse();
		assertThat(SessionAdvisor.isRepeated(again)).isTrue();
		assertThat(text(again)).isEqualTo("a1");
		assertThat(again.getMetadata().getUsage().getTotalTokens()).isZero();
		assertThat(turn(again).turn()).isEqualTo(turn(first).turn());
		assertThat(turn(again).items()).isEqualTo(turn(first).items());
		List<ChatResponse> streamed = prompt(chat(store), "q2", "r2").stream().chatResponse().collectList().block();
		assertThat(streamed).hasSize(2).allMatch(SessionAdvisor::isRepeated);
		assertThat(streamed.stream().map(IdempotencyKeyTests::text)).containsExactly("a2", "");
		assertThat(turn(streamed.get(1)).turn().number()).isEqualTo(2);
		assertThat(this.model.prompts()).hasSize(2);
		assertThat(text(call(chat(store), "q1", "r3"))).isEqualTo("a3");
		assertThat(store.messages(this.key)).hasSize(6);
	}

	@Test
	void whatAResponseTellsIsReadFromBothOfItsTypesAndFromNone() {
		SessionStore store = TestStores.MEMORY.create();
		this.model.says("a1");
		call(chat(store), "q1", "r1");
		ChatClientResponse again = prompt(chat(store), "q1", "r1").call().chatClientResponse();
		assertThat(SessionAdvisor.isRepeated(again)).isTrue();
		assertThat(SessionAdvisor.isSteered(again)).isFalse();
		assertThat(SessionAdvisor.turn(again)).isEqualTo(SessionAdvisor.turn(again.chatResponse()));
		assertThat(SessionAdvisor.pending(again)).isEmpty();
		ChatClientResponse none = null;
		assertThat(SessionAdvisor.isRepeated(none)).isFalse();
		assertThat(SessionAdvisor.isSteered(none)).isFalse();
		assertThat(SessionAdvisor.turn(none)).isEmpty();
		assertThat(SessionAdvisor.pending(none)).isEmpty();
	}

	@ParameterizedTest
	@EnumSource
	void aStreamedCallIsRepeated(TestStores kind) {
		SessionStore store = STORES.computeIfAbsent(kind, TestStores::create);
		this.model.says("a1");
		for (int i = 0; i < 3; i++) {
			assertThat(String.join("", prompt(chat(store), "q1", "r1").stream().content().collectList().block()))
				.isEqualTo("a1");
		}
		assertThat(this.model.prompts()).hasSize(1);
		assertThat(store.turns(this.key, Tail.ALL)).hasSize(1);
	}

	@ParameterizedTest
	@EnumSource
	void aCallWaitsForTheOneThatMakesTheSameRequest(TestStores kind) throws Exception {
		SessionStore store = STORES.computeIfAbsent(kind, TestStores::create);
		CountedModel counted = new CountedModel(300);
		List<Future<String>> answers = new ArrayList<>();
		for (Concurrency each : List.of(Concurrency.OPTIMISTIC, Concurrency.REJECT, Concurrency.SERIALIZE)) {
			for (int i = 0; i < 2; i++) {
				ChatClient chat = ChatClient.builder(counted).defaultAdvisors(advisor(store)).build();
				boolean stream = i == 1;
				answers.add(this.threads.submit(() -> {
					ChatClient.ChatClientRequestSpec call = prompt(chat, "q1", "r1")
						.advisors(SessionAdvisor.concurrency(each));
					return stream ? String.join("", call.stream().content().collectList().block())
							: call.call().content();
				}));
			}
		}
		for (Future<String> answer : answers) {
			assertThat(answer.get(20, TimeUnit.SECONDS)).isEqualTo("a of q1");
		}
		assertThat(counted.calls("q1")).isEqualTo(1);
		assertThat(store.turns(this.key, Tail.ALL)).hasSize(1);
		assertThat(store.records(this.key, "line")).isEmpty();
	}

	@ParameterizedTest
	@EnumSource
	void aKeyWithOtherContentIsRefused(TestStores kind) {
		SessionStore store = STORES.computeIfAbsent(kind, TestStores::create);
		this.model.says("a1");
		call(chat(store), "q1", "r1");
		List<Consumer<ChatClient.ChatClientRequestSpec>> others = List.of((call) -> call.user("q2"),
				(call) -> call.advisors(SessionAdvisor.agent("another")),
				(call) -> call.advisors(SessionAdvisor.editing(1)),
				(call) -> call.user((user) -> user.text("q1").media(image(1))));
		for (Consumer<ChatClient.ChatClientRequestSpec> other : others) {
			ChatClient.ChatClientRequestSpec call = prompt(chat(store), "q1", "r1");
			other.accept(call);
			assertThatExceptionOfType(IdempotencyKeyException.class).isThrownBy(() -> call.call().content())
				.withMessageContaining(this.key.toString())
				.withMessageNotContaining("q1")
				.withMessageNotContaining("r1");
		}
		assertThat(this.model.prompts()).hasSize(1);
		assertThat(store.turns(this.key, Tail.ALL)).hasSize(1);
	}

	/** Spring AI draws a name for media that have none. */
	@Test
	void theSameImageIsTheSameContent() {
		SessionStore store = memory();
		this.model.says("a1").says("a2");
		for (int i = 0; i < 2; i++) {
			chat(store).prompt()
				.messages(UserMessage.builder().text("q1").media(image(1)).build())
				.advisors(SessionAdvisor.session(this.key).andThen(SessionAdvisor.idempotencyKey("r1")))
				.call()
				.content();
		}
		assertThat(this.model.prompts()).hasSize(1);
		assertThatExceptionOfType(IdempotencyKeyException.class).isThrownBy(() -> chat(store).prompt()
			.messages(UserMessage.builder().text("q1").media(image(2)).build())
			.advisors(SessionAdvisor.session(this.key).andThen(SessionAdvisor.idempotencyKey("r1")))
			.call()
			.content());
	}

	private static Media image(int first) {
		return Media.builder().mimeType(MimeTypeUtils.IMAGE_PNG).data(new byte[] { (byte) first, 2, 3 }).build();
	}

	@ParameterizedTest
	@EnumSource
	void aCallThatFailedIsMadeAgain(TestStores kind) {
		SessionStore store = STORES.computeIfAbsent(kind, TestStores::create);
		this.model.fails(new IllegalStateException("as asked")).says("a1");
		assertThatIllegalStateException().isThrownBy(() -> call(chat(store), "q1", "r1"));
		assertThat(text(call(chat(store), "q1", "r1"))).isEqualTo("a1");
		assertThat(text(call(chat(store), "q1", "r1"))).isEqualTo("a1");
		assertThat(this.model.prompts()).hasSize(2);
		assertThat(Lines.of(store.messages(this.key))).containsExactly("user: q1", "assistant: a1");
	}

	@ParameterizedTest
	@EnumSource
	void aCallWhoseTurnWasStoredButNotConfirmedIsNotMadeAgain(TestStores kind) {
		ObservedStore store = new ObservedStore(STORES.computeIfAbsent(kind, TestStores::create));
		this.model.says("a0").says("a1");
		call(chat(store), "q0", "r0");
		store.failAt(ObservedStore.Fault.ANSWER);
		assertThatExceptionOfType(CommitFailedException.class).isThrownBy(() -> call(chat(store), "q1", "r1"));
		store.failAt(ObservedStore.Fault.NONE);
		assertThat(text(call(chat(store), "q1", "r1"))).isEqualTo("a1");
		assertThat(this.model.prompts()).hasSize(2);
		assertThat(store.turns(this.key, Tail.ALL)).hasSize(2);
	}

	@ParameterizedTest
	@EnumSource
	void aRepeatedCallGetsThePauseAndThenTheReply(TestStores kind) {
		SessionStore store = STORES.computeIfAbsent(kind, TestStores::create);
		this.model.calls(SessionAdvisorTests.call("c1", "add", "1")).says("done");
		ChatResponse first = call(chat(store), "q1", "r1");
		assertThat(SessionAdvisor.pending(first)).hasSize(1);
		ChatResponse again = call(chat(store), "q1", "r1");
		assertThat(SessionAdvisor.pending(again)).isEqualTo(SessionAdvisor.pending(first));
		assertThat(turn(again).turn().status()).isEqualTo(TurnStatus.AWAITING_APPROVAL);
		Approvals approvals = approvals(this.opened.get(0));
		approvals.approve(approvals.pending(this.key).get(0), "anna");
		ChatResponse decided = call(chat(store), "q1", "r1");
		assertThat(decided.getResult().getMetadata().getFinishReason()).isEqualTo("approvalRequired");
		assertThat(SessionAdvisor.pending(decided)).isEmpty();
		for (int i = 0; i < 2; i++) {
			ChatResponse resumed = chat(store).prompt()
				.advisors(SessionAdvisor.session(this.key).andThen(SessionAdvisor.idempotencyKey("resume")))
				.call()
				.chatResponse();
			assertThat(text(resumed)).isEqualTo("done");
		}
		assertThat(text(call(chat(store), "q1", "r1"))).isEqualTo("done");
		assertThat(this.model.prompts()).hasSize(2);
		assertThat(store.turns(this.key, Tail.ALL)).hasSize(1);
	}

	/** Nobody knows how long a person takes. */
	@Test
	void aRequestIsNotForgottenWhileItsTurnWaits() throws Exception {
		SessionStore store = memory();
		this.timeToLive = Duration.ofMillis(50);
		this.onNewMessage = OnNewMessage.CANCEL;
		this.model.calls(SessionAdvisorTests.call("c1", "add", "1")).says("done");
		ChatResponse first = call(chat(store), "q1", "r1");
		TimeUnit.MILLISECONDS.sleep(100);
		ChatResponse again = call(chat(store), "q1", "r1");
		assertThat(SessionAdvisor.pending(again)).isEqualTo(SessionAdvisor.pending(first)).hasSize(1);
		Approvals approvals = approvals(this.opened.get(0));
		approvals.approve(approvals.pending(this.key).get(0), "anna");
		chat(store).prompt().advisors(SessionAdvisor.session(this.key)).call().content();
		TimeUnit.MILLISECONDS.sleep(100);
		assertThat(text(call(chat(store), "q1", "r1"))).isEqualTo("done");
		assertThat(this.model.prompts()).hasSize(2);
	}

	@Test
	void aRequestWhoseMessageIsQueuedIsNotForgottenWhileTheTurnWaits() throws Exception {
		SessionStore store = memory();
		this.timeToLive = Duration.ofMillis(50);
		this.onNewMessage = OnNewMessage.QUEUE;
		this.model.calls(SessionAdvisorTests.call("c1", "add", "1")).says("done");
		call(chat(store), "q1", "r1");
		for (int i = 0; i < 2; i++) {
			assertThat(SessionAdvisor.pending(call(chat(store), "q2", "r2"))).hasSize(1);
			TimeUnit.MILLISECONDS.sleep(100);
		}
		Approvals approvals = approvals(this.opened.get(0));
		approvals.approve(approvals.pending(this.key).get(0), "anna");
		chat(store).prompt().advisors(SessionAdvisor.session(this.key)).call().content();
		assertThat(store.messages(this.key)).extracting(Message::getText).containsOnlyOnce("q2");
	}

	/** A call that works alone in steps knows when its turn ends. */
	@Test
	void aRequestThatWasWrittenInStepsIsForgottenInTime() throws Exception {
		SessionStore store = memory();
		this.timeToLive = Duration.ofMillis(50);
		this.durability = Durability.STEP;
		this.model.calls(SessionAdvisorTests.call("c1", "free", "1")).says("a1").says("a2");
		assertThat(text(call(chat(store), "q1", "r1"))).isEqualTo("a1");
		TimeUnit.MILLISECONDS.sleep(100);
		assertThat(text(call(chat(store), "q1", "r1"))).isEqualTo("a2");
	}

	/** The turn is over, although its parts were stored when nobody knew its end. */
	@Test
	void aRequestThatWasWrittenInStepsAndRefusedIsForgottenInTime() {
		AtomicReference<Instant> now = new AtomicReference<>(Instant.parse("2026-02-03T04:05:06Z"));
		SessionStore store = new InMemorySessionStore(
				StoreOptions.of(JsonMessageCodec.create()).clock(((InstantSource) now::get).withZone(ZoneOffset.UTC)));
		this.timeToLive = Duration.ofSeconds(2);
		this.durability = Durability.STEP;
		this.hooks = List.of(TestHooks.beforeModel("one round",
				(request) -> (this.model.prompts().size() == 1) ? HookResult.refuse("as asked") : HookResult.keep()));
		this.model.calls(SessionAdvisorTests.call("c1", "free", "1")).says("a2");
		assertThatExceptionOfType(SessionRefusedException.class).isThrownBy(() -> call(chat(store), "q1", "r1"));
		assertThatExceptionOfType(IdempotencyKeyException.class).isThrownBy(() -> call(chat(store), "q1", "r1"));
		this.hooks = List.of();
		now.updateAndGet((time) -> time.plus(this.timeToLive));
		assertThat(store.records(this.key, "request")).isEmpty();
		assertThat(text(call(chat(store), "q1", "r1"))).isEqualTo("a2");
	}

	@Test
	void aRequestThatWasGivenUpIsRefused() {
		SessionStore store = memory();
		this.model.calls(SessionAdvisorTests.call("c1", "add", "1"));
		call(chat(store), "q1", "r1");
		approvals(this.opened.get(0)).cancel(this.key);
		assertThatExceptionOfType(IdempotencyKeyException.class).isThrownBy(() -> call(chat(store), "q1", "r1"))
			.withMessageContaining("ended without a reply");
		assertThat(this.model.prompts()).hasSize(1);
	}

	/** Earlier versions have marked nothing either. */
	@Test
	void aRequestThatWasGivenUpIsRefusedAlthoughNothingIsMarked() {
		SessionStore store = memory();
		this.hooks = List.of(TestHooks.beforeSave("unmarking",
				(turn) -> HookResult.replace(turn.stream().map(IdempotencyKeyTests::unmarked).toList())));
		this.model.calls(SessionAdvisorTests.call("c1", "add", "1"));
		call(chat(store), "q1", "r1");
		approvals(this.opened.get(0)).cancel(this.key);
		assertThatExceptionOfType(IdempotencyKeyException.class).isThrownBy(() -> call(chat(store), "q1", "r1"))
			.withMessageContaining("ended without a reply");
		assertThat(store.messages(this.key)).last()
			.satisfies((last) -> assertThat(last.getMetadata()).doesNotContainKey("sessionkit.given-up"));
	}

	private static Message unmarked(Message message) {
		return (message instanceof ToolResponseMessage results)
				? ToolResponseMessage.builder().responses(results.getResponses()).build() : message;
	}

	@Test
	void aRequestThatWasGivenUpAfterItsCallExpiredIsRefused() {
		SessionStore store = memory();
		this.expiresAfter = Duration.ofMillis(1);
		this.model.calls(SessionAdvisorTests.call("c1", "add", "1"));
		call(chat(store), "q1", "r1");
		Approvals approvals = approvals(this.opened.get(0));
		Awaitility.await()
			.until(() -> approvals.ledger(this.key)
				.stream()
				.allMatch((each) -> each.status() == ApprovalStatus.EXPIRED));
		approvals.cancel(this.key);
		assertThatExceptionOfType(IdempotencyKeyException.class).isThrownBy(() -> call(chat(store), "q1", "r1"))
			.withMessageContaining("ended without a reply");
	}

	@ParameterizedTest
	@EnumSource(names = { "MEMORY", "H2", "POSTGRESQL", "REDIS" })
	void aRequestThatWasGivenUpAfterItsToolsHaveRunIsRefused(TestStores kind) {
		SessionStore store = STORES.computeIfAbsent(kind, TestStores::create);
		this.model.calls(SessionAdvisorTests.call("c1", "add", "1")).fails(new IllegalStateException("down"));
		call(chat(store), "q1", "r1");
		Approvals approvals = approvals(this.opened.get(0));
		approvals.approve(approvals.pending(this.key).get(0), "anna");
		assertThatIllegalStateException()
			.isThrownBy(() -> chat(store).prompt().advisors(SessionAdvisor.session(this.key)).call().content());
		assertThat(approvals.cancel(this.key)).extracting(ToolApproval::status).containsExactly(ApprovalStatus.DONE);
		assertThatExceptionOfType(IdempotencyKeyException.class).isThrownBy(() -> call(chat(store), "q1", "r1"))
			.withMessageContaining("ended without a reply");
		assertThat(this.model.prompts()).hasSize(2);
	}

	@Test
	void aResultThatWasReturnedDirectlyIsRepeated() {
		SessionStore store = memory();
		this.model.calls(SessionAdvisorTests.call("c1", "direct", "7"));
		ToolCallback direct = FunctionToolCallback
			.builder("direct", (SessionAdvisorTests.Value value) -> "result of " + value)
			.description("returns directly")
			.inputType(SessionAdvisorTests.Value.class)
			.toolMetadata(ToolMetadata.builder().returnDirect(true).build())
			.build();
		String first = prompt(chat(store), "q1", "r1").toolCallbacks(direct).call().content();
		ChatResponse again = prompt(chat(store), "q1", "r1").toolCallbacks(direct).call().chatResponse();
		assertThat(first).contains("result of");
		assertThat(text(again)).isEqualTo(first);
		assertThat(this.model.prompts()).hasSize(1);
	}

	@Test
	void theTextOfALimitThatHasEndedTheTurnIsRepeatedAndNoResult() {
		SessionStore store = memory();
		this.model.calls(SessionAdvisorTests.call("c1", "free", "1"), SessionAdvisorTests.call("c2", "free", "2"));
		ChatResponse first = prompt(chat(store), "q1", "r1").advisors(limited(1)).call().chatResponse();
		assertRepeated(first, call(chat(store), "q1", "r1"));
		assertThat(this.model.prompts()).hasSize(1);
	}

	@Test
	void theTextOfALimitThatHasLeftOutAnApprovedCallIsRepeatedToo() {
		SessionStore store = memory();
		this.model.calls(SessionAdvisorTests.call("c1", "add", "1"), SessionAdvisorTests.call("c2", "add", "2"));
		call(chat(store), "q1", "r1");
		Approvals approvals = approvals(this.opened.get(0));
		approvals.pending(this.key).forEach((call) -> approvals.approve(call, "anna"));
		ChatResponse first = chat(store).prompt()
			.advisors(SessionAdvisor.session(this.key))
			.advisors(limited(1))
			.call()
			.chatResponse();
		assertThat(approvals.ledger(this.key)).extracting(ToolApproval::status)
			.containsExactlyInAnyOrder(ApprovalStatus.DONE, ApprovalStatus.CANCELLED);
		assertRepeated(first, call(chat(store), "q1", "r1"));
	}

	private static void assertRepeated(ChatResponse first, ChatResponse again) {
		assertThat(SessionAdvisor.isRepeated(again)).isTrue();
		assertThat(text(again)).isEqualTo(text(first)).contains("limit (1) exceeded");
		assertThat(again.getResult().getMetadata().getFinishReason())
			.isEqualTo(first.getResult().getMetadata().getFinishReason())
			.isEqualTo("toolCallLimitExceeded");
	}

	private static ToolCallingAdvisor limited(int calls) {
		return ToolCallingAdvisor.builder()
			.toolCallingManager(DefaultToolCallingManager.builder().maxTotalToolCalls(calls).build())
			.build();
	}

	@ParameterizedTest
	@EnumSource
	void aMessageIsQueuedOnce(TestStores kind) {
		SessionStore store = STORES.computeIfAbsent(kind, TestStores::create);
		this.onNewMessage = OnNewMessage.QUEUE;
		this.model.calls(SessionAdvisorTests.call("c1", "add", "1")).says("done");
		call(chat(store), "q1", "r1");
		for (int i = 0; i < 3; i++) {
			assertThat(SessionAdvisor.pending(call(chat(store), "q2", "r2"))).hasSize(1);
		}
		Approvals approvals = approvals(this.opened.get(0));
		approvals.approve(approvals.pending(this.key).get(0), "anna");
		chat(store).prompt().advisors(SessionAdvisor.session(this.key)).call().content();
		assertThat(Lines.of(store.messages(this.key)).stream().filter("user: q2"::equals)).hasSize(1);
		assertThat(text(call(chat(store), "q2", "r2"))).isEqualTo("done");
	}

	@ParameterizedTest
	@EnumSource(names = { "MEMORY", "H2", "POSTGRESQL", "REDIS" })
	void aMessageIsQueuedOnceIfTheAnswerOfTheStoreIsLost(TestStores kind) {
		ObservedStore store = new ObservedStore(STORES.computeIfAbsent(kind, TestStores::create));
		this.onNewMessage = OnNewMessage.QUEUE;
		this.model.calls(SessionAdvisorTests.call("c1", "add", "1")).says("done");
		call(chat(store), "q1", "r1");
		store.failAt(ObservedStore.Fault.ANSWER);
		assertThatExceptionOfType(StoreUnavailableException.class).isThrownBy(() -> call(chat(store), "q2", "r2"))
			.withMessageContaining("unknown whether the message is kept");
		store.failAt(ObservedStore.Fault.NONE);
		assertThat(SessionAdvisor.pending(call(chat(store), "q2", "r2"))).hasSize(1);
		Approvals approvals = approvals(this.opened.get(0));
		approvals.approve(approvals.pending(this.key).get(0), "anna");
		chat(store).prompt().advisors(SessionAdvisor.session(this.key)).call().content();
		assertThat(Lines.of(store.messages(this.key)).stream().filter("user: q2"::equals)).hasSize(1);
	}

	@ParameterizedTest
	@EnumSource
	void aMessageThatContinuesTheTurnAnswersItsRequest(TestStores kind) {
		SessionStore store = STORES.computeIfAbsent(kind, TestStores::create);
		this.onNewMessage = OnNewMessage.QUEUE;
		this.model.calls(SessionAdvisorTests.call("c1", "add", "1")).says("done");
		call(chat(store), "q1", "r1");
		Approvals approvals = approvals(this.opened.get(0));
		approvals.approve(approvals.pending(this.key).get(0), "anna");
		for (int i = 0; i < 3; i++) {
			assertThat(text(call(chat(store), "q2", "r2"))).isEqualTo("done");
		}
		assertThat(text(call(chat(store), "q1", "r1"))).isEqualTo("done");
		assertThat(store.messages(this.key)).extracting(Message::getText).containsOnlyOnce("q2");
		assertThat(this.model.prompts()).hasSize(2);
	}

	/** The repeated call is in the line of the request by the time of the write. */
	@Test
	void aMessageIsQueuedAlthoughItsRequestIsRepeatedMeanwhile() {
		ObservedStore observed = new ObservedStore(TestStores.MEMORY.create());
		this.onNewMessage = OnNewMessage.QUEUE;
		this.model.calls(SessionAdvisorTests.call("c1", "add", "1"));
		call(chat(observed), "q1", "r1");
		List<Future<ChatResponse>> again = new ArrayList<>();
		observed.beforeCommit(() -> {
			if (again.isEmpty()) {
				String alone = line(observed);
				again.add(this.threads.submit(() -> call(chat(observed), "q2", "r2")));
				Awaitility.await().until(() -> !line(observed).equals(alone));
			}
		});
		assertThat(SessionAdvisor.pending(call(chat(observed), "q2", "r2"))).hasSize(1);
		assertThat(again).hasSize(1).allSatisfy((call) -> assertThat(SessionAdvisor.pending(call.get())).hasSize(1));
	}

	private String line(SessionStore store) {
		return store.records(this.key, "request").stream().map(SessionRecord::payload).toList().toString();
	}

	@ParameterizedTest
	@EnumSource
	void aTurnThatBrokeOffIsContinued(TestStores kind) {
		SessionStore store = STORES.computeIfAbsent(kind, TestStores::create);
		this.durability = Durability.STEP;
		this.model.calls(SessionAdvisorTests.call("c1", "free", "1"))
			.fails(new IllegalStateException("as asked"))
			.says("done");
		assertThatIllegalStateException().isThrownBy(() -> call(chat(store), "q1", "r1"));
		assertThat(store.turns(this.key, Tail.ALL)).extracting((turn) -> turn.status())
			.containsExactly(TurnStatus.INCOMPLETE);
		assertThat(text(call(chat(store), "q1", "r1"))).isEqualTo("done");
		assertThat(text(call(chat(store), "q1", "r1"))).isEqualTo("done");
		assertThat(this.model.prompts()).hasSize(3);
		assertThat(store.turns(this.key, Tail.ALL)).extracting((turn) -> turn.status())
			.containsExactly(TurnStatus.COMPLETED);
	}

	/** As a page does that continues what broke off. */
	@Test
	void aRequestWhoseTurnAnotherCallEndsMeanwhileGetsItsReply() {
		ObservedStore store = new ObservedStore(memory());
		breakOff(store);
		this.model.says("done");
		beforeItsView(store, () -> chat(store).prompt().advisors(SessionAdvisor.session(this.key)).call().content());
		ChatResponse again = call(chat(store), "q1", "r1");
		assertThat(text(again)).isEqualTo("done");
		assertThat(SessionAdvisor.isRepeated(again)).isTrue();
		assertThat(this.model.prompts()).hasSize(3);
	}

	@Test
	void aRequestWhoseTurnIsGivenUpMeanwhileIsRefused() {
		ObservedStore store = new ObservedStore(memory());
		breakOff(store);
		beforeItsView(store, () -> approvals(this.opened.get(0)).cancel(this.key));
		assertThatExceptionOfType(IdempotencyKeyException.class).isThrownBy(() -> call(chat(store), "q1", "r1"))
			.withMessageContaining("ended without a reply");
	}

	private void breakOff(SessionStore store) {
		this.durability = Durability.STEP;
		this.model.calls(SessionAdvisorTests.call("c1", "free", "1")).fails(new IllegalStateException("as asked"));
		assertThatIllegalStateException().isThrownBy(() -> call(chat(store), "q1", "r1"));
	}

	/** Does something on another thread before the next call sees the session. */
	private void beforeItsView(ObservedStore store, Runnable work) {
		AtomicBoolean done = new AtomicBoolean();
		store.beforeOpen(() -> {
			if (done.compareAndSet(false, true)) {
				await(this.threads.submit(work));
			}
		});
	}

	@ParameterizedTest
	@EnumSource
	void aRequestWhoseTurnWasDeletedIsRefused(TestStores kind) {
		SessionStore store = STORES.computeIfAbsent(kind, TestStores::create);
		this.model.says("a1").says("a2");
		ChatResponse first = call(chat(store), "q1", "r1");
		this.opened.get(0).get(this.key).delete(1);
		assertThatExceptionOfType(IdempotencyKeyException.class).isThrownBy(() -> call(chat(store), "q1", "r1"))
			.withMessageContaining("deleted");
		store.erase(this.key);
		assertThat(text(call(chat(store), "q1", "r1"))).isEqualTo("a2");
	}

	/**
	 * Turns on other branches do not keep it from becoming history, but take its number.
	 */
	@ParameterizedTest
	@EnumSource
	void aTurnThatGotALaterNumberIsFound(TestStores kind) {
		SessionStore store = STORES.computeIfAbsent(kind, TestStores::create);
		ChatClient other = chat(store);
		this.model.says("a0");
		call(other, "q0", "r0");
		this.opened.get(0).get(this.key).branch("aside");
		this.opened.get(0).get(this.key).switchTo("main");
		int others = (kind == TestStores.MEMORY) ? 250 : 3;
		ChatClient aside = ChatClient.builder(new CountedModel(0)).defaultAdvisors(advisor(store)).build();
		this.model.step((prompt) -> {
			await(this.threads.submit(() -> askAside(aside, others)));
			return Flux.just(this.model.chunk("a1", List.of(), true));
		});
		assertThat(turn(call(chat(store), "q1", "r1")).turn().number()).isEqualTo(others + 2);
		ChatResponse again = call(chat(store), "q1", "r1");
		assertThat(text(again)).isEqualTo("a1");
		assertThat(turn(again).turn().number()).isEqualTo(others + 2);
	}

	private void askAside(ChatClient other, int times) {
		for (int i = 0; i < times; i++) {
			other.prompt()
				.user("aside")
				.advisors(SessionAdvisor.session(this.key).andThen(SessionAdvisor.branch("aside")))
				.call()
				.content();
		}
	}

	private static void await(Future<?> work) {
		try {
			work.get();
		}
		catch (InterruptedException | ExecutionException ex) {
			throw new IllegalStateException(ex);
		}
	}

	@Test
	void aRequestIsForgottenInTime() throws Exception {
		SessionStore store = memory();
		this.timeToLive = Duration.ofMillis(50);
		this.model.says("a1").says("a2");
		call(chat(store), "q1", "r1");
		TimeUnit.MILLISECONDS.sleep(100);
		assertThat(text(call(chat(store), "q1", "r1"))).isEqualTo("a2");
	}

	@Test
	void aKeyWithoutASessionIsRefused() {
		ChatClient chat = chat(memory());
		for (Consumer<ChatClient.AdvisorSpec> session : List.<Consumer<ChatClient.AdvisorSpec>>of((spec) -> {
		}, SessionAdvisor.none())) {
			ChatClient.ChatClientRequestSpec call = chat.prompt()
				.user("q1")
				.advisors(session.andThen(SessionAdvisor.idempotencyKey("r1")));
			assertThatExceptionOfType(SessionRequiredException.class).isThrownBy(() -> call.call().content())
				.withMessageContaining("SessionAdvisor.session(..)");
		}
		assertThat(this.model.prompts()).isEmpty();
	}

	@ParameterizedTest
	@ValueSource(strings = { "", " " })
	void aBlankKeyIsRefused(String name) {
		assertThatIllegalArgumentException().isThrownBy(() -> SessionAdvisor.idempotencyKey(name))
			.withMessageContaining("255");
		assertThatIllegalStateException()
			.isThrownBy(() -> prompt(chat(memory()), "q1", "r1")
				.advisors((spec) -> spec.param("sessionkit.idempotency-key", name))
				.call()
				.content())
			.withMessageContaining("SessionAdvisor.idempotencyKey(..)");
	}

	@Test
	void aKeyThatIsTooLongIsRefusedAndOneOfAnyLetterIsNot() {
		assertThatIllegalArgumentException().isThrownBy(() -> SessionAdvisor.idempotencyKey("x".repeat(256)))
			.withMessageContaining("256");
		SessionStore store = memory();
		for (String name : List.of("a", "A", "a ", "ä", "😀", "x".repeat(255))) {
			this.model.says("a of " + name);
			call(chat(store), "q1", name);
		}
		for (String name : List.of("a", "A", "a ", "ä", "😀", "x".repeat(255))) {
			assertThat(text(call(chat(store), "q1", name))).isEqualTo("a of " + name);
		}
		assertThatIllegalArgumentException()
			.isThrownBy(() -> SessionAdvisor.builder(this.opened.get(0)).idempotencyTimeToLive(Duration.ZERO))
			.withMessageContaining("PT0S");
	}

	private static String text(ChatResponse response) {
		Generation result = response.getResult();
		return result.getOutput().getText();
	}

	private static TurnResult turn(ChatResponse response) {
		return SessionAdvisor.turn(response).orElseThrow();
	}

	private static SessionStore memory() {
		return new InMemorySessionStore(StoreOptions.of(JsonMessageCodec.create()));
	}

	private SessionAdvisor advisor(SessionStore store) {
		Conversations conversations = Conversations.builder(store)
			.durability(this.durability)
			.hooks(this.hooks)
			.lease(LONG)
			.build();
		this.opened.add(conversations);
		return SessionAdvisor.builder(conversations)
			.approvals(approvals(conversations))
			.idempotencyTimeToLive(this.timeToLive)
			.build();
	}

	private Approvals approvals(Conversations conversations) {
		return Approvals.builder(conversations)
			.tools(Set.of("add"))
			.onNewMessage(this.onNewMessage)
			.expiresAfter(this.expiresAfter)
			.build();
	}

	private ChatClient chat(SessionStore store) {
		return ClientSetup.plain()
			.builder(this.model, advisor(store))
			.defaultTools(SessionAdvisorTests.echo("add"), SessionAdvisorTests.echo("free"))
			.build();
	}

	private ChatResponse call(ChatClient chat, String question, String name) {
		return prompt(chat, question, name).call().chatResponse();
	}

	private ChatClient.ChatClientRequestSpec prompt(ChatClient chat, String question, String name) {
		return chat.prompt()
			.user(question)
			.advisors(SessionAdvisor.session(this.key).andThen(SessionAdvisor.idempotencyKey(name)));
	}

}
