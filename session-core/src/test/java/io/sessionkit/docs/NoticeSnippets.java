package io.sessionkit.docs;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import io.sessionkit.approval.ApprovalNotice;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.context.event.EventListener;

/**
 * The code of {@code docs/approvals.md} on notifications.
 */
final class NoticeSnippets {

	private NoticeSnippets() {
	}

	// tag::webhook
	static final class ApprovalWebhook {

		private final HttpClient http = HttpClient.newBuilder().connectTimeout(Duration.ofSeconds(5)).build();

		private final JsonMapper json = JsonMapper.builder().build();

		private final URI address;

		private final Duration limit;

		ApprovalWebhook(URI address, Duration limit) {
			this.address = address;
			this.limit = limit;
		}

		@EventListener
		void send(ApprovalNotice notice) throws Exception {
			Map<String, Object> body = Map.of("owner", notice.key().owner(), "session", notice.key().id(), "tools",
					notice.tools(), "approvalIds", notice.approvalIds(), "since", notice.requestedAt().toString());
			HttpRequest request = HttpRequest.newBuilder(this.address)
				.header("Content-Type", "application/json")
				.header("Idempotency-Key", notice.id())
				.POST(HttpRequest.BodyPublishers.ofString(this.json.writeValueAsString(body)))
				.build();
			int status = status(this.http.sendAsync(request, HttpResponse.BodyHandlers.discarding()));
			if (status / 100 != 2) {
				throw new IOException("The webhook answered " + status + ".");
			}
		}

		/**
		 * The timeout of a request ends with the headers of its answer; this one does
		 * not.
		 */
		private int status(CompletableFuture<HttpResponse<Void>> answer) throws Exception {
			try {
				return answer.get(this.limit.toMillis(), TimeUnit.MILLISECONDS).statusCode();
			}
			finally {
				answer.cancel(true);
			}
		}

	}
	// end::webhook

}
