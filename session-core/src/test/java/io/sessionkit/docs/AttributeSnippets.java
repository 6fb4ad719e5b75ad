package io.sessionkit.docs;

import io.sessionkit.conversation.Conversations;
import io.sessionkit.hook.AttributePrompt;
import io.sessionkit.hook.SessionContext;
import io.sessionkit.hook.SessionHook;

import org.springframework.ai.tool.annotation.Tool;

/**
 * The code about attributes of {@code docs/attributes.md}.
 */
final class AttributeSnippets {

	private AttributeSnippets() {
	}

	// tag::tools
	static final class OrderTools {

		private final SessionContext session;

		OrderTools(SessionContext session) {
			this.session = session;
		}

		@Tool(description = "Chooses the order that the user speaks of")
		String choose(String order) {
			this.session.putAttribute("order", order);
			return "chosen";
		}

		@Tool(description = "Cancels the order that was chosen")
		String cancel() {
			return this.session.attribute("order", String.class)
				.map((order) -> "order " + order + " of " + this.session.key().owner() + " is cancelled")
				.orElse("no order is chosen");
		}

	}
	// end::tools

	static SessionHook prompt() {
		// tag::prompt
		return AttributePrompt.of("The user's name is {name:unknown}. Answer in {language:English}.");
		// end::prompt
	}

	static void login(Conversations conversations, String thread, String name) {
		// tag::between
		conversations.get(thread).putAttribute("name", name);
		// end::between
	}

}
