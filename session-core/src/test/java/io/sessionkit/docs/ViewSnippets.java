package io.sessionkit.docs;

import java.util.List;

import io.sessionkit.context.Pins;
import io.sessionkit.context.Prune;
import io.sessionkit.context.Summarize;
import io.sessionkit.context.SummaryResult;
import io.sessionkit.context.SummaryTrigger;
import io.sessionkit.context.Trim;
import io.sessionkit.conversation.Conversation;
import io.sessionkit.conversation.Conversations;
import io.sessionkit.hook.HookContext;
import io.sessionkit.hook.HookResult;
import io.sessionkit.hook.ModelRequest;
import io.sessionkit.hook.SessionHook;
import io.sessionkit.store.MessageTokens;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.StoreOptions;

import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.ToolResponseMessage;
import org.springframework.ai.chat.messages.ToolResponseMessage.ToolResponse;
import org.springframework.ai.chat.model.ChatModel;
import org.springframework.ai.tokenizer.TokenCountEstimator;
import org.springframework.util.StringUtils;

/**
 * The code of {@code docs/context.md} about what of the history goes with a request.
 */
final class ViewSnippets {

	private ViewSnippets() {
	}

	static Conversations trimmed(SessionStore store) {
		// tag::trim
		return Conversations.builder(store)
			.trim(Trim.keepLastTokens(8_000).pins(Pins.firstUser().andMetadata("important")))
			.build();
		// end::trim
	}

	static Conversations pruned(SessionStore store) {
		// tag::prune
		return Conversations.builder(store).prune(Prune.keepLastToolResults(5)).build();
		// end::prune
	}

	// tag::short-results
	static final class ShortResults implements SessionHook {

		private static final int LENGTH = 4_000;

		@Override
		public HookResult<List<Message>> beforeModel(HookContext context, ModelRequest request) {
			return HookResult.replace(request.messages().stream().map(ShortResults::shortened).toList());
		}

		private static Message shortened(Message message) {
			return (message instanceof ToolResponseMessage results) ? ToolResponseMessage.builder()
				.responses(results.getResponses().stream().map(ShortResults::shortened).toList())
				.metadata(results.getMetadata())
				.build() : message;
		}

		private static ToolResponse shortened(ToolResponse result) {
			String text = result.responseData();
			return (text.length() <= LENGTH) ? result : new ToolResponse(result.id(), result.name(),
					StringUtils.truncate(text, LENGTH) + " of " + text.length() + " characters");
		}

	}
	// end::short-results

	static Conversations summarized(SessionStore store, ChatModel small) {
		// tag::summarize
		return Conversations.builder(store)
			.summarize(Summarize.by(small).mode(Summarize.Mode.BEFORE).triggerTokens(8_000).keepTurns(6).build())
			.build();
		// end::summarize
	}

	static String summarizedNow(Conversation thread) {
		// tag::summarize-now
		SummaryResult made = thread.summarize(true);
		return (made.summary() != null) ? made.summary().text() : made.status().name();
		// end::summarize-now
	}

	static SummaryTrigger trigger() {
		// tag::trigger
		return (session) -> session.totals().tokens() > 8_000 && session.tags().contains("long");
		// end::trigger
	}

	static StoreOptions counted(StoreOptions options, TokenCountEstimator estimator) {
		// tag::tokens
		return options.tokens(new MessageTokens(estimator, 500));
		// end::tokens
	}

}
