package io.sessionkit.docs;

import io.sessionkit.advisor.SessionAdvisor;
import io.sessionkit.autoconfigure.advisor.SessionAdvisorAutoConfiguration;
import io.sessionkit.autoconfigure.store.MessageCodecAutoConfiguration;
import io.sessionkit.autoconfigure.store.SessionStoreAutoConfiguration;
import io.sessionkit.conversation.Conversations;
import io.sessionkit.test.ScriptedChatModel;
import org.junit.jupiter.api.Test;

import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.model.ChatModel;
import org.springframework.ai.model.chat.client.autoconfigure.ChatClientAutoConfiguration;
import org.springframework.ai.model.tool.autoconfigure.ToolCallingAutoConfiguration;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Clients of several models, as {@code docs/configuration.md} has them.
 */
class ClientSnippetsTests {

	@Test
	void clientsOfTwoModelsTalkInOneSession() {
		ScriptedChatModel quick = new ScriptedChatModel().says("Green.");
		ScriptedChatModel thorough = new ScriptedChatModel().says("Because it is.");
		new ApplicationContextRunner()
			.withConfiguration(AutoConfigurations.of(MessageCodecAutoConfiguration.class,
					SessionStoreAutoConfiguration.class, SessionAdvisorAutoConfiguration.class,
					ToolCallingAutoConfiguration.class, ChatClientAutoConfiguration.class))
			.withBean("openAiChatModel", ChatModel.class, () -> quick)
			.withBean("anthropicChatModel", ChatModel.class, () -> thorough)
			.withUserConfiguration(ClientSnippets.Clients.class)
			.run((context) -> {
				assertThat(context).hasNotFailed();
				ask(context.getBean("quick", ChatClient.class), "Which tea?");
				ask(context.getBean("thorough", ChatClient.class), "Why?");
				assertThat(context.getBean(Conversations.class).get("t1").messages()).extracting(Message::getText)
					.containsExactly("Which tea?", "Green.", "Why?", "Because it is.");
			});
	}

	private static void ask(ChatClient chat, String question) {
		chat.prompt().user(question).advisors(SessionAdvisor.session("t1")).call().content();
	}

}
