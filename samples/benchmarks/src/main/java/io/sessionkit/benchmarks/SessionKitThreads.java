package io.sessionkit.benchmarks;

import io.sessionkit.SessionKey;
import io.sessionkit.advisor.SessionAdvisor;
import io.sessionkit.context.Trim;
import io.sessionkit.conversation.Conversations;
import io.sessionkit.store.SessionStore;

import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.model.ChatModel;

/**
 * A SessionKit store behind the session advisor, as the starter would set it up with
 * {@code trim.max-turns=20}.
 */
final class SessionKitThreads implements Threads {

	private final SessionStore store;

	private final ChatClient chat;

	SessionKitThreads(SessionStore store, ChatModel model) {
		this.store = store;
		this.chat = ChatClient.builder(model)
			.defaultAdvisors(SessionAdvisor
				.of(Conversations.builder(store).trim(Trim.keepLastTurns(Contenders.WINDOW_TURNS)).build()))
			.build();
	}

	@Override
	public void preload(String thread, int messages) {
		SessionKey key = SessionKey.of(thread);
		for (int turn = 0; turn < messages / 2; turn++) {
			this.store.add(key, Dialogue.turn(turn));
		}
	}

	@Override
	public void turn(String thread, Message question) {
		this.chat.prompt().messages(question).advisors(SessionAdvisor.session(thread)).call().content();
	}

}
