package io.sessionkit.docs;

import java.util.ArrayList;
import java.util.List;
import java.util.function.ToDoubleFunction;
import java.util.regex.Pattern;

import io.sessionkit.advisor.SessionAdvisor;
import io.sessionkit.conversation.Conversations;
import io.sessionkit.guard.Redactor;
import io.sessionkit.guard.Redactor.Action;
import io.sessionkit.guard.StopWords;
import io.sessionkit.hook.HistoryBlock;
import io.sessionkit.hook.HistoryMerge;
import io.sessionkit.hook.HookContext;
import io.sessionkit.hook.HookResult;
import io.sessionkit.hook.SessionHook;
import io.sessionkit.store.SessionStore;

import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.UserMessage;
import org.springframework.util.StringUtils;

/**
 * The code on guards of {@code docs/hooks.md}, and on merge and layout of
 * {@code docs/context.md}.
 */
final class GuardSnippets {

	private GuardSnippets() {
	}

	static SessionAdvisor guarded(SessionStore store) {
		// tag::guards
		Redactor redactor = Redactor.builder()
			.emails(Action.REDACT)
			.cards(Action.MASK)
			.ipAddresses(Action.BLOCK)
			.pattern("order", Pattern.compile("\\bA-\\d{6}\\b"), Action.REDACT)
			.build();
		StopWords stopWords = StopWords.of("project falcon", "internal only").reason("This is not for here.");
		Conversations conversations = Conversations.builder(store).hooks(stopWords, redactor).build();
		// end::guards
		return SessionAdvisor.of(conversations);
	}

	// tag::beside
	static final class Moderation implements SessionHook {

		private final ToDoubleFunction<String> score;

		Moderation(ToDoubleFunction<String> score) {
			this.score = score;
		}

		@Override
		public HookResult<List<Message>> beforeTurn(HookContext context, List<Message> input) {
			double score = input.stream()
				.map(Message::getText)
				.filter(StringUtils::hasText)
				.mapToDouble(this.score)
				.max()
				.orElse(0);
			return (score > 0.8) ? HookResult.refuse("This is not talked about here.")
					: HookResult.keep("moderation score " + score);
		}

		@Override
		public boolean runsBesideModel() {
			return true;
		}

	}
	// end::beside

	static String merged(ChatClient chat, String text) {
		// tag::merge
		HistoryMerge questionsOnly = (context, history, input) -> {
			List<Message> messages = new ArrayList<>(history);
			messages.removeIf((message) -> !(message instanceof UserMessage));
			messages.addAll(input);
			return messages;
		};
		return chat.prompt()
			.user(text)
			.advisors(SessionAdvisor.session("t1"))
			.advisors(SessionAdvisor.merge(questionsOnly))
			.call()
			.content();
		// end::merge
	}

	static String lastTurns(ChatClient chat, String text) {
		// tag::turns
		return chat.prompt()
			.user(text)
			.advisors(SessionAdvisor.session("t1"))
			.advisors(SessionAdvisor.merge(HistoryMerge.keepLastTurns(3)))
			.call()
			.content();
		// end::turns
	}

	static SessionAdvisor shortened(SessionStore store) {
		// tag::shorten
		HistoryMerge shortReplies = (context, history, input) -> {
			history.replaceAll((message) -> (message instanceof AssistantMessage reply && !reply.hasToolCalls()
					&& reply.getText() != null && reply.getText().length() > 200)
							? reply.mutate().content(StringUtils.truncate(reply.getText(), 200)).build() : message);
			history.addAll(input);
			return history;
		};
		Conversations conversations = Conversations.builder(store).merge(shortReplies).build();
		// end::shorten
		return SessionAdvisor.of(conversations);
	}

	static SessionAdvisor inOneBlock(SessionStore store) {
		// tag::block
		Conversations conversations = Conversations.builder(store).hooks(HistoryBlock.inUserText()).build();
		// end::block
		return SessionAdvisor.of(conversations);
	}

}
