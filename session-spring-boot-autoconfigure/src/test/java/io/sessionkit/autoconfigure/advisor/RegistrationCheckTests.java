package io.sessionkit.autoconfigure.advisor;

import io.sessionkit.autoconfigure.store.MessageCodecAutoConfiguration;
import io.sessionkit.autoconfigure.store.SessionStoreAutoConfiguration;
import io.sessionkit.test.ScriptedChatModel;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.parallel.Isolated;

import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.model.chat.client.autoconfigure.ChatClientAutoConfiguration;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import static org.assertj.core.api.Assertions.assertThat;

@Isolated
@ExtendWith(OutputCaptureExtension.class)
class RegistrationCheckTests {

	private static final String WARNING = "no ChatClient has the session advisor by itself";

	private static final String OFF = "spring.ai.chat.client.enabled=false";

	private final ApplicationContextRunner runner = new ApplicationContextRunner().withConfiguration(
			AutoConfigurations.of(MessageCodecAutoConfiguration.class, SessionStoreAutoConfiguration.class,
					SessionAdvisorAutoConfiguration.class, ChatClientAutoConfiguration.class));

	@Test
	void applicationWhoseClientsGetNoAdvisorIsWarned(CapturedOutput output) {
		this.runner.withPropertyValues(OFF).run((context) -> assertThat(context).hasNotFailed());
		assertThat(output).containsOnlyOnce(WARNING);
	}

	/** Nothing applies customizers to it, as Spring AI does to its own. */
	@Test
	void applicationWhoseOwnBuildersGetNoAdvisorIsWarned(CapturedOutput output) {
		this.runner.withPropertyValues(OFF)
			.withBean(ChatClient.Builder.class, () -> ChatClient.builder(new ScriptedChatModel()))
			.run((context) -> assertThat(context).hasNotFailed());
		assertThat(output).containsOnlyOnce(WARNING)
			.contains("unless that applies the ChatClientBuilderCustomizer beans");
	}

	@Test
	void applicationThatRegistersTheAdvisorItselfIsNotWarned(CapturedOutput output) {
		this.runner.run((context) -> assertThat(context).hasNotFailed());
		this.runner.withPropertyValues(OFF, "sessionkit.auto-register=false")
			.run((context) -> assertThat(context).hasNotFailed());
		assertThat(output).doesNotContain(WARNING);
	}

}
