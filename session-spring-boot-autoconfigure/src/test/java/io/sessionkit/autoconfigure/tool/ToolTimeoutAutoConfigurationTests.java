package io.sessionkit.autoconfigure.tool;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;

import io.sessionkit.ToolTimeout;
import io.sessionkit.advisor.SessionAdvisor;
import io.sessionkit.autoconfigure.ConfigurationRefusedException;
import io.sessionkit.autoconfigure.advisor.SessionAdvisorAutoConfiguration;
import io.sessionkit.autoconfigure.store.MessageCodecAutoConfiguration;
import io.sessionkit.autoconfigure.store.SessionStoreAutoConfiguration;
import io.sessionkit.test.ScriptedChatModel;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.chat.messages.AssistantMessage.ToolCall;
import org.springframework.ai.model.chat.client.autoconfigure.ChatClientAutoConfiguration;
import org.springframework.ai.model.tool.autoconfigure.ToolCallingAutoConfiguration;
import org.springframework.ai.tool.ToolCallback;
import org.springframework.ai.tool.annotation.Tool;
import org.springframework.ai.tool.function.FunctionToolCallback;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.security.authentication.TestingAuthenticationToken;
import org.springframework.security.core.context.SecurityContextHolder;

import static org.assertj.core.api.Assertions.assertThat;

class ToolTimeoutAutoConfigurationTests {

	private final ScriptedChatModel model = new ScriptedChatModel();

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(MessageCodecAutoConfiguration.class,
				SessionStoreAutoConfiguration.class, SessionAdvisorAutoConfiguration.class,
				ToolCallingAutoConfiguration.class, ChatClientAutoConfiguration.class))
		.withBean(ScriptedChatModel.class, () -> this.model);

	private static ToolCallback waiting(String tool) {
		return FunctionToolCallback.builder(tool, () -> {
			try {
				return String.valueOf(new CountDownLatch(1).await(1, TimeUnit.MINUTES));
			}
			catch (InterruptedException ex) {
				throw new IllegalStateException(ex);
			}
		}).build();
	}

	private void call(org.springframework.context.ApplicationContext context, ToolCallback tool) {
		this.model.calls(new ToolCall("c1", "function", tool.getToolDefinition().name(), "{}")).says("done");
		assertThat(context.getBean(ChatClient.Builder.class)
			.build()
			.prompt()
			.user("q")
			.tools(tool)
			.advisors(SessionAdvisor.session("t1"))
			.call()
			.content()).isEqualTo("done");
	}

	@ParameterizedTest
	@CsvSource({ "timeouts.find_order,find_order", "timeouts.findOrder,findOrder", "timeouts[find.order],find.order",
			"timeout,any" })
	void toolIsStoppedAsConfigured(String property, String tool) {
		this.runner.withPropertyValues("sessionkit.tools." + property + "=1s").run((context) -> {
			call(context, waiting(tool));
			assertThat(this.model.lastRequestLines().toString()).contains("'" + tool + "' was stopped after 1 s");
		});
	}

	@ParameterizedTest
	@CsvSource({ "timeout,0s", "timeout,-1s", "timeout,30", "timeouts.look,0s", "timeouts.look,30",
			"timeouts.look,500ms" })
	void whatIsNoTimeIsRefusedAtStart(String property, String value) {
		this.runner.withPropertyValues("sessionkit.tools." + property + "=" + value)
			.run((context) -> assertThat(context).getFailure()
				.rootCause()
				.hasMessageContaining("sessionkit.tools." + property));
	}

	@ParameterizedTest
	@CsvSource({ "timeout,5000", "timeouts.look,5000", "timeouts[findOrder],5000", "timeouts[find.order],5000" })
	void timeWithoutAUnitIsRefusedAtStart(String property, String value) {
		this.runner.withPropertyValues("sessionkit.tools." + property + "=" + value)
			.run((context) -> assertThat(context).getFailure()
				.rootCause()
				.hasMessageContaining("'sessionkit.tools." + property + "' is '5000'")
				.hasMessageContaining("without a unit")
				.hasMessageContaining("Write a unit, such as 5000s"));
	}

	static final class Tools {

		@Tool
		@ToolTimeout(-1)
		String look() {
			return "";
		}

	}

	@Test
	void annotationThatIsNoLimitIsRefusedAtStart() {
		this.runner.withBean(Tools.class)
			.run((context) -> assertThat(context).getFailure()
				.cause()
				.isInstanceOf(ConfigurationRefusedException.class)
				.hasMessageContaining("@ToolTimeout of tool 'look'"));
	}

	@Test
	void misspeltNameIsRefusedAtStart() {
		this.runner.withBean(ToolCallback.class, () -> waiting("find_order"))
			.withPropertyValues("sessionkit.tools.timeouts.find_ordre=30s")
			.run((context) -> assertThat(context).getFailure()
				.cause()
				.isInstanceOf(ConfigurationRefusedException.class)
				.hasMessageContaining("sessionkit.tools.timeouts names [find_ordre]"));
	}

	@Test
	void toolKnowsTheUser() {
		AtomicReference<String> user = new AtomicReference<>();
		ToolCallback tool = FunctionToolCallback.builder("who", () -> {
			user.set(SecurityContextHolder.getContext().getAuthentication().getName() + " on "
					+ Thread.currentThread().getName());
			return "ok";
		}).build();
		SecurityContextHolder.getContext().setAuthentication(new TestingAuthenticationToken("ann", "", "ROLE_USER"));
		try {
			this.runner.withPropertyValues("sessionkit.tools.timeout=" + Duration.ofSeconds(30)).run((context) -> {
				call(context, tool);
				assertThat(user.get()).startsWith("ann on sessionkit-tool-");
			});
		}
		finally {
			SecurityContextHolder.clearContext();
		}
	}

}
