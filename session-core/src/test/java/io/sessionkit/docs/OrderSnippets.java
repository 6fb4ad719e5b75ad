package io.sessionkit.docs;

import io.sessionkit.Concurrency;
import io.sessionkit.SessionKey;
import io.sessionkit.advisor.SessionAdvisor;
import org.jspecify.annotations.Nullable;

import org.springframework.ai.chat.client.ChatClient;

/**
 * The code of {@code docs/order.md}.
 */
final class OrderSnippets {

	private OrderSnippets() {
	}

	static @Nullable String serialize(ChatClient chat, SessionKey session, String text) {
		// tag::serialize
		return chat.prompt()
			.user(text)
			.advisors(SessionAdvisor.session(session).andThen(SessionAdvisor.concurrency(Concurrency.SERIALIZE)))
			.call()
			.content();
		// end::serialize
	}

	static @Nullable String repeat(ChatClient chat, SessionKey session, String requestId, String text) {
		// tag::repeat
		return chat.prompt()
			.user(text)
			.advisors(SessionAdvisor.session(session).andThen(SessionAdvisor.idempotencyKey(requestId)))
			.call()
			.content();
		// end::repeat
	}

}
