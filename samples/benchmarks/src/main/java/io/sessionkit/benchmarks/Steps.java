package io.sessionkit.benchmarks;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.BooleanSupplier;

import io.sessionkit.Durability;
import io.sessionkit.SessionKey;
import io.sessionkit.advisor.SessionAdvisor;
import io.sessionkit.approval.ToolApproval;
import io.sessionkit.context.Summarize;
import io.sessionkit.context.Trim;
import io.sessionkit.conversation.Approvals;
import io.sessionkit.conversation.Conversations;
import io.sessionkit.test.ScriptedChatModel;

import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.chat.messages.AssistantMessage.ToolCall;
import org.springframework.ai.tool.function.FunctionToolCallback;

/**
 * Runs turns that pause, are decided, continue, are summarized or are stored in steps,
 * and counts what each of them costs. Everything runs once before it is counted: a server
 * that does not know a script yet is sent it once more.
 */
final class Steps {

	/** The round trips of a plain turn, which the steps of a turn come on top of. */
	private static final int PLAIN = 2;

	/** The tool rounds of the turn whose bytes are counted. */
	private static final int ROUNDS = 40;

	/** The number of turns before a summary. */
	private static final int SUMMARIZED = 6;

	private static final String TOOL = "look";

	private static final String TOOL_TO_APPROVE = "cancel";

	private final StepServer server;

	private final String run;

	private final ScriptedChatModel model = new ScriptedChatModel();

	/** The bytes in the server's log whenever a tool ran. */
	private final List<Double> logBytes = new ArrayList<>();

	private Steps(StepServer server, String run) {
		this.server = server;
		this.run = run;
	}

	/**
	 * The input of the tools.
	 *
	 * @param id the number of an order
	 */
	record Order(int id) {
	}

	/**
	 * Counts the costs of all steps.
	 */
	static StepCosts of(StepServer server) {
		new Steps(server, "first").count();
		return new Steps(server, "counted").count();
	}

	private StepCosts count() {
		SessionKey waiting = key("waiting");
		try (Client client = client(conversations())) {
			client.turn(waiting, 0);
			long pause = trips(() -> client.pause(waiting));
			ToolApproval call = client.approvals().pending(waiting).get(0);
			long decision = trips(() -> client.approvals().approve(call, "somebody"));
			long resume = trips(() -> client.resume(waiting));
			check(() -> client.approvals().pending(waiting).isEmpty(), "The approved call still waits.");
			return new StepCosts(pause - PLAIN, decision, resume - PLAIN, summary() - PLAIN, round(), bytes(2, 9),
					bytes(31, 38));
		}
	}

	private long summary() {
		SessionKey key = key("summarized");
		Summarize rule = Summarize.by(this.model)
			.mode(Summarize.Mode.BEFORE)
			.keepTurns(2)
			.triggerMessages(2 * SUMMARIZED)
			.build();
		try (Client client = client(conversations().summarize(rule))) {
			for (int i = 0; i < SUMMARIZED; i++) {
				client.turn(key, 0);
			}
			this.model.says("summary");
			long trips = trips(() -> client.turn(key, 0));
			check(() -> client.conversations().get(key).summary().isPresent(), "No summary was stored.");
			return trips;
		}
	}

	/**
	 * Returns the round trips of a round, of the only one of a turn or of the average one
	 * of many, whichever are more.
	 */
	private double round() {
		SessionKey key = key("steps");
		try (Client client = client(conversations().durability(Durability.STEP))) {
			client.turn(key, 0);
			long one = trips(() -> client.turn(key, 1)) - PLAIN;
			this.logBytes.clear();
			double many = (double) (trips(() -> client.turn(key, ROUNDS)) - PLAIN) / ROUNDS;
			check(() -> this.logBytes.size() == ROUNDS, "Not every tool ran.");
			return Math.max(one, many);
		}
	}

	private double bytes(int from, int to) {
		return (this.logBytes.get(to) - this.logBytes.get(from)) / (to - from);
	}

	private long trips(Runnable step) {
		long before = this.server.roundTrips();
		step.run();
		return this.server.roundTrips() - before;
	}

	private static void check(BooleanSupplier fact, String otherwise) {
		if (!fact.getAsBoolean()) {
			throw new IllegalStateException(otherwise);
		}
	}

	private SessionKey key(String name) {
		return SessionKey.of("owner", this.run + "-" + name);
	}

	private Conversations.Builder conversations() {
		return Conversations.builder(this.server.store()).trim(Trim.keepLastTurns(Contenders.WINDOW_TURNS));
	}

	private Client client(Conversations.Builder builder) {
		Conversations conversations = builder.build();
		Approvals approvals = Approvals.builder(conversations).tools(Set.of(TOOL_TO_APPROVE)).build();
		ChatClient chat = ChatClient.builder(this.model)
			.defaultAdvisors(SessionAdvisor.builder(conversations).approvals(approvals).build())
			.defaultToolCallbacks(tool(TOOL), tool(TOOL_TO_APPROVE))
			.build();
		return new Client(this.model, conversations, approvals, chat);
	}

	private FunctionToolCallback<Order, String> tool(String name) {
		return FunctionToolCallback.builder(name, (Order order) -> {
			this.logBytes.add(this.server.logBytes());
			return Dialogue.reply();
		}).description(name).inputType(Order.class).build();
	}

	/** An application that calls the model. */
	private record Client(ScriptedChatModel model, Conversations conversations, Approvals approvals,
			ChatClient chat) implements AutoCloseable {

		void turn(SessionKey key, int toolRounds) {
			for (int i = 0; i < toolRounds; i++) {
				this.model.calls(call(TOOL, i));
			}
			this.model.says(Dialogue.reply());
			ask(key);
		}

		void pause(SessionKey key) {
			this.model.calls(call(TOOL_TO_APPROVE, 0));
			ask(key);
		}

		private void ask(SessionKey key) {
			this.chat.prompt()
				.messages(Dialogue.question(0))
				.advisors(SessionAdvisor.session(key))
				.call()
				.chatResponse();
		}

		void resume(SessionKey key) {
			this.model.says(Dialogue.reply());
			this.chat.prompt().advisors(SessionAdvisor.session(key)).call().content();
		}

		private static ToolCall call(String tool, int order) {
			return new ToolCall(tool + order, "function", tool, "{\"id\":" + order + "}");
		}

		@Override
		public void close() {
			this.conversations.close();
		}

	}

}
