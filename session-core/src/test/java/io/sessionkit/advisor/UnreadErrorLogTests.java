package io.sessionkit.advisor;

import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.sessionkit.SessionKey;
import io.sessionkit.TurnStatus;
import io.sessionkit.conversation.Conversations;
import io.sessionkit.hook.HookContext;
import io.sessionkit.hook.HookResult;
import io.sessionkit.hook.SessionHook;
import io.sessionkit.hook.TurnPart;
import io.sessionkit.store.Tail;
import io.sessionkit.stream.CallEvents;
import io.sessionkit.test.ScriptedChatModel;
import io.sessionkit.test.TestStores;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.slf4j.LoggerFactory;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;

import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.chat.client.ChatClient.ChatClientRequestSpec;
import org.springframework.ai.chat.client.ChatClientRequest;
import org.springframework.ai.chat.client.ChatClientResponse;
import org.springframework.ai.chat.client.advisor.api.StreamAdvisor;
import org.springframework.ai.chat.client.advisor.api.StreamAdvisorChain;
import org.springframework.ai.chat.messages.Message;
import org.springframework.core.Ordered;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests the log of a failure that comes after the reader has left.
 */
@Isolated
class UnreadErrorLogTests {

	private static final SessionKey T1 = SessionKey.of("t1");

	private static final String SECRET = "secret";

	private final CountDownLatch failed = new CountDownLatch(1);

	private final CountDownLatch left = new CountDownLatch(1);

	private final ScriptedChatModel model = new ScriptedChatModel();

	private final Conversations conversations = Conversations.builder(TestStores.MEMORY.create())
		.hooks(new Saving())
		.build();

	private final Logger root = (Logger) LoggerFactory.getLogger(Logger.ROOT_LOGGER_NAME);

	private final Logger springs = (Logger) LoggerFactory
		.getLogger("org.springframework.ai.chat.model.MessageAggregator");

	private final ListAppender<ILoggingEvent> log = new ListAppender<>();

	private enum Reading {

		TEXT((call) -> call.stream().content()), EVENTS(CallEvents::of);

		private final Function<ChatClientRequestSpec, Flux<?>> read;

		Reading(Function<ChatClientRequestSpec, Flux<?>> read) {
			this.read = read;
		}

	}

	@BeforeEach
	void begin() {
		this.springs.setLevel(Level.OFF);
		this.log.start();
		this.root.addAppender(this.log);
	}

	@AfterEach
	void close() {
		this.root.detachAppender(this.log);
		this.springs.setLevel(null);
		this.conversations.close();
	}

	@ParameterizedTest
	@EnumSource
	void modelThatFailsBeforeTheReaderLeavesIsLoggedByItsClassAlone(Reading reading) {
		this.model.step((prompt) -> Flux.concat(Flux.just(this.model.chunk("half", List.of(), false)),
				Flux.error(new IllegalStateException(SECRET))));
		Disposable reader = reading.read.apply(call()).subscribe();
		await(this.failed);
		reader.dispose();
		this.left.countDown();
		assertThatTheClassAloneIsLogged("java.lang.IllegalStateException");
		assertThat(this.conversations.get(T1).turns(Tail.ALL)).hasSize(1)
			.allMatch((turn) -> turn.status() == TurnStatus.FAILED);
	}

	@Test
	void advisorOutsideThatFailsAfterTheReaderHasLeftIsLoggedByItsClassAlone() {
		this.model.step((prompt) -> Flux.just(this.model.chunk("half", List.of(), false)).concatWith(Flux.never()));
		this.left.countDown();
		CountDownLatch read = new CountDownLatch(1);
		Disposable reader = CallEvents.of(call().advisors(new FailingWhenLeft()))
			.subscribe((event) -> read.countDown());
		await(read);
		reader.dispose();
		assertThatTheClassAloneIsLogged("java.lang.IllegalStateException");
	}

	private void assertThatTheClassAloneIsLogged(String type) {
		Awaitility.await()
			.until(() -> List.copyOf(this.log.list).stream().anyMatch((event) -> said(event).contains(type)));
		assertThat(List.copyOf(this.log.list)).map(UnreadErrorLogTests::said)
			.noneMatch((line) -> line.contains(SECRET));
	}

	private static String said(ILoggingEvent event) {
		String thrown = (event.getThrowableProxy() != null)
				? event.getThrowableProxy().getClassName() + event.getThrowableProxy().getMessage() : "";
		return event.getLoggerName() + " " + event.getFormattedMessage() + thrown;
	}

	private ChatClientRequestSpec call() {
		return ChatClient.builder(this.model)
			.defaultAdvisors(SessionAdvisor.of(this.conversations))
			.build()
			.prompt()
			.user("q")
			.advisors(SessionAdvisor.session(T1));
	}

	private static void await(CountDownLatch latch) {
		try {
			assertThat(latch.await(30, TimeUnit.SECONDS)).isTrue();
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

	private final class Saving implements SessionHook {

		@Override
		public HookResult<List<Message>> beforeSave(HookContext context, TurnPart part) {
			UnreadErrorLogTests.this.failed.countDown();
			await(UnreadErrorLogTests.this.left);
			return HookResult.keep();
		}

		@Override
		public boolean checksReplies() {
			return false;
		}

	}

	private static final class FailingWhenLeft implements StreamAdvisor {

		@Override
		public Flux<ChatClientResponse> adviseStream(ChatClientRequest request, StreamAdvisorChain chain) {
			return Flux.from((reader) -> chain.nextStream(request)
				.doOnCancel(() -> reader.onError(new IllegalStateException(SECRET)))
				.subscribe(reader));
		}

		@Override
		public String getName() {
			return "failing";
		}

		@Override
		public int getOrder() {
			return Ordered.HIGHEST_PRECEDENCE;
		}

	}

}
