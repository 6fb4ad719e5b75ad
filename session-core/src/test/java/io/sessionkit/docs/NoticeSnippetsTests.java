package io.sessionkit.docs;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;

import com.sun.net.httpserver.HttpServer;
import io.sessionkit.SessionKey;
import io.sessionkit.advisor.SessionAdvisor;
import io.sessionkit.approval.ApprovalNotice;
import io.sessionkit.codec.JsonMessageCodec;
import io.sessionkit.conversation.ApprovalNotices;
import io.sessionkit.conversation.Approvals;
import io.sessionkit.conversation.Conversations;
import io.sessionkit.docs.NoticeSnippets.ApprovalWebhook;
import io.sessionkit.store.StoreOptions;
import io.sessionkit.store.memory.InMemorySessionStore;
import io.sessionkit.test.ScriptedChatModel;
import org.junit.jupiter.api.Test;

import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.chat.messages.AssistantMessage.ToolCall;
import org.springframework.ai.tool.function.FunctionToolCallback;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * The webhook of {@code docs/approvals.md} reaches a server that hangs and is down at
 * first.
 */
class NoticeSnippetsTests {

	private final List<String> keys = new CopyOnWriteArrayList<>();

	private final List<String> bodies = new CopyOnWriteArrayList<>();

	record Order(String id) {
	}

	@Test
	void webhookIsSentAgainWithTheSameKeyUntilItIsTaken() throws IOException {
		HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
		server.createContext("/hook", (exchange) -> {
			this.bodies.add(new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8));
			this.keys.add(exchange.getRequestHeaders().getFirst("Idempotency-Key"));
			if (this.keys.size() == 1) {
				// an answer that never ends
				exchange.sendResponseHeaders(200, 1);
				return;
			}
			exchange.sendResponseHeaders((this.keys.size() == 2) ? 503 : 204, -1);
			exchange.close();
		});
		server.start();
		ApprovalWebhook webhook = new ApprovalWebhook(
				URI.create("http://localhost:" + server.getAddress().getPort() + "/hook"), Duration.ofSeconds(5));
		InMemorySessionStore store = new InMemorySessionStore(StoreOptions.of(JsonMessageCodec.create()));
		try (Conversations conversations = Conversations.of(store)) {
			Approvals approvals = Approvals.builder(conversations).tools(Set.of("cancel")).notices(true).build();
			try (ApprovalNotices delivery = ApprovalNotices.builder(approvals, (notice) -> send(webhook, notice))
				.interval(Duration.ofMillis(100))
				.start()) {
				pause(conversations, approvals);
				await().atMost(Duration.ofSeconds(60))
					.until(() -> store.oldestRecords("notice", null, 10).records().isEmpty());
				assertThat(delivery).isNotNull();
			}
		}
		finally {
			server.stop(0);
		}
		assertThat(this.keys).hasSize(3);
		assertThat(Set.copyOf(this.keys)).hasSize(1);
		assertThat(this.bodies.get(2)).contains("\"owner\":\"ada\"", "\"cancel\"", "\"approvalIds\":[\"")
			.doesNotContain("o7");
	}

	private static void send(ApprovalWebhook webhook, ApprovalNotice notice) {
		try {
			webhook.send(notice);
		}
		catch (Exception ex) {
			throw new IllegalStateException(ex);
		}
	}

	private static void pause(Conversations conversations, Approvals approvals) {
		ScriptedChatModel model = new ScriptedChatModel();
		model.calls(new ToolCall("c1", "function", "cancel", "{\"id\":\"o7\"}"));
		ChatClient.builder(model)
			.defaultAdvisors(SessionAdvisor.builder(conversations).approvals(approvals).build())
			.defaultToolCallbacks(FunctionToolCallback.<Order, String>builder("cancel", (order) -> "ok")
				.description("Cancels")
				.inputType(Order.class)
				.build())
			.build()
			.prompt()
			.user("q")
			.advisors(SessionAdvisor.session(SessionKey.of("ada", "t1")))
			.call()
			.chatResponse();
	}

}
