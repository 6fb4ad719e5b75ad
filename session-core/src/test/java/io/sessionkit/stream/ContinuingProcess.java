package io.sessionkit.stream;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.List;
import java.util.Set;

import io.sessionkit.SessionKey;
import io.sessionkit.advisor.SessionAdvisor;
import io.sessionkit.approval.ToolApproval;
import io.sessionkit.conversation.Approvals;
import io.sessionkit.conversation.Conversations;
import io.sessionkit.conversation.OtherProcess;
import io.sessionkit.conversation.SharedStore;
import io.sessionkit.store.SessionStore;
import io.sessionkit.test.ScriptedChatModel;
import reactor.core.publisher.Flux;

import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.chat.messages.AssistantMessage.ToolCall;
import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.UserMessage;
import org.springframework.ai.tool.ToolCallback;
import org.springframework.ai.tool.function.FunctionToolCallback;

/**
 * The program that {@link OtherProcess} runs for {@link SharedContinuationTests}: pauses
 * a turn and decides its call. It does not continue the turn, or it runs the tool and
 * never gets the model's answer.
 */
final class ContinuingProcess {

	/** The lease of turns. */
	static final Duration LEASE = Duration.ofSeconds(5);

	/**
	 * The time for which a notice is claimed, so that others soon look at its turn too.
	 */
	static final Duration CLAIM = Duration.ofSeconds(1);

	/** The number of turns that one process works on. */
	static final int TURNS = 200;

	private ContinuingProcess() {
	}

	/** The arguments of the tool. */
	record Order(String id) {
	}

	/**
	 * @param words the file of effects, and the store
	 */
	public static void main(String[] words) throws IOException {
		PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
		Path effects = Path.of(words[0]);
		SessionStore store = new SharedStore(List.of(words).subList(1, words.length)).open();
		Conversations conversations = conversations(store);
		Approvals approvals = approvals(conversations);
		ScriptedChatModel model = new ScriptedChatModel();
		ChatClient client = client(model, conversations, approvals, effects);
		out.println(OtherProcess.MARK + "ready");
		BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
		String order = in.readLine();
		while (order != null) {
			if (order.equals("continue")) {
				model.step((prompt) -> {
					out.println(OtherProcess.MARK + "asked");
					return Flux.never();
				});
				continuations(conversations, approvals, client).threads(1).start();
			}
			else if (order.startsWith("work ")) {
				work(client, model, conversations, approvals, order.substring("work ".length()), out);
			}
			else {
				ToolApproval waiting = pause(client, model, approvals, SessionKey.of("ada", order));
				approvals.approve(waiting, "anna");
				out.println(OtherProcess.MARK + "decided");
			}
			order = in.readLine();
		}
		System.exit(0);
	}

	static TurnContinuations.Builder continuations(Conversations conversations, Approvals approvals,
			ChatClient client) {
		return TurnContinuations.builder(conversations, approvals, (turn) -> client.prompt())
			.interval(Duration.ofMillis(20))
			.lease(CLAIM);
	}

	/** Pauses and decides one turn after the other, and continues them meanwhile. */
	private static void work(ChatClient client, ScriptedChatModel model, Conversations conversations,
			Approvals approvals, String name, PrintStream out) {
		answers(model, 2 * TURNS);
		continuations(conversations, approvals, client).start();
		for (int i = 0; i < TURNS; i++) {
			SessionKey key = SessionKey.of("ada", name + "-" + i);
			client.prompt().user(key.id()).advisors(SessionAdvisor.session(key)).call().chatResponse();
			approvals.approve(approvals.pending(key).get(0), "anna");
			out.println(OtherProcess.MARK + key.id());
		}
	}

	/** Has a model call the tool for each question, and end the turn for each result. */
	static void answers(ScriptedChatModel model, int times) {
		for (int i = 0; i < times; i++) {
			model.step((prompt) -> {
				Message last = prompt.getInstructions().get(prompt.getInstructions().size() - 1);
				List<ToolCall> calls = (last instanceof UserMessage) ? List.of(new ToolCall("c-" + last.getText(),
						"function", "cancel", "{\"id\":\"" + last.getText() + "\"}")) : List.of();
				return Flux.just(model.chunk(calls.isEmpty() ? "done" : "", calls, true));
			});
		}
	}

	static Conversations conversations(SessionStore store) {
		return Conversations.builder(store).lease(LEASE).build();
	}

	static Approvals approvals(Conversations conversations) {
		return Approvals.builder(conversations).tools(Set.of("cancel")).continuations(true).build();
	}

	static ChatClient client(ScriptedChatModel model, Conversations conversations, Approvals approvals, Path effects) {
		ToolCallback tool = FunctionToolCallback
			.<Order, String>builder("cancel", (order) -> cancelled(order.id(), effects))
			.description("Cancels")
			.inputType(Order.class)
			.build();
		return ChatClient.builder(model)
			.defaultAdvisors(SessionAdvisor.builder(conversations).approvals(approvals).build())
			.defaultToolCallbacks(tool)
			.build();
	}

	private static String cancelled(String order, Path effects) {
		try {
			Files.writeString(effects, order + "\n", StandardCharsets.UTF_8, StandardOpenOption.APPEND);
			return "cancelled " + order;
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	static ToolApproval pause(ChatClient client, ScriptedChatModel model, Approvals approvals, SessionKey key) {
		model.calls(new ToolCall("c-" + key.id(), "function", "cancel", "{\"id\":\"" + key.id() + "\"}"));
		client.prompt().user("q").advisors(SessionAdvisor.session(key)).call().chatResponse();
		return approvals.pending(key).get(0);
	}

}
