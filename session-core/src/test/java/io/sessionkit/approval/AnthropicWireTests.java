package io.sessionkit.approval;

import java.io.IOException;

import io.sessionkit.advisor.AnthropicStub;
import io.sessionkit.advisor.ProviderStub;
import io.sessionkit.advisor.SessionAdvisor;
import io.sessionkit.conversation.Conversations;
import io.sessionkit.guard.StopWords;
import io.sessionkit.test.ClientSetup;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.ai.chat.client.ChatClient;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Anthropic gets its thinking blocks back with their signatures, unchanged.
 */
class AnthropicWireTests extends ProviderWireTests {

	@Override
	ProviderStub create() throws IOException {
		return new AnthropicStub();
	}

	@Override
	String assistant(String said, String... thinking) {
		StringBuilder line = new StringBuilder("assistant");
		for (String thought : thinking) {
			line.append(" <").append(thought).append("|signed-").append(thought.length()).append('>');
		}
		return line + said;
	}

	@Override
	String result(String id, String text) {
		return "tool " + id + ": " + text;
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void hiddenThinkingIsSentBackToo(ClientSetup.Mode mode) {
		pause(mode, "redacted:secret", "seen");
		approve();
		this.stub.says("done");
		goOn(mode);
		assertRequests("system: be brief", "user: q", "assistant <secret> <seen|signed-4> c1{\"id\":1} c2{\"id\":2}",
				"tool c1: done {\"id\":1}", "tool c2: done {\"id\":2}");
	}

	/**
	 * Spring AI's client returns the text of the first generation, which is a thought.
	 */
	@Test
	void contentOfACallWithThinkingIsTheThoughtWithASessionAndWithout() {
		this.stub.says("done", "hm");
		assertThat(ChatClient.create(this.stub.model()).prompt().user("q").call().content()).isEqualTo("hm");
		this.stub.says("done", "hm");
		assertThat(ask(ClientSetup.Mode.CALL, "q")).isEqualTo("hm");
		assertThat(this.store.messages(KEY, 1).get(0).getText()).isEqualTo("done");
		this.stub.says("done", "hm");
		assertThat(ask(ClientSetup.Mode.STREAM, "q")).isEqualTo("done");
	}

	/** Nothing is handed on that a guard has not checked. */
	@Test
	void contentOfACallWhoseReplyIsCheckedIsTheAnswer() {
		this.stub.says("done", "hm");
		Conversations checked = Conversations.builder(this.store).hooks(StopWords.of("hm")).build();
		assertThat(ChatClient.builder(this.stub.model())
			.defaultAdvisors(SessionAdvisor.of(checked))
			.build()
			.prompt()
			.user("q")
			.advisors(SessionAdvisor.session(KEY))
			.call()
			.content()).isEqualTo("done");
	}

	/**
	 * The client streams nothing but that the model thinks; the texts are in the turn.
	 */
	@Test
	void thoughtsAreNoEvents() {
		this.stub.says("a1", "good");
		assertThat(events("q1")).containsExactly("says a", "says 1");
	}

}
