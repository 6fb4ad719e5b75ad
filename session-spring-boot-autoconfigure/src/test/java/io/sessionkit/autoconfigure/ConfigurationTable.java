package io.sessionkit.autoconfigure;

import java.io.IOException;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.StreamSupport;

import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * The properties as a Markdown table, from the metadata that the build has made of them.
 */
public final class ConfigurationTable {

	/** Spring Boot gives each endpoint properties of its own kind. */
	private static final String OF_ENDPOINTS = "management.endpoint.";

	private final List<Row> rows;

	private ConfigurationTable(List<Row> rows) {
		this.rows = rows;
	}

	public static ConfigurationTable read() throws IOException, URISyntaxException {
		URI classes = SessionKitProperties.class.getProtectionDomain().getCodeSource().getLocation().toURI();
		Path metadata = Path.of(classes).resolve("META-INF/spring-configuration-metadata.json");
		JsonNode properties = JsonMapper.shared().readTree(Files.readString(metadata)).path("properties");
		return new ConfigurationTable(StreamSupport.stream(properties.spliterator(), false)
			.map(Row::of)
			.filter((row) -> !row.name().startsWith(OF_ENDPOINTS))
			.sorted(Comparator.comparing(Row::name))
			.toList());
	}

	public List<Row> rows() {
		return this.rows;
	}

	String toMarkdown() {
		return this.rows.stream()
			.map(Row::toMarkdown)
			.collect(Collectors.joining("", "| name | type | default | description |\n|---|---|---|---|\n", ""));
	}

	public record Row(String name, String type, String defaultValue, String description) {

		private static Row of(JsonNode property) {
			String type = property.path("type").asString("");
			return new Row(property.path("name").asString(""), type.replaceAll("[\\w.$]+[.$]", ""),
					property.path("defaultValue").asString(""), property.path("description").asString(""));
		}

		private String toMarkdown() {
			String value = this.defaultValue.isEmpty() ? "" : "`" + this.defaultValue + "`";
			return "| `" + this.name + "` | " + this.type.replace("<", "&lt;") + " | " + value + " | "
					+ this.description.replace("|", "\\|") + " |\n";
		}

	}

}
