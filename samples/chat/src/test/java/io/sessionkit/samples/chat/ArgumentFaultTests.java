package io.sessionkit.samples.chat;

import org.junit.jupiter.api.Test;
import tools.jackson.databind.json.JsonMapper;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests which field a sentence about the arguments of a person names.
 */
class ArgumentFaultTests {

	private static final String SCHEMA = "{\"additionalProperties\":{\"type\":\"object\",\"$ref\":\"#\"}}";

	@Test
	void fieldIsTheOneAtFaultHoweverDeepItIs() {
		String arguments = "{\"order\":".repeat(20) + "{\"deliveryInstructions\":7}" + "}".repeat(20);
		assertThat(ArgumentFault.in(arguments, new JsonMapper().readTree(SCHEMA))).singleElement()
			.returns("deliveryInstructions", ArgumentFault::field)
			.returns("type", ArgumentFault::rule)
			.returns("The delivery instructions has the wrong type.", ArgumentFault::sentence);
	}

}
