package io.sessionkit.docs;

import java.time.Duration;
import java.util.List;

import io.sessionkit.context.Retention;
import io.sessionkit.conversation.Conversation;
import io.sessionkit.conversation.Conversations;
import io.sessionkit.hook.HookContext;
import io.sessionkit.hook.HookResult;
import io.sessionkit.hook.SessionContext;
import io.sessionkit.hook.SessionHook;
import io.sessionkit.hook.TurnPart;
import io.sessionkit.store.SessionStore;

import org.springframework.ai.chat.messages.Message;
import org.springframework.stereotype.Component;

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

	// tag::forget
	@Component
	static class ForgetTheFirstMessages implements SessionHook {

		private final SessionContext session;

		ForgetTheFirstMessages(SessionContext session) {
			this.session = session;
		}

		@Override
		public HookResult<List<Message>> beforeSave(HookContext context, TurnPart part) {
			int first = this.session.forgettableFrom(); // 2 behind a summary, for example
			if (context.history().size() - first > 20) {
				this.session.forget(first, first + 2);
			}
			return HookResult.keep();
		}

	}
	// end::forget

}
