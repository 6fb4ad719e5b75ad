package io.sessionkit.approval;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.function.Consumer;

import io.sessionkit.Durability;
import io.sessionkit.SessionKey;
import io.sessionkit.advisor.SessionAdvisor;
import io.sessionkit.conversation.Approvals;
import io.sessionkit.conversation.Conversations;
import io.sessionkit.store.SessionStore;
import io.sessionkit.test.ClientSetup;
import io.sessionkit.test.ScriptedChatModel;

import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.chat.messages.AssistantMessage.ToolCall;
import org.springframework.ai.tool.ToolCallback;
import org.springframework.ai.tool.function.FunctionToolCallback;

/**
 * A turn with tool calls that need consent, the same for the process that is killed and
 * for the one that goes on with it.
 *
 * @param siblings what becomes of the calls that need none
 * @param durability when rounds are written
 * @param setup whether it is a call or a stream
 * @param lease how long an open turn is held without a sign of life
 * @param replies what the model says before its answer
 */
public record ApprovalScenario(SiblingRule siblings, Durability durability, ClientSetup setup, Duration lease,
		List<List<ToolCall>> replies) {

	static final String GATED = "cancel";

	static final String FREE = "look";

	private static final int MOST_GATED = 3;

	record Order(int id) {
	}

	static ApprovalScenario of(long seed) {
		Random random = new Random(seed);
		SiblingRule siblings = random.nextBoolean() ? SiblingRule.HOLD : SiblingRule.RUN;
		Durability durability = random.nextInt(3) == 0 ? Durability.STEP : Durability.TURN;
		ClientSetup setup = random.nextBoolean() ? ClientSetup.plain() : ClientSetup.streaming();
		List<List<ToolCall>> replies = new ArrayList<>();
		if (durability == Durability.STEP && random.nextBoolean()) {
			replies.add(List.of(call(FREE, 1)));
		}
		replies.add(reply(random, 10));
		if (random.nextInt(3) == 0) {
			replies.add(reply(random, 20));
		}
		return new ApprovalScenario(siblings, durability, setup, Conversations.MIN_LEASE, replies);
	}

	/**
	 * One call that needs consent, and the answer.
	 */
	public static ApprovalScenario ofOneCall() {
		return new ApprovalScenario(SiblingRule.HOLD, Durability.TURN, ClientSetup.plain(), Conversations.MIN_LEASE,
				List.of(List.of(call(GATED, 1))));
	}

	/**
	 * The same for processes that may be too slow to renew a short lease.
	 */
	ApprovalScenario leasedFor(Duration other) {
		return new ApprovalScenario(this.siblings, this.durability, this.setup, other, this.replies);
	}

	private static List<ToolCall> reply(Random random, int firstOrder) {
		List<ToolCall> calls = new ArrayList<>();
		int gated = 1 + random.nextInt(MOST_GATED);
		for (int i = 0; i < gated; i++) {
			calls.add(call(GATED, firstOrder + i));
		}
		if (random.nextBoolean()) {
			calls.add(random.nextInt(gated + 1), call(FREE, firstOrder));
		}
		return calls;
	}

	private static ToolCall call(String tool, int order) {
		return new ToolCall("call-" + tool + order, "function", tool, "{\"id\":" + order + "}");
	}

	/**
	 * A process that takes part in it.
	 */
	public record Participant(Conversations conversations, Approvals approvals, ScriptedChatModel model,
			ClientSetup setup, ChatClient chat) implements AutoCloseable {

		/**
		 * Asks, and approves what the turn waits for.
		 */
		public void pauseAndApprove(SessionKey key, ApprovalScenario scenario) {
			scenario.replies().forEach((calls) -> this.model.calls(calls.toArray(ToolCall[]::new)));
			this.setup.response(this.chat.prompt().user("question").advisors(SessionAdvisor.session(key)));
			this.approvals.pending(key).forEach((call) -> this.approvals.approve(call, "somebody"));
		}

		/**
		 * Goes on without a message.
		 * @return what the model said, or the name of the exception that says why it was
		 * not asked
		 */
		String resumed(SessionKey key) {
			this.model.says("done");
			try {
				return String.valueOf(this.setup.content(this.chat.prompt().advisors(SessionAdvisor.session(key))));
			}
			catch (RuntimeException ex) {
				return ex.getClass().getSimpleName();
			}
		}

		@Override
		public void close() {
			this.conversations.close();
		}

	}

	/**
	 * Takes part in it.
	 * @param begun is told the id of a call that begins to run, if it has one
	 * @param effect is told the same, and is all that the call does
	 */
	public Participant takePart(SessionStore store, Consumer<String> begun, Consumer<String> effect) {
		Conversations conversations = Conversations.builder(store)
			.lease(this.lease)
			.durability(this.durability)
			.build();
		Approvals approvals = Approvals.builder(conversations).tools(Set.of(GATED)).siblings(this.siblings).build();
		SessionAdvisor advisor = SessionAdvisor.builder(conversations).approvals(approvals).build();
		ScriptedChatModel model = new ScriptedChatModel();
		ChatClient chat = this.setup.builder(model, advisor)
			.defaultToolCallbacks(tool(GATED, approvals, begun, effect), tool(FREE, approvals, begun, effect))
			.build();
		return new Participant(conversations, approvals, model, this.setup, chat);
	}

	private static ToolCallback tool(String name, Approvals approvals, Consumer<String> begun,
			Consumer<String> effect) {
		return FunctionToolCallback.builder(name, (Order order) -> {
			approvals.running().map(ToolApproval::id).ifPresent((id) -> {
				begun.accept(id);
				effect.accept(id);
			});
			return name + " " + order.id();
		}).description(name).inputType(Order.class).build();
	}

}
