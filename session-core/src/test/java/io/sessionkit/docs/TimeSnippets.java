package io.sessionkit.docs;

import java.util.List;

import io.sessionkit.SessionItem;
import io.sessionkit.SessionKey;
import io.sessionkit.Turn;
import io.sessionkit.advisor.SessionAdvisor;
import io.sessionkit.conversation.Approvals;
import io.sessionkit.conversation.Branch;
import io.sessionkit.conversation.Conversation;
import io.sessionkit.conversation.Conversations;
import io.sessionkit.store.PathQuery;
import io.sessionkit.store.Point;
import io.sessionkit.store.Tail;
import org.jspecify.annotations.Nullable;

import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.chat.messages.Message;

/**
 * The code of {@code docs/time.md}.
 */
final class TimeSnippets {

	private TimeSnippets() {
	}

	static List<Turn> undo(Conversations conversations, SessionKey session) {
		// tag::undo
		Conversation thread = conversations.get(session);
		List<Turn> undone = thread.undo(2);
		thread.redo(1);
		// end::undo
		return undone;
	}

	static List<Turn> cancel(Conversation thread, Approvals approvals) {
		// tag::cancel
		return thread.cancelling(approvals).undo(1);
		// end::cancel
	}

	static @Nullable String edit(ChatClient chat, SessionKey session, long turn, String text) {
		// tag::edit
		return chat.prompt()
			.user(text)
			.advisors(SessionAdvisor.session(session).andThen(SessionAdvisor.editing(turn)))
			.call()
			.content();
		// end::edit
	}

	static @Nullable String regenerate(ChatClient chat, SessionKey session) {
		// tag::regenerate
		return chat.prompt()
			.advisors(SessionAdvisor.session(session).andThen(SessionAdvisor.regenerating()))
			.call()
			.content();
		// end::regenerate
	}

	static String siblings(Conversation thread, long turn) {
		// tag::siblings
		List<Turn> answers = thread.siblings(turn);
		int place = answers.stream().map(Turn::number).toList().indexOf(turn);
		String label = "answer " + (place + 1) + " of " + answers.size();
		if (place > 0) {
			thread.choose(answers.get(place - 1).number());
		}
		// end::siblings
		return label;
	}

	static void branch(Conversation thread) {
		// tag::branch
		Branch cheaper = thread.branch("cheaper", 3);
		thread.switchTo("main");
		thread.deleteBranch(cheaper.name(), false);
		// end::branch
	}

	static List<SessionItem> readBranch(Conversations conversations, Conversation thread, Branch branch) {
		// tag::readbranch
		return conversations.store()
			.path(thread.key(), PathQuery.to(Point.at(branch.head())).turns(Tail.ALL))
			.stream()
			.flatMap((path) -> path.turns().stream())
			.flatMap((turn) -> thread.items(turn.number()).stream())
			.toList();
		// end::readbranch
	}

	static @Nullable String onBranch(ChatClient chat, SessionKey session, String text) {
		// tag::onbranch
		return chat.prompt()
			.user(text)
			.advisors(SessionAdvisor.session(session).andThen(SessionAdvisor.branch("cheaper")))
			.call()
			.content();
		// end::onbranch
	}

	static Conversation fork(Conversations conversations, SessionKey session, SessionKey copy) {
		// tag::fork
		return conversations.get(session).fork(copy, 3);
		// end::fork
	}

	static void seed(Conversation thread, List<Message> examples) {
		// tag::seed
		thread.seed(examples);
		// end::seed
	}

}
