package io.sessionkit.docs;

import java.util.List;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.model.ChatModel;
import org.springframework.ai.chat.model.ChatResponse;
import org.springframework.ai.chat.model.Generation;
import org.springframework.ai.chat.prompt.Prompt;
import org.springframework.http.MediaType;
import org.springframework.test.web.servlet.MockMvc;
import org.springframework.test.web.servlet.MvcResult;
import org.springframework.test.web.servlet.setup.MockMvcBuilders;

import static org.assertj.core.api.Assertions.assertThat;
import static org.springframework.test.web.servlet.request.MockMvcRequestBuilders.post;

/**
 * The controller of README.md.
 */
class ReadmeTests {

	private final ChatModel model = new ChatModel() {

		@Override
		public ChatResponse call(Prompt prompt) {
			return new ChatResponse(List.of(new Generation(new AssistantMessage("<b>bold</b>"))));
		}

	};

	/** A browser would run what a model, or whoever has misled it, writes. */
	@ParameterizedTest
	@CsvSource({ "text/html,406", "'text/html,*/*;q=0.8',200", "'*/*',200", "text/plain,200" })
	void answerOfTheModelIsNeverHtml(String accepted, int status) throws Exception {
		MockMvc mvc = MockMvcBuilders.standaloneSetup(new ChatController(ChatClient.builder(this.model))).build();
		MvcResult result = mvc.perform(post("/threads/t1").header("Accept", accepted).content("q")).andReturn();
		assertThat(result.getResponse().getStatus()).isEqualTo(status);
		String type = result.getResponse().getContentType();
		assertThat((type == null) || MediaType.TEXT_PLAIN.isCompatibleWith(MediaType.parseMediaType(type))).isTrue();
		assertThat(result.getResponse().getContentAsString()).isEqualTo((status == 200) ? "<b>bold</b>" : "");
	}

}
