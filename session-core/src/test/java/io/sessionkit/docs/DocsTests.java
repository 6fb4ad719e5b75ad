package io.sessionkit.docs;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/**
 * The Java code in the README and the pages of {@code docs} is code that was compiled. A
 * block below <code>&lt;!-- file: path.java --&gt;</code> equals that file without
 * package and imports; below <code>&lt;!-- file: path.java#region --&gt;</code> it equals
 * the lines between {@code // tag::region} and {@code // end::region}. Paths start at the
 * root of the repository. Links between pages lead to files and headings that exist.
 * <p>
 * {@code -Dsessionkit.docs.update=true} writes the code into the pages.
 */
class DocsTests {

	private static final String[] PAGES = { "README.md", "CONTRIBUTING.md", "CHANGELOG.md",
			"samples/benchmarks/README.md", "samples/chat/README.md", "samples/webflux/README.md" };

	private static final String MARKER = "<!-- file:";

	private static final Pattern BLOCK = Pattern
		.compile("(" + MARKER + " (\\S+) -->\\n+```(?:java|kotlin)\\n)(.*?)(?<=\\n)```\\n", Pattern.DOTALL);

	private static final String INTERNAL = "io.sessionkit.internal";

	private static final Pattern HEADING = Pattern.compile("(package|import) .*");

	private static final Pattern TAG = Pattern.compile("\\s*// (tag|end)::\\S+");

	/** Names of types, then their package in parentheses. */
	private static final Pattern TYPES_OF_PACKAGE = Pattern
		.compile("((?:`[A-Z]\\w*`(?:,\\s+and\\s+|,\\s+|\\s+and\\s+)?)+)\\s*\\(`(io\\.sessionkit[\\w.]*)`\\)");

	private static final Pattern TYPE = Pattern.compile("[A-Z]\\w*");

	private static final Pattern CODE = Pattern.compile("^```.*?^```", Pattern.MULTILINE | Pattern.DOTALL);

	/** A link to a file of the project, or to a heading. */
	private static final Pattern LINK = Pattern.compile("]\\((?!https?:)([^)#\\s]*)(?:#([^)\\s]+))?\\)");

	private static final Pattern TITLE = Pattern.compile("^#+ (.+)$", Pattern.MULTILINE);

	@TempDir
	Path folder;

	@ParameterizedTest
	@MethodSource("pages")
	void typesAreInThePackagesThatPagesName(Path page) throws IOException {
		TYPES_OF_PACKAGE.matcher(Files.readString(page))
			.results()
			.forEach((found) -> TYPE.matcher(found.group(1))
				.results()
				.forEach((type) -> assertThatCode(() -> Class.forName(found.group(2) + "." + type.group()))
					.as("%s", page)
					.doesNotThrowAnyException()));
	}

	@ParameterizedTest
	@MethodSource("pages")
	void codeEqualsItsFile(Path page) throws IOException {
		String text = Files.readString(page);
		String filled = filled(text, root());
		if (Boolean.getBoolean("sessionkit.docs.update")) {
			Files.writeString(page, filled);
			return;
		}
		assertThat(text).as("%s; if the code is right, run with -Dsessionkit.docs.update=true", page).isEqualTo(filled);
	}

	@ParameterizedTest
	@MethodSource("pages")
	void linksLeadToFilesAndHeadings(Path page) throws IOException {
		for (MatchResult link : LINK.matcher(withoutCode(page)).results().toList()) {
			Path target = link.group(1).isEmpty() ? page : page.resolveSibling(link.group(1));
			assertThat(target).as("%s in %s", link.group(), page).exists();
			if (link.group(2) != null) {
				assertThat(anchors(target)).as("%s in %s", link.group(), page).contains(link.group(2));
			}
		}
	}

	/**
	 * The names by which links find the headings of a page: in lower case, hyphens in
	 * place of spaces, no punctuation.
	 */
	private static List<String> anchors(Path page) throws IOException {
		return TITLE.matcher(withoutCode(page))
			.results()
			.map((title) -> title.group(1)
				.strip()
				.toLowerCase(Locale.ROOT)
				.replaceAll("[^\\w\\- ]", "")
				.replace(' ', '-'))
			.toList();
	}

	private static String withoutCode(Path page) throws IOException {
		return CODE.matcher(Files.readString(page)).replaceAll("");
	}

	static Stream<Path> pages() throws IOException {
		try (Stream<Path> files = Files.list(root().resolve("docs"))) {
			Stream<Path> pages = files.filter((file) -> file.toString().endsWith(".md")).sorted().toList().stream();
			return Stream.concat(Stream.of(PAGES).map(root()::resolve), pages);
		}
	}

	@Test
	void wholeFileIsFilledInWithoutPackageAndImports() throws IOException {
		write("package a;\n\nimport b.C;\n\n/** D. */\nclass D {\n\n\t// tag::x\n\tint important;\n\t// end::x\n\n}\n");
		assertThat(filled("a\n<!-- file: D.java -->\n\n```java\nold\n```\nb\n", this.folder))
			.isEqualTo("a\n<!-- file: D.java -->\n\n```java\n/** D. */\nclass D {\n\n\tint important;\n\n}\n```\nb\n");
	}

	@Test
	void regionIsFilledInWithoutItsIndentation() throws IOException {
		write("class D {\n\t// tag::x\n\tint $1() {\n\n\t\treturn 1;\n\t}\n\t// end::x\n\t// tag::y\n\tint b;\n\t// end::y\n}\n");
		assertThat(filled("<!-- file: D.java#x -->\n```java\n```\n<!-- file: D.java#y -->\n```java\nold\n```\n",
				this.folder))
			.isEqualTo("<!-- file: D.java#x -->\n```java\nint $1() {\n\n\treturn 1;\n}\n```\n"
					+ "<!-- file: D.java#y -->\n```java\nint b;\n```\n");
	}

	@Test
	void otherBlocksAreLeftAlone() {
		String page = "```java\nint a;\n```\n\n```xml\n<a/>\n```\n";
		assertThat(filled(page, this.folder)).isEqualTo(page);
	}

	@Test
	void markerWithoutABlockIsRefused() {
		assertThatIllegalArgumentException()
			.isThrownBy(() -> filled("<!-- file: D.java -->\n\ntext\n\n```java\nint a;\n```\n", this.folder))
			.withMessageContaining("```java");
	}

	@Test
	void missingFileIsRefused() {
		assertThatIllegalArgumentException()
			.isThrownBy(() -> filled("<!-- file: D.java -->\n```java\n```\n", this.folder))
			.withMessageContaining("D.java");
	}

	@Test
	void missingRegionIsRefused() throws IOException {
		write("class D {\n\t// tag::x\n\t// end::x\n\t// tag::open\n}\n");
		for (String region : List.of("y", "open")) {
			assertThatIllegalArgumentException()
				.isThrownBy(() -> filled("<!-- file: D.java#" + region + " -->\n```java\n```\n", this.folder))
				.withMessageContaining("D.java#" + region);
		}
	}

	@Test
	void fileThatUsesWhatIsInternalIsRefused() throws IOException {
		write("import io.sessionkit.internal.Part;\n\nclass D {\n\t// tag::x\n\tPart part;\n\t// end::x\n}\n");
		for (String name : List.of("D.java", "D.java#x")) {
			assertThatIllegalArgumentException()
				.isThrownBy(() -> filled("<!-- file: " + name + " -->\n```java\n```\n", this.folder))
				.withMessageContaining(name);
		}
	}

	private void write(String source) throws IOException {
		Files.writeString(this.folder.resolve("D.java"), source);
	}

	/**
	 * A page with the code that its markers name.
	 */
	private static String filled(String page, Path root) {
		Matcher matcher = BLOCK.matcher(page);
		long markers = page.lines().filter((line) -> line.startsWith(MARKER)).count();
		if (markers != BLOCK.matcher(page).results().count()) {
			throw new IllegalArgumentException("Each line that starts with " + MARKER
					+ " must be followed by a block that starts with ```java or ```kotlin.");
		}
		return matcher.replaceAll((block) -> Matcher.quoteReplacement(filled(block, root)));
	}

	private static String filled(MatchResult block, Path root) {
		return block.group(1) + code(block.group(2), root) + "\n```\n";
	}

	private static String code(String name, Path root) {
		int hash = name.indexOf('#');
		Path file = root.resolve((hash < 0) ? name : name.substring(0, hash));
		if (!Files.isRegularFile(file)) {
			throw new IllegalArgumentException("There is no file " + name + ".");
		}
		List<String> lines = lines(file);
		if (lines.stream().anyMatch((line) -> line.contains(INTERNAL))) {
			throw new IllegalArgumentException("Whoever copies " + name + " from its page would use " + INTERNAL + ".");
		}
		if (hash >= 0) {
			lines = region(lines, name, name.substring(hash + 1));
		}
		return lines.stream()
			.filter((line) -> !HEADING.matcher(line).matches() && !TAG.matcher(line).matches())
			.collect(Collectors.joining("\n"))
			.stripIndent()
			.strip();
	}

	private static List<String> region(List<String> lines, String name, String region) {
		List<String> trimmed = lines.stream().map(String::trim).toList();
		int start = trimmed.indexOf("// tag::" + region);
		int end = trimmed.indexOf("// end::" + region);
		if (start < 0 || end < start) {
			throw new IllegalArgumentException("There is no region " + name + ": it needs a line '// tag::" + region
					+ "' and below it a line '// end::" + region + "'.");
		}
		return lines.subList(start + 1, end);
	}

	private static List<String> lines(Path file) {
		try {
			return Files.readAllLines(file);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	private static Path root() {
		Path folder = Path.of("").toAbsolutePath();
		while (!Files.isDirectory(folder.resolve("docs"))) {
			folder = folder.getParent();
		}
		return folder;
	}

}
