package io.sessionkit.autoconfigure;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Holds {@code docs/configuration.md} to the metadata. With
 * {@code -Dsessionkit.docs.update=true} the table in it is written anew.
 */
class ConfigurationDocumentTests {

	private static final Path DOCUMENT = Path.of("..", "docs", "configuration.md");

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
		assertThat(document).as("docs/configuration.md; run this test with -Dsessionkit.docs.update=true to write it")
			.isEqualTo(expected);
	}

	private static String withTable(String document, String table) {
		assertThat(document).containsOnlyOnce(BEGIN).containsOnlyOnce(END);
		String before = document.substring(0, document.indexOf(BEGIN) + BEGIN.length());
		return before + table + document.substring(document.indexOf(END));
	}

}
