package io.sessionkit.internal.argument;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The sentences about arguments that do not fit the schema of their tool.
 */
class ArgumentFaultsTests {

	/** It is the last name of the place. */
	@ParameterizedTest
	@ValueSource(strings = { "/order", "/a/b/c/d/e/f/g/h",
			"/order/shippingAddress/recipient/additionalInformation/deliveryInstructions/note" })
	void fieldAtFaultIsShownHoweverDeepItIs(String place) {
		assertThat(faults(place)).containsExactly("'" + place + "' breaks the rule 'type'");
	}

	@Test
	void namesFarAboveTheFieldAreNotShown() {
		assertThat(faults("/a".repeat(100) + "/b/c/d/e/f/g/h/i"))
			.containsExactly("'.../b/c/d/e/f/g/h/i' breaks the rule 'type'");
	}

	@Test
	void eachNameOfAPlaceIsCutAndShownInOneLine() {
		assertThat(faults("/x\\n" + "y".repeat(100) + "/z")).singleElement()
			.asString()
			.startsWith("'/x")
			.endsWith("y.../z' breaks the rule 'type'")
			.doesNotContain("\n")
			.hasSizeLessThan(120);
	}

	/** A model chooses how deep they are, and the stack of a thread may be small. */
	@Test
	void argumentsThatAreNestedTooDeepForARecursiveSchemaAreAtFault() throws InterruptedException {
		String schema = "{\"$defs\":{\"n\":{\"properties\":{\"c\":{\"allOf\":[{\"anyOf\":[{\"$ref\":\"#/$defs/n\"}]}]}}}},"
				+ "\"$ref\":\"#/$defs/n\"}";
		ToolArguments arguments = ToolArguments.of("{\"c\":".repeat(490) + "{}" + "}".repeat(490));
		assertThat(arguments.isReadable()).isTrue();
		List<String> faults = new CopyOnWriteArrayList<>();
		Thread thread = new Thread(null, () -> faults.addAll(arguments.faults(schema)), "small", 256 * 1024);
		thread.start();
		thread.join();
		assertThat(faults).containsExactly("they, or the input schema of the tool, are nested too deep");
	}

	/** Returns the faults of arguments that have a text at a place that takes none. */
	private static List<String> faults(String place) {
		String[] names = place.substring(1).split("/");
		String arguments = "{\"" + String.join("\":{\"", names) + "\":\"text\"" + "}".repeat(names.length);
		String schema = "{\"additionalProperties\":{\"type\":\"object\",\"$ref\":\"#\"}}";
		return ToolArguments.of(arguments).faults(schema);
	}

}
