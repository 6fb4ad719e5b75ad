package io.sessionkit.samples.chat;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.logging.Level;

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
import org.openqa.selenium.Keys;
import org.openqa.selenium.chrome.ChromeDriver;
import org.openqa.selenium.logging.LogEntry;
import org.openqa.selenium.logging.LogType;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * The page in a real browser, with the application and its database file behind it.
 */
@Order(2)
@ExtendWith(Browsers.class)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@EnabledIf(value = "chromiumIsThere", disabledReason = BrowserTests.NOT_RUN)
class BrowserTests {

	static final String PACE = "--demo.pace=5ms";

	/** It warns of parts for newer browsers that nobody uses here. */
	static final String QUIET = "--logging.level.org.openqa.selenium=error";

	static final String NOT_RUN = "Browser tests: not run, no chromium found";

	private final List<String> expectedErrors = new ArrayList<>();

	private Path database;

	private RunningChat chat;

	private ChromeDriver browser;

	private ChatPage page;

	/**
	 * Says it where everybody sees it, since a build may hide the reason of a skipped
	 * test.
	 */
	static boolean chromiumIsThere() {
		Chromium.missing().ifPresent((file) -> System.out.println(NOT_RUN + " (" + file + " is not there)"));
		return Chromium.missing().isEmpty();
	}

	@BeforeAll
	void start(@TempDir Path database, ChromeDriver browser) {
		this.database = database;
		this.chat = RunningChat.start(database, PACE, QUIET);
		this.browser = browser;
	}

	@AfterAll
	void stop() {
		this.chat.close();
	}

	@BeforeEach
	void openNewThread() {
		this.expectedErrors.clear();
		this.page = ChatPage.open(this.browser, "http://127.0.0.1:" + this.chat.port() + "/");
		this.page.newThread();
	}

	@AfterEach
	void logsNoErrors() {
		this.chat.release();
		this.page.closeOtherWindows();
		assertThat(this.browser.manage().logs().get(LogType.BROWSER).getAll())
			.filteredOn((entry) -> entry.getLevel().equals(Level.SEVERE))
			.extracting(LogEntry::getMessage)
			.filteredOn((message) -> this.expectedErrors.stream().noneMatch(message::contains))
			.isEmpty();
	}

	@Test
	void showsTheReplyWordByWord() {
		this.chat.hold();
		this.page.type("Tell me a story");

		String firstWords = this.page.awaitFirstWords();
		assertThat(this.page.shows("#stop")).isTrue();
		this.chat.release();
		await().untilAsserted(() -> assertThat(this.page.texts(".turn .meta")).hasSize(1));
		assertThat(this.page.texts(".bubble.assistant").get(0)).startsWith(firstWords.strip())
			.endsWith("tore out half a page.");
		this.page.awaitTimeline();
		assertThat(this.page.shows("#stop")).isFalse();
		assertThat(this.page.texts(".entry .status")).isEmpty();
	}

	@Test
	void showsWhatTheToolsReturned() {
		this.page.ask("Roll two dice");

		assertThat(this.page.texts(".tool summary code")).containsExactly("roll_die", "roll_die");
		assertThat(this.page.texts(".tool-result")).hasSize(2).allMatch((roll) -> roll.matches("[1-6]"));
		assertThat(this.page.texts(".entry-facts")).singleElement().asString().endsWith("roll_die ×2");
		this.page.click(".tool summary");
		assertThat(this.page.texts(".tool dd").get(0)).isEqualTo("{\"sides\":6}");
	}

	@Test
	void showsTheThreadAgainAfterAReload() {
		this.page.ask("My name is Ada");
		this.page.ask("Roll a die");
		List<String> before = this.page.texts(".bubble, .tool");

		this.page.reload();

		assertThat(this.page.texts(".bubble, .tool")).isEqualTo(before).hasSize(5);
		assertThat(this.page.texts("#title")).containsExactly("My name is Ada");
	}

	@Test
	void goesOnAfterARestartOfTheApplication() {
		this.page.ask("My name is Ada");
		int port = this.chat.port();

		this.chat.close();
		this.expectedErrors.add("net::ERR_");
		this.page.type("Is anybody there?");
		await().untilAsserted(() -> assertThat(this.page.texts(".turn.aside .note > span")).singleElement()
			.asString()
			.startsWith("The connection is lost. The question is sent again"));
		this.chat = RunningChat.startOn(port, this.database, PACE, QUIET);
		this.page.reload();

		await().untilAsserted(() -> assertThat(this.page.texts(".turn .meta")).hasSize(2));
		this.page.awaitTimeline();
		assertThat(this.page.ask("What is my name?")).contains("Ada");
		assertThat(this.page.texts(".bubble.user")).containsExactly("My name is Ada", "Is anybody there?",
				"What is my name?");
	}

	@Test
	void renamesAThreadInItsRow() {
		this.page.ask("My name is Ada");

		this.page.clickInRow("[aria-label^=Rename]");
		this.page.typeInto(".rename", "Countess", Keys.ENTER);

		await().untilAsserted(() -> assertThat(this.page.texts("#title")).containsExactly("Countess"));
		this.page.reload();
		assertThat(this.page.texts(".active .thread-title")).containsExactly("Countess");
	}

	@Test
	void deletesAThread() {
		this.page.ask("Hello from a thread that is deleted");
		int threads = this.page.texts(".thread").size();

		this.page.clickInRow("[aria-label^=Delete]");

		await().untilAsserted(() -> assertThat(this.page.texts(".thread")).hasSize(threads - 1));
		assertThat(this.page.texts(".thread-title")).doesNotContain("Hello from a thread that is deleted");
		assertThat(this.page.texts("#title")).doesNotContain("Hello from a thread that is deleted");
	}

	@Test
	void showsInOneWindowWhatWasSaidInAnother() {
		this.page.ask("My name is Ada");
		ChatPage other = this.page.openInAnotherWindow();

		this.page.ask("Roll a die");

		await().untilAsserted(
				() -> assertThat(other.texts(".bubble.user")).containsExactly("My name is Ada", "Roll a die"));
		assertThat(other.ask("What is my name?")).contains("Ada");
	}

	@Test
	void tellsWhoAskedToAskAgainWhenAnotherWindowUndid() throws IOException {
		this.page.ask("Hello");
		ChatPage other = this.page.openInAnotherWindow();

		this.chat.hold();
		this.page.type("Tell me a story");
		this.page.awaitFirstWords();
		undoIn(other, "Hello");
		this.chat.release();

		await().untilAsserted(() -> assertThat(this.page.texts("#banner span"))
			.containsExactly("Another window was faster. Ask again to go on from there."));
		this.page.narrow();
		this.page.screenshot("narrow-conflict");
		assertThat(this.page.tooWide()).isEmpty();
	}

	@Test
	void anAnswerThatLostARaceCanStillBeReadAndAskedForAgain() {
		this.page.ask("Hello");
		ChatPage other = this.page.openInAnotherWindow();
		this.page.ask("My name is Ada");
		this.chat.hold();
		this.page.type("Tell me a story");
		this.page.awaitFirstWords();

		undoIn(other, "My name is Ada");
		this.chat.release();

		await().untilAsserted(() -> assertThat(this.page.texts(".turn.aside .note > span"))
			.containsExactly("Another window was faster. This answer was not stored."));
		assertThat(this.page.texts(".turn.aside .bubble.assistant")).singleElement()
			.asString()
			.contains("lighthouse keeper");
		this.page.click(".retry");
		await().untilAsserted(() -> assertThat(this.page.texts(".turn.aside")).isEmpty());
		await().untilAsserted(
				() -> assertThat(this.page.texts(".bubble.user")).containsExactly("Hello", "Tell me a story"));
	}

	/** Until it is done, and the page shows it. */
	private static void undoIn(ChatPage other, String last) {
		await().untilAsserted(() -> assertThat(other.texts(".bubble.user")).endsWith(last));
		other.click("#undo");
		await().untilAsserted(() -> assertThat(other.texts(".bubble.user")).doesNotContain(last));
	}

	@Test
	void keepsWhatWasReadOfAStoppedTurn() {
		this.chat.hold();
		this.page.type("Tell me a story");
		this.page.awaitFirstWords();

		this.page.click("#stop");
		this.chat.release();

		await().untilAsserted(() -> assertThat(this.page.texts(".entry .status")).containsExactly("stopped here"));
		assertThat(this.page.texts(".turn .cut")).containsExactly("Stopped here.");
		assertThat(this.page.ask("How many messages are there?")).contains("3 messages,");
		assertThat(this.page.texts(".entry .status")).containsExactly("stopped here");
	}

	@Test
	void fitsAWideWindow() throws IOException {
		talk();
		this.page.screenshot("wide");

		assertThat(this.page.scrolls("html")).isFalse();
		assertThat(this.page.tooWide()).isEmpty();
		assertThat(this.page.isReachable("#composer")).isTrue();
		assertThat(this.page.isReachable("#threads .active")).isTrue();
		assertThat(this.page.isReachable("#timeline")).isTrue();
		assertThat(this.page.shows("#open-sidebar")).isFalse();
	}

	@Test
	void fitsANarrowWindow() throws IOException {
		talk();
		this.page.narrow();
		this.page.reload();
		this.page.screenshot("narrow");

		assertThat(this.page.scrolls("html")).isFalse();
		assertThat(this.page.tooWide()).isEmpty();
		assertThat(this.page.isReachable("#composer")).isTrue();
		assertThat(this.page.shows("#sidebar")).isFalse();
		assertThat(this.page.shows("#timeline")).isFalse();
	}

	@Test
	void keepsTheQuestionFieldInShapeWhenTheWindowIsResized() {
		assertThat(this.page.scrolls("#question")).isFalse();

		this.page.typeInto("#question", "One line", Keys.chord(Keys.SHIFT, Keys.ENTER), "and another");
		this.page.narrow();

		await().untilAsserted(() -> assertThat(this.page.scrolls("#question")).isFalse());
	}

	@Test
	void opensTheThreadsAndTheTimelineOverANarrowWindow() throws IOException {
		talk();
		this.page.narrow();
		this.page.reload();

		this.page.click("#open-sidebar");
		this.page.screenshot("narrow-threads");
		assertThat(this.page.isReachable("#threads .active .open")).isTrue();
		assertThat(this.page.isReachable("#question")).isFalse();
		assertThat(this.page.tooWide()).isEmpty();
		assertThat(this.page.shows("#threads [aria-label^=Rename]")).isFalse();
		this.page.click("#threads .active .row-menu");
		this.page.screenshot("narrow-thread-menu");
		assertThat(this.page.texts("#turn-menu button")).containsExactly("Rename", "Delete");
		this.page.click("#turn-menu button:first-child");
		this.page.typeInto(".rename", "Countess", Keys.ENTER);
		await().untilAsserted(
				() -> assertThat(this.page.texts("#threads .active .thread-title")).containsExactly("Countess"));
		this.page.click("#threads .active .open");
		await().untilAsserted(() -> assertThat(this.page.shows("#sidebar")).isFalse());

		this.page.click("#toggle-timeline");
		this.page.screenshot("narrow-timeline");
		assertThat(this.page.texts(".entry .number")).containsExactly("Turn 1", "Turn 2", "Turn 3");
		this.page.click("#close-timeline");
		await().untilAsserted(() -> assertThat(this.page.isReachable("#question")).isTrue());
	}

	private void talk() {
		this.page.ask("My name is Ada");
		this.page.ask("Roll two dice, and what time is it?");
		this.page.ask("Show me the code of " + "averylongword".repeat(12));
	}

}
