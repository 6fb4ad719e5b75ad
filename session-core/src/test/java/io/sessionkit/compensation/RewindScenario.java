package io.sessionkit.compensation;

import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.function.Consumer;

import io.sessionkit.SessionKey;
import io.sessionkit.advisor.SessionAdvisor;
import io.sessionkit.approval.RequiresApproval;
import io.sessionkit.conversation.Approvals;
import io.sessionkit.conversation.Compensations;
import io.sessionkit.conversation.Conversations;
import io.sessionkit.internal.run.RunningCall;
import io.sessionkit.store.SessionStore;
import io.sessionkit.test.ClientSetup;
import io.sessionkit.test.ScriptedChatModel;

import org.springframework.ai.chat.messages.AssistantMessage.ToolCall;
import org.springframework.ai.support.ToolCallbacks;
import org.springframework.ai.tool.annotation.Tool;

/**
 * A session whose turns have effects, and their rewind. Some of the compensating calls
 * need consent. The same seed makes the same session.
 *
 * @param seed of the turns
 */
record RewindScenario(long seed) {

	/** Whoever looks after a process that was killed does not wait long. */
	static final Duration LEASE = Duration.ofSeconds(1);

	/**
	 * The tools.
	 *
	 * @param begun is told the id of a compensating call before it has an effect
	 * @param effect is told it as its effect
	 */
	record Tools(Consumer<String> begun, Consumer<String> effect) {

		@Tool(name = "cancel")
		@CompensatedBy("restore")
		public String cancel(int order) {
			return "ok";
		}

		@Tool(name = "restore")
		public String restore(int order) {
			return takeBack();
		}

		@Tool(name = "refund")
		@CompensatedBy("charge")
		public String refund(int order) {
			return "ok";
		}

		@Tool(name = "charge")
		@RequiresApproval
		public String charge(int order) {
			return takeBack();
		}

		private String takeBack() {
			// any Approvals knows what runs on this thread
			String id = RunningCall.running().orElseThrow().id();
			this.begun.accept(id);
			this.effect.accept(id);
			return "ok";
		}

	}

	/**
	 * The objects of one process.
	 */
	record Participant(Conversations conversations, Approvals approvals, Compensations compensations,
			Tools tools) implements AutoCloseable {

		@Override
		public void close() {
			this.conversations.close();
		}

	}

	static Participant takePart(SessionStore store, Tools tools) {
		Conversations conversations = Conversations.builder(store).lease(LEASE).build();
		Approvals approvals = Approvals.of(conversations);
		Compensations compensations = Compensations.builder(conversations, approvals)
			.tools(ToolCallbacks.from(tools))
			.build();
		return new Participant(conversations, approvals, compensations, tools);
	}

	/** Returns how many effects each turn has. */
	private List<Integer> turns() {
		Random random = new Random(this.seed);
		return List.of(1 + random.nextInt(2), random.nextInt(3), 1 + random.nextInt(2));
	}

	int effects() {
		return turns().stream().mapToInt(Integer::intValue).sum();
	}

	int numberOfTurns() {
		return turns().size();
	}

	/** Makes the turns. */
	void talk(Participant us, SessionKey key) {
		Random random = new Random(~this.seed);
		ScriptedChatModel model = new ScriptedChatModel();
		SessionAdvisor advisor = SessionAdvisor.builder(us.conversations()).approvals(us.approvals()).build();
		for (int calls : turns()) {
			ToolCall[] made = new ToolCall[calls];
			for (int i = 0; i < calls; i++) {
				made[i] = new ToolCall("c" + i, "function", (random.nextInt(3) == 0) ? "refund" : "cancel",
						"{\"order\":" + i + "}");
			}
			if (calls > 0) {
				model.calls(made);
			}
			model.says("done");
			ClientSetup.plain()
				.builder(model, advisor)
				.defaultToolCallbacks(ToolCallbacks.from(us.tools()))
				.build()
				.prompt()
				.user("question")
				.advisors(SessionAdvisor.session(key))
				.call()
				.content();
		}
	}

}
