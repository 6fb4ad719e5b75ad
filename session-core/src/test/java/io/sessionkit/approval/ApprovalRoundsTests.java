package io.sessionkit.approval;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;

import io.sessionkit.SessionKey;
import io.sessionkit.advisor.SessionAdvisor;
import io.sessionkit.codec.JsonMessageCodec;
import io.sessionkit.conversation.Approvals;
import io.sessionkit.conversation.Conversations;
import io.sessionkit.internal.lease.TurnRecords;
import io.sessionkit.internal.ledger.Ledger;
import io.sessionkit.store.StoreOptions;
import io.sessionkit.store.StoreUnavailableException;
import io.sessionkit.store.Tail;
import io.sessionkit.store.memory.InMemorySessionStore;
import io.sessionkit.test.ObservedStore;
import io.sessionkit.test.ScriptedChatModel;
import io.sessionkit.test.ScriptedChatModel.Lines;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Flux;

import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.chat.client.ChatClientRequest;
import org.springframework.ai.chat.client.ChatClientResponse;
import org.springframework.ai.chat.client.advisor.api.CallAdvisor;
import org.springframework.ai.chat.client.advisor.api.CallAdvisorChain;
import org.springframework.ai.chat.messages.AssistantMessage.ToolCall;
import org.springframework.ai.tool.function.FunctionToolCallback;
import org.springframework.core.Ordered;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * Turns that go on for several rounds, and loops that begin again.
 */
class ApprovalRoundsTests {

	private static final SessionKey KEY = SessionKey.of("t");

	record Order(int id) {
	}

	private final ObservedStore store = new ObservedStore(
			new InMemorySessionStore(StoreOptions.of(JsonMessageCodec.create())));

	private final Conversations conversations = Conversations.of(this.store);

	private final Approvals approvals = Approvals.builder(this.conversations)
		.tools(Set.of("cancel"))
		.onNewMessage(OnNewMessage.QUEUE)
		.build();

	private final List<Integer> cancelled = new ArrayList<>();

	private Runnable inTool = () -> {
	};

	private final ScriptedChatModel model = new ScriptedChatModel();

	private final ChatClient chat = ChatClient.builder(this.model)
		.defaultAdvisors(SessionAdvisor.builder(this.conversations).approvals(this.approvals).build())
		.defaultToolCallbacks(FunctionToolCallback.builder("cancel", (Order order) -> {
			this.cancelled.add(order.id());
			this.inTool.run();
			return "cancelled " + order.id();
		}).description("cancels").inputType(Order.class).build(),
				FunctionToolCallback.builder("look", (Order order) -> "looked " + order.id())
					.description("looks")
					.inputType(Order.class)
					.build())
		.build();

	@Test
	void callsOfAnEarlierRoundAreInTheLedgerWhenTheTurnEnds() {
		pauseAndApprove();
		this.model.calls(call("look", 2)).says("done");
		assertThat(resume(this.chat)).isEqualTo("done");
		assertThat(this.approvals.ledger(KEY)).extracting(ToolApproval::tool).containsExactly("cancel", "look");
		assertThat(this.store.records(KEY, Ledger.APPROVAL)).isEmpty();
		assertThat(this.store.records(KEY, TurnRecords.PAUSE)).isEmpty();
		assertThat(this.store.records(KEY, TurnRecords.LEASE)).isEmpty();
	}

	@Test
	void turnPausesAgainInALaterRoundAndEachCallRunsOnce() {
		pauseAndApprove();
		this.model.calls(call("cancel", 5));
		assertThat(resume(this.chat)).isNull();
		ToolApproval second = this.approvals.pending(KEY).get(0);
		assertThat(second.round()).isEqualTo(2);
		assertThat(Lines.of(this.conversations.get(KEY).items(1).stream().map((item) -> item.message()).toList()))
			.containsExactly("user: q", "assistant cancel({\"id\":1})", "tool cancel=\"cancelled 1\"");
		this.approvals.approve(second, "ada");
		this.model.says("done");
		assertThat(resume(this.chat)).isEqualTo("done");
		assertThat(this.cancelled).containsExactly(1, 5);
		assertThat(this.approvals.ledger(KEY)).extracting(ToolApproval::status)
			.containsExactly(ApprovalStatus.DONE, ApprovalStatus.DONE);
		assertThat(this.conversations.get(KEY).turns(Tail.ALL).get(0).rounds()).hasSize(3);
	}

	@Test
	void retryAroundTheLoopReplaysResultsAndQueuedMessages() {
		pause();
		this.chat.prompt().user("and hurry").advisors(SessionAdvisor.session("t")).call().chatResponse();
		approve();
		this.model.fails(new IllegalStateException("busy"));
		this.model.says("done");
		assertThat(resume(this.chat.mutate().defaultAdvisors(new RetryOnce()).build())).isEqualTo("done");
		assertThat(this.cancelled).containsExactly(1);
		assertThat(this.model.lastRequestLines()).containsExactly("user: q", "assistant cancel({\"id\":1})",
				"tool cancel=\"cancelled 1\"", "user: and hurry");
		assertThat(Lines.of(this.store.messages(KEY))).endsWith("user: and hurry", "assistant: done");
		assertThat(this.approvals.ledger(KEY)).extracting(ToolApproval::status).containsExactly(ApprovalStatus.DONE);
	}

	/** Another call finds what the later reply has run. */
	@Test
	void retryAroundTheLoopRunsNothingOnceALaterReplyIsStored() {
		pauseAndApprove();
		this.model.calls(call("look", 2)).fails(new IllegalStateException("busy")).says("done");
		ChatClient retrying = this.chat.mutate().defaultAdvisors(new RetryOnce()).build();
		assertThatIllegalStateException().isThrownBy(() -> resume(retrying)).withMessageContaining("was started again");
		assertThat(resume(this.chat)).isEqualTo("done");
		assertThat(this.model.lastRequestLines()).containsExactly("user: q", "assistant cancel({\"id\":1})",
				"tool cancel=\"cancelled 1\"", "assistant look({\"id\":2})", "tool look=\"looked 2\"");
		assertThat(this.cancelled).containsExactly(1);
	}

	@Test
	void resultThatTheStoreDidNotTakeIsStoredWhenTheLoopHasBegunAgain() {
		pauseAndApprove();
		AtomicBoolean down = new AtomicBoolean();
		this.inTool = () -> down.set(true);
		this.store.beforePut((record) -> {
			if (record.kind().equals(Ledger.APPROVAL) && down.get()) {
				throw new StoreUnavailableException("busy", null);
			}
		});
		this.model.fails(new IllegalStateException("busy")).step((prompt) -> {
			down.set(false);
			return Flux.error(new IllegalStateException("busy still"));
		});
		ChatClient retrying = this.chat.mutate().defaultAdvisors(new RetryOnce()).build();
		assertThatIllegalStateException().isThrownBy(() -> resume(retrying)).withMessage("busy still");
		assertThat(this.approvals.ledger(KEY)).extracting(ToolApproval::status).containsExactly(ApprovalStatus.DONE);
		this.model.says("done");
		assertThat(resume(this.chat)).isEqualTo("done");
		assertThat(this.cancelled).containsExactly(1);
	}

	private void pauseAndApprove() {
		pause();
		approve();
	}

	private void pause() {
		this.model.calls(call("cancel", 1));
		this.chat.prompt().user("q").advisors(SessionAdvisor.session("t")).call().chatResponse();
	}

	private void approve() {
		this.approvals.approve(this.approvals.pending(KEY).get(0), "ada");
	}

	private static String resume(ChatClient chat) {
		return chat.prompt().advisors(SessionAdvisor.session("t")).call().content();
	}

	private static ToolCall call(String tool, int id) {
		return new ToolCall("c" + id, "function", tool, "{\"id\":" + id + "}");
	}

	/** Begins the tool loop again when it fails. */
	private static final class RetryOnce implements CallAdvisor {

		@Override
		public ChatClientResponse adviseCall(ChatClientRequest request, CallAdvisorChain chain) {
			try {
				return chain.copy(this).nextCall(request);
			}
			catch (IllegalStateException ex) {
				return chain.copy(this).nextCall(request);
			}
		}

		@Override
		public String getName() {
			return "RetryOnce";
		}

		@Override
		public int getOrder() {
			return Ordered.HIGHEST_PRECEDENCE + 250;
		}

	}

}
