package io.sessionkit.approval;

import java.util.Map;
import java.util.Set;

import io.modelcontextprotocol.client.McpClient;
import io.modelcontextprotocol.client.McpSyncClient;
import io.modelcontextprotocol.spec.McpSchema;
import io.sessionkit.SessionKey;
import io.sessionkit.advisor.SessionAdvisor;
import io.sessionkit.codec.JsonMessageCodec;
import io.sessionkit.conversation.Approvals;
import io.sessionkit.conversation.Conversations;
import io.sessionkit.store.StoreOptions;
import io.sessionkit.store.memory.InMemorySessionStore;
import io.sessionkit.test.ClientSetup;
import io.sessionkit.test.ScriptedChatModel;
import io.sessionkit.test.ScriptedChatModel.Lines;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.chat.messages.AssistantMessage.ToolCall;
import org.springframework.ai.mcp.SyncMcpToolCallback;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tools behind an MCP server wait for a person like any other. Client and callback are
 * the real ones; the server is a transport that answers by itself.
 */
class McpToolTests {

	private static final SessionKey T1 = SessionKey.of("t1");

	private final AnsweringMcpServer server = new AnsweringMcpServer("shop");

	private final McpSyncClient client = McpClient.sync(this.server).build();

	private final ScriptedChatModel model = new ScriptedChatModel();

	private final Conversations conversations = Conversations
		.of(new InMemorySessionStore(StoreOptions.of(JsonMessageCodec.create())));

	@AfterEach
	void close() {
		this.client.close();
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void gatedToolOfAnMcpServerRunsWhenAPersonHasAgreed(ClientSetup.Mode mode) {
		this.client.initialize();
		ClientSetup setup = new ClientSetup(mode, ClientSetup.ToolLoop.AUTOMATIC, false);
		Approvals approvals = Approvals.builder(this.conversations).tools(Set.of("cancel")).build();
		SessionAdvisor advisor = SessionAdvisor.builder(this.conversations).approvals(approvals).build();
		ChatClient chat = setup.builder(this.model, advisor).defaultTools(tool("look"), tool("cancel")).build();
		this.model.calls(call("c1", "look")).calls(call("c2", "cancel")).says("done");
		setup.content(
				chat.prompt().user("q").toolContext(Map.of("tenant", "acme")).advisors(SessionAdvisor.session(T1)));
		assertThat(this.server.calls()).extracting(McpSchema.CallToolRequest::name).containsExactly("look");
		ToolApproval waiting = approvals.pending(T1).get(0);
		assertThat(waiting.tool()).isEqualTo("cancel");
		approvals.decide(waiting, Decision.approve("anna"));
		setup.content(chat.prompt().toolContext(Map.of("tenant", "acme")).advisors(SessionAdvisor.session(T1)));
		assertThat(this.server.calls()).extracting(McpSchema.CallToolRequest::name).containsExactly("look", "cancel");
		assertThat(this.server.calls()).extracting(McpSchema.CallToolRequest::arguments).containsOnly(Map.of("id", 7));
		assertThat(this.server.calls().get(0).meta()).isEqualTo(Map.of("tenant", "acme"));
		assertThat(this.server.calls().get(1).meta()).containsOnlyKeys("tenant", Approvals.CLAIM);
		assertThat(approvals.ledger(T1)).extracting(ToolApproval::status).containsExactly(ApprovalStatus.DONE);
		assertThat(Lines.of(this.conversations.get(T1).messages())).hasSize(6)
			.startsWith("user: q", "assistant look({\"id\":7})")
			.endsWith("assistant: done");
	}

	private SyncMcpToolCallback tool(String name) {
		return SyncMcpToolCallback.builder()
			.mcpClient(this.client)
			.tool(McpSchema.Tool.builder(name, AnsweringMcpServer.SCHEMA).description("of the server").build())
			.prefixedToolName(name)
			.build();
	}

	private static ToolCall call(String id, String tool) {
		return new ToolCall(id, "function", tool, "{\"id\":7}");
	}

}
