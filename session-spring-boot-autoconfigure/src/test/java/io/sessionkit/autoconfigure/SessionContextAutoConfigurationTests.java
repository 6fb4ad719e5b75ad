package io.sessionkit.autoconfigure;

import java.util.List;
import java.util.Map;

import io.sessionkit.SessionKey;
import io.sessionkit.advisor.SessionAdvisor;
import io.sessionkit.autoconfigure.advisor.SessionAdvisorAutoConfiguration;
import io.sessionkit.autoconfigure.store.MessageCodecAutoConfiguration;
import io.sessionkit.autoconfigure.store.SessionStoreAutoConfiguration;
import io.sessionkit.conversation.Conversations;
import io.sessionkit.hook.AttributePrompt;
import io.sessionkit.hook.SessionContext;
import io.sessionkit.store.SessionStore;
import io.sessionkit.test.ScriptedChatModel;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.chat.messages.AssistantMessage.ToolCall;
import org.springframework.ai.chat.messages.UserMessage;
import org.springframework.ai.model.chat.client.autoconfigure.ChatClientAutoConfiguration;
import org.springframework.ai.model.tool.autoconfigure.ToolCallingAutoConfiguration;
import org.springframework.ai.tool.annotation.Tool;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/**
 * Tools of an application that have the {@link SessionContext} injected.
 */
class SessionContextAutoConfigurationTests {

	private static final SessionKey ADA = SessionKey.of("ada", "t1");

	private static final SessionKey BOB = SessionKey.of("bob", "t1");

	private final ScriptedChatModel model = new ScriptedChatModel();

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(MessageCodecAutoConfiguration.class,
				SessionStoreAutoConfiguration.class, SessionAdvisorAutoConfiguration.class,
				ToolCallingAutoConfiguration.class, ChatClientAutoConfiguration.class))
		.withBean(ScriptedChatModel.class, () -> this.model);

	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void toolsOfTheApplicationShareTheAttributesOfTheirSession(boolean stream) {
		this.runner.withUserConfiguration(ToolConfiguration.class).run((context) -> {
			ChatClient chat = context.getBean(ChatClient.Builder.class)
				.defaultTools(context.getBean(Profile.class), context.getBean(Greeting.class))
				.build();
			for (SessionKey key : List.of(ADA, BOB)) {
				this.model.calls(call("remember", "{\"language\":\"language of " + key.owner() + "\"}"))
					.calls(call("greeting", "{}"))
					.says("done");
				say(chat, key, stream);
				assertThat(this.model.lastRequestLines())
					.startsWith("system: Answer in \"language of " + key.owner() + "\".")
					.contains("tool greeting=\"" + key.owner() + " speaks language of " + key.owner() + "\"");
			}
			Conversations conversations = context.getBean(Conversations.class);
			assertThat(conversations.get(ADA).attributes()).isEqualTo(Map.of("language", "language of ada"));
			assertThat(conversations.get(BOB).attributes()).isEqualTo(Map.of("language", "language of bob"));
		});
	}

	@Test
	void sizeOfTheAttributesIsThatOfTheProperty() {
		this.runner.withPropertyValues("sessionkit.attributes.max-size=100B").run((context) -> {
			context.getBean(SessionStore.class).add(ADA, List.of(new UserMessage("q")));
			assertThatIllegalArgumentException()
				.isThrownBy(() -> context.getBean(Conversations.class).get(ADA).putAttribute("name", "x".repeat(100)))
				.withMessageContaining("may have 100");
		});
	}

	private static ToolCall call(String tool, String arguments) {
		return new ToolCall("c1", "function", tool, arguments);
	}

	private static void say(ChatClient chat, SessionKey key, boolean stream) {
		ChatClient.ChatClientRequestSpec spec = chat.prompt().user("q").advisors(SessionAdvisor.session(key));
		if (stream) {
			spec.stream().content().blockLast();
		}
		else {
			spec.call().content();
		}
	}

	static final class Profile {

		private final SessionContext session;

		Profile(SessionContext session) {
			this.session = session;
		}

		@Tool(description = "remembers the language of the user")
		String remember(String language) {
			this.session.putAttribute("language", language);
			return "ok";
		}

	}

	static final class Greeting {

		private final SessionContext session;

		Greeting(SessionContext session) {
			this.session = session;
		}

		@Tool(description = "how to greet the user")
		String greeting() {
			return this.session.key().owner() + " speaks "
					+ this.session.attribute("language", String.class).orElseThrow();
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class ToolConfiguration {

		@Bean
		Profile profile(SessionContext session) {
			return new Profile(session);
		}

		@Bean
		Greeting greeting(SessionContext session) {
			return new Greeting(session);
		}

		@Bean
		AttributePrompt prompt() {
			return AttributePrompt.of("Answer in {language:English}.");
		}

	}

}
