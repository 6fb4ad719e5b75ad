package io.sessionkit.approval;

import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Function;

import io.modelcontextprotocol.json.McpJsonDefaults;
import io.modelcontextprotocol.json.TypeRef;
import io.modelcontextprotocol.spec.McpClientTransport;
import io.modelcontextprotocol.spec.McpSchema;
import io.modelcontextprotocol.spec.McpSchema.JSONRPCMessage;
import io.modelcontextprotocol.spec.McpSchema.JSONRPCRequest;
import io.modelcontextprotocol.spec.McpSchema.JSONRPCResponse;
import reactor.core.publisher.Mono;

/**
 * A transport that answers what an MCP server would answer, and keeps the calls.
 */
final class AnsweringMcpServer implements McpClientTransport {

	static final Map<String, Object> SCHEMA = Map.of("type", "object", "properties",
			Map.of("id", Map.of("type", "integer")), "required", List.of("id"));

	private final String name;

	private final List<McpSchema.CallToolRequest> calls = new CopyOnWriteArrayList<>();

	private volatile List<McpSchema.Tool> tools = List.of();

	private volatile Function<Mono<JSONRPCMessage>, Mono<JSONRPCMessage>> handler = (message) -> message;

	AnsweringMcpServer(String name) {
		this.name = name;
	}

	List<McpSchema.CallToolRequest> calls() {
		return this.calls;
	}

	void offers(String tool, String description) {
		this.tools = List.of(McpSchema.Tool.builder(tool, SCHEMA).description(description).build());
	}

	@Override
	public Mono<Void> connect(Function<Mono<JSONRPCMessage>, Mono<JSONRPCMessage>> receiver) {
		this.handler = receiver;
		return Mono.empty();
	}

	@Override
	public Mono<Void> sendMessage(JSONRPCMessage message) {
		if (!(message instanceof JSONRPCRequest request)) {
			return Mono.empty();
		}
		return this.handler.apply(Mono.just(JSONRPCResponse.result(request.id(), answer(request)))).then();
	}

	private Object answer(JSONRPCRequest request) {
		return switch (request.method()) {
			case McpSchema.METHOD_INITIALIZE -> greeting(request);
			case McpSchema.METHOD_TOOLS_LIST -> McpSchema.ListToolsResult.builder(this.tools).build();
			default -> called(request);
		};
	}

	private McpSchema.InitializeResult greeting(JSONRPCRequest request) {
		McpSchema.InitializeRequest hello = unmarshalFrom(request.params(), new TypeRef<>() {
		});
		return McpSchema.InitializeResult
			.builder(hello.protocolVersion(), McpSchema.ServerCapabilities.builder().tools(true).build(),
					new McpSchema.Implementation(this.name, "1"))
			.build();
	}

	private McpSchema.CallToolResult called(JSONRPCRequest request) {
		this.calls.add(unmarshalFrom(request.params(), new TypeRef<>() {
		}));
		return McpSchema.CallToolResult.builder(List.of(new McpSchema.TextContent("ok"))).build();
	}

	@Override
	public <T> T unmarshalFrom(Object data, TypeRef<T> type) {
		return McpJsonDefaults.getMapper().convertValue(data, type);
	}

	@Override
	public Mono<Void> closeGracefully() {
		return Mono.empty();
	}

}
