package io.sessionkit.benchmarks;

import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;

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
 * {@code trim.max-turns=20}. With several stores on the same data, as many processes have
 * them, each turn of a session is made by another one than the turn before.
 */
final class SessionKitThreads implements Threads {

	private final SessionStore store;

	private final List<ChatClient> chats;

	private final Map<String, AtomicInteger> turns = new ConcurrentHashMap<>();

	SessionKitThreads(ChatModel model, SessionStore... stores) {
		this.store = stores[0];
		this.chats = Stream.of(stores).map((store) -> chat(store, model)).toList();
	}

	private static ChatClient chat(SessionStore store, ChatModel model) {
		return ChatClient.builder(model)
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
		int number = (this.chats.size() > 1)
				? this.turns.computeIfAbsent(thread, (id) -> new AtomicInteger()).getAndIncrement() : 0;
		ChatClient chat = this.chats.get(number % this.chats.size());
		chat.prompt().messages(question).advisors(SessionAdvisor.session(thread)).call().content();
	}

}
