package io.sessionkit.approval;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;

import io.micrometer.context.ContextRegistry;
import io.sessionkit.Concurrency;
import io.sessionkit.Durability;
import io.sessionkit.SessionKey;
import io.sessionkit.ToolTimeout;
import io.sessionkit.TurnStatus;
import io.sessionkit.access.Caller;
import io.sessionkit.access.SessionAccess;
import io.sessionkit.advisor.SessionAdvisor;
import io.sessionkit.compensation.CompensatedBy;
import io.sessionkit.compensation.Irreversible;
import io.sessionkit.compensation.RewindPlan;
import io.sessionkit.compensation.RewindReport;
import io.sessionkit.conversation.Approvals;
import io.sessionkit.conversation.Compensations;
import io.sessionkit.conversation.Conversations;
import io.sessionkit.hook.SessionContext;
import io.sessionkit.internal.lease.TurnRecords;
import io.sessionkit.store.SessionStore;
import io.sessionkit.test.ClientSetup;
import io.sessionkit.test.ObservedStore;
import io.sessionkit.test.ScriptedChatModel;
import io.sessionkit.test.TestStores;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.Disposable;

import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.chat.messages.AssistantMessage.ToolCall;
import org.springframework.ai.chat.messages.UserMessage;
import org.springframework.ai.chat.model.ToolContext;
import org.springframework.ai.model.tool.internal.ToolCallReactiveContextHolder;
import org.springframework.ai.support.ToolCallbacks;
import org.springframework.ai.tool.ToolCallback;
import org.springframework.ai.tool.annotation.Tool;
import org.springframework.ai.tool.definition.ToolDefinition;
import org.springframework.ai.tool.function.FunctionToolCallback;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.catchThrowable;

/**
 * Tools that take longer than they may.
 */
class ToolTimeoutTests {

	private static final String STOPPED = "The tool 'slow' was stopped after 300 ms, its time limit."
			+ " It may have had its effect; check before you repeat it.";

	private static final ThreadLocal<String> propagated = new ThreadLocal<>();

	private final SessionKey key = SessionKey.of("t1");

	private final SessionStore store = TestStores.MEMORY.create();

	private final ScriptedChatModel model = new ScriptedChatModel();

	private final Tools tools = new Tools();

	private Conversations conversations = Conversations.of(this.store);

	private Approvals approvals = Approvals.of(this.conversations);

	/** Lets tools end that ignore interrupts. */
	@AfterEach
	void close() {
		this.tools.released.countDown();
		this.conversations.close();
	}

	static final class Tools {

		final CountDownLatch released = new CountDownLatch(1);

		private volatile Consumer<Tools> first = (tools) -> {
		};

		private volatile boolean ignoresInterrupts;

		private volatile String interrupted = "no";

		@Tool
		@ToolTimeout(value = 300, unit = TimeUnit.MILLISECONDS)
		@CompensatedBy("restore")
		String slow() {
			this.first.accept(this);
			while (true) {
				try {
					this.released.await();
					return "late";
				}
				catch (InterruptedException ex) {
					this.interrupted = "yes";
					if (!this.ignoresInterrupts) {
						throw new IllegalStateException(ex);
					}
				}
			}
		}

		@Tool
		@CompensatedBy(CompensatedBy.NOTHING)
		String quick() {
			return Thread.currentThread().getName();
		}

		@Tool
		String restore() {
			return "restored";
		}

	}

	private void rules(Consumer<Conversations.Builder> rules, Consumer<Approvals.Builder> more) {
		Conversations.Builder builder = Conversations.builder(this.store);
		rules.accept(builder);
		this.conversations = builder.build();
		Approvals.Builder approving = Approvals.builder(this.conversations);
		more.accept(approving);
		this.approvals = approving.build();
	}

	private ChatClient client(ClientSetup setup, ToolCallback... offered) {
		SessionAdvisor advisor = SessionAdvisor.builder(this.conversations).approvals(this.approvals).build();
		return setup.builder(this.model, advisor).defaultToolCallbacks(offered).build();
	}

	private ToolCallback[] offered() {
		return ToolCallbacks.from(this.tools);
	}

	private static ToolCall call(String tool) {
		return new ToolCall("c-" + tool, "function", tool, "{}");
	}

	private String asked(ClientSetup setup, ToolCallback... offered) {
		return setup.content(client(setup, offered).prompt().user("q").advisors(SessionAdvisor.session(this.key)));
	}

	@ParameterizedTest
	@CsvSource({ "CALL,TURN", "CALL,STEP", "STREAM,TURN", "STREAM,STEP" })
	void theModelReadsThatTheToolWasStoppedAndTheTurnGoesOn(ClientSetup.Mode mode, Durability durability) {
		rules((builder) -> builder.durability(durability), (builder) -> {
		});
		this.model.calls(call("slow"), call("quick")).says("done");
		assertThat(asked(new ClientSetup(mode, ClientSetup.ToolLoop.AUTOMATIC, false), offered())).isEqualTo("done");
		assertThat(this.model.lastRequestLines().get(2)).startsWith("tool slow=" + STOPPED + " quick=");
		assertThat(this.store.find(this.key)).hasValueSatisfying((session) -> assertThat(session.openTurn()).isZero());
		Awaitility.await().until(() -> this.tools.interrupted.equals("yes"));
		assertThat(this.store.records(this.key, TurnRecords.LEASE)).isEmpty();
	}

	@ParameterizedTest
	@EnumSource
	void itsEffectIsUncertain(Durability durability) {
		rules((builder) -> builder.durability(durability), (builder) -> {
		});
		this.model.calls(call("slow"), call("quick")).says("done");
		asked(ClientSetup.plain(), offered());
		RewindPlan plan = Compensations.builder(this.conversations, this.approvals)
			.tools(offered())
			.build()
			.plan(this.key, 1);
		assertThat(plan.compensations()).isEmpty();
		assertThat(plan.irreversible()).singleElement().satisfies((each) -> {
			assertThat(each.reason()).isEqualTo(Irreversible.Reason.UNCERTAIN);
			assertThat(each.effect().tool()).isEqualTo("slow");
		});
	}

	@Test
	void compensationThatIsStoppedIsUncertain() {
		this.model.calls(call("quick")).says("done");
		asked(ClientSetup.plain(), offered());
		Compensations compensations = Compensations.builder(this.conversations, this.approvals)
			.tools(offered())
			.compensating(Map.of("quick", "slow"))
			.build();
		RewindReport report = compensations.rewind(compensations.plan(this.key, 1));
		assertThat(report.status()).isEqualTo(RewindReport.Status.STOPPED);
		assertThat(compensations.pending(this.key)).extracting(ToolApproval::status)
			.containsExactly(ApprovalStatus.UNCERTAIN);
	}

	@Test
	void aTurnThatContinuesRepeatsTheTextAndNotTheTool() {
		rules((builder) -> builder.durability(Durability.STEP), (builder) -> {
		});
		this.model.calls(call("slow")).fails(new IllegalStateException("model down")).says("done");
		ChatClient client = client(ClientSetup.plain(), offered());
		assertThatIllegalStateException()
			.isThrownBy(() -> client.prompt().user("q").advisors(SessionAdvisor.session(this.key)).call().content());
		this.tools.first = (tools) -> {
			throw new AssertionError("It runs again.");
		};
		assertThat(client.prompt().advisors(SessionAdvisor.session(this.key)).call().content()).isEqualTo("done");
		assertThat(this.model.lastRequestLines()).contains("tool slow=" + STOPPED);
	}

	@Test
	void theTimeThatItWaitsForAnApprovalDoesNotCount() {
		Duration limit = Duration.ofSeconds(2);
		rules((builder) -> builder.toolTimeouts(Map.of("slow", limit)), (builder) -> builder.tools(Set.of("slow")));
		this.model.calls(call("slow")).says("done");
		ChatClient client = client(ClientSetup.plain(), offered());
		client.prompt().user("q").advisors(SessionAdvisor.session(this.key)).call().content();
		long asked = System.nanoTime();
		this.tools.released.countDown();
		Awaitility.await().until(() -> System.nanoTime() - asked > limit.toNanos());
		ToolApproval waiting = this.approvals.pending(this.key).get(0);
		this.approvals.decide(waiting, Decision.approve("ann"));
		assertThat(client.prompt().advisors(SessionAdvisor.session(this.key)).call().content()).isEqualTo("done");
		assertThat(this.model.lastRequestLines()).contains("tool slow=\"late\"");
	}

	@Test
	void aToolThatIgnoresTheInterruptNeitherHoldsTheTurnNorChangesIt() {
		AtomicReference<Object> written = new AtomicReference<>("nothing");
		CountDownLatch ended = new CountDownLatch(1);
		this.tools.ignoresInterrupts = true;
		SessionContext context = new SessionContext();
		ToolCallback late = FunctionToolCallback.builder("slow", () -> {
			context.putAttribute("before", 1);
			this.tools.slow();
			try {
				context.putAttribute("after", 1);
				written.set("after");
			}
			catch (IllegalStateException ex) {
				written.set(ex.getMessage());
			}
			ended.countDown();
			return "late";
		}).build();
		// its thread has to have begun by then
		rules((builder) -> builder.durability(Durability.STEP).toolTimeout(Duration.ofSeconds(6)), (builder) -> {
		});
		this.model.calls(call("slow")).step((prompt) -> {
			this.tools.released.countDown();
			Awaitility.await().until(() -> ended.getCount() == 0);
			return reactor.core.publisher.Flux.just(this.model.chunk("done", List.of(), true));
		});
		assertThat(asked(ClientSetup.plain(), late)).isEqualTo("done");
		assertThat(written.get().toString()).startsWith("Tool 'slow' was stopped since its time was over");
		assertThat(this.store.find(this.key).orElseThrow().attributes()).containsOnlyKeys("before");
		assertThat(this.model.lastRequestLines()).contains("tool slow=" + STOPPED.replace("300 ms", "6 s"));
	}

	@ParameterizedTest
	@EnumSource
	void theToolSeesWhatItsCallerSees(ClientSetup.Mode mode) {
		ContextRegistry.getInstance().registerThreadLocalAccessor("sessionkit-test", propagated);
		AtomicReference<String> seen = new AtomicReference<>();
		SessionContext context = new SessionContext();
		rules((builder) -> builder.toolTimeouts(Map.of("quick", Duration.ofSeconds(30))),
				(builder) -> builder.tools(Set.of("quick")));
		ToolCallback quick = FunctionToolCallback.builder("quick", () -> {
			seen.set(context.key().id() + " " + this.approvals.running().orElseThrow().tool() + " " + propagated.get()
					+ " " + ToolCallReactiveContextHolder.getContext().getOrDefault("stream", "none") + " "
					+ Thread.currentThread().getName().startsWith("sessionkit-tool"));
			return "ok";
		}).build();
		ClientSetup setup = new ClientSetup(mode, ClientSetup.ToolLoop.AUTOMATIC, false);
		this.model.calls(call("quick")).says("done");
		asked(setup, quick);
		this.approvals.decide(this.approvals.pending(this.key).get(0), Decision.approve("ann"));
		ChatClient.ChatClientRequestSpec again = client(setup, quick).prompt()
			.advisors(SessionAdvisor.session(this.key));
		propagated.set("carried");
		try {
			if (mode == ClientSetup.Mode.CALL) {
				again.call().content();
				assertThat(seen).hasValue("t1 quick carried none true");
			}
			else {
				again.stream().content().contextWrite((map) -> map.put("stream", "here")).collectList().block();
				assertThat(seen.get()).startsWith("t1 quick").endsWith("here true");
			}
		}
		finally {
			propagated.remove();
			ContextRegistry.getInstance().removeThreadLocalAccessor("sessionkit-test");
		}
	}

	/** In a call without a session, and in one that a tool of a turn makes. */
	@Test
	void toolWithALimitWorksForTheCallerOfCallAs() {
		SessionAccess access = SessionAccess.of(Optional::empty);
		rules((builder) -> builder.access(access), (builder) -> {
		});
		List<String> reached = new CopyOnWriteArrayList<>();
		this.tools.first = (tools) -> reached.add(this.conversations.get("x").key().owner());
		this.tools.released.countDown();
		ChatClient inner = client(ClientSetup.plain(), offered());
		this.model.calls(call("slow")).says("done");
		access.callAs(Caller.of("ada"), () -> inner.prompt().user("q").call().content());
		ToolCallback asking = FunctionToolCallback.builder("quick", () -> {
			reached.add(this.conversations.get("x").key().owner());
			return access.callAs(Caller.of("team"), () -> inner.prompt().user("inner").call().content());
		}).build();
		this.model.calls(call("quick")).calls(call("slow")).says("inner done").says("done");
		access.callAs(Caller.of("bob"), () -> asked(ClientSetup.plain(), asking));
		assertThat(reached).containsExactly("ada", "bob", "team");
	}

	@Test
	void aToolWithoutALimitRunsOnTheThreadOfItsCaller() {
		this.model.calls(call("quick")).says("done");
		asked(ClientSetup.plain(), offered());
		assertThat(this.model.lastRequestLines()).contains("tool quick=\"" + Thread.currentThread().getName() + "\"");
	}

	@Test
	void aNestedCallOfAStoppedToolBeginsNoMore() {
		AtomicReference<Throwable> thrown = new AtomicReference<>();
		CountDownLatch ended = new CountDownLatch(1);
		this.tools.ignoresInterrupts = true;
		ChatClient inner = client(ClientSetup.plain());
		this.tools.first = (tools) -> {
			this.tools.first = (again) -> {
			};
			try {
				this.tools.slow();
				inner.prompt().user("inner").advisors(SessionAdvisor.session("t2")).call().content();
			}
			catch (RuntimeException ex) {
				thrown.set(ex);
			}
			ended.countDown();
		};
		this.model.calls(call("slow")).says("done");
		assertThat(asked(ClientSetup.plain(), offered())).isEqualTo("done");
		this.tools.released.countDown();
		Awaitility.await().until(() -> ended.getCount() == 0);
		assertThat(thrown.get()).hasMessageContaining("was stopped since its time was over");
		assertThat(this.store.find(SessionKey.of("t2"))).isEmpty();
	}

	/** It has come to its line before the tool is stopped, and is let in afterwards. */
	@Test
	void aNestedCallOfAStoppedToolGivesBackThePlaceThatItHasTaken() {
		SessionKey other = SessionKey.of("t2");
		this.store.add(other, List.of(new UserMessage("before")));
		ObservedStore slow = new ObservedStore(this.store);
		AtomicBoolean taken = new AtomicBoolean();
		slow.beforePut((record) -> {
			if (record.kind().equals("line") && taken.compareAndSet(false, true)) {
				awaitInterrupt();
			}
		});
		// its thread has to have begun by then
		this.conversations = Conversations.builder(slow).toolTimeout(Duration.ofSeconds(6)).build();
		this.approvals = Approvals.of(this.conversations);
		ChatClient inner = ClientSetup.plain()
			.builder(this.model, SessionAdvisor.builder(this.conversations).concurrency(Concurrency.SERIALIZE).build())
			.build();
		AtomicReference<Throwable> thrown = new AtomicReference<>();
		ToolCallback asking = FunctionToolCallback.builder("slow", () -> {
			thrown.set(catchThrowable(
					() -> inner.prompt().user("inner").advisors(SessionAdvisor.session(other)).call().content()));
			return "late";
		}).build();
		this.model.calls(call("slow")).says("done");
		assertThat(asked(ClientSetup.plain(), asking)).isEqualTo("done");
		Awaitility.await().until(() -> thrown.get() != null);
		assertThat(taken).isTrue();
		assertThat(thrown.get()).hasMessageContaining("was stopped since its time was over");
		assertThat(this.store.records(other, "line")).isEmpty();
	}

	private static void awaitInterrupt() {
		while (!Thread.currentThread().isInterrupted()) {
			LockSupport.parkNanos(1_000_000);
		}
	}

	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void theLimitHoldsInACallWithoutASession(boolean approvals) {
		rules((builder) -> {
		}, (builder) -> builder.policies(approvals ? List.of((request) -> Ruling.allow()) : List.of()));
		this.model.calls(call("slow")).says("done");
		assertThat(client(ClientSetup.plain(), offered()).prompt().user("q").call().content()).isEqualTo("done");
		assertThat(this.model.lastRequestLines()).contains("tool slow=" + STOPPED);
	}

	@Test
	void whoWaitsForADirectResultReadsIt() {
		ToolCallback direct = FunctionToolCallback.builder("slow", this.tools::slow)
			.toolMetadata(org.springframework.ai.tool.metadata.ToolMetadata.builder().returnDirect(true).build())
			.build();
		rules((builder) -> builder.toolTimeouts(Map.of("slow", Duration.ofMillis(300))), (builder) -> {
		});
		this.model.calls(call("slow"));
		assertThat(asked(ClientSetup.plain(), direct)).isEqualTo(STOPPED);
	}

	@Test
	void toolThatSpringAiHasRenamedHasTheLimitOfItsName() {
		ToolCallback renamed = FunctionToolCallback.builder("alt_1_slow", this.tools::slow).build();
		rules((builder) -> builder.toolTimeouts(Map.of("slow", Duration.ofMillis(300))), (builder) -> {
		});
		this.model.calls(call("alt_1_slow")).says("done");
		asked(ClientSetup.plain(), renamed);
		assertThat(this.model.lastRequestLines().get(2)).contains("after 300 ms");
	}

	@Test
	void theNameOutranksTheAnnotationAndTheAnnotationTheLimitOfAll() {
		this.tools.released.countDown();
		rules((builder) -> builder.toolTimeouts(Map.of("slow", Duration.ofMillis(1))).toolTimeout(Duration.ofDays(1)),
				(builder) -> {
				});
		this.tools.first = (tools) -> Awaitility.await().until(() -> Thread.currentThread().isInterrupted());
		this.model.calls(call("slow")).says("done");
		asked(ClientSetup.plain(), offered());
		assertThat(this.model.lastRequestLines().get(2)).contains("after 1 ms");
		rules((builder) -> builder.toolTimeout(Duration.ofDays(1)), (builder) -> {
		});
		this.model.calls(call("slow")).says("done");
		asked(ClientSetup.plain(), new Wrapper(offered()[indexOf("slow")]));
		assertThat(this.model.lastRequestLines()).contains("tool slow=" + STOPPED);
	}

	private int indexOf(String tool) {
		for (int i = 0; i < offered().length; i++) {
			if (offered()[i].getToolDefinition().name().equals(tool)) {
				return i;
			}
		}
		throw new AssertionError(tool);
	}

	private record Wrapper(ToolCallback inner) implements ToolCallback {

		@Override
		public ToolDefinition getToolDefinition() {
			return this.inner.getToolDefinition();
		}

		@Override
		public String call(String input) {
			return this.inner.call(input);
		}

		@Override
		public String call(String input, ToolContext context) {
			return this.inner.call(input, context);
		}

	}

	@Test
	void aCallerThatIsInterruptedInterruptsTheTool() throws InterruptedException {
		rules((builder) -> builder.toolTimeouts(Map.of("slow", Duration.ofMinutes(1))), (builder) -> {
		});
		CountDownLatch begun = new CountDownLatch(1);
		this.tools.first = (tools) -> begun.countDown();
		this.model.calls(call("slow")).says("done");
		Thread caller = new Thread(() -> asked(ClientSetup.plain(), offered()));
		caller.start();
		begun.await();
		caller.interrupt();
		caller.join(20_000);
		assertThat(this.tools.interrupted).isEqualTo("yes");
		assertThat(this.store.turns(this.key, new io.sessionkit.store.Tail(Long.MAX_VALUE, 1)))
			.extracting((turn) -> turn.status())
			.containsExactly(TurnStatus.COMPLETED);
	}

	/**
	 * A tool of another process does not notice that the one that waits for it does not.
	 */
	@Test
	void modelIsToldThatAnInterruptedToolMayHaveHadItsEffect() throws InterruptedException {
		rules((builder) -> builder.toolTimeouts(Map.of("slow", Duration.ofMinutes(1))),
				(builder) -> builder.tools(Set.of("slow")));
		CountDownLatch begun = new CountDownLatch(1);
		this.tools.first = (tools) -> begun.countDown();
		this.model.calls(call("slow"));
		ChatClient client = client(ClientSetup.plain(), offered());
		client.prompt().user("q").advisors(SessionAdvisor.session(this.key)).call().content();
		this.approvals.decide(this.approvals.pending(this.key).get(0), Decision.approve("ann"));
		Disposable reader = client.prompt().advisors(SessionAdvisor.session(this.key)).stream().content().subscribe();
		begun.await();
		reader.dispose();
		Awaitility.await()
			.until(() -> this.approvals.ledger(this.key).get(0).status() == ApprovalStatus.DONE
					&& !this.conversations.get(this.key).isOpenTurnRunning());
		this.model.says("done");
		assertThat(client.prompt().advisors(SessionAdvisor.session(this.key)).call().content()).isEqualTo("done");
		assertThat(this.model.lastRequestLines())
			.contains("tool slow=The tool 'slow' was interrupted. It may have had its effect;"
					+ " check before you repeat it.");
	}

	static final class Wrong {

		@Tool
		@ToolTimeout(0)
		String slow() {
			return "";
		}

	}

	@Test
	void whatCannotBeALimitIsRefused() {
		assertThatIllegalStateException().isThrownBy(() -> asked(ClientSetup.plain(), ToolCallbacks.from(new Wrong())))
			.withMessageContaining("@ToolTimeout of tool 'slow'")
			.withMessageContaining("says 0 SECONDS");
		assertThat(this.model.prompts()).isEmpty();
		assertThatIllegalArgumentException()
			.isThrownBy(() -> Conversations.builder(this.store).toolTimeout(Duration.ofSeconds(-1)));
		assertThatIllegalArgumentException()
			.isThrownBy(() -> Conversations.builder(this.store).toolTimeouts(Map.of("a", Duration.ZERO)))
			.withMessageContaining("'a'");
	}

	@Test
	void limitBelowAMillisecondIsNotToldAsNone() {
		rules((builder) -> builder.toolTimeouts(Map.of("slow", Duration.ofNanos(1))), (builder) -> {
		});
		this.model.calls(call("slow")).says("done");
		asked(ClientSetup.plain(), offered());
		assertThat(this.model.lastRequestLines()).last()
			.isEqualTo("tool slow=" + STOPPED.replace("300 ms", "less than 1 ms"));
	}

	@Test
	void aMisspeltNameRefusesTheToolThatIsMeant() {
		rules((builder) -> builder.toolTimeouts(Map.of("qiuck", Duration.ofSeconds(1))), (builder) -> {
		});
		assertThatExceptionOfType(UnknownToolException.class).isThrownBy(() -> asked(ClientSetup.plain(), offered()))
			.withMessageContaining("sessionkit.tools.timeouts names [qiuck]")
			.withMessageContaining("write 'quick' instead of 'qiuck'");
	}

}
