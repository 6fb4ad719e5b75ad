package io.sessionkit.approval;

import java.util.Arrays;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

import io.modelcontextprotocol.client.McpClient;
import io.modelcontextprotocol.client.McpSyncClient;
import io.sessionkit.SessionKey;
import io.sessionkit.access.Caller;
import io.sessionkit.access.SessionAccess;
import io.sessionkit.advisor.SessionAdvisor;
import io.sessionkit.codec.JsonMessageCodec;
import io.sessionkit.conversation.Approvals;
import io.sessionkit.conversation.Conversations;
import io.sessionkit.store.Page;
import io.sessionkit.store.StoreOptions;
import io.sessionkit.store.memory.InMemorySessionStore;
import io.sessionkit.test.ScriptedChatModel;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.chat.messages.AssistantMessage.ToolCall;
import org.springframework.ai.mcp.SyncMcpToolCallbackProvider;
import org.springframework.ai.tool.ToolCallback;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Spring AI renames an MCP tool whose name another one had before. What is configured for
 * the name holds for both. Clients and provider are the real ones.
 */
class RenamedMcpToolTests {

	private static final SessionKey T1 = SessionKey.of("t1");

	private final AnsweringMcpServer shop = new AnsweringMcpServer("shop");

	private final AnsweringMcpServer bank = new AnsweringMcpServer("bank");

	private final McpSyncClient shopClient = McpClient.sync(this.shop).build();

	private final McpSyncClient bankClient = McpClient.sync(this.bank).build();

	private final SyncMcpToolCallbackProvider provider = SyncMcpToolCallbackProvider.builder()
		.mcpClients(this.shopClient, this.bankClient)
		.build();

	private final ScriptedChatModel model = new ScriptedChatModel();

	private volatile Caller caller = Caller.server();

	private final Conversations conversations = Conversations
		.builder(new InMemorySessionStore(StoreOptions.of(JsonMessageCodec.create())))
		.access(SessionAccess.of(() -> Optional.of(this.caller)))
		.build();

	private final Approvals approvals = Approvals.builder(this.conversations)
		.tools(Set.of("cancel"))
		.deciders(Map.of("cancel", Set.of("ROLE_LEAD")))
		.build();

	@BeforeEach
	void connect() {
		this.shopClient.initialize();
		this.bankClient.initialize();
	}

	@AfterEach
	void close() {
		this.shopClient.close();
		this.bankClient.close();
	}

	@Test
	void toolsOfTwoServersWithOneNameBothWait() {
		this.shop.offers("cancel", "cancels an order");
		this.bank.offers("cancel", "cancels an account");
		assertThat(names()).containsExactly("cancel", "alt_1_cancel");
		ask("cancel");
		assertWaits("cancel");
		this.approvals.cancel(T1);
		ask("alt_1_cancel");
		assertWaits("alt_1_cancel");
	}

	@Test
	void toolWhoseServerHasDescribedItAnewWaitsAsBefore() {
		this.shop.offers("cancel", "cancels an order");
		assertThat(names()).containsExactly("cancel");
		ask("cancel");
		assertWaits("cancel");
		this.approvals.cancel(T1);
		this.shop.offers("cancel", "cancels any order");
		this.provider.invalidateCache();
		assertThat(names()).containsExactly("alt_1_cancel");
		ask("alt_1_cancel");
		assertWaits("alt_1_cancel");
	}

	@Test
	void renamedToolHasTheDecidersOfItsName() {
		this.shop.offers("cancel", "cancels an order");
		this.bank.offers("cancel", "cancels an account");
		this.caller = Caller.of("ada");
		ask("alt_1_cancel");
		ToolApproval waiting = this.approvals.pending(T1).get(0);
		assertThatExceptionOfType(DeciderRequiredException.class)
			.isThrownBy(() -> this.approvals.decide(waiting, Decision.approve("ada")));
		this.caller = Caller.of("bob", "ROLE_LEAD");
		InboxQuery query = InboxQuery.ofAnyOwner().tools(Set.of("cancel"));
		assertThat(this.approvals.inbox(query, Page.first(5))).extracting(ToolApproval::id)
			.containsExactly(waiting.id());
		this.approvals.decide(waiting, Decision.approve("bob"));
		this.caller = Caller.of("ada");
		assertThat(this.approvals.ledger(T1)).extracting(ToolApproval::status).containsExactly(ApprovalStatus.APPROVED);
	}

	private String[] names() {
		return Arrays.stream(this.provider.getToolCallbacks())
			.map((tool) -> tool.getToolDefinition().name())
			.toArray(String[]::new);
	}

	private void ask(String tool) {
		this.model.calls(new ToolCall("c1", "function", tool, "{\"id\":7}"));
		ToolCallback[] tools = this.provider.getToolCallbacks();
		ChatClient.builder(this.model)
			.defaultAdvisors(SessionAdvisor.builder(this.conversations).approvals(this.approvals).build())
			.build()
			.prompt()
			.user("q")
			.toolCallbacks(tools)
			.advisors(SessionAdvisor.session(T1))
			.call()
			.content();
	}

	private void assertWaits(String tool) {
		assertThat(this.approvals.pending(T1)).extracting(ToolApproval::tool).containsExactly(tool);
		assertThat(this.shop.calls()).isEmpty();
		assertThat(this.bank.calls()).isEmpty();
	}

}
