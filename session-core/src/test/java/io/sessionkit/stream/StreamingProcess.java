package io.sessionkit.stream;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;

import io.sessionkit.SessionKey;
import io.sessionkit.advisor.SessionAdvisor;
import io.sessionkit.conversation.Conversations;
import io.sessionkit.conversation.OtherProcess;
import io.sessionkit.conversation.SharedStore;
import io.sessionkit.test.ClientSetup;
import io.sessionkit.test.ScriptedChatModel;
import reactor.core.publisher.Flux;

import org.springframework.ai.chat.client.ChatClient;

/**
 * The program that {@link OtherProcess} runs: a stream that goes on until it is killed.
 * It says the id of each event.
 */
final class StreamingProcess {

	/** So long that a busy machine alone does not cost a stream its process. */
	static final Duration LEASE = Duration.ofSeconds(5);

	private StreamingProcess() {
	}

	public static void main(String[] words) throws IOException {
		PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
		BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
		Conversations conversations = Conversations.builder(new SharedStore(List.of(words)).open())
			.lease(LEASE)
			.build();
		ScriptedChatModel model = new ScriptedChatModel();
		model.step((prompt) -> Flux.interval(Duration.ofMillis(50))
			.map((tick) -> model.chunk(tick + " ", List.of(), false)));
		ChatClient chat = ClientSetup.streaming().builder(model, SessionAdvisor.of(conversations)).build();
		TurnStreams streams = TurnStreams.builder(conversations).build();
		out.println(OtherProcess.MARK + "ready");
		SessionKey key = SessionKey.of(in.readLine());
		streams.start(chat.prompt().user("q").advisors(SessionAdvisor.session(key)))
			.doOnNext((event) -> out.println(OtherProcess.MARK + event.id()))
			.blockLast();
	}

}
