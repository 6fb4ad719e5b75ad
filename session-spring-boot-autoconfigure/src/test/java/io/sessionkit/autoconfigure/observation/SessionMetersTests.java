package io.sessionkit.autoconfigure.observation;

import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.observation.DefaultMeterObservationHandler;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.micrometer.observation.ObservationRegistry;
import io.sessionkit.Concurrency;
import io.sessionkit.Durability;
import io.sessionkit.SessionConflictException;
import io.sessionkit.SessionKey;
import io.sessionkit.advisor.SessionAdvisor;
import io.sessionkit.approval.ApprovalEvent;
import io.sessionkit.approval.OnNewMessage;
import io.sessionkit.approval.ToolApproval;
import io.sessionkit.codec.JsonMessageCodec;
import io.sessionkit.context.Summarize;
import io.sessionkit.context.Trim;
import io.sessionkit.conversation.Approvals;
import io.sessionkit.conversation.Conversations;
import io.sessionkit.hook.HookContext;
import io.sessionkit.hook.HookResult;
import io.sessionkit.hook.SessionHook;
import io.sessionkit.observation.LeaseKind;
import io.sessionkit.store.Page;
import io.sessionkit.store.RecordWrite;
import io.sessionkit.store.StoreOptions;
import io.sessionkit.store.StoreUnavailableException;
import io.sessionkit.store.memory.InMemorySessionStore;
import io.sessionkit.test.ClientSetup;
import io.sessionkit.test.ClientSetup.Mode;
import io.sessionkit.test.ObservedStore;
import io.sessionkit.test.ObservedStore.Fault;
import io.sessionkit.test.ScriptedChatModel;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;

import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.chat.messages.AssistantMessage.ToolCall;
import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.UserMessage;
import org.springframework.ai.tool.ToolCallback;
import org.springframework.ai.tool.function.FunctionToolCallback;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

class SessionMetersTests {

	private static final SessionKey KEY = SessionKey.of("ada", "t1");

	private final SimpleMeterRegistry registry = new SimpleMeterRegistry();

	private final ObservedStore store = new ObservedStore(
			new InMemorySessionStore(StoreOptions.of(JsonMessageCodec.create())));

	private final ScriptedChatModel model = new ScriptedChatModel();

	private final ApprovalMeters approvalMeters = new ApprovalMeters(this.registry);

	private final Conversations conversations = Conversations.builder(new CountedStore(this.store, this.registry))
		.observers(List.of(new CallMeters(this.registry)))
		.trim(Trim.keepLastTurns(1))
		.build();

	private final Approvals approvals = Approvals.builder(this.conversations)
		.tools(Set.of("look"))
		.listeners(List.of(this.approvalMeters::count))
		.build();

	@ParameterizedTest
	@EnumSource
	void callsAreCountedByOutcome(Mode mode) {
		this.model.says("a").fails(new IllegalStateException("down"));
		ask(mode, "q");
		assertThatIllegalStateException().isThrownBy(() -> ask(mode, "q"));
		this.store.failAt(Fault.OPEN);
		assertThatExceptionOfType(StoreUnavailableException.class).isThrownBy(() -> ask(mode, "q"));
		String called = (mode == Mode.CALL) ? "call" : "stream";
		assertThat(count("sessionkit.calls", "mode", called, "outcome", "completed")).isEqualTo(1);
		assertThat(count("sessionkit.calls", "mode", called, "outcome", "failed")).isEqualTo(1);
		assertThat(count("sessionkit.calls", "mode", called, "outcome", "not-opened")).isEqualTo(1);
		assertThat(count("sessionkit.calls")).isEqualTo(3);
		assertThat(count("sessionkit.store.errors", "operation", "open")).isEqualTo(1);
	}

	@Test
	void streamWhoseReaderLeavesTheLineIsNotOpened() {
		ObservationRegistry observations = ObservationRegistry.create();
		observations.observationConfig().observationHandler(new DefaultMeterObservationHandler(this.registry));
		SessionAdvisor serializing = SessionAdvisor
			.builder(Conversations.builder(this.store)
				.observers(List.of(new CallMeters(this.registry), new CallObservations(observations)))
				.build())
			.concurrency(Concurrency.SERIALIZE)
			.build();
		this.model.step((prompt) -> Flux.never());
		Disposable first = stream(serializing);
		Awaitility.await().until(() -> !this.model.prompts().isEmpty());
		Disposable second = stream(serializing);
		Awaitility.await().until(() -> inLine() == 2);
		second.dispose();
		assertThat(count("sessionkit.calls", "mode", "stream", "outcome", "not-opened")).isEqualTo(1);
		first.dispose();
		Awaitility.await()
			.untilAsserted(
					() -> assertThat(count("sessionkit.calls", "mode", "stream", "outcome", "cancelled")).isEqualTo(1));
		assertThat(count("sessionkit.calls")).isEqualTo(2);
		Awaitility.await().untilAsserted(() -> {
			assertThat(timed("not-opened")).isEqualTo(1);
			assertThat(timed("cancelled")).isEqualTo(1);
		});
	}

	/** A hook refuses what is to be queued when the reader has gone. */
	@Test
	void streamWhoseReaderLeavesBeforeItsMessageIsQueuedIsNotOpened() {
		ObservationRegistry observations = ObservationRegistry.create();
		observations.observationConfig().observationHandler(new DefaultMeterObservationHandler(this.registry));
		CountDownLatch asked = new CountDownLatch(1);
		CountDownLatch gone = new CountDownLatch(1);
		Conversations refusing = Conversations.builder(this.store)
			.observers(List.of(new CallMeters(this.registry), new CallObservations(observations)))
			.hooks(List.of(new RefusingLate(asked, gone)))
			.build();
		this.model.calls(new ToolCall("c1", "function", "look", "{}"));
		ask(Mode.CALL, "first");
		Approvals queueing = Approvals.builder(refusing).tools(Set.of("look")).onNewMessage(OnNewMessage.QUEUE).build();
		Disposable reader = stream(SessionAdvisor.builder(refusing).approvals(queueing).build());
		await(asked);
		reader.dispose();
		gone.countDown();
		assertThat(count("sessionkit.calls", "mode", "stream", "outcome", "not-opened")).isEqualTo(1);
		Awaitility.await().untilAsserted(() -> assertThat(timed("not-opened")).isEqualTo(1));
	}

	private record RefusingLate(CountDownLatch asked, CountDownLatch gone) implements SessionHook {

		@Override
		public HookResult<List<Message>> beforeTurn(HookContext context, List<Message> input) {
			this.asked.countDown();
			await(this.gone);
			return HookResult.refuse("no");
		}

	}

	private static void await(CountDownLatch latch) {
		try {
			assertThat(latch.await(10, TimeUnit.SECONDS)).isTrue();
		}
		catch (InterruptedException ex) {
			throw new AssertionError(ex);
		}
	}

	private int inLine() {
		return this.store.records(KEY, "line")
			.stream()
			.map((line) -> this.store.options().codec().decodeValues(KEY, line.payload()).get("tickets"))
			.mapToInt((tickets) -> (tickets instanceof Collection<?> all) ? all.size() : 0)
			.sum();
	}

	private Disposable stream(SessionAdvisor advisor) {
		return ClientSetup.plain()
			.builder(this.model, advisor)
			.build()
			.prompt("q")
			.advisors(SessionAdvisor.session(KEY))
			.stream()
			.content()
			.subscribe();
	}

	private long timed(String outcome) {
		Timer timer = this.registry.find("sessionkit.call").tags("mode", "stream", "outcome", outcome).timer();
		return (timer != null) ? timer.count() : 0;
	}

	@Test
	void conflictIsCountedBesideTheFailure() {
		this.model.says("a");
		this.store.beforeCommit(() -> {
			this.store.beforeCommit(() -> {
			});
			this.store.add(KEY, List.of(new UserMessage("theirs")));
		});
		assertThatExceptionOfType(SessionConflictException.class).isThrownBy(() -> ask(Mode.CALL, "q"));
		assertThat(count("sessionkit.conflicts")).isEqualTo(1);
		assertThat(count("sessionkit.calls", "outcome", "failed")).isEqualTo(1);
	}

	@Test
	void viewIsMeasuredAndTrimmedCallsAreCounted() {
		this.model.says("a").says("b").says("c");
		ask(Mode.CALL, "q1");
		ask(Mode.CALL, "q2");
		ask(Mode.CALL, "q3");
		assertThat(count("sessionkit.view.trimmed")).isEqualTo(1);
		assertThat(this.registry.get("sessionkit.view.tokens").summary().count()).isEqualTo(3);
		assertThat(this.registry.get("sessionkit.view.tokens").summary().totalAmount()).isPositive();
	}

	@Test
	void summariesAndTheirTurnsAreCounted() {
		Conversations summarized = Conversations.builder(this.store)
			.observers(List.of(new CallMeters(this.registry)))
			.summarize(Summarize.by(new ScriptedChatModel().says("short")).keepTurns(0).build())
			.build();
		this.store.add(KEY, List.of(new UserMessage("q")));
		summarized.get(KEY).summarize(true);
		assertThat(count("sessionkit.summaries", "outcome", "summarized")).isEqualTo(1);
		assertThat(count("sessionkit.summarized.turns")).isEqualTo(1);
	}

	@Test
	void approvalsAreCountedAndThoseThatWaitAreRead() {
		WaitingApprovals waiting = new WaitingApprovals(() -> this.approvals.pendingOf("ada", Page.first(10)),
				Duration.ofDays(1));
		waiting.bindTo(this.registry);
		this.model.calls(new ToolCall("c1", "function", "look", "{}")).says("a");
		ask(Mode.CALL, "q");
		assertThat(gauge("proposed")).isNaN();
		Awaitility.await().until(() -> gauge("proposed") == 1);
		assertThat(gauge("uncertain")).isZero();
		ToolApproval shown = this.approvals.pendingOf("ada", Page.first(1)).get(0);
		this.approvals.approve(shown, "anna");
		ask(Mode.CALL, null);
		assertThat(count("sessionkit.approvals.requested")).isEqualTo(1);
		assertThat(count("sessionkit.approvals.decided", "decision", "approve")).isEqualTo(1);
		assertThat(count("sessionkit.approvals.executed")).isEqualTo(1);
		assertThat(gauge("proposed")).as("counted once in each interval").isEqualTo(1);
	}

	@Test
	void expiredCallIsCounted() {
		this.model.calls(new ToolCall("c1", "function", "look", "{}"));
		ask(Mode.CALL, "q");
		this.approvalMeters.count(new ApprovalEvent.Expired(this.approvals.pending(KEY).get(0)));
		assertThat(count("sessionkit.approvals.expired")).isEqualTo(1);
	}

	/** Its process has claimed the call, and its lease is gone. */
	@Test
	void callOfWhichNobodyKnowsWhetherItRanIsUncertain() {
		this.model.calls(new ToolCall("c1", "function", "look", "{}"));
		ask(Mode.CALL, "q");
		this.approvals.approve(this.approvals.pending(KEY).get(0), "anna");
		this.store.beforePut((write) -> {
			if (write.kind().equals("approval")) {
				this.store.beforePut((other) -> {
				});
				this.store.afterPut((claimed) -> {
					throw new AssertionError("The process is gone.");
				});
			}
		});
		assertThatExceptionOfType(AssertionError.class).isThrownBy(() -> ask(Mode.CALL, null))
			.withMessage("The process is gone.");
		this.store.afterPut((write) -> {
		});
		this.store.records(KEY, "lease")
			.forEach((lease) -> this.store.put(KEY, new RecordWrite("lease", lease.id(), RecordWrite.ANY, null, null)));
		new WaitingApprovals(() -> this.approvals.pendingOf("ada", Page.first(10)), Duration.ofDays(1))
			.bindTo(this.registry);
		gauge("uncertain");
		Awaitility.await().until(() -> gauge("uncertain") == 1);
		assertThat(gauge("proposed")).isZero();
	}

	/** A turn that is stored in steps has an entry of each call. */
	@Test
	void callThatNobodyHasDecidedIsNotCountedAsOneWithConsent() {
		Conversations stepping = Conversations.builder(this.store).durability(Durability.STEP).build();
		SessionAdvisor advisor = SessionAdvisor.builder(stepping)
			.approvals(Approvals.builder(stepping).listeners(List.of(this.approvalMeters::count)).build())
			.build();
		this.model.calls(new ToolCall("c1", "function", "look", "{}")).says("a");
		ClientSetup.plain()
			.builder(this.model, advisor)
			.build()
			.prompt()
			.user("q")
			.advisors(SessionAdvisor.session(KEY))
			.tools(look())
			.call()
			.content();
		assertThat(this.model.prompts()).hasSize(2);
		assertThat(count("sessionkit.approvals.executed")).isZero();
	}

	@Test
	void countThatFailsHasNoValueAndIsNotRepeatedByEachScrape() {
		WaitingApprovals waiting = new WaitingApprovals(() -> {
			throw new StoreUnavailableException("down", null);
		}, Duration.ofDays(1));
		waiting.bindTo(this.registry);
		for (int i = 0; i < 100; i++) {
			assertThat(gauge("proposed")).isNaN();
		}
	}

	/** The connection of the first may be dead, and others not. */
	@Test
	void countThatHangsHasNoValueAndAnotherOneIsMadeByAFewThreads() {
		CountDownLatch hanging = new CountDownLatch(1);
		AtomicInteger dead = new AtomicInteger();
		AtomicInteger counts = new AtomicInteger();
		new WaitingApprovals(() -> {
			counts.incrementAndGet();
			if (dead.getAndDecrement() > 0) {
				await(hanging);
			}
			return List.of();
		}, Duration.ofMillis(20)).bindTo(this.registry);
		Awaitility.await().until(() -> gauge("proposed") == 0);
		dead.set(2);
		Awaitility.await().until(() -> Double.isNaN(gauge("proposed")));
		Awaitility.await().until(() -> gauge("proposed") == 0);
		dead.set(Integer.MAX_VALUE);
		Awaitility.await().until(() -> Double.isNaN(gauge("proposed")));
		int all = counts.get();
		Awaitility.await().during(Duration.ofMillis(300)).until(() -> Double.isNaN(gauge("proposed")));
		assertThat(counts).hasValue(all);
		dead.set(0);
		hanging.countDown();
		Awaitility.await().until(() -> gauge("proposed") == 0);
	}

	@Test
	void lostLeasesAreCountedByKind() {
		CallMeters meters = new CallMeters(this.registry);
		meters.leaseLost(LeaseKind.LINE);
		assertThat(count("sessionkit.leases.lost", "kind", "line")).isEqualTo(1);
		assertThat(count("sessionkit.leases.lost")).isEqualTo(1);
	}

	@Test
	void purgeIsCounted() {
		this.store.deletion((limit) -> 3);
		new CountedStore(this.store, this.registry).deleteExpired(10);
		assertThat(count("sessionkit.purge.deleted")).isEqualTo(3);
	}

	@Test
	void tagsAreFewWhateverTheModelAndTheCallerInvent() {
		SessionKey hostile = SessionKey.of("o'; drop", "s{}\u00e9${x}");
		this.model.calls(new ToolCall("c1", "function", "secret' tool", "{\"a\":\"secret\"}"));
		assertThatIllegalStateException().isThrownBy(() -> prompt(hostile, "secret").call().content());
		this.model.calls(new ToolCall("secret id", "function", "look", "{\"a\":\"secret\"}"));
		prompt(hostile, "secret").call().content();
		Set<String> keys = Set.of("mode", "outcome", "kind", "operation", "decision", "status");
		assertThat(this.registry.getMeters()).hasSizeLessThan(80)
			.flatExtracting((meter) -> tags(meter))
			.allSatisfy((tag) -> {
				assertThat(keys).contains(tag.getKey());
				assertThat(tag.getValue()).matches("[a-z-]+").isNotIn("secret", "look");
			});
	}

	private static List<Tag> tags(Meter meter) {
		return meter.getId().getTags();
	}

	private double count(String name, String... tags) {
		return this.registry.get(name).tags(tags).counters().stream().mapToDouble((counter) -> counter.count()).sum();
	}

	private double gauge(String status) {
		return this.registry.get("sessionkit.approvals.waiting").tag("status", status).gauge().value();
	}

	private void ask(Mode mode, @Nullable String question) {
		new ClientSetup(mode, ClientSetup.ToolLoop.AUTOMATIC, false).content(prompt(KEY, question));
	}

	private ChatClient.ChatClientRequestSpec prompt(SessionKey key, @Nullable String question) {
		ChatClient.ChatClientRequestSpec spec = ClientSetup.plain()
			.builder(this.model, SessionAdvisor.builder(this.conversations).approvals(this.approvals).build())
			.build()
			.prompt()
			.advisors(SessionAdvisor.session(key))
			.tools(look());
		return (question != null) ? spec.user(question) : spec;
	}

	private static ToolCallback look() {
		record Nothing() {
		}
		return FunctionToolCallback.builder("look", (Nothing nothing) -> "found")
			.description("looks")
			.inputType(Nothing.class)
			.build();
	}

}
