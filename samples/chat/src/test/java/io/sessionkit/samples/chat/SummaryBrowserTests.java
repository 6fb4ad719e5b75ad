package io.sessionkit.samples.chat;

import java.io.IOException;
import java.nio.file.Path;
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
 * Tests what the page shows of a thread that has run past its limit.
 */
@Order(2)
@ExtendWith(Browsers.class)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@EnabledIf(value = "io.sessionkit.samples.chat.BrowserTests#chromiumIsThere", disabledReason = BrowserTests.NOT_RUN)
class SummaryBrowserTests {

	private static final String TURNS_AND_SUMMARIES = "#turn-list .number, #turn-list .mark summary";

	private Path database;

	private RunningChat chat;

	private ChromeDriver browser;

	private ChatPage page;

	@BeforeAll
	void start(@TempDir Path database, ChromeDriver browser) {
		this.database = database;
		this.chat = RunningChat.start(database, BrowserTests.PACE, BrowserTests.QUIET);
		this.browser = browser;
	}

	@AfterAll
	void stop() {
		this.chat.close();
	}

	@BeforeEach
	void openNewThread() {
		this.page = ChatPage.open(this.browser, "http://127.0.0.1:" + this.chat.port() + "/");
		this.page.newThread();
	}

	@AfterEach
	void logsNoErrors() {
		assertThat(this.browser.manage().logs().get(LogType.BROWSER).getAll())
			.filteredOn((entry) -> entry.getLevel().equals(Level.SEVERE))
			.extracting(LogEntry::getMessage)
			.filteredOn((message) -> !message.contains("net::ERR_")) // while it restarts
			.isEmpty();
	}

	@Test
	void showsTheSummaryOfAThreadThatRunsPastItsLimit() throws IOException {
		runPastTheLimit();

		assertThat(this.page.texts(TURNS_AND_SUMMARIES)).containsExactly("Turn 1", "Turn 2", "Summary up to turn 2",
				"Turn 3", "Turn 4", "Turn 5", "Turn 6");
		assertThat(this.page.texts(".entry .status")).containsExactly("summarized", "summarized");
		assertThat(this.page.texts(".bubble.user, .conversation > .summary-card summary")).startsWith("My name is Ada",
				"Roll a die", "Summary up to turn 2", "Roll a die");
		assertThat(this.page.shows(".mark .text")).isFalse();
		this.page.click(".mark summary");
		assertThat(this.page.texts(".mark .text")).singleElement()
			.asString()
			.contains("“My name is Ada”")
			.containsPattern("“Roll a die” · roll_die: [1-6]");
		assertThat(this.page.texts(".mark .summary-why")).singleElement()
			.asString()
			.contains("in place of turns 1 to 2", "stay stored");
		assertThat(this.page.texts(".mark .summary-facts")).singleElement()
			.asString()
			.matches("demo · \\d+ tokens in · \\d+ out · Today, .+");
		this.page.click(".entry button");
		await().untilAsserted(() -> assertThat(this.page.isReachable("#turn-1 .bubble.assistant")).isTrue());
		this.page.screenshot("wide-summary");
		assertThat(this.page.tooWide()).isEmpty();
	}

	@Test
	void showsTheSummaryAgainAfterARestartOfTheApplication() {
		runPastTheLimit();
		this.page.reload();
		List<String> before = this.page.texts(TURNS_AND_SUMMARIES + ", .bubble, .conversation > .summary-card");
		assertThat(before).hasSize(7 + 12 + 1);

		int port = this.chat.port();
		this.chat.close();
		this.chat = RunningChat.startOn(port, this.database, BrowserTests.PACE, BrowserTests.QUIET);
		this.page.reload();

		assertThat(this.page.texts(TURNS_AND_SUMMARIES + ", .bubble, .conversation > .summary-card")).isEqualTo(before);
		assertThat(this.page.ask("What is my name?")).contains("Ada");
		this.page.click(".entry:last-child > button");
		assertThat(this.page.texts(".entry:last-child .entry-details"))
			.containsExactly("Context: summary + 16 messages");
		this.page.click(".entry:last-child .entry-details");
		this.page.click("[role=tab]:nth-child(2)");
		await().untilAsserted(() -> assertThat(this.page.texts(".sent > li")).hasSize(2 + 16));
		assertThat(this.page.texts(".sent > li").subList(0, 2)).allMatch((text) -> text.startsWith("Summary"));
		assertThat(this.page.texts(".sent > li").get(1)).contains("My name is Ada");
		assertThat(this.page.texts(".inspector-panel")).singleElement()
			.asString()
			.contains("You are a friendly assistant");
		this.page.click("#close-inspector");
	}

	@Test
	void summarizesWhenAskedToAndSaysWhatCameOfIt() throws IOException {
		runPastTheLimit();

		assertThat(this.page.texts("#summarizer-text")).containsExactly("16 messages, summary due at 20");
		this.page.click("#summarize");
		await().untilAsserted(() -> assertThat(this.page.texts("#summarizer-outcome")).singleElement()
			.asString()
			.startsWith("Nothing to summarize"));
		this.page.ask("Roll a die");
		this.page.click("#summarize");

		await().untilAsserted(() -> assertThat(this.page.texts("#summarizer-outcome")).singleElement()
			.asString()
			.startsWith("Summarized one turn."));
		assertThat(this.page.texts(TURNS_AND_SUMMARIES)).startsWith("Turn 1", "Turn 2", "Summary up to turn 2",
				"Turn 3", "Summary up to turn 3", "Turn 4");
		assertThat(this.page.texts(".mark .summary-card.older summary")).containsExactly("Summary up to turn 2");
		this.page.narrow();
		this.page.reload();
		this.page.click(".conversation > .summary-card:not(.older) summary");
		this.page.screenshot("narrow-summary");
		assertThat(this.page.tooWide()).isEmpty();
		this.page.click("#toggle-timeline");
		this.page.click(".mark .summary-card.older summary");
		this.page.screenshot("narrow-timeline-summary");
		assertThat(this.page.texts(".mark .summary-card.older .summary-why"))
			.containsExactly("A newer summary contains this one.");
		assertThat(this.page.tooWide()).isEmpty();
	}

	@Test
	void reachesASummaryByKeyboardAndSaysItsName() {
		runPastTheLimit();

		this.page.typeInto("#turn-list > :nth-child(2) > button", Keys.TAB, Keys.TAB);
		assertThat(this.page.focused()).isEqualTo("Summary up to turn 2");
		assertThat(this.page.accessibleName(".mark summary")).isEqualTo("Summary up to turn 2");
		this.page.typeInto(".mark summary", Keys.ENTER);

		assertThat(this.page.shows(".mark .text")).isTrue();
		assertThat(this.page.accessibleName("#summarizer")).isEqualTo("Summary");
	}

	/**
	 * The sixth turn is one too many, and all but the newest four are summarized.
	 */
	private void runPastTheLimit() {
		this.page.ask("My name is Ada");
		for (int turn = 2; turn <= 6; turn++) {
			assertThat(this.page.shows(".summary-card")).isFalse();
			this.page.ask("Roll a die");
		}
		await().untilAsserted(() -> assertThat(this.page.shows(".mark .summary-card")).isTrue());
	}

}
