package io.sessionkit.autoconfigure.advisor;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Map;

import io.sessionkit.SessionKey;
import io.sessionkit.TurnHandedOverException;
import io.sessionkit.advisor.SessionAdvisor;
import io.sessionkit.autoconfigure.store.MessageCodecAutoConfiguration;
import io.sessionkit.autoconfigure.store.SessionStoreAutoConfiguration;
import io.sessionkit.conversation.OtherProcess;
import io.sessionkit.conversation.SharedStore;
import io.sessionkit.store.SessionStore;
import io.sessionkit.test.ClientSetup;
import io.sessionkit.test.WorkingModel;

import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.model.chat.client.autoconfigure.ChatClientAutoConfiguration;
import org.springframework.ai.model.tool.autoconfigure.ToolCallingAutoConfiguration;
import org.springframework.ai.tool.ToolCallback;
import org.springframework.ai.tool.function.FunctionToolCallback;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/**
 * The program that {@link OtherProcess} runs: an application that makes one call with
 * slow tools. It says each run of the tool, and how the call ends.
 */
@Configuration(proxyBeanMethods = false)
@ImportAutoConfiguration({ MessageCodecAutoConfiguration.class, SessionStoreAutoConfiguration.class,
		SessionAdvisorAutoConfiguration.class, ToolCallingAutoConfiguration.class, ChatClientAutoConfiguration.class })
class DrainingApplication {

	static final SessionKey KEY = SessionKey.of("t1");

	static final String QUESTION = "q:3";

	/**
	 * @param words the durability, the mode, the file of effects, how many milliseconds a
	 * tool takes, and the store
	 */
	public static void main(String[] words) {
		SpringApplication application = new SpringApplicationBuilder(DrainingApplication.class)
			.web(WebApplicationType.NONE)
			.properties(Map.of("sessionkit.durability", words[0], "sessionkit.owner", "none", "sessionkit.lease", "5s",
					"sessionkit.shutdown.timeout", "5s", "words",
					String.join(",", List.of(words).subList(4, words.length)), "spring.main.banner-mode", "off"))
			.build();
		ConfigurableApplicationContext context = application.run();
		say("ready");
		ClientSetup setup = new ClientSetup(ClientSetup.Mode.valueOf(words[1]), ClientSetup.ToolLoop.AUTOMATIC, false);
		try {
			say(setup.content(context.getBean(ChatClient.Builder.class)
				.build()
				.prompt()
				.user(QUESTION)
				.tools(slow(Path.of(words[2]), Long.parseLong(words[3])))
				.advisors(SessionAdvisor.session(KEY))));
		}
		catch (TurnHandedOverException ex) {
			say("handed over");
		}
		catch (RuntimeException ex) {
			say(ex.toString());
		}
	}

	private static void say(String what) {
		System.out.println(OtherProcess.MARK + what);
	}

	/**
	 * The tool, which has its effect in a file.
	 */
	static ToolCallback slow(Path effects, long millis) {
		return FunctionToolCallback.builder("work", () -> {
			try {
				int run = Files.readAllLines(effects).size() + 1;
				say("tool " + run);
				Thread.sleep(millis);
				Files.writeString(effects, "effect " + run + "\n", StandardCharsets.UTF_8, StandardOpenOption.APPEND);
				return "done " + run;
			}
			catch (IOException | InterruptedException ex) {
				throw new IllegalStateException(ex);
			}
		}).build();
	}

	@Bean
	SessionStore store(org.springframework.core.env.Environment environment) {
		return new SharedStore(List.of(environment.getRequiredProperty("words").split(",", -1))).open();
	}

	@Bean
	WorkingModel model() {
		return new WorkingModel("work");
	}

}
