package io.sessionkit.docs;

import io.sessionkit.SessionKey;
import io.sessionkit.advisor.SessionAdvisor;
import org.jspecify.annotations.Nullable;

import org.springframework.ai.chat.client.ChatClient;

/**
 * The code of {@code docs/shutdown.md}.
 */
final class ShutdownSnippets {

	private ShutdownSnippets() {
	}

	// tag::continue
	static @Nullable String ask(ChatClient chat, SessionKey session, @Nullable String text) {
		ChatClient.ChatClientRequestSpec call = chat.prompt().advisors(SessionAdvisor.session(session));
		return ((text != null) ? call.user(text) : call).call().content();
	}
	// end::continue

}
