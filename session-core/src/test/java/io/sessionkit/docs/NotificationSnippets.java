package io.sessionkit.docs;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.Map;

import io.sessionkit.approval.ApprovalNotice;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.context.event.EventListener;

/**
 * The code of {@code docs/approvals.md} on notifications.
 */
final class NotificationSnippets {

	private NotificationSnippets() {
	}

	// tag::webhook
	static final class ApprovalWebhook {

		private final HttpClient http = HttpClient.newBuilder().connectTimeout(Duration.ofSeconds(5)).build();

		private final JsonMapper json = JsonMapper.builder().build();

		private final URI address;

		ApprovalWebhook(URI address) {
			this.address = address;
		}

		@EventListener
		void send(ApprovalNotice notice) throws IOException, InterruptedException {
			Map<String, Object> body = Map.of("owner", notice.key().owner(), "session", notice.key().id(), "tools",
					notice.tools(), "calls", notice.calls(), "since", notice.requestedAt().toString());
			HttpRequest request = HttpRequest.newBuilder(this.address)
				.timeout(Duration.ofSeconds(10))
				.header("Content-Type", "application/json")
				.header("Idempotency-Key", notice.id())
				.POST(HttpRequest.BodyPublishers.ofString(this.json.writeValueAsString(body)))
				.build();
			int status = this.http.send(request, HttpResponse.BodyHandlers.discarding()).statusCode();
			if (status / 100 != 2) {
				throw new IOException("The webhook answered " + status + ".");
			}
		}

	}
	// end::webhook

}
