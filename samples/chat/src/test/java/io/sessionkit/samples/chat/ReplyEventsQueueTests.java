package io.sessionkit.samples.chat;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;

import io.sessionkit.Turn;
import io.sessionkit.advisor.SessionAdvisor;
import io.sessionkit.codec.JsonMessageCodec;
import io.sessionkit.conversation.Conversations;
import io.sessionkit.store.StoreOptions;
import io.sessionkit.store.Tail;
import io.sessionkit.store.memory.InMemorySessionStore;
import io.sessionkit.stream.CallEvent;
import io.sessionkit.stream.OnDisconnect;
import io.sessionkit.stream.StreamEvent;
import io.sessionkit.stream.TurnStreams;
import org.junit.jupiter.api.Test;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Sinks;

import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.model.ChatModel;
import org.springframework.ai.chat.model.ChatResponse;
import org.springframework.ai.chat.model.Generation;
import org.springframework.ai.chat.prompt.Prompt;
import org.springframework.http.codec.ServerSentEvent;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

class ReplyEventsQueueTests {

	private final Conversations conversations = Conversations
		.of(new InMemorySessionStore(StoreOptions.of(JsonMessageCodec.create())));

	@Test
	void cancelsTheModelWithTheReaderAndSendsNothingAfterwards() {
		Sinks.Many<ChatResponse> model = Sinks.many().unicast().onBackpressureBuffer();
		AtomicBoolean cancelled = new AtomicBoolean();
		List<String> read = new CopyOnWriteArrayList<>();
		Disposable reader = events(model.asFlux().doOnCancel(() -> cancelled.set(true)))
			.subscribe((event) -> read.add(String.valueOf(event.event())));

		model.tryEmitNext(chunk("Hello", Map.of()));
		await().untilAsserted(() -> assertThat(read).containsExactly("text"));
		reader.dispose();

		await().untilTrue(cancelled);
		model.tryEmitNext(chunk("again", Map.of()));
		assertThat(read).containsExactly("text");
	}

	@Test
	void streamsReasoningBeforeTheText() {
		List<ServerSentEvent<Object>> events = events(
				Flux.just(chunk("", Map.of("reasoningContent", "They greet me.")), chunk("Hello", Map.of())))
			.collectList()
			.block(Duration.ofSeconds(10));

		assertThat(events).extracting(ServerSentEvent::event).containsExactly("reasoning", "text", "turn");
		assertThat(events.get(0).data()).isEqualTo(new ReplyEvents.Text("They greet me."));
	}

	@Test
	void saysWhenTheModelGaveNoAnswer() {
		List<ServerSentEvent<Object>> events = events(Flux.empty()).collectList().block(Duration.ofSeconds(10));

		assertThat(events).last().satisfies((event) -> assertThat(String.valueOf(event.data())).contains("no reply"));
	}

	@Test
	void findsATurnOfLongAgoByItsNumber() {
		events(Flux.just(chunk("Hello", Map.of()))).blockLast(Duration.ofSeconds(10));
		Turn first = this.conversations.get("queue").turns(Tail.newest(1)).get(0);
		for (int i = 0; i < 20; i++) {
			events(Flux.just(chunk("Hello", Map.of()))).blockLast(Duration.ofSeconds(10));
		}

		List<ServerSentEvent<Object>> again = ReplyEvents.of(
				Flux.just(new StreamEvent("", new CallEvent.Repeated()),
						new StreamEvent("", new CallEvent.Ended(first.id(), first.number(), first.status()))),
				this.conversations.get("queue"))
			.collectList()
			.block(Duration.ofSeconds(10));

		assertThat(again).extracting(ServerSentEvent::event).containsExactly("turn");
	}

	private Flux<ServerSentEvent<Object>> events(Flux<ChatResponse> reply) {
		ChatModel model = new ChatModel() {

			@Override
			public ChatResponse call(Prompt prompt) {
				throw new UnsupportedOperationException();
			}

			@Override
			public Flux<ChatResponse> stream(Prompt prompt) {
				return reply;
			}

		};
		ChatClient client = ChatClient.builder(model).defaultAdvisors(SessionAdvisor.of(this.conversations)).build();
		TurnStreams streams = TurnStreams.builder(this.conversations).build();
		return ReplyEvents
			.of(streams.start(client.prompt().user("Hello").advisors(SessionAdvisor.session("queue")),
					OnDisconnect.CANCEL), this.conversations.get("queue"))
			.filter((event) -> !Map.of().equals(event.data())); // it has begun
	}

	private static ChatResponse chunk(String text, Map<String, Object> metadata) {
		return new ChatResponse(
				List.of(new Generation(AssistantMessage.builder().content(text).properties(metadata).build())));
	}

}
