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
		Logger logger = (Logger) LoggerFactory.getLogger(InMemorySessionStore.class);
		ListAppender<ILoggingEvent> appender = new ListAppender<>();
		appender.start();
		Level level = logger.getLevel();
		logger.setLevel(Level.INFO);
		logger.addAppender(appender);
		try {
			SessionStore logged = new InMemorySessionStore(StoreOptions.of(JsonMessageCodec.create()), 5);
			logged.add(SessionKey.of("thread"), List.of(new UserMessage("text")));
			logged.messages(SessionKey.of("thread"));
			assertThat(appender.list).singleElement()
				.satisfies((event) -> assertThat(event.getFormattedMessage()).contains("memory", "5", "forgotten"));
		}
		finally {
			logger.detachAppender(appender);
			logger.setLevel(level);
		}
	}

}
