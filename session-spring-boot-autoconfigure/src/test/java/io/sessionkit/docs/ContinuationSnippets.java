package io.sessionkit.docs;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Supplier;

import io.sessionkit.stream.TurnContinuation;

import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.tool.annotation.Tool;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/**
 * The code of {@code docs/continuing.md} on turns that continue by themselves. A test of
 * the auto-configuration runs it.
 */
public final class ContinuationSnippets {

	private ContinuationSnippets() {
	}

	// tag::bean
	@Configuration(proxyBeanMethods = false)
	public static class ContinuationConfiguration {

		@Bean
		TurnContinuation continuation(ChatClient.Builder builder, OrderTools tools) {
			ChatClient chat = builder.build();
			// the client, tools and options with which turns are begun
			return (turn) -> chat.prompt().tools(tools);
		}

	}
	// end::bean

	/** Tools that know who they work for. */
	public static class OrderTools {

		private final List<String> runs = new CopyOnWriteArrayList<>();

		private Supplier<String> caller = () -> "somebody";

		@Tool(name = "cancel_order", description = "cancels an order")
		String cancel(int id) {
			this.runs.add(id + " for " + this.caller.get());
			return "cancelled";
		}

		@Tool(name = "look", description = "looks")
		String look() {
			this.runs.add("look");
			return "seen";
		}

		public List<String> runs() {
			return this.runs;
		}

		public void caller(Supplier<String> supplier) {
			this.caller = supplier;
		}

	}

}
