package io.sessionkit.docs;

import java.time.Duration;

import io.sessionkit.context.Retention;
import io.sessionkit.conversation.Conversation;
import io.sessionkit.conversation.Conversations;
import io.sessionkit.store.SessionStore;

/**
 * The code of {@code docs/retention.md}.
 */
final class RetentionSnippets {

	private RetentionSnippets() {
	}

	static Conversations conversations(SessionStore store) {
		// tag::conversations
		Conversations conversations = Conversations.builder(store)
			.retention(Retention.keepLastTurns(500).maxAge(Duration.ofDays(90)))
			.build();
		// end::conversations
		return conversations;
	}

	static void session(Conversation conversation) {
		// tag::session
		conversation.settings((settings) -> settings.retention((own) -> own.maxTurns(20).maxAge(Duration.ofDays(7))));
		// end::session
	}

}
