package io.sessionkit.internal.tool;

import io.sessionkit.internal.argument.ToolArguments;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.ai.tool.ToolCallback;
import org.springframework.ai.tool.definition.ToolDefinition;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests what is certain of the arguments of a tool of which only the schema is known, as
 * one of an MCP server.
 */
class ToolInputTests {

	@ParameterizedTest
	@CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
			{"properties":{"id":{}}}                                | {"id":1}       | true
			{"properties":{"id":{}}}                                | {"id":1,"x":2} | false
			{"properties":{"id":{}},"additionalProperties":false}   | {"id":1,"x":2} | false
			{"properties":{"id":{}},"additionalProperties":true}    | {"id":1,"x":2} | true
			{"additionalProperties":{"type":"integer"}}             | {"x":2}        | true
			{"type":"object"}                                       | {"x":2}        | false
			{"type":"object"}                                       | {}             | true
			""")
	void nameThatTheSchemaDoesNotHaveIsCertainOnlyIfItSaysSo(String schema, String arguments, boolean certain) {
		assertThat(new ToolInput(tool(schema), ToolArguments.of(arguments)).values() != null).isEqualTo(certain);
	}

	private static ToolCallback tool(String schema) {
		return new ToolCallback() {

			@Override
			public ToolDefinition getToolDefinition() {
				return ToolDefinition.builder().name("tool").description("of a server").inputSchema(schema).build();
			}

			@Override
			public String call(String input) {
				return "done";
			}

		};
	}

}
