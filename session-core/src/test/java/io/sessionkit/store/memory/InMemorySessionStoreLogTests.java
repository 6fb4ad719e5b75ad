package io.sessionkit.store.memory;

import java.util.List;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.sessionkit.SessionKey;
import io.sessionkit.codec.JsonMessageCodec;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.StoreOptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;
import org.slf4j.LoggerFactory;

import org.springframework.ai.chat.messages.UserMessage;

import static org.assertj.core.api.Assertions.assertThat;

@Isolated
class InMemorySessionStoreLogTests {

	@Test
	void forgetfulnessIsLoggedOnceAtTheStart() {
		List<ILoggingEvent> logged = logged(Level.INFO, () -> {
			SessionStore store = new InMemorySessionStore(StoreOptions.of(JsonMessageCodec.create()), 5);
			store.add(SessionKey.of("thread"), List.of(new UserMessage("text")));
			store.messages(SessionKey.of("thread"));
		});
		assertThat(logged).singleElement()
			.satisfies((event) -> assertThat(event.getFormattedMessage()).contains("memory", "5", "forgotten"));
	}

	@Test
	void firstEvictionIsLogged() {
		List<ILoggingEvent> logged = logged(Level.WARN, () -> {
			SessionStore store = new InMemorySessionStore(StoreOptions.of(JsonMessageCodec.create()), 2);
			for (String id : List.of("1", "2", "3", "4")) {
				store.add(SessionKey.of(id), List.of(new UserMessage("text")));
			}
		});
		assertThat(logged).singleElement()
			.satisfies((event) -> assertThat(event.getFormattedMessage()).contains("more than 2 sessions", "evicted",
					"'sessionkit.store.memory.max-sessions'"));
	}

	private static List<ILoggingEvent> logged(Level level, Runnable action) {
		Logger logger = (Logger) LoggerFactory.getLogger(InMemorySessionStore.class);
		ListAppender<ILoggingEvent> appender = new ListAppender<>();
		appender.start();
		Level before = logger.getLevel();
		logger.setLevel(level);
		logger.addAppender(appender);
		try {
			action.run();
			return appender.list;
		}
		finally {
			logger.detachAppender(appender);
			logger.setLevel(before);
		}
	}

}
