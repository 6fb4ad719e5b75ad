package io.sessionkit.docs;

import io.sessionkit.advisor.SessionAdvisor;

import org.springframework.ai.chat.client.ChatClient;
import org.springframework.http.MediaType;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RestController;

@RestController
class ChatController {

	private final ChatClient chat;

	ChatController(ChatClient.Builder builder) { // the session advisor is on it already
		this.chat = builder.build();
	}

	@PostMapping(path = "/threads/{thread}", produces = MediaType.TEXT_PLAIN_VALUE)
	String reply(@PathVariable String thread, @RequestBody String text) {
		return this.chat.prompt().user(text).advisors(SessionAdvisor.session(thread)).call().content();
	}

}
