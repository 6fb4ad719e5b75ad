package io.sessionkit.docs;

import java.util.List;

import io.sessionkit.SessionKey;
import io.sessionkit.advisor.SessionAdvisor;
import io.sessionkit.store.SessionStore;

import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.chat.messages.UserMessage;
import org.springframework.ai.chat.model.ChatResponse;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * The code of {@code docs/transactions.md}.
 */
final class TransactionSnippets {

	private TransactionSnippets() {
	}

	// tag::outside
	record Answers(ChatClient chat, JdbcTemplate sql, TransactionTemplate transaction) {

		void answer(SessionKey session, String text) {
			ChatResponse response = this.chat.prompt()
				.user(text)
				.advisors(SessionAdvisor.session(session)) // two short transactions of
															// SessionKit
				.call()
				.chatResponse();
			String turn = SessionAdvisor.turn(response).orElseThrow().turn().id();
			this.transaction.executeWithoutResult((status) -> this.sql.update("insert into ANSWERED values (?)", turn));
		}

	}
	// end::outside

	static void together(TransactionTemplate transaction, JdbcTemplate sql, SessionStore store, SessionKey session) {
		// tag::together
		transaction.executeWithoutResult((status) -> {
			sql.update("insert into TICKET values (?)", session.id());
			store.add(session, List.of(new UserMessage("My parcel has not arrived.")));
		});
		// end::together
	}

}
