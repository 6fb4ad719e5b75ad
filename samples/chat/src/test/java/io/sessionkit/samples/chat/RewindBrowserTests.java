package io.sessionkit.samples.chat;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.logging.Level;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.condition.EnabledIf;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.openqa.selenium.chrome.ChromeDriver;
import org.openqa.selenium.logging.LogEntry;
import org.openqa.selenium.logging.LogType;
import tools.jackson.databind.JsonNode;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Turns that are taken back on the page, with what their tools have done.
 */
@EnabledIf(value = "io.sessionkit.samples.chat.BrowserTests#chromiumIsThere", disabledReason = BrowserTests.NOT_RUN)
@ExtendWith(Browsers.class)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class RewindBrowserTests {

	private static final String[] ARGUMENTS = { "--demo.pace=1ms", BrowserTests.QUIET };

	private static final String STEPS = ".rewind-what strong";

	private static final String STATES = ".rewind-state";

	private static final String GO = ".rewind-actions .danger";

	private static final String APPROVE = "#rewind .approval-actions .danger";

	private static final String AWAY = "The application does not answer. Is it running?";

	private final List<String> expectedErrors = new ArrayList<>();

	private Path database;

	private RunningChat chat;

	private ChromeDriver browser;

	private ChatPage page;

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
		this.expectedErrors.clear();
		this.page = ChatPage.open(this.browser, "http://127.0.0.1:" + this.chat.port() + "/");
		this.page.newThread();
	}

	@AfterEach
	void logsNoErrors() {
		this.page.closeOtherWindows();
		assertThat(this.browser.manage().logs().get(LogType.BROWSER).getAll())
			.filteredOn((entry) -> entry.getLevel().equals(Level.SEVERE))
			.extracting(LogEntry::getMessage)
			.filteredOn((message) -> this.expectedErrors.stream().noneMatch(message::contains))
			.isEmpty();
	}

	@Test
	void aCancelledOrderIsTakenBackAfterItsPlanAndItsApproval() throws IOException {
		this.page.ask("Hello");
		cancel("6001");
		this.page.ask("Roll a die");

		takeBackFrom(2);
		assertThat(this.page.texts("#rewind-title")).containsExactly("Take back turns 2 and 3");
		assertThat(this.page.texts(STEPS)).containsExactly("Restore order 6001");
		assertThat(this.page.texts(STATES)).containsExactly("asks for your decision first");
		assertThat(this.page.texts(".rewind-why")).singleElement()
			.asString()
			.startsWith("Turn 2: Order 6001 is cancelled");
		assertThat(this.page.shows(".rewind-stays")).isFalse();
		this.page.screenshot("rewind-plan");
		this.page.click(GO);
		awaitCard();
		this.page.screenshot("rewind-card");
		assertThat(this.page.texts("#rewind .approval-actions button")).containsExactly("Approve", "Reject");
		assertThat(this.chat.restoredOrders()).doesNotContain("6001");

		this.page.reload();
		assertThat(this.page.texts("#taking-back span")).containsExactly("Taking back from turn 2 on is not finished.");
		assertThat(this.page.texts(".bubble.user")).hasSize(3);
		this.page.screenshot("rewind-bar");
		this.page.click("#taking-back .quiet");
		awaitCard();
		this.page.click(APPROVE);

		await().untilAsserted(() -> assertThat(this.page.texts(STATES)).containsExactly("done"));
		assertThat(this.page.texts(".rewind-outcome")).containsExactly("Order 6001 is valid again.");
		this.page.screenshot("rewind-done");
		await().untilAsserted(() -> assertThat(this.page.texts(".bubble.user")).containsExactly("Hello"));
		assertThat(this.chat.restoredOrders()).containsOnlyOnce("6001");
		this.page.click(".rewind-actions .primary");
		assertThat(this.page.shows("#taking-back")).isFalse();
		assertThat(this.page.caret().field()).isEqualTo("question");
		this.expectedErrors.add("status of 409");
		this.page.click("#redo");
		await().untilAsserted(() -> assertThat(this.page.texts("#banner span")).singleElement()
			.asString()
			.contains("cannot become history again"));
	}

	@Test
	void itStopsWhereACallFailsAndGoesOnAfterARestart() throws IOException {
		cancel("6009");
		cancel("6002");
		takeBackFrom(1);
		assertThat(this.page.texts(STEPS)).containsExactly("Restore order 6002", "Restore order 6009");
		this.page.click(GO);
		awaitCard();
		this.page.click("#rewind li:first-child .approval-actions .danger");
		await().untilAsserted(() -> assertThat(this.page.texts("#rewind .approval-actions")).hasSize(1));
		this.page.click(APPROVE);

		await().untilAsserted(() -> assertThat(this.page.texts(STATES)).containsExactly("done", "failed"));
		assertThat(this.page.texts(".rewind-outcome.fault"))
			.containsExactly("The last article of order 6009 was sold to somebody else meanwhile.");
		assertThat(this.page.texts(".rewind-words")).singleElement()
			.asString()
			.startsWith("It has stopped here: a call has failed.");
		assertThat(this.page.texts("#rewind .approval-actions button")).containsExactly("Run again",
				"It has run: answer …", "Leave it");
		assertThat(this.page.texts(".bubble.user")).hasSize(2);
		this.page.screenshot("rewind-failed");
		int port = this.chat.port();
		this.chat.close();
		this.expectedErrors.add("net::ERR_");
		this.chat = RunningChat.startOn(port, this.database, ARGUMENTS);
		this.page.reload();

		this.page.click("#taking-back .quiet");
		awaitCard();
		assertThat(this.page.texts(STATES)).containsExactly("done", "failed");
		this.page.click("#rewind .approval-actions button:last-child");
		this.page.click("#rewind .approval-form .primary");
		await().untilAsserted(() -> assertThat(this.page.texts(".rewind-stays li")).hasSize(1));
		assertThat(this.page.<String>script("return document.querySelector('" + GO + "').ariaDisabled"))
			.isEqualTo("true");
		this.page.screenshot("rewind-stays");
		this.page.click(".rewind-accept input");
		this.page.click(GO);

		await().untilAsserted(() -> assertThat(this.page.shows(".empty")).isTrue());
		assertThat(this.chat.restoredOrders()).as("since the restart").isEmpty();
	}

	@Test
	void anUndoSaysWhatStaysDone() throws IOException {
		cancel("6003");
		this.page.ask("Roll a die");
		this.page.click("#undo");
		await().untilAsserted(() -> assertThat(this.page.texts(".bubble.user")).containsExactly("Cancel order 6003"));
		assertThat(this.page.shows("#rewind")).isFalse();

		this.page.click("#undo");
		await().untilAsserted(() -> assertThat(this.page.texts("#rewind-title")).containsExactly("Undo turn 1?"));
		assertThat(this.page.texts(".rewind-stays li")).singleElement()
			.asString()
			.startsWith("Cancel order 6003: Order 6003 is cancelled");
		this.page.screenshot("rewind-undo");
		this.page.click(".rewind-actions .quiet");
		assertThat(this.page.texts(".bubble.user")).hasSize(1);
		this.page.click("#undo");
		await().untilAsserted(() -> assertThat(this.page.shows(GO)).isTrue());
		this.page.click(GO);

		await().untilAsserted(() -> assertThat(this.page.shows(".empty")).isTrue());
		assertThat(this.chat.restoredOrders()).doesNotContain("6003");
		assertThat(this.chat.cancelledOrders()).contains("6003");
	}

	@Test
	void whatSomebodyElseDecidesIsShown() throws Exception {
		cancel("6004");
		takeBackFrom(1);
		this.page.click(GO);
		awaitCard();
		ChatPage other = this.page.openInAnotherWindow();
		other.click("#taking-back .quiet");
		await().untilAsserted(() -> assertThat(other.shows("#rewind .approval-actions")).isTrue());

		this.page.click(APPROVE);

		await().untilAsserted(() -> assertThat(other.shows("#rewind .approval-actions")).isFalse());
		await().untilAsserted(() -> assertThat(other.shows(".empty")).isTrue());
		assertThat(this.chat.restoredOrders()).containsOnlyOnce("6004");
	}

	@Test
	void whoeverTypesDoesNotNoticeWhatIsLookedForAndWhatOthersDecide() throws Exception {
		cancel("6005");
		cancel("6006");
		takeBackFrom(1);
		this.page.click(GO);
		awaitCard();
		this.page.script("document.querySelector('.rewind-actions button').focus()");
		awaitLooks(2);
		assertThat(this.page.focused()).isEqualTo("Close");
		this.page.click("#rewind li:last-child .approval-actions :nth-child(2)");
		this.page.typeSlowly("Half");
		this.page.script("""
				const { fetch } = window;
				window.fetch = (url, ...more) => {
					const isOurs = url.includes('/rewind?from=');
					window.fetch = isOurs ? fetch : window.fetch;
					return isOurs ? Promise.reject(new TypeError()) : fetch(url, ...more);
				};""");
		await().untilAsserted(() -> assertThat(this.page.texts(".rewind-problem span")).containsExactly(AWAY));
		await().untilAsserted(() -> assertThat(this.page.shows(".rewind-problem")).isFalse());
		approveElsewhere();

		await().untilAsserted(() -> assertThat(this.page.texts(STATES)).containsExactly("is approved and will run",
				"waits for your decision"));
		this.page.typeSlowly(" a reason");
		assertThat(this.page.caret().text()).isEqualTo("Half a reason");
	}

	@Test
	void theWayBackOfTheBrowserClosesWhatWasOpenedOverAnotherThread() {
		this.page.ask("Hello");
		this.page.newThread();
		cancel("6007");
		this.page.click("#undo");
		await().untilAsserted(() -> assertThat(this.page.shows(GO)).isTrue());

		this.browser.navigate().back();
		awaitQuestions("Hello");
		assertThat(this.page.shows("#rewind")).isFalse();

		this.page.click("#turn-1 [aria-haspopup=menu]");
		this.browser.navigate().forward();
		awaitQuestions("Cancel order 6007");
		assertThat(this.page.shows("#turn-menu")).isFalse();
	}

	@Test
	void anUndoTakesTheTurnThatItsWarningNamedAndNoOther() throws Exception {
		cancel("6008");
		this.page.click("#undo");
		await().untilAsserted(() -> assertThat(this.page.shows(GO)).isTrue());
		this.chat.ask(this.page.thread(), "Hello");
		this.page.click(GO);

		await().untilAsserted(() -> assertThat(this.page.texts("#banner span"))
			.containsExactly("Turn 1 is not the last one any more, so nothing is undone."));
		awaitQuestions("Cancel order 6008", "Hello");
	}

	@Test
	void theWarningOfAnUndoLeadsToTakingBack() {
		cancel("6011");
		this.page.click("#undo");
		await().untilAsserted(() -> assertThat(this.page.shows(GO)).isTrue());
		this.page.click(".rewind-actions .primary");

		await().untilAsserted(() -> assertThat(this.page.texts(STEPS)).containsExactly("Restore order 6011"));
	}

	private void awaitQuestions(String... questions) {
		await().untilAsserted(() -> assertThat(this.page.texts(".bubble.user")).containsExactly(questions));
	}

	/** The page looks again only when it has shown what it found. */
	private void awaitLooks(int more) {
		String looks = """
				return performance.getEntriesByType('resource').filter(({ name }) => name.includes('/rewind?from=')).length""";
		long before = this.page.<Long>script(looks);
		await().until(() -> this.page.<Long>script(looks) > before + more);
	}

	/** The first call that takes something back, by somebody who has another page. */
	private void approveElsewhere() throws Exception {
		String path = "/api/threads/" + this.page.thread() + "/rewind";
		JsonNode call = this.chat.get(path).path("steps").path(0).path("call");
		Map<String, String> decision = Map.of("verb", "APPROVE", "by", "Bob", "digest", call.path("digest").asString());
		assertThat(this.chat.send("POST", path + "/calls/" + call.path("id").asString(), decision).statusCode())
			.isEqualTo(200);
	}

	/** In a turn of its own. */
	private void cancel(String order) {
		int before = this.page.texts(".turn .meta").size();
		this.page.type("Cancel order " + order);
		this.page.awaitApproval();
		this.page.click(".approval-actions .danger");
		await().untilAsserted(() -> assertThat(this.page.texts(".turn .meta")).hasSize(before + 1));
		this.page.awaitTimeline();
	}

	private void takeBackFrom(int turn) {
		this.page.click("#turn-" + turn + " [aria-haspopup=menu]");
		this.page.click("#turn-menu button:nth-child(2)");
		await().untilAsserted(() -> assertThat(this.page.shows(".rewind-steps")).isTrue());
	}

	private void awaitCard() {
		await().untilAsserted(() -> assertThat(this.page.shows("#rewind .approval-actions")).isTrue());
	}

}
