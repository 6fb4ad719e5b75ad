package io.sessionkit.docs;

import java.util.List;

import io.sessionkit.SessionKey;
import io.sessionkit.advisor.ChildSession;
import io.sessionkit.advisor.SessionAdvisor;
import io.sessionkit.approval.RequiresApproval;
import io.sessionkit.context.HistoryPolicy;
import io.sessionkit.conversation.Conversations;
import org.jspecify.annotations.Nullable;

import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.tool.annotation.Tool;

/**
 * The code of {@code docs/history.md}.
 */
final class HistorySnippets {

	private HistorySnippets() {
	}

	static @Nullable String override(ChatClient chat, SessionKey session, List<Message> history, String text) {
		// tag::override
		return chat.prompt()
			.user(text)
			.advisors(SessionAdvisor.session(session).andThen(SessionAdvisor.history(history)))
			.call()
			.content();
		// end::override
	}

	static @Nullable String replace(ChatClient chat, SessionKey session, List<Message> history, String text) {
		// tag::replace
		return chat.prompt()
			.user(text)
			.advisors(SessionAdvisor.session(session)
				.andThen(SessionAdvisor.history(history, HistoryPolicy.REPLACE_SESSION)))
			.call()
			.content();
		// end::replace
	}

	static @Nullable String reading(ChatClient chat, SessionKey session) {
		// tag::reading
		return chat.prompt()
			.user("Which of our questions is still open?")
			.advisors(SessionAdvisor.session(session).andThen(SessionAdvisor.reading()))
			.call()
			.content();
		// end::reading
	}

	static @Nullable String child(ChatClient chat, String text) {
		// tag::child
		return chat.prompt().user(text).advisors(SessionAdvisor.child("translator")).call().content();
		// end::child
	}

	static @Nullable String scratch(ChatClient chat, String text) {
		// tag::scratch
		ChildSession critic = ChildSession.of("critic").readingParent().forThisTurn();
		return chat.prompt().user(text).advisors(SessionAdvisor.child(critic)).call().content();
		// end::scratch
	}

	// tag::agent-as-tool
	record BillingTool(ChatClient billing) {

		@Tool(description = "Asks the billing agent to pay back an order")
		@RequiresApproval
		@Nullable String payBack(String order) {
			return this.billing.prompt()
				.user("Pay back " + order)
				.advisors(SessionAdvisor.child("billing"))
				.call()
				.content();
		}

	}
	// end::agent-as-tool

	static void erase(Conversations conversations, SessionKey session) {
		// tag::erase
		conversations.get(session).erase();
		conversations.get(session).eraseChildren();
		// end::erase
	}

}
