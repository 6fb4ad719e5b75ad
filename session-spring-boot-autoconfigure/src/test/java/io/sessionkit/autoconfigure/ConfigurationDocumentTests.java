package io.sessionkit.autoconfigure;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;

import io.sessionkit.autoconfigure.StoreProperties.StoreType;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Holds {@code docs/configuration.md} to the metadata. With
 * {@code -Dsessionkit.docs.update=true} the table in it is written anew.
 */
class ConfigurationDocumentTests {

	private static final Path DOCUMENT = Path.of("..", "docs", "configuration.md");

	private static final Path README = Path.of("..", "README.md");

	private static final Path RETENTION = Path.of("..", "docs", "retention.md");

	private static final String BEGIN = "<!-- properties: generated, do not edit -->\n";

	private static final String END = "<!-- end of properties -->\n";

	@Test
	void everyPropertyHasADescription() throws Exception {
		List<ConfigurationTable.Row> rows = ConfigurationTable.read().rows();
		assertThat(rows).hasSizeGreaterThan(10);
		assertThat(rows).allSatisfy((row) -> {
			assertThat(row.name()).startsWith("sessionkit.");
			assertThat(row.type()).isNotBlank();
			assertThat(row.description()).as(row.name()).endsWith(".");
		});
	}

	@Test
	void onlyPropertiesThatMayBeUnsetHaveNoDefault() throws Exception {
		assertThat(ConfigurationTable.read().rows()).filteredOn((row) -> row.defaultValue().isEmpty())
			.allSatisfy((row) -> assertThat(row.description()).as(row.name()).contains("Unset: "));
	}

	@Test
	void documentHasTheTableOfTheMetadata() throws Exception {
		String document = Files.readString(DOCUMENT);
		String expected = withTable(document, ConfigurationTable.read().toMarkdown());
		if (Boolean.getBoolean("sessionkit.docs.update")) {
			Files.writeString(DOCUMENT, expected);
			return;
		}
		List<String> rows = document.lines().toList();
		List<String> due = expected.lines().toList();
		assertThat(rows.equals(due))
			.as("docs/configuration.md lacks the rows %s, and has %s in their place; -Dsessionkit.docs.update=true writes it",
					without(due, rows), without(rows, due))
			.isTrue();
	}

	/** The whole page twice would hide what is to be done. */
	private static List<String> without(List<String> rows, List<String> others) {
		return rows.stream().filter((row) -> !others.contains(row)).toList();
	}

	/** An editor offers the values of a hint, and not those of the enum. */
	@Test
	void hintsHaveTheValuesOfTheirEnums() throws Exception {
		JsonNode hints = metadata("additional-spring-configuration-metadata.json").path("hints");
		Map<String, String> types = StreamSupport
			.stream(metadata("spring-configuration-metadata.json").path("properties").spliterator(), false)
			.collect(Collectors.toMap((each) -> each.path("name").asString(), (each) -> each.path("type").asString(""),
					(first, second) -> first));
		assertThat(hints.size()).isPositive();
		for (JsonNode hint : hints) {
			String property = hint.path("name").asString();
			assertThat(types).containsKey(property);
			Object[] constants = Class.forName(types.get(property)).getEnumConstants();
			assertThat(hint.path("values").valueStream().map((value) -> value.path("value").asString()))
				.as("values of %s in additional-spring-configuration-metadata.json", property)
				.containsExactlyInAnyOrderElementsOf(
						Stream.of(constants).map(ConfigurationDocumentTests::written).toList());
		}
	}

	private static JsonNode metadata(String file) throws Exception {
		Path classes = Path.of(SessionKitProperties.class.getProtectionDomain().getCodeSource().getLocation().toURI());
		return JsonMapper.shared().readTree(Files.readString(classes.resolve("META-INF").resolve(file)));
	}

	private static String written(Object constant) {
		return ((Enum<?>) constant).name().toLowerCase(Locale.ROOT).replace('_', '-');
	}

	@ParameterizedTest
	@EnumSource
	void everyTypeOfStoreIsNamedByItsPropertyAndByTheReadme(StoreType type) throws Exception {
		assertThat(ConfigurationTable.read().rows())
			.filteredOn(ConfigurationTable.Row::name, StoreProperties.STORE_TYPE)
			.singleElement()
			.satisfies((row) -> assertThat(row.description()).containsPattern("\\b" + type.value() + "\\b"));
		assertThat(Files.readString(README)).contains("| `" + type.value() + "` |");
	}

	@ParameterizedTest
	@EnumSource
	void batchOfEveryTypeOfStoreIsInTheDocument(StoreType type) throws Exception {
		assertThat(Files.readAllLines(RETENTION)
			.stream()
			.dropWhile((line) -> !line.startsWith("| store | batch"))
			.takeWhile((line) -> line.startsWith("|"))).map((line) -> line.toLowerCase(Locale.ROOT).split(" *\\| *"))
			.filteredOn((cells) -> cells[1].matches(".*\\b" + type.value() + "\\b.*"))
			.singleElement()
			.satisfies((cells) -> assertThat(cells[2]).isEqualTo(String.valueOf(type.batch())));
	}

	private static String withTable(String document, String table) {
		assertThat(document).containsOnlyOnce(BEGIN).containsOnlyOnce(END);
		String before = document.substring(0, document.indexOf(BEGIN) + BEGIN.length());
		return before + table + document.substring(document.indexOf(END));
	}

}
