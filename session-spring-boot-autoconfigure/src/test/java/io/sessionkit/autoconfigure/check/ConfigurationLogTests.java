package io.sessionkit.autoconfigure.check;

import java.util.Map;

import io.sessionkit.autoconfigure.StartFailure;
import io.sessionkit.autoconfigure.advisor.SessionAdvisorAutoConfiguration;
import io.sessionkit.autoconfigure.store.MessageCodecAutoConfiguration;
import io.sessionkit.autoconfigure.store.SessionStoreAutoConfiguration;
import io.sessionkit.autoconfigure.tool.ToolGuardAutoConfiguration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.parallel.Isolated;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.core.env.StandardEnvironment;
import org.springframework.core.env.SystemEnvironmentPropertySource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Names that are not ours, which an application may have for itself: they are logged.
 */
@Isolated
@ExtendWith(OutputCaptureExtension.class)
class ConfigurationLogTests {

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(ConfigurationCheckAutoConfiguration.class,
				MessageCodecAutoConfiguration.class, SessionStoreAutoConfiguration.class,
				SessionAdvisorAutoConfiguration.class, ToolGuardAutoConfiguration.class));

	/** A platform may set variables of that prefix for the application itself. */
	@Test
	void variableThatIsLikeNoneOfOursIsOnlyLogged(CapturedOutput output) {
		this.runner
			.withInitializer((context) -> context.getEnvironment()
				.getPropertySources()
				.addFirst(new SystemEnvironmentPropertySource(
						"test-" + StandardEnvironment.SYSTEM_ENVIRONMENT_PROPERTY_SOURCE_NAME,
						Map.of("SESSIONKIT_IMAGE", "s3cret"))))
			.run((context) -> assertThat(context).hasNotFailed());
		assertThat(output).containsOnlyOnce("SESSIONKIT_IMAGE").doesNotContain("s3cret");
	}

	@Test
	void systemPropertyIsRefusedIfItIsLikeOneOfOurs(CapturedOutput output) {
		this.runner.withSystemProperties("sessionkit.seed=7", "sessionkit.kills=7")
			.run((context) -> assertThat(context).hasNotFailed());
		assertThat(output).contains("sessionkit.seed (property source \"systemProperties\")");
		assertThat(StartFailure.analysis(this.runner.withSystemProperties("sessionkit.approvals.tools=a")).getAction())
			.contains("Write 'sessionkit.approval.tools'.");
	}

}
