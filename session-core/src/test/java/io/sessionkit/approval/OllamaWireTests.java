package io.sessionkit.approval;

import java.io.IOException;
import java.util.List;

import io.sessionkit.SessionItem;
import io.sessionkit.advisor.OllamaStub;
import io.sessionkit.advisor.ProviderStub;
import io.sessionkit.store.Tail;
import io.sessionkit.test.ClientSetup;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Ollama's model of Spring AI sends no thinking back. The session keeps it.
 */
class OllamaWireTests extends ProviderWireTests {

	@Override
	ProviderStub create() throws IOException {
		return new OllamaStub();
	}

	@Override
	String assistant(String said, String... thinking) {
		return "assistant" + said;
	}

	@Override
	String result(String id, String text) {
		return "tool: " + text;
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void thinkingIsKeptWithTheMessageWhole(ClientSetup.Mode mode) {
		pause(mode, "think first, ", "then call");
		approve();
		this.stub.says("done", "all good");
		goOn(mode);
		assertThat(this.store.items(KEY, Tail.ALL)).extracting(SessionItem::message)
			.filteredOn((message) -> message.getMetadata().containsKey("thinking"))
			.extracting((message) -> message.getMetadata().get("thinking"))
			.containsExactly("think first, then call", "all good");
	}

	@Test
	void thoughtsComeAsEventsInPiecesAndOnce() {
		this.stub.calls(List.of(ApprovalFixture.look("c1", 1)), "look");
		this.stub.says("a1", "good");
		assertThat(events("q1")).containsExactly("thinks lo", "thinks ok", "thinks go", "thinks od", "says a",
				"says 1");
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void callsWithoutIdsWaitAndGoOn(ClientSetup.Mode mode) {
		this.stub.calls(List.of(ApprovalFixture.cancel("", 1), ApprovalFixture.cancel("", 2)));
		ask(mode, "q");
		approve();
		this.stub.says("done");
		assertThat(goOn(mode)).isEqualTo("done");
		assertRequests("system: be brief", "user: q", "assistant {\"id\":1} {\"id\":2}", "tool: done {\"id\":1}",
				"tool: done {\"id\":2}");
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void callsWithoutIdsThatNeedNoApprovalRun(ClientSetup.Mode mode) {
		this.stub.calls(List.of(ApprovalFixture.look("", 1), ApprovalFixture.look("", 2)));
		this.stub.says("a1");
		this.stub.says("a2");
		assertThat(ask(mode, "q1")).isEqualTo("a1");
		ask(mode, "q2");
		assertRequests("system: be brief", "user: q1", "assistant {\"id\":1} {\"id\":2}", "tool: done {\"id\":1}",
				"tool: done {\"id\":2}", "assistant: a1", "user: q2");
	}

}
