package io.sessionkit.test;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

import io.micrometer.observation.ObservationRegistry;
import io.sessionkit.advisor.SessionAdvisor;
import org.jspecify.annotations.Nullable;

import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.chat.client.advisor.ToolCallingAdvisor;
import org.springframework.ai.chat.model.ChatModel;
import org.springframework.ai.chat.model.ChatResponse;

/**
 * The ways a client can be put together and called: each behaviour has to be the same in
 * all of them.
 */
public record ClientSetup(Mode mode, ToolLoop loop, boolean system) {

	public enum Mode {

		CALL, STREAM

	}

	public enum ToolLoop {

		/** The client adds the tool advisor itself. */
		AUTOMATIC,

		/** The application adds one. */
		EXPLICIT,

		/** The application adds one that forwards only the newest message. */
		NEWEST_ONLY

	}

	public static List<ClientSetup> all() {
		List<ClientSetup> all = new ArrayList<>();
		for (Mode mode : Mode.values()) {
			for (ToolLoop loop : ToolLoop.values()) {
				all.add(new ClientSetup(mode, loop, true));
				all.add(new ClientSetup(mode, loop, false));
			}
		}
		return all;
	}

	public static ClientSetup plain() {
		return new ClientSetup(Mode.CALL, ToolLoop.AUTOMATIC, false);
	}

	public static ClientSetup streaming() {
		return new ClientSetup(Mode.STREAM, ToolLoop.AUTOMATIC, false);
	}

	public ChatClient.Builder builder(ChatModel model, @Nullable SessionAdvisor advisor) {
		ChatClient.Builder builder = ChatClient.builder(model);
		if (advisor != null) {
			builder.defaultAdvisors(advisor);
		}
		if (this.system) {
			builder.defaultSystem("be brief");
		}
		switch (this.loop) {
			case EXPLICIT -> builder.defaultAdvisors(ToolCallingAdvisor.builder().build());
			case NEWEST_ONLY ->
				builder.defaultAdvisors(ToolCallingAdvisor.builder().disableInternalConversationHistory().build());
			case AUTOMATIC -> {
			}
		}
		return builder;
	}

	/**
	 * Calls and gives what the caller sees: the text, with the stream's chunks joined.
	 */
	public @Nullable String content(ChatClient.ChatClientRequestSpec spec) {
		if (this.mode == Mode.CALL) {
			return spec.call().content();
		}
		List<String> chunks = spec.stream().content().collectList().block();
		return (chunks != null) ? String.join("", chunks) : null;
	}

	/**
	 * Calls and gives the response, the last element of a stream.
	 */
	public @Nullable ChatResponse response(ChatClient.ChatClientRequestSpec spec) {
		if (this.mode == Mode.CALL) {
			return spec.call().chatResponse();
		}
		return spec.stream().chatResponse().blockLast();
	}

	/**
	 * The lines that a system text adds to a request of this setup.
	 */
	public List<String> lines(String... lines) {
		List<String> all = new ArrayList<>();
		if (this.system) {
			all.add("system: be brief");
		}
		all.addAll(List.of(lines));
		return all;
	}

	public static ChatClient observed(ChatModel model, SessionAdvisor advisor, ObservationRegistry registry,
			Consumer<ChatClient.Builder> more) {
		ChatClient.Builder builder = ChatClient.builder(model, registry, null, null).defaultAdvisors(advisor);
		more.accept(builder);
		return builder.build();
	}

}
