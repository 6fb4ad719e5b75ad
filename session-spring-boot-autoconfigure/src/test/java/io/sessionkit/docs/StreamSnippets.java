package io.sessionkit.docs;

import java.time.Duration;
import java.util.function.Consumer;

import io.sessionkit.SessionKey;
import io.sessionkit.advisor.SessionAdvisor;
import io.sessionkit.stream.CallEvent;
import io.sessionkit.stream.CallEvents;
import io.sessionkit.stream.StreamEvent;
import io.sessionkit.stream.TurnStreams;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;

import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.chat.client.ChatClient.AdvisorSpec;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.http.codec.ServerSentEvent;
import org.springframework.web.bind.annotation.DeleteMapping;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestHeader;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.server.ResponseStatusException;

/**
 * The code of {@code docs/streams.md}.
 */
public final class StreamSnippets {

	private StreamSnippets() {
	}

	// tag::events
	@RestController
	static class ChatController {

		private final ChatClient chat;

		ChatController(ChatClient.Builder builder) {
			this.chat = builder.build();
		}

		@PostMapping(path = "/chat/{thread}", produces = MediaType.TEXT_EVENT_STREAM_VALUE)
		Flux<ServerSentEvent<CallEvent>> ask(@PathVariable("thread") String thread, @RequestBody String text) {
			return CallEvents.of(this.chat.prompt().user(text).advisors(SessionAdvisor.session(thread)))
				.map((event) -> ServerSentEvent.builder(event).event(event.name()).build());
		}

	}
	// end::events

	// tag::resumable
	@RestController
	public static class ResumableController {

		private final ChatClient chat;

		private final TurnStreams streams;

		public ResumableController(ChatClient.Builder builder, TurnStreams streams) {
			this.chat = builder.build();
			this.streams = streams;
		}

		@PostMapping(path = "/threads/{thread}", produces = MediaType.TEXT_EVENT_STREAM_VALUE)
		Flux<ServerSentEvent<CallEvent>> ask(@PathVariable("thread") String thread, @RequestBody String text,
				@RequestHeader("Idempotency-Key") String request) {
			return sent(this.streams.start(this.chat.prompt()
				.user(text)
				.advisors(SessionAdvisor.session(SessionKey.of(thread)).andThen(named(request)))));
		}

		@GetMapping(path = "/threads/{thread}", produces = MediaType.TEXT_EVENT_STREAM_VALUE)
		Flux<ServerSentEvent<CallEvent>> read(@PathVariable("thread") String thread,
				@RequestHeader(name = "Last-Event-ID", required = false) @Nullable String lastEventId) {
			SessionKey key = SessionKey.of(thread);
			return sent((lastEventId != null) ? this.streams.resume(key, lastEventId) : this.streams.running(key))
				.switchIfEmpty(Flux.error(() -> new ResponseStatusException(HttpStatus.NO_CONTENT)));
		}

		@DeleteMapping("/threads/{thread}/running")
		void stop(@PathVariable("thread") String thread, @RequestHeader("Last-Event-ID") String anyEventId) {
			this.streams.stop(SessionKey.of(thread), anyEventId);
		}

		private static Consumer<AdvisorSpec> named(String request) {
			try {
				return SessionAdvisor.idempotencyKey(request);
			}
			catch (IllegalArgumentException ex) { // blank or too long
				throw new ResponseStatusException(HttpStatus.BAD_REQUEST, ex.getMessage());
			}
		}

		private static Flux<ServerSentEvent<CallEvent>> sent(Flux<StreamEvent> events) {
			return events
				.map((each) -> ServerSentEvent.builder(each.event()).id(each.id()).event(each.event().name()).build());
		}

	}
	// end::resumable

	// tag::heartbeat
	static Flux<ServerSentEvent<CallEvent>> alive(Flux<ServerSentEvent<CallEvent>> events, Duration period) {
		Flux<ServerSentEvent<CallEvent>> comments = Flux.interval(period)
			.onBackpressureDrop()
			.map((tick) -> ServerSentEvent.<CallEvent>builder().comment("alive").build());
		return events.publish((shared) -> Flux.merge(shared, comments.takeUntilOther(shared.ignoreElements())));
	}
	// end::heartbeat

}
