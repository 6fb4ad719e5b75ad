package io.sessionkit.stream;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import io.sessionkit.SessionKey;
import io.sessionkit.TurnStatus;
import io.sessionkit.advisor.SessionAdvisor;
import io.sessionkit.codec.JsonMessageCodec;
import io.sessionkit.conversation.Conversations;
import io.sessionkit.hook.HookContext;
import io.sessionkit.hook.HookResult;
import io.sessionkit.hook.SessionHook;
import io.sessionkit.internal.stream.StreamLogs;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.StoreOptions;
import io.sessionkit.store.Tail;
import io.sessionkit.store.memory.InMemorySessionStore;
import io.sessionkit.test.ClientSetup;
import io.sessionkit.test.ScriptedChatModel;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.parallel.Isolated;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Sinks;
import reactor.core.scheduler.Schedulers;

import org.springframework.ai.chat.client.ChatClient.ChatClientRequestSpec;
import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.model.ChatResponse;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Streams while hooks of others do not end, on all threads on which hooks run.
 */
@Isolated
@Timeout(60)
class HangingHooksTests {

	private static final SessionKey KEY = SessionKey.of("ada", "t1");

	private static final int THREADS = Schedulers.DEFAULT_BOUNDED_ELASTIC_SIZE;

	private static final Duration SOON = Duration.ofSeconds(10);

	private final SessionStore store = new InMemorySessionStore(StoreOptions.of(JsonMessageCodec.create()));

	private final Conversations conversations = Conversations.builder(this.store).hooks(new Hanging()).build();

	private final TurnStreams streams = TurnStreams.builder(this.conversations).build();

	private final ScriptedChatModel model = new ScriptedChatModel();

	private final Sinks.Many<ChatResponse> words = Sinks.many().unicast().onBackpressureBuffer();

	private final List<StreamEvent> events = new CopyOnWriteArrayList<>();

	private final CountDownLatch hanging = new CountDownLatch(THREADS);

	/** Let hooks end, in the order in which they have begun. */
	private final List<CountDownLatch> ends = new CopyOnWriteArrayList<>();

	/** Does not end for some calls. */
	private final class Hanging implements SessionHook {

		@Override
		public HookResult<List<Message>> beforeTurn(HookContext context, List<Message> input) {
			if (context.key().equals(KEY)) {
				return HookResult.keep();
			}
			CountDownLatch ends = new CountDownLatch(1);
			HangingHooksTests.this.ends.add(ends);
			HangingHooksTests.this.hanging.countDown();
			awaitOpen(ends);
			return HookResult.answer("done");
		}

	}

	@BeforeEach
	void hang() throws Exception {
		this.model.step((prompt) -> this.words.asFlux());
		this.streams.start(prompt(KEY)).subscribe(this.events::add);
		say("one");
		Awaitility.await().atMost(SOON).until(() -> !this.events.isEmpty());
		Flux.range(0, THREADS)
			.flatMap((number) -> prompt(SessionKey.of("ada", "other" + number)).stream().content(), THREADS)
			.subscribe();
		assertThat(this.hanging.await(10, TimeUnit.SECONDS)).isTrue();
	}

	@AfterEach
	void end() {
		this.ends.forEach(CountDownLatch::countDown);
		this.streams.close();
		this.conversations.close();
	}

	@Test
	void whatStreamsOfOthersSayIsWritten() {
		say("two");
		Awaitility.await()
			.atMost(SOON)
			.until(() -> this.store.records(KEY, StreamLogs.KIND)
				.stream()
				.anyMatch((record) -> record.payload().contains("two")));
	}

	@Test
	void turnIsStoredAsSoonAsOneHookHasEnded() throws Exception {
		this.words.tryEmitNext(this.model.chunk("", List.of(), true));
		this.words.tryEmitComplete();
		TimeUnit.MILLISECONDS.sleep(200);
		assertThat(this.store.turns(KEY, Tail.ALL)).isEmpty();
		this.ends.get(THREADS - 1).countDown();
		Awaitility.await().atMost(SOON).until(() -> !this.store.turns(KEY, Tail.ALL).isEmpty());
		assertThat(this.store.turns(KEY, Tail.ALL).get(0).status()).isEqualTo(TurnStatus.COMPLETED);
	}

	private static void awaitOpen(CountDownLatch latch) {
		try {
			latch.await();
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

	private void say(String word) {
		this.words.tryEmitNext(this.model.chunk(word, List.of(), false));
	}

	private ChatClientRequestSpec prompt(SessionKey key) {
		return ClientSetup.streaming()
			.builder(this.model, SessionAdvisor.of(this.conversations))
			.build()
			.prompt()
			.user("q")
			.advisors(SessionAdvisor.session(key));
	}

}
