package io.sessionkit.docs;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The BOM has each module that is published, and the samples are not published.
 */
class PublishedModulesTests {

	private static final Path ROOT = Path.of("..");

	@Test
	void bomHasEachPublishedModule() throws IOException {
		String bom = Files.readString(ROOT.resolve("session-bom/pom.xml"));
		List<String> managed = found(bom.substring(bom.indexOf("<dependencyManagement>"), bom.indexOf("<build>")),
				"<artifactId>(.*?)</artifactId>");
		List<String> published = modules().stream()
			.filter((module) -> module.startsWith("session-") && !module.equals("session-bom"))
			.toList();
		assertThat(published).hasSize(3);
		assertThat(managed).containsOnlyElementsOf(published);
	}

	@ParameterizedTest
	@MethodSource("samples")
	void sampleIsNotPublished(String sample) throws IOException {
		assertThat(Files.readString(ROOT.resolve(sample).resolve("pom.xml")))
			.contains("<maven.deploy.skip>true</maven.deploy.skip>");
	}

	static List<String> samples() throws IOException {
		return modules().stream().filter((module) -> module.startsWith("samples/")).toList();
	}

	private static List<String> modules() throws IOException {
		return found(Files.readString(ROOT.resolve("pom.xml")), "<module>(.*?)</module>");
	}

	private static List<String> found(String text, String pattern) {
		return Pattern.compile(pattern).matcher(text).results().map((MatchResult result) -> result.group(1)).toList();
	}

}
