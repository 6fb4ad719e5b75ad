package io.sessionkit.docs;

import io.sessionkit.advisor.CallEvent;
import io.sessionkit.advisor.CallEvents;
import io.sessionkit.advisor.SessionAdvisor;
import reactor.core.publisher.Flux;

import org.springframework.ai.chat.client.ChatClient;
import org.springframework.http.MediaType;
import org.springframework.http.codec.ServerSentEvent;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RestController;

/**
 * The code of {@code docs/streams.md}.
 */
final class StreamSnippets {

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

}
