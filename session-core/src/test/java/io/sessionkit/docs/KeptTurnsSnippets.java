package io.sessionkit.docs;

import java.util.List;
import java.util.Set;

import io.sessionkit.Session;
import io.sessionkit.SessionItem;
import io.sessionkit.SessionKey;
import io.sessionkit.advisor.SessionAdvisor;
import io.sessionkit.context.SentHistory;
import io.sessionkit.conversation.Conversation;
import io.sessionkit.conversation.Conversations;
import io.sessionkit.store.Commit;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.Tail;

import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.model.ChatResponse;

/**
 * The code on what is kept with a turn, and how it is deleted, of
 * {@code docs/attributes.md}, {@code docs/context.md}, {@code docs/retention.md} and
 * {@code docs/threads.md}.
 */
final class KeptTurnsSnippets {

	private KeptTurnsSnippets() {
	}

	static List<Message> snapshot(Conversation thread, long turn) {
		// tag::snapshot
		SentHistory sent = thread.snapshot(turn).orElseThrow();
		if (!sent.isComplete()) {
			throw new IllegalStateException(sent.missing() + " messages were deleted since.");
		}
		return sent.messages();
		// end::snapshot
	}

	static Conversations parameters(SessionStore store) {
		// tag::parameters
		return Conversations.builder(store)
			.turnParameters(Set.of("context", "tenant"))
			.replay(Set.of("context"))
			.build();
		// end::parameters
	}

	static String ask(ChatClient chat, String question, String context) {
		// tag::ask
		return chat.prompt()
			.user(question)
			.advisors(SessionAdvisor.session("t1"))
			.advisors((advisors) -> advisors.param("context", context).param("tenant", "acme"))
			.call()
			.content();
		// end::ask
	}

	static long goOn(ChatClient chat, String question, long seen) {
		// tag::expect
		ChatResponse response = chat.prompt()
			.user(question)
			.advisors(SessionAdvisor.session("t1"))
			.advisors(SessionAdvisor.expectTurn(seen))
			.call()
			.chatResponse();
		return SessionAdvisor.turn(response).orElseThrow().turn().number(); // seen by the
																			// next call
		// end::expect
	}

	static int delete(Conversation thread) {
		// tag::delete
		SessionItem newest = thread.items(Tail.newest(1)).get(0);
		int ofOne = thread.delete(Set.of(newest.sequence()));
		int ofItsTurn = thread.delete(newest.turn());
		return ofOne + ofItsTurn;
		// end::delete
	}

	static boolean deleteUnread(SessionStore store, SessionKey session, long item) {
		// tag::unreadable
		Session header = store.find(session).orElseThrow();
		return store.commit(Commit.on(header).delete(Set.of(item))).isStored();
		// end::unreadable
	}

}
