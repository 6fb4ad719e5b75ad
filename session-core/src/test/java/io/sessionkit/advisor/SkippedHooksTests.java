package io.sessionkit.advisor;

import java.util.List;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.sessionkit.codec.JsonMessageCodec;
import io.sessionkit.conversation.Conversations;
import io.sessionkit.guard.StopWords;
import io.sessionkit.hook.HookResult;
import io.sessionkit.hook.SessionHook;
import io.sessionkit.hook.TestHooks;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.StoreOptions;
import io.sessionkit.store.memory.InMemorySessionStore;
import io.sessionkit.test.ClientSetup;
import io.sessionkit.test.ScriptedChatModel;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.slf4j.LoggerFactory;

import org.springframework.ai.chat.client.ChatClient;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Hooks are asked in calls on a session only, and the log says when the first call passes
 * them by.
 */
@Isolated
class SkippedHooksTests {

	private static final Logger LOGGER = (Logger) LoggerFactory.getLogger("io.sessionkit.advisor");

	private final ListAppender<ILoggingEvent> log = new ListAppender<>();

	private final SessionStore store = new InMemorySessionStore(StoreOptions.of(JsonMessageCodec.create()));

	private final ScriptedChatModel model = new ScriptedChatModel();

	@BeforeEach
	void captureLog() {
		this.log.start();
		LOGGER.addAppender(this.log);
	}

	@AfterEach
	void releaseLog() {
		LOGGER.detachAppender(this.log);
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void firstCallWithoutASessionIsInTheLogWithTheNamesOfTheHooks(ClientSetup.Mode mode) {
		ClientSetup setup = new ClientSetup(mode, ClientSetup.ToolLoop.AUTOMATIC, false);
		ChatClient chat = chat(setup, StopWords.of("secret"),
				TestHooks.afterModel("moderation", (reply) -> HookResult.keep()));
		this.model.says("a secret").says("b").says("c");
		assertThat(setup.content(chat.prompt().user("q"))).as("nobody is asked").isEqualTo("a secret");
		setup.content(chat.prompt().user("q"));
		setup.content(chat.prompt().user("q").advisors(SessionAdvisor.session("t1")));
		assertThat(this.log.list).singleElement().satisfies((event) -> {
			assertThat(event.getLevel()).isEqualTo(Level.WARN);
			assertThat(event.getFormattedMessage()).contains("[StopWords, moderation]", "SessionAdvisor.session(..)",
					"sessionkit.require-session");
		});
	}

	@Test
	void hookThatACallWithoutASessionBringsIsNamedToo() {
		this.model.says("a");
		chat(ClientSetup.plain()).prompt()
			.user("q")
			.advisors(SessionAdvisor.hook(StopWords.of("secret")))
			.call()
			.content();
		assertThat(this.log.list).singleElement()
			.satisfies((event) -> assertThat(event.getFormattedMessage()).contains("[StopWords]"));
	}

	@Test
	void nothingIsSaidWhereThereIsNoHookOrASessionOrNoneIsMeant() {
		this.model.says("a").says("b").says("c");
		chat(ClientSetup.plain(), StopWords.of("secret")).prompt()
			.user("q")
			.advisors(SessionAdvisor.none())
			.call()
			.content();
		chat(ClientSetup.plain()).prompt().user("q").call().content();
		chat(ClientSetup.plain(), StopWords.of("secret")).prompt()
			.user("q")
			.advisors(SessionAdvisor.session("t1"))
			.call()
			.content();
		assertThat(this.log.list).isEmpty();
	}

	private ChatClient chat(ClientSetup setup, SessionHook... hooks) {
		Conversations conversations = Conversations.builder(this.store).hooks(List.of(hooks)).build();
		return setup.builder(this.model, SessionAdvisor.of(conversations)).build();
	}

}
