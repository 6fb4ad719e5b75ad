package io.sessionkit.advisor;

import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;

import org.springframework.ai.model.tool.ToolCallingChatOptions;
import org.springframework.ai.tool.ToolCallback;
import org.springframework.ai.tool.definition.ToolDefinition;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The digests of tools, also of those whose definition is not a record of Spring AI.
 */
class ToolDigestsTests {

	private final AtomicReference<String> description = new AtomicReference<>("Cancels an order");

	@Test
	void definitionThatSaysSomethingElseHasAnotherDigest() {
		Map<String, String> before = digests();
		assertThat(digests()).isEqualTo(before);
		this.description.set("Cancels all orders");
		assertThat(digests()).isNotEqualTo(before).containsOnlyKeys("cancel");
	}

	/** UTF-8 has none, so that all of them would be question marks. */
	@Test
	void halvesOfCharactersDifferFromEachOtherAndFromQuestionMarks() {
		List<Map<String, String>> digests = Stream.of("x\ud800", "x\udc00", "x?").map((text) -> {
			this.description.set(text);
			return digests();
		}).toList();
		assertThat(digests).doesNotHaveDuplicates();
	}

	private final ToolDefinition definition = new ToolDefinition() {

		@Override
		public String name() {
			return "cancel";
		}

		@Override
		public String description() {
			return ToolDigestsTests.this.description.get();
		}

		@Override
		public String inputSchema() {
			return "{}";
		}

	};

	private Map<String, String> digests() {
		return ToolDigests.of(ToolCallingChatOptions.builder().toolCallbacks(new ToolCallback() {

			@Override
			public ToolDefinition getToolDefinition() {
				return ToolDigestsTests.this.definition;
			}

			@Override
			public String call(String input) {
				return input;
			}

		}).build());
	}

}
