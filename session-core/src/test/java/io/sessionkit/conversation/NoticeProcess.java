package io.sessionkit.conversation;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Set;

import io.sessionkit.SessionKey;
import io.sessionkit.advisor.SessionAdvisor;
import io.sessionkit.approval.ApprovalNotice;
import io.sessionkit.store.SessionStore;
import io.sessionkit.test.ScriptedChatModel;

import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.chat.messages.AssistantMessage.ToolCall;
import org.springframework.ai.tool.function.FunctionToolCallback;

/**
 * The program that {@link OtherProcess} runs for {@link ApprovalNoticesTests}: pauses a
 * turn, or delivers notices to a listener that never returns.
 */
final class NoticeProcess {

	/** The lease of the deliveries of the test. */
	static final Duration LEASE = Duration.ofSeconds(5);

	private NoticeProcess() {
	}

	/** The arguments of the tool. */
	record Order(String id) {
	}

	public static void main(String[] words) throws IOException {
		PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
		SessionStore store = new SharedStore(List.of(words)).open();
		out.println(OtherProcess.MARK + "ready");
		BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
		String order = in.readLine();
		while (order != null) {
			Conversations conversations = Conversations.of(store);
			Approvals approvals = approvals(conversations);
			if (order.equals("deliver")) {
				ApprovalNotices.builder(approvals, (notice) -> hang(out, notice))
					.interval(Duration.ofMillis(20))
					.lease(LEASE)
					.start();
			}
			else {
				pause(approvals, conversations, new ScriptedChatModel(), SessionKey.of(order));
				out.println(OtherProcess.MARK + "paused");
			}
			order = in.readLine();
		}
		System.exit(0);
	}

	private static void hang(PrintStream out, ApprovalNotice notice) {
		out.println(OtherProcess.MARK + "got " + notice.id());
		try {
			Thread.sleep(Long.MAX_VALUE);
		}
		catch (InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
	}

	static Approvals approvals(Conversations conversations) {
		return Approvals.builder(conversations)
			.tools(Set.of("cancel"))
			.expiresAfter(Duration.ofHours(1))
			.notices(true)
			.build();
	}

	static void pause(Approvals approvals, Conversations conversations, ScriptedChatModel model, SessionKey key) {
		model.calls(new ToolCall("c-" + key.id(), "function", "cancel", "{\"id\":\"secret\"}"));
		ChatClient.builder(model)
			.defaultAdvisors(SessionAdvisor.builder(conversations).approvals(approvals).build())
			.defaultToolCallbacks(FunctionToolCallback.<Order, String>builder("cancel", (call) -> "ok")
				.description("Cancels")
				.inputType(Order.class)
				.build())
			.build()
			.prompt()
			.user("q")
			.advisors(SessionAdvisor.session(key))
			.call()
			.chatResponse();
	}

}
