package io.sessionkit.internal.view;

import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

import io.sessionkit.test.ValidSequence;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.AssistantMessage.ToolCall;
import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.ToolResponseMessage;
import org.springframework.ai.chat.messages.ToolResponseMessage.ToolResponse;
import org.springframework.ai.chat.messages.UserMessage;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The ids of the tool calls of one reply in a request.
 */
class DistinctIdsTests {

	@Test
	void callThatHasTheIdOfAnEarlierOneGetsOneOfItsOwn() {
		assertThat(ids("c1", "c1", "c2", "c1")).containsExactly("c1", "c1_2", "c2", "c1_4");
		assertThat(ids("a", "a", "a_2")).containsExactly("a", "a_2_", "a_2");
	}

	@Test
	void callWithoutAnIdGetsOneIfAnotherHasOne() {
		assertThat(ids("", "c1", null)).containsExactly("c1_1", "c1", "c1_3");
	}

	@Test
	void nothingIsChangedIfAllIdsAreDistinctOrThereAreNone() {
		for (String[] ids : List.of(new String[] { "c1", "c2" }, new String[] { "c1" }, new String[] { "" },
				new String[] { "", "" }, new String[] { null, null })) {
			List<Message> request = request(ids);
			assertThat(DistinctIds.of(request)).isSameAs(request);
		}
	}

	@Test
	void allButTheIdsStaysAndTheRequestTooAndEachTimeTheyAreTheSame() {
		List<Message> request = request("c1", "c1");
		List<Message> sent = DistinctIds.of(request);
		AssistantMessage reply = (AssistantMessage) sent.get(1);
		assertThat(sent).hasSize(3).startsWith(request.get(0)).isEqualTo(DistinctIds.of(request));
		assertThat(reply.getText()).isEqualTo("let me see");
		assertThat(reply.getMetadata()).containsEntry("thought", "hm");
		assertThat(reply.getToolCalls()).extracting(ToolCall::arguments).containsExactly("0", "1");
		assertThat(((ToolResponseMessage) sent.get(2)).getResponses()).extracting(ToolResponse::responseData)
			.containsExactly("0", "1");
		assertThat(request).isEqualTo(request("c1", "c1"));
	}

	@Test
	void replyWhoseResultsDoNotFollowInOneMessageStaysAsItIs() {
		List<Message> request = request("c1", "c1");
		for (List<Message> other : List.of(request.subList(0, 2),
				List.of(request.get(1), ToolResponseMessage.builder().responses(List.of()).build()))) {
			assertThat(DistinctIds.of(other)).isSameAs(other);
		}
	}

	private static List<String> ids(@Nullable String... ids) {
		List<Message> sent = DistinctIds.of(request(ids));
		assertThat(ValidSequence.faults(sent)).isEmpty();
		return ((AssistantMessage) sent.get(1)).getToolCalls().stream().map(ToolCall::id).toList();
	}

	private static List<Message> request(@Nullable String... ids) {
		List<String> all = Arrays.asList(ids);
		List<ToolCall> calls = IntStream.range(0, ids.length)
			.mapToObj((i) -> new ToolCall(all.get(i), "function", "t", String.valueOf(i)))
			.toList();
		List<ToolResponse> results = IntStream.range(0, ids.length)
			.mapToObj((i) -> new ToolResponse(all.get(i), "t", String.valueOf(i)))
			.toList();
		return List.of(new UserMessage("q"),
				AssistantMessage.builder()
					.content("let me see")
					.toolCalls(calls)
					.properties(Map.of("thought", "hm"))
					.build(),
				ToolResponseMessage.builder().responses(results).build());
	}

}
