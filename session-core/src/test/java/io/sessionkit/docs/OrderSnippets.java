package io.sessionkit.docs;

import io.sessionkit.Concurrency;
import io.sessionkit.SessionKey;
import io.sessionkit.advisor.SessionAdvisor;
import org.jspecify.annotations.Nullable;

import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.chat.model.ChatResponse;

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

	static @Nullable String steer(ChatClient chat, SessionKey session, String text) {
		// tag::steer
		ChatResponse response = chat.prompt()
			.user(text)
			.advisors(SessionAdvisor.session(session).andThen(SessionAdvisor.concurrency(Concurrency.STEER)))
			.call()
			.chatResponse();
		if (SessionAdvisor.isSteered(response)) {
			return null; // the call that it has joined has the same answer
		}
		// end::steer
		return (response != null) ? response.getResult().getOutput().getText() : null;
	}

	static @Nullable String ownTurn(ChatClient chat, SessionKey session, String text) {
		// tag::own-turn
		return chat.prompt()
			.user(text)
			.advisors(SessionAdvisor.session(session)
				.andThen(SessionAdvisor.concurrency(Concurrency.STEER))
				.andThen(SessionAdvisor.ownTurn()))
			.call()
			.content();
		// end::own-turn
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
