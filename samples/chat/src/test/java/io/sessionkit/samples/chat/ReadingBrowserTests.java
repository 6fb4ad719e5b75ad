package io.sessionkit.samples.chat;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.logging.Level;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import com.sun.net.httpserver.HttpServer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.condition.EnabledIf;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.openqa.selenium.Keys;
import org.openqa.selenium.chrome.ChromeDriver;
import org.openqa.selenium.logging.LogEntry;
import org.openqa.selenium.logging.LogType;
import org.openqa.selenium.print.PrintOptions;
import tools.jackson.databind.JsonNode;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Tests what a person reads and writes over a day: long threads and answers, Markdown,
 * several windows, turns that fail, and a server that goes away.
 */
@EnabledIf(value = "io.sessionkit.samples.chat.BrowserTests#chromiumIsThere",
		disabledReason = "Chromium or its driver is missing")
@ExtendWith(Browsers.class)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Order(1)
class ReadingBrowserTests {

	private static final String[] ARGUMENTS = { "--demo.pace=1ms", "--sessionkit.summarize.trigger-messages=500",
			BrowserTests.QUIET };

	private Path database;

	private RunningChat chat;

	private ChromeDriver browser;

	private ChatPage page;

	private boolean expectsErrors;

	@BeforeAll
	void start(@TempDir Path database, ChromeDriver browser) {
		this.database = database;
		this.chat = RunningChat.start(database, ARGUMENTS);
		this.browser = browser;
		Chromium.hurry(this.browser);
	}

	@AfterAll
	void stop() {
		this.chat.close();
	}

	@BeforeEach
	void openNewThread() {
		this.expectsErrors = false;
		this.page = ChatPage.open(this.browser, address());
		this.page.newThread();
	}

	private String address() {
		return "http://127.0.0.1:" + this.chat.port() + "/";
	}

	@AfterEach
	void logsNoErrors() {
		this.page.closeOtherWindows();
		List<LogEntry> errors = this.browser.manage()
			.logs()
			.get(LogType.BROWSER)
			.getAll()
			.stream()
			.filter((entry) -> entry.getLevel().equals(Level.SEVERE))
			.toList();
		assertThat(errors).extracting(LogEntry::getMessage).filteredOn((message) -> !this.expectsErrors).isEmpty();
	}

	@Test
	void aThreadThatCannotBeReadIsNotShownAsAnEmptyOneAndThePageHeals() {
		this.page.ask("My name is Ada");
		String thread = this.page.thread();
		this.page.newThread();
		this.page.ask("Hello");
		int port = this.chat.port();
		this.expectsErrors = true;
		this.chat.close();

		this.page.script("location.hash = arguments[0]", thread);
		await().untilAsserted(
				() -> assertThat(this.page.texts(".away h2")).containsExactly("This thread cannot be read now"));
		assertThat(this.page.shows(".empty")).isFalse();
		this.chat = RunningChat.startOn(port, this.database, ARGUMENTS);

		await().untilAsserted(() -> assertThat(this.page.texts(".bubble.user")).containsExactly("My name is Ada"));
		await().untilAsserted(() -> assertThat(this.page.shows("#banner")).isFalse());
	}

	@Test
	void aListThatCannotBeReadIsNotShownAsAnEmptyOne() throws IOException {
		this.page.ask("My name is Ada");
		this.expectsErrors = true;
		this.browser.executeCdpCommand("Network.enable", Map.of());
		try {
			this.browser.executeCdpCommand("Network.setBlockedURLs", Map.of("urls", List.of("*api/threads?*")));
			this.browser.get("about:blank");
			this.browser.get(address());
			await().untilAsserted(() -> assertThat(this.page.texts(".no-threads p"))
				.containsExactly("The threads cannot be read now."));
			assertThat(this.page.texts(".away h2")).containsExactly("The threads cannot be read now");
			assertThat(this.page.shows(".empty")).isFalse();
			this.page.screenshot("list-failed");
		}
		finally {
			this.browser.executeCdpCommand("Network.setBlockedURLs", Map.of("urls", List.of()));
		}
		this.page.script("document.querySelector('.no-threads button')?.click()");

		await().untilAsserted(() -> assertThat(this.page.texts(".bubble.user")).containsExactly("My name is Ada"));
		assertThat(this.page.shows(".no-threads")).isFalse();
		await().untilAsserted(() -> assertThat(this.page.shows("#banner")).isFalse());
	}

	@Test
	void aTextThatIsTooLongForTheFieldIsNotCutWithoutAWord() throws IOException {
		this.page.script("""
				document.getElementById('question').focus();
				document.execCommand('insertText', false, 'word '.repeat(5000));""");

		assertThat(question()).hasSize(20_000);
		assertThat(this.page.texts(".limit")).singleElement().asString().contains("20,000 characters");
		this.page.screenshot("field-full");
		this.page.typeInto("#question", Keys.BACK_SPACE);
		assertThat(this.page.shows(".limit")).isFalse();
	}

	@Test
	void whatIsShownStaysWhileTheServerIsAway() {
		this.page.ask("My name is Ada");
		int port = this.chat.port();
		this.expectsErrors = true;
		this.chat.close();

		await().untilAsserted(() -> assertThat(this.page.texts("#banner span")).singleElement()
			.asString()
			.startsWith("The application does not answer."));
		assertThat(this.page.texts(".bubble.user")).containsExactly("My name is Ada");
		this.chat = RunningChat.startOn(port, this.database, ARGUMENTS);

		await().untilAsserted(() -> assertThat(this.page.shows("#banner")).isFalse());
		assertThat(this.page.ask("What is my name?")).contains("Ada");
	}

	@Test
	void earlierTurnsAreReadWhenSomebodyWantsThemAndCountedRightBefore() throws Exception {
		String thread = "long-" + this.page.thread();
		for (int turn = 1; turn <= 108; turn++) {
			this.chat.ask(thread, "Hello " + turn);
		}
		this.chat.send("POST", "/api/threads/" + thread + "/summaries", null);
		JsonNode read = this.chat.thread(thread);
		List<JsonNode> summaries = read.path("summaries").valueStream().toList();
		List<JsonNode> near = summaries.stream().filter((summary) -> summary.path("turn").asInt() >= 59).toList();
		assertThat(near).hasSizeLessThan(summaries.size());
		long shown = Stream.concat(read.path("turns").valueStream(), near.stream())
			.map((each) -> each.path("tokens"))
			.mapToLong((tokens) -> tokens.path("input").asLong() + tokens.path("output").asLong())
			.sum();

		this.page.script("location.hash = arguments[0]", thread);
		await().untilAsserted(() -> assertThat(this.page.texts(".bubble.user")).hasSize(50).endsWith("Hello 108"));
		assertThat(this.page.texts("#timeline-sum")).singleElement()
			.asString()
			.startsWith("108 turns · %,d tokens in the newest 50".formatted(shown));
		assertThat(this.page.texts("#turn-list .mark")).hasSameSizeAs(near);
		assertThat(this.page.texts(".earlier")).containsExactly("Show earlier turns (58 more)");
		this.page.script("document.getElementById('scroller').scrollTop = 0");
		this.page.click(".earlier");
		await().untilAsserted(
				() -> assertThat(this.page.texts(".earlier")).containsExactly("Show earlier turns (8 more)"));
		this.page.click(".earlier");

		await().untilAsserted(() -> assertThat(this.page.texts(".bubble.user")).hasSize(108).startsWith("Hello 1"));
		assertThat(this.page.shows(".earlier")).isFalse();
		assertThat(this.page.texts(".entry .number")).hasSize(108);
		assertThat(this.page.texts("#timeline-sum")).singleElement().asString().doesNotContain("newest");
		assertThat(this.page.texts("#turn-list .mark")).hasSameSizeAs(summaries);
	}

	@Test
	void aThreadThatIsNotInTheListHasItsTitleAndCanBeRenamed() throws Exception {
		String old = "old-" + this.page.thread();
		this.chat.ask(old, "Hello from long ago");
		for (int other = 0; other < 52; other++) {
			this.chat.ask(old + "-" + other, "Hello");
		}

		this.page.script("location.hash = arguments[0]", old);

		await().untilAsserted(() -> assertThat(this.page.texts("#title")).containsExactly("Hello from long ago"));
		assertThat(this.page.texts(".thread.active .thread-title")).containsExactly("Hello from long ago");
		this.page.clickInRow("[aria-label^=Rename]");
		this.page.typeInto(".rename", "Found", Keys.ENTER);
		await().untilAsserted(() -> assertThat(this.page.texts("#title")).containsExactly("Found"));
		this.page.click(".more button");
		await().untilAsserted(() -> assertThat(this.page.texts(".thread")).hasSizeGreaterThan(53));
	}

	@Test
	void theSkipLinkLeadsToTheFieldAndStaysInTheThread() {
		this.page.ask("My name is Ada");
		String thread = this.page.thread();

		// it is above the page until it has the focus, where a driver does not type
		this.page.script("document.querySelector('#skip').focus()");
		this.page.typeInto("#skip", Keys.ENTER);

		assertThat(this.page.caret().field()).isEqualTo("question");
		assertThat(this.page.thread()).isEqualTo(thread);
		assertThat(this.page.texts(".bubble.user")).containsExactly("My name is Ada");
	}

	@ParameterizedTest
	@ValueSource(strings = { "%E0%A4%A", "/threads/1", "a%2Fb", "a%5Cb" })
	void anAddressThatNobodyCanMeanIsANewThread(String address) {
		this.page.script("location.hash = arguments[0]", address);

		await().untilAsserted(() -> assertThat(this.page.shows(".empty")).isTrue());
		assertThat(this.page.thread()).isNotEqualTo("undefined").hasSizeGreaterThan(20);
		assertThat(this.page.ask("Hello")).startsWith("Hello!");
	}

	@Test
	void aDraftBelongsToItsThreadAndSurvivesAReload() {
		this.page.ask("Hello");
		String first = this.page.thread();
		this.page.typeInto("#question", "half a thou");
		this.page.newThread();
		assertThat(question()).isEmpty();
		this.page.typeInto("#question", "another one");

		this.expectsErrors = true; // nothing is stored of this thread
		this.page.reload();

		assertThat(question()).isEqualTo("another one");
		this.page.script("location.hash = arguments[0]", first);
		await().untilAsserted(() -> assertThat(question()).isEqualTo("half a thou"));
		this.page.typeInto("#question", "ght", Keys.ENTER);
		this.page.awaitTimeline();
		this.page.reload();
		assertThat(question()).isEmpty();
	}

	@Test
	void aDraftStaysWhileAnotherWindowSends() {
		this.page.ask("Hello");
		ChatPage other = this.page.openInAnotherWindow();
		this.page.typeInto("#question", "half a thou");

		other.ask("Roll a die");
		this.page.reload();

		assertThat(question()).isEqualTo("half a thou");
	}

	@Test
	void aDraftOfAWindowThatIsClosedIsFoundInAnotherOneThatHasNone() {
		this.page.ask("Hello");
		ChatPage other = this.page.openInAnotherWindow();
		other.typeInto("#question", "half a thou");
		this.page.typeInto("#question", "my own");
		this.page.closeOtherWindows();

		this.page.reload();
		this.page.awaitPolls(1);
		assertThat(question()).isEqualTo("my own");
		this.page.typeInto("#question", Keys.ENTER);
		this.page.awaitTimeline();
		await().untilAsserted(() -> {
			this.page.reload(); // the browser may still hold what the window had
			assertThat(question()).isEqualTo("half a thou");
		});
		this.page.reload();
		assertThat(question()).isEqualTo("half a thou");
	}

	@Test
	void aDraftOfAWindowThatIsClosedIsFoundInOneThatIsOpen() {
		this.page.ask("Hello");
		ChatPage other = this.page.openInAnotherWindow();
		other.typeInto("#question", "half a thou");
		this.page.reload();

		this.page.closeOtherWindows();

		await().untilAsserted(() -> assertThat(question()).isEqualTo("half a thou"));
	}

	/** As by plain http: then nobody knows which windows are closed. */
	@Test
	void aDraftIsFoundInABrowserWithoutLocks() {
		this.page.ask("Hello");
		this.page.openInAnotherWindow().typeInto("#question", "half a thou");
		this.page.closeOtherWindows();
		Object added = this.browser
			.executeCdpCommand("Page.addScriptToEvaluateOnNewDocument",
					Map.of("source", "Object.defineProperty(navigator, 'locks', { value: undefined })"))
			.get("identifier");
		try {
			this.page.reload();
			await().untilAsserted(() -> assertThat(question()).isEqualTo("half a thou"));
			this.page.reload();
			assertThat(question()).isEqualTo("half a thou");
		}
		finally {
			this.browser.executeCdpCommand("Page.removeScriptToEvaluateOnNewDocument", Map.of("identifier", added));
		}
	}

	@Test
	void aDraftThatAllWindowsHadIsFound() {
		this.page.ask("Hello");
		this.page.<Object>script("localStorage.setItem('draft:' + arguments[0], 'half a thou')", this.page.thread());

		this.page.reload();

		await().untilAsserted(() -> assertThat(question()).isEqualTo("half a thou"));
		assertThat(this.page.<Boolean>script("return localStorage.getItem('draft:' + arguments[0]) === null",
				this.page.thread()))
			.isTrue();
	}

	private String question() {
		return this.page.script("return document.getElementById('question').value");
	}

	@Test
	void markdownIsShownAsItIsMeant() {
		this.page.ask("Show me Markdown");

		assertThat(this.page.texts(".text table th")).containsExactly("part", "where", "for how long", "size");
		assertThat(this.page.texts(".text td.to-right")).containsExactly("120", "4,096", "900");
		assertThat(this.page.texts(".text > ol > li")).hasSize(3);
		assertThat(this.page.texts(".text > ol > li:first-child > ul > li")).hasSize(2);
		assertThat(this.page.texts(".text > ol > li:first-child > ul > li > ul > li")).hasSize(2);
		assertThat(this.page.texts(".text .code figcaption")).containsExactly("java", "json", "bash");
		assertThat(this.page.texts(".text li .code")).hasSize(1);
		assertThat(this.page.texts(".text blockquote blockquote p")).hasSize(1);
		assertThat(this.page.texts(".text del")).containsExactly("struck");
		assertThat(this.page.texts(".text .task")).containsExactly("Write the log", "Read it again",
				"Remember yesterday");
		assertThat(this.page.<List<String>>script("""
				return [...document.querySelectorAll('.text a')].map((link) => `${link.href} ${link.rel}`)"""))
			.containsExactly("https://docs.spring.io/spring-ai/reference/ noopener noreferrer",
					"https://spring.io/ noopener noreferrer");
		assertThat(this.page.texts(".bubble.assistant")).singleElement().asString().contains("<b>This is text");
		await().untilAsserted(() -> assertThat(this.page.texts(".text .token.keyword")).contains("if"));
		assertThat(this.page.texts(".thought summary")).containsExactly("Thought");
		assertThat(this.page.texts(".bubble.assistant")).noneMatch((text) -> text.contains("They want to see"));
		List<String> live = this.page.texts(".bubble.assistant");
		this.page.reload();
		assertThat(this.page.texts(".bubble.assistant")).isEqualTo(live);
	}

	@Test
	void noMarkupOfAMessageComesToLife() {
		this.page
			.ask("""
					<img src=x onerror=alert(1)> [a](javascript:alert(1)) ![b](https://example.com/b.png) <script>alert(1)</script>"""
				.replace("\n", " "));

		assertThat(this.page.texts(".bubble.user")).singleElement()
			.asString()
			.contains("<img src=x onerror=alert(1)>", "<script>alert(1)</script>");
		assertThat(this.page.<Long>script("return document.querySelectorAll('#conversation :is(img, script)').length"))
			.isZero();
		assertThat(this.page.<List<String>>script(
				"return [...document.querySelectorAll('#conversation a')].map((link) => link.getAttribute('href'))"))
			.containsExactly("https://example.com/b.png");
	}

	/**
	 * A model that was talked into it could write what no reader of Markdown survives.
	 */
	@Test
	void whatIsNestedWithoutEndIsShownAsText() {
		List<Object> shown = this.page
			.script("""
					return import('/js/markdown.js').then(({ growingText, markdown }) => {
						const depth = (node) => 1 + Math.max(0, ...[...node.childNodes].map(depth));
						const texts = ['>'.repeat(5000) + 'a', '> '.repeat(3000) + 'a', '*_'.repeat(300) + 'a' + '_*'.repeat(300),
							Array.from({ length: 200 }, (_, level) => ' '.repeat(2 * level) + '- a').join('\\n')];
						return texts.map((text) => {
							const node = document.createElement('div');
							node.append(...markdown(text));
							const grows = growingText();
							grows.add(text);
							return node.textContent.includes('a') && grows.node.textContent.includes('a') && depth(node) < 120;
						});
					})""");

		assertThat(shown).hasSize(4).containsOnly(true);
	}

	/**
	 * The library would take minutes for these, and a page that stands still cannot be
	 * left.
	 */
	@Test
	void whatTakesTooLongToReadIsShownAsText() {
		List<String> hostile = List.of("[a](<".repeat(1500), "[a](b".repeat(1600),
				IntStream.range(0, 500)
					.mapToObj((level) -> "  ".repeat(level) + "- item")
					.collect(Collectors.joining("\n")),
				"*".repeat(4000) + "a" + "_".repeat(4000), "*a ".repeat(2000));
		// what takes too long does so each time, and a busy machine does not
		List<Object> longest = this.page.script("""
				return import('/js/markdown.js').then(({ growingText, markdown }) => arguments[0].map((text) => {
					const longestStep = () => {
						const times = [];
						const timed = (work) => {
							const begun = performance.now();
							const result = work();
							times.push(performance.now() - begun);
							return result;
						};
						const node = document.createElement('div');
						node.append(...timed(() => markdown(text)));
						const grows = growingText();
						for (let at = 0; at < text.length; at += 3000) {
							timed(() => grows.add(text.slice(at, at + 3000)));
						}
						const all = text.replace(/[\\s-]/g, '');
						if ([node, grows.node].some((each) => each.textContent.replace(/[\\s-]/g, '') !== all)) {
							throw new Error('lost: ' + text.slice(0, 20));
						}
						timed(() => grows.end());
						return Math.round(Math.max(...times));
					};
					let longest = longestStep();
					for (let again = 0; again < 2 && longest >= 2000; again++) {
						longest = Math.min(longest, longestStep());
					}
					return longest;
				}))""", hostile);
		assertThat(longest).allSatisfy((millis) -> assertThat((Long) millis).isLessThan(2000));

		this.page.ask("My name is Ada");
		this.page.sendAtOnce(hostile.get(0));
		await().untilAsserted(() -> assertThat(this.page.texts(".turn .meta")).hasSize(2));
		this.browser.get("about:blank");
		this.page = ChatPage.open(this.browser, address());
		assertThat(this.page.texts(".bubble.user").get(1)).isEqualTo(hostile.get(0));
		assertThat(this.page.ask("What is my name?")).contains("Ada");
	}

	@Test
	void aSecondDeletionEndsTheFirstAndCanBeHadBackItself() throws Exception {
		this.page.ask("First");
		String first = this.page.thread();
		this.page.newThread();
		this.page.ask("Second");
		String second = this.page.thread();
		this.page.clickInRow("[aria-label^=Delete]");
		this.page.script("location.hash = arguments[0]", first);
		await().untilAsserted(() -> assertThat(this.page.texts(".bubble.user")).containsExactly("First"));

		this.page.clickInRow("[aria-label^=Delete]");

		assertThat(this.page.texts("#toast span")).containsExactly("Deleted “First”.");
		await().untilAsserted(
				() -> assertThat(this.chat.send("GET", "/api/threads/" + second, null).statusCode()).isEqualTo(404));
		this.page.click("#toast .quiet");
		await().untilAsserted(() -> assertThat(this.page.texts(".bubble.user")).containsExactly("First"));
		assertThat(this.chat.send("GET", "/api/threads/" + first, null).statusCode()).isEqualTo(200);
	}

	/** A screen reader would announce nothing. */
	@Test
	void aHeadingWhoseTextHasNotComeYetIsNotShown() {
		assertThat(this.page.<String>script("""
				return import('/js/markdown.js').then(({ markdown }) => {
					const node = document.createElement('div');
					node.append(...markdown('# One\\n\\ntext\\n\\n#### '));
					return node.textContent + node.querySelectorAll('h1, h2, h3, h4, h5, h6').length;
				})""")).isEqualTo("Onetext1");
	}

	@Test
	void aQuestionIsMarkdownToo() {
		this.page.typeInto("#question", "What is `x` in", Keys.chord(Keys.SHIFT, Keys.ENTER), "```java",
				Keys.chord(Keys.SHIFT, Keys.ENTER), "int x;", Keys.chord(Keys.SHIFT, Keys.ENTER), "```", Keys.ENTER);
		await().untilAsserted(() -> assertThat(this.page.texts(".turn .meta")).hasSize(1));

		assertThat(this.page.texts(".bubble.user p code")).containsExactly("x");
		assertThat(this.page.texts(".bubble.user pre")).containsExactly("int x;");
	}

	/**
	 * Counted, not timed: what is made for a text that grows by words is little more than
	 * what it is made of in the end.
	 */
	@Test
	void aLongAnswerIsDrawnOnceAndNotAgainForEachWord() {
		this.page
			.script("""
					window.made = 0;
					const count = (node) => 1 + [...node.childNodes].reduce((sum, child) => sum + count(child), 0);
					new MutationObserver((records) => records.forEach(({ addedNodes }) => addedNodes.forEach((node) => { made += count(node); })))
						.observe(document.getElementById('conversation'), { subtree: true, childList: true })""");

		this.page.type("Write 35 kB");
		await().atMost(Duration.ofMinutes(2))
			.untilAsserted(() -> assertThat(this.page.texts(".turn .meta")).hasSize(1));

		long characters = this.page
			.script("return document.querySelector('.bubble.assistant .text').textContent.length");
		long nodes = this.page.script(
				"return document.querySelectorAll('.bubble.assistant *').length + document.querySelectorAll('.bubble.assistant').length");
		long made = this.page.script("return made");
		assertThat(characters).isGreaterThan(25_000);
		assertThat(made).isLessThan(15 * nodes);
	}

	@Test
	void whatIsWrittenFromRightToLeftIsShownSo() {
		this.page.ask("مرحبا، كيف الحال؟");

		assertThat(this.page.<List<String>>script("""
				return [...document.querySelectorAll('.bubble.user p, .entry-question, #title')]
					.map((node) => `${getComputedStyle(node).direction} ${node.textContent}`)"""))
			.containsOnly("rtl مرحبا، كيف الحال؟")
			.hasSize(3);
	}

	@Test
	void listsQuotesAndTablesFromRightToLeftAreShownSo() {
		assertThat(this.page.<List<String>>script(
				"""
						return import('/js/markdown.js').then(({ markdown }) => {
							const node = document.createElement('div');
							document.body.append(node);
							node.append(...markdown('1. واحد\\n   - [x] اثنان\\n\\n> שלום\\n\\n| عمود | b |\\n|---|---|\\n| ١ | ٢ |\\n\\n- one\\n- two'));
							const found = [...node.querySelectorAll('ol, ul, li, blockquote, table')]
								.map((each) => `${each.localName} ${getComputedStyle(each).direction}`);
							node.remove();
							return found;
						})"""))
			.containsExactly("ol rtl", "li rtl", "ul rtl", "li rtl", "blockquote rtl", "table rtl", "ul ltr", "li ltr",
					"li ltr");
	}

	@Test
	void toolsAreSeenWhileTheyRunAndStayInTheirPlace() {
		List<String> states = this.page
			.script("""
					return import('/js/live.js').then(async ({ liveTurn }) => {
						const live = liveTurn('Roll', 0, { isAtEnd: () => true, drawn: () => {} });
						const picture = () => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
						const shown = () => [...live.node.children].map((part) => `${part.className} ${part.innerText ?? part.textContent}`.trim()).join(' | ');
						live.text('Let me roll.');
						live.tool({ state: 'CALLED', id: 'a', name: 'roll_die', data: '{}' });
						await picture();
						const running = live.node.querySelector('.tool').className;
						live.tool({ state: 'RETURNED', id: 'a', name: 'roll_die', data: '4' });
						live.text('You rolled 4.');
						await live.end();
						return [running, live.node.querySelector('.tool').className, live.node.querySelector('.tool-result').textContent,
							[...live.node.children].map(({ className }) => className).join(' ')];
					})""");
		assertThat(states).containsExactly("tool runs", "tool done", "4", "said part tools part dots");

		this.page.ask("Roll two dice");
		assertThat(this.page.<List<String>>script(
				"""
						return [...document.querySelectorAll('.turn > .tools, .turn > .bubble')].map(({ className }) => className)"""))
			.containsExactly("tools", "bubble assistant");
	}

	@Test
	void theReasonOfAFailureStaysWithTheTurnAndRetryLeavesNoLitter() {
		this.page.type("Please fail");
		await().untilAsserted(() -> assertThat(this.page.texts(".turn.failed .note")).hasSize(1));
		this.page.reload();
		assertThat(this.page.texts(".turn.failed .note > span")).containsExactly(
				"The model could not answer (IllegalStateException). The model will not be shown this turn.");

		this.page.click(".retry");
		await().untilAsserted(() -> assertThat(this.page.texts(".attempts")).containsExactly("2 attempts"));
		this.page.click(".retry");
		await().untilAsserted(() -> assertThat(this.page.texts(".attempts")).containsExactly("3 attempts"));

		assertThat(this.page.texts(".bubble.user")).containsExactly("Please fail");
		assertThat(this.page.texts(".entry .status")).containsExactly("failed", "failed", "failed");
		this.page.click(".entry:first-child > button");
	}

	@Test
	void theTimelineFollowsTheTurnThatIsRead() {
		IntStream.rangeClosed(1, 12).forEach((turn) -> this.page.ask("Hello " + turn));

		await().untilAsserted(() -> assertThat(this.page.texts(".entry.read .number")).hasSize(1));
		assertThat(this.page.isReachable(".entry:last-child > button")).isTrue();
		await().untilAsserted(() -> {
			// again, if the page was about to follow the end
			this.page.script("document.getElementById('scroller').scrollTop = 0");
			assertThat(this.page.texts(".entry.read .entry-question").get(0)).isIn("Hello 1", "Hello 2", "Hello 3",
					"Hello 4", "Hello 5");
		});
		assertThat(this.page.isReachable(".entry.read > button")).isTrue();
		this.page.click(".entry:first-child > button");
		await().untilAsserted(() -> assertThat(this.page.isReachable("#turn-1 .bubble.user")).isTrue());
	}

	@Test
	void aTurnOfAnotherWindowAppearsByItself() {
		this.page.ask("My name is Ada");
		ChatPage other = this.page.openInAnotherWindow();

		other.ask("Roll a die");

		await().untilAsserted(
				() -> assertThat(this.page.texts(".bubble.user")).containsExactly("My name is Ada", "Roll a die"));
	}

	@Test
	void aThreadThatIsDeletedElsewhereIsNotMadeAnewInSilence() throws Exception {
		this.page.ask("My name is Ada");
		this.expectsErrors = true;
		this.chat.send("DELETE", "/api/threads/" + this.page.thread(), null);

		await().untilAsserted(() -> assertThat(this.page.texts("#banner span")).singleElement()
			.asString()
			.startsWith("This thread was deleted in another window."));
		assertThat(this.page.texts(".bubble.user")).containsExactly("My name is Ada");
		this.page.type("Are you there?");

		assertThat(question()).isEqualTo("Are you there?");
		assertThat(this.chat.send("GET", "/api/threads/" + this.page.thread(), null).statusCode()).isEqualTo(404);
	}

	@Test
	void nothingIsAskedInAThreadThatIsGoneBeforeThePageNotices() throws Exception {
		this.page.ask("My name is Ada");
		this.expectsErrors = true;
		this.page.holdStill();
		this.chat.send("DELETE", "/api/threads/" + this.page.thread(), null);

		this.page.type("What is my name?");

		await().untilAsserted(() -> assertThat(this.page.texts("#banner span")).singleElement()
			.asString()
			.startsWith("This thread was deleted in another window."));
		assertThat(this.page.texts(".bubble.user")).startsWith("My name is Ada");
		assertThat(this.chat.send("GET", "/api/threads/" + this.page.thread(), null).statusCode()).isEqualTo(404);
	}

	@Test
	void anAnswerInAThreadThatIsDeletedMeanwhileSaysSo() throws Exception {
		this.page.ask("Hello");
		this.expectsErrors = true;
		this.chat.hold();
		try {
			this.page.type("Tell me a story");
			this.page.awaitFirstWords();
			this.chat.send("DELETE", "/api/threads/" + this.page.thread(), null);

			await().untilAsserted(() -> assertThat(this.page.texts(".turn.aside .note > span"))
				.containsExactly("This thread was deleted. This answer was not stored."));
		}
		finally {
			this.chat.release();
		}
		await().untilAsserted(() -> assertThat(this.page.texts("#banner span")).singleElement()
			.asString()
			.startsWith("This thread was deleted"));
		assertThat(this.chat.send("GET", "/api/threads/" + this.page.thread(), null).statusCode()).isEqualTo(404);
	}

	@Test
	void theFirstTurnOfAThreadIsInTheListWhileItRuns() {
		this.page.type("Write 35 kB");
		this.page.awaitFirstWords();

		assertThat(this.page.texts(".thread.active .thread-title")).containsExactly("Write 35 kB");
		assertThat(this.page.texts(".entry.running .status")).containsExactly("answering");
		assertThat(this.page.shows(".thread.active .thread-mark.running")).isTrue();
	}

	@Test
	void theInspectorShowsAllOfATurn() {
		this.page.ask("My name is Ada");
		assertThat(this.page.texts(".turn .meta time")).singleElement().asString().containsPattern("\\d\\d:\\d\\d");
		this.page.ask("Roll a die");
		this.page.click(".turn:last-child .meta button");

		await().untilAsserted(
				() -> assertThat(this.page.texts(".stored h3")).containsExactly("User", "Model", "Tool", "Model"));
		this.page.click(".stored:nth-child(2) .as-json summary");
		assertThat(this.page.texts(".stored:nth-child(2) .raw").get(0)).contains("roll_die", "sides");
		this.page.click("[role=tab]:nth-child(2)");
		assertThat(this.page.texts(".sent > li")).hasSize(2).first().asString().contains("My name is Ada");
		assertThat(this.page.texts(".inspector-panel code")).contains("roll_die", "current_time", "cancel_order");
		this.page.click("[role=tab]:nth-child(3)");
		assertThat(this.page.texts(".inspector-panel tbody tr")).hasSize(2);
		this.page.click("[role=tab]:nth-child(5)");
		assertThat(this.page.texts(".inspector-panel dd")).contains("main", "1");
		this.page.click(".inspector-way .quiet");
		await().untilAsserted(() -> assertThat(this.page.texts("#inspector-title")).containsExactly("Turn 1"));
		this.page.typeInto("#close-inspector", Keys.ESCAPE);
		assertThat(this.page.shows("#inspector")).isFalse();
	}

	/** Also one that cannot be read. */
	@Test
	void theInspectorShowsTheTurnThatWasWantedLast() {
		String shown = this.page.script("""
				return import('/js/inspector.js').then(async ({ inspect }) => {
					const view = { turns: [{ number: 5 }, { number: 6 }], deleted: 0 };
					const turn = { status: 'COMPLETED', startedAt: new Date(), millis: 1, model: 'model of turn 6' };
					let answer;
					const late = new Promise((resolve) => { answer = resolve; });
					const first = inspect(5, () => late, view);
					await inspect(6, async () => ({ turn, items: [] }), view);
					answer(undefined);
					await first;
					const dialog = document.getElementById('inspector');
					dialog.close();
					return dialog.textContent;
				})""");

		assertThat(shown).contains("Turn 6", "model of turn 6").doesNotContain("cannot be read");
	}

	/** There are no pictures any more for those that were planned. */
	@Test
	void anAnswerEndsInAWindowThatGoesIntoTheBackground() {
		String shown = this.page.script("""
				return import('/js/live.js').then(async ({ liveTurn }) => {
					const { requestAnimationFrame } = window;
					window.requestAnimationFrame = () => 0;
					const live = liveTurn('Hello', 0, { isAtEnd: () => false, drawn() {} });
					live.text('An answer.');
					await Promise.race([live.end(), new Promise((resolve) => setTimeout(resolve, 900))]);
					window.requestAnimationFrame = requestAnimationFrame;
					return live.node.textContent;
				})""");

		assertThat(shown).contains("An answer.");
	}

	@Test
	void theKeyboardStopsRecallsAndListsItsKeys() {
		this.page.type("Write 35 kB");
		this.page.awaitFirstWords();
		this.page.typeInto("#question", Keys.ESCAPE);
		await().untilAsserted(() -> assertThat(this.page.texts(".entry .status")).containsExactly("stopped here"));

		this.page.typeInto("#question", Keys.ARROW_UP);
		assertThat(question()).isEqualTo("Write 35 kB");
		this.page.typeInto("#scroller", "?");
		assertThat(this.page.texts("#shortcuts kbd")).contains("Escape", "Alt + N");
		this.page.typeInto("#close-shortcuts", Keys.ENTER);
		this.page.typeInto("#scroller", Keys.chord(Keys.ALT, "n"));
		await().untilAsserted(() -> assertThat(this.page.shows(".empty")).isTrue());
	}

	/**
	 * A person has a window of 1280 x 860 and reads at twice and four times the size.
	 */
	@ParameterizedTest
	@CsvSource({ "640, 430", "320, 215" })
	void atLargeSizesThePageBeginsAtItsTopAndLeavesRoomToRead(int width, int height) {
		try {
			Chromium.resize(this.browser, width, height, false);
			this.expectsErrors = true; // the new thread is not found
			this.browser.get(address() + "?size=" + width + "#new-" + width);
			await().untilAsserted(() -> assertThat(this.page.shows(".empty h2")).isTrue());
			long top = this.page.script("return document.getElementById('scroller').scrollTop");
			assertThat(top).isZero();

			this.page.ask("My name is Ada");

			long room = this.page.script("return document.getElementById('scroller').clientHeight");
			assertThat(room).isGreaterThan(height / 3);
			long across = this.page.script("return document.documentElement.scrollWidth");
			assertThat(across).isLessThanOrEqualTo(width);
		}
		finally {
			this.page.wide();
		}
	}

	@Test
	void allTurnsOfAThreadArePrinted() throws Exception {
		String thread = "printed-" + this.page.thread();
		for (int turn = 1; turn <= 40; turn++) {
			this.chat.ask(thread, "Hello " + turn);
		}
		this.page.script("location.hash = arguments[0]", thread);
		await().untilAsserted(() -> assertThat(this.page.texts(".bubble.user")).hasSize(40));

		byte[] pdf = Base64.getDecoder().decode(this.browser.print(new PrintOptions()).getContent());

		long pages = Pattern.compile("/Type\\s*/Page\\b")
			.matcher(new String(pdf, StandardCharsets.ISO_8859_1))
			.results()
			.count();
		assertThat(pages).isGreaterThan(3);
	}

	@Test
	void anAnswerWithoutAWordSaysSoAndCanBeAskedForAgain(@TempDir Path other) throws IOException {
		HttpServer silent = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
		silent.createContext("/", (exchange) -> {
			byte[] nothing = "data: [DONE]\n\n".getBytes(StandardCharsets.UTF_8);
			exchange.getRequestBody().readAllBytes();
			exchange.getResponseHeaders().add("Content-Type", "text/event-stream");
			exchange.sendResponseHeaders(200, nothing.length);
			exchange.getResponseBody().write(nothing);
			exchange.close();
		});
		silent.start();
		try (RunningChat chat = RunningChat.start(other, "--spring.profiles.active=openai",
				"--OPENAI_BASE_URL=http://127.0.0.1:" + silent.getAddress().getPort() + "/v1", "--OPENAI_API_KEY=none",
				BrowserTests.QUIET)) {
			ChatPage page = ChatPage.open(this.browser, "http://127.0.0.1:" + chat.port() + "/");
			page.type("Hello");

			await().untilAsserted(() -> assertThat(page.texts(".turn.failed")).singleElement()
				.asString()
				.contains("The model sent an empty answer.", "Retry"));
			page.reload();
			assertThat(page.texts(".turn.failed")).singleElement()
				.asString()
				.contains("The model sent an empty answer.", "Retry");
			// The page would look for the other chat when that is gone.
			this.browser.get(address());
		}
		finally {
			silent.stop(0);
		}
	}

	@Test
	void whatIsSaidCanBeCopied() {
		this.browser.executeCdpCommand("Browser.grantPermissions",
				Map.of("permissions", List.of("clipboardReadWrite", "clipboardSanitizedWrite")));
		this.page.ask("Show me the code");

		this.page.script("document.querySelector('.code figcaption button').click()");

		await().untilAsserted(() -> assertThat(this.page.<String>script("return navigator.clipboard.readText()"))
			.startsWith("chat.prompt()"));
		this.page.script("document.querySelector('.said button').click()");
		await().untilAsserted(() -> assertThat(this.page.<String>script("return navigator.clipboard.readText()"))
			.isEqualTo("Show me the code"));
	}

}
