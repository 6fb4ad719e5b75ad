package io.sessionkit.autoconfigure.advisor;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Map;
import java.util.function.IntConsumer;

import io.sessionkit.SessionKey;
import io.sessionkit.TurnHandedOverException;
import io.sessionkit.advisor.SessionAdvisor;
import io.sessionkit.autoconfigure.store.MessageCodecAutoConfiguration;
import io.sessionkit.autoconfigure.store.SessionStoreAutoConfiguration;
import io.sessionkit.conversation.Conversations;
import io.sessionkit.conversation.OtherProcess;
import io.sessionkit.conversation.SharedStore;
import io.sessionkit.internal.door.InnerParts;
import io.sessionkit.internal.turn.Turns;
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
 * tools, of which one is at work when the application shuts down. It says each run of the
 * tool, and how the call ends.
 */
@Configuration(proxyBeanMethods = false)
@ImportAutoConfiguration({ MessageCodecAutoConfiguration.class, SessionStoreAutoConfiguration.class,
		SessionAdvisorAutoConfiguration.class, ToolCallingAutoConfiguration.class, ChatClientAutoConfiguration.class })
class DrainingApplication {

	static final SessionKey KEY = SessionKey.of("t1");

	static final String QUESTION = "q:3";

	/**
	 * @param words the durability, the mode, the file of effects, the run of the tool
	 * that takes until the shutdown has begun, or 0 if the tool does not end, how long a
	 * lease lives and the shutdown waits, and the store
	 */
	public static void main(String[] words) {
		SpringApplication application = new SpringApplicationBuilder(DrainingApplication.class)
			.web(WebApplicationType.NONE)
			.properties(Map.of("sessionkit.durability", words[0], "sessionkit.owner", "none", "sessionkit.lease",
					words[4], "sessionkit.shutdown.timeout", words[4], "words",
					String.join(",", List.of(words).subList(5, words.length)), "spring.main.banner-mode", "off"))
			.build();
		ConfigurableApplicationContext context = application.run();
		say("ready");
		int last = Integer.parseInt(words[3]);
		Conversations conversations = context.getBean(Conversations.class);
		ClientSetup setup = new ClientSetup(ClientSetup.Mode.valueOf(words[1]), ClientSetup.ToolLoop.AUTOMATIC, false);
		try {
			say(setup.content(context.getBean(ChatClient.Builder.class)
				.build()
				.prompt()
				.user(QUESTION)
				.tools(work(Path.of(words[2]), (run) -> untilShutdown(conversations, run, last)))
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

	private static void untilShutdown(Conversations conversations, int run, int last) {
		if (last == 0) {
			sleep(60_000);
		}
		while (run == last && !InnerParts.of(conversations, Turns.class).drain().isOn()) {
			sleep(10);
		}
		if (run == last) {
			// the shutdown waits for it
			sleep(300);
		}
	}

	private static void sleep(long millis) {
		try {
			Thread.sleep(millis);
		}
		catch (InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
	}

	/**
	 * The tool, which has its effect in a file.
	 * @param working does the work of a run before its effect
	 */
	static ToolCallback work(Path effects, IntConsumer working) {
		return FunctionToolCallback.builder("work", () -> {
			try {
				int run = Files.readAllLines(effects).size() + 1;
				say("tool " + run);
				working.accept(run);
				Files.writeString(effects, "effect " + run + "\n", StandardCharsets.UTF_8, StandardOpenOption.APPEND);
				return "done " + run;
			}
			catch (IOException ex) {
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
