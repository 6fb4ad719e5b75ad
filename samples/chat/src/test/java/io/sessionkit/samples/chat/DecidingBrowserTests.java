package io.sessionkit.samples.chat;

import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
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
import org.openqa.selenium.Keys;
import org.openqa.selenium.chrome.ChromeDriver;
import org.openqa.selenium.logging.LogEntry;
import org.openqa.selenium.logging.LogType;
import tools.jackson.databind.JsonNode;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Tests how a person handles calls that wait: what is asked, what can be typed, what
 * others have decided meanwhile, and what is seen of it afterwards.
 */
@EnabledIf(value = "io.sessionkit.samples.chat.BrowserTests#chromiumIsThere",
		disabledReason = "Chromium or its driver is missing")
@ExtendWith(Browsers.class)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class DecidingBrowserTests {

	private static final String APPROVE = ".approval-actions .danger";

	private static final String EDIT = ".approval-actions :nth-child(2)";

	private static final String FORM = ".arguments-form ";

	private RunningChat chat;

	private ChromeDriver browser;

	private ChatPage page;

	@BeforeAll
	void start(@TempDir Path database, ChromeDriver browser) {
		this.chat = RunningChat.start(database, "--demo.pace=1ms", BrowserTests.QUIET);
		this.browser = browser;
		Chromium.hurry(this.browser);
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
		this.page.wide();
		this.page.closeOtherWindows();
		assertThat(this.browser.manage().logs().get(LogType.BROWSER).getAll())
			.filteredOn((entry) -> entry.getLevel().equals(Level.SEVERE))
			.extracting(LogEntry::getMessage)
			.filteredOn((message) -> !message.contains("status of 409"))
			.isEmpty();
	}

	@Test
	void asksInASentenceAndShowsLabelledFields() {
		pause("Cancel order 4711 because it was bought twice");

		assertThat(this.page.texts(".approval h3 > span:first-of-type")).containsExactly("Cancel order 4711?");
		assertThat(this.page.texts(".approval .fields dt")).containsExactly("Order number", "Reason");
		assertThat(this.page.texts(".approval .fields dd")).containsExactly("4711", "it was bought twice");
		assertThat(this.page.shows(".approval pre")).isFalse();
		this.page.click(".approval .as-json summary");
		assertThat(this.page.texts(".approval pre"))
			.containsExactly("{\n  \"orderNumber\": \"4711\",\n  \"reason\": \"it was bought twice\"\n}");
	}

	@Test
	void aDecisionNeedsAName() {
		pause("Cancel order 4711");
		this.page.replace("#approver", String.valueOf(Keys.BACK_SPACE));

		this.page.click(APPROVE);

		assertThat(this.page.texts("#approver-fault"))
			.containsExactly("Write your name: the decision is stored under it.");
		assertThat(this.page.caret().field()).isEqualTo("approver");
		this.page.typeInto("#approver", "Grace", Keys.ENTER);
		this.page.click(APPROVE);
		answered();
		this.page.click(".tool summary");
		assertThat(this.page.texts(".tool .decision")).containsExactly("approved by Grace");
	}

	@Test
	void fieldsAreCheckedWhileTheyAreTypedAndOnlyWhatWasChangedIsAnotherValue() throws Exception {
		pause("Cancel order 4711");
		this.page.click(EDIT);
		assertThat(this.page.accessibleName(FORM + "input")).isEqualTo("Order number");

		this.page.replace(FORM + "input", String.valueOf(Keys.BACK_SPACE));
		assertThat(this.page.texts(".field-hint.fault")).containsExactly("Order number is missing.");
		this.page.click(".approval-form .danger");
		assertThat(this.page.shows(".approval-form")).isTrue();
		this.page.typeInto(FORM + "input", "4712");
		assertThat(this.page.texts(".field-hint.fault")).isEmpty();
		this.page.click(".approval-form .danger");

		answered();
		assertThat(this.chat.cancelledOrders()).last().isEqualTo("4712");
		assertThat(calls().path(0).path("decisions").path(0).path("arguments").asString())
			.isEqualTo("{\"orderNumber\": \"4712\", \"reason\": \"asked for in the chat\"}");
	}

	@Test
	void whoeverApprovesTheFormAsItWasHasEditedNothing() throws Exception {
		pause("Cancel order 4711");
		this.page.click(EDIT);

		this.page.click(".approval-form .danger");

		answered();
		assertThat(calls().path(0).path("decisions").path(0).path("arguments").isNull()).isTrue();
	}

	@Test
	void anAlwaysCountsForTheOtherCallThatWaits() {
		pause("Cancel orders 4711 and 4712");

		this.page.click(".approval:nth-of-type(1) .approval-actions :nth-child(4)");
		this.page.click(".approval-form .danger");

		answered();
		assertThat(this.page.texts(".tool-result")).hasSize(2).allMatch((text) -> text.contains("is cancelled"));
		assertThat(this.page.texts("#standing-list li")).hasSize(1);
		this.page.click("#standing-list button");
		await().untilAsserted(() -> assertThat(this.page.shows("#standing")).isFalse());
	}

	@Test
	void theCardIsInViewWhenTheThreadIsOpened() {
		for (int turn = 0; turn < 6; turn++) {
			this.page.ask("Show me the code");
		}
		pause("Cancel order 4711");

		this.page.reload();
		this.page.awaitApproval();
		assertThat(this.page.isReachable(APPROVE)).isTrue();
		assertThat(this.page.isReachable(".approval h3")).isTrue();
		this.page.narrow();
		this.page.reload();
		this.page.awaitApproval();
		assertThat(this.page.isReachable(APPROVE)).isTrue();
		assertThat(this.page.isReachable(".approval h3")).isTrue();
	}

	@Test
	void whatIsTypedStaysIfSomebodyElseIsFaster() throws Exception {
		pause("Cancel order 4711");
		this.page.click(EDIT);
		this.page.replace(FORM + "input", "4799");

		decideElsewhere(Map.of("verb", "APPROVE", "by", "Bob"));

		await().untilAsserted(() -> assertThat(this.page.texts(".approval-overtaken")).singleElement()
			.asString()
			.contains("approved by Bob", "was not used"));
		assertThat(this.page.caret().text()).isEqualTo("4799");
		assertThat(this.page.<String>script("return document.getElementById('announcer').textContent"))
			.contains("Cancel order: approved by Bob.");
		this.page.click(".approval-overtaken button");
		await().untilAsserted(() -> assertThat(this.page.texts(".approval-state")).containsExactly("approved by Bob"));
	}

	/** Nobody else was faster: what was typed runs. */
	@Test
	void aSecondClickOnADecisionIsNoDecision() {
		pause("Cancel orders 4731 and 4732");
		this.page.click(EDIT);
		this.page.replace(FORM + "input", "4799");
		this.page.script("""
				const { fetch } = window;
				window.fetch = async (url, options) => {
					const answer = await fetch(url, options);
					if (answer.ok && options?.method === 'POST') {
						await new Promise((resolve) => setTimeout(resolve, 500)); // longer than a refusal takes
					}
					return answer;
				};
				const button = document.querySelector('.approval-form .danger');
				button.click();
				button.click();""");

		await().untilAsserted(
				() -> assertThat(this.page.texts(".approval-state").get(0)).startsWith("edited and approved by"));
		assertThat(this.page.texts(".approval-overtaken, #banner")).isEmpty();
		assertThat(this.page.shows(FORM)).isFalse();
	}

	@Test
	void aRejectedCallLooksRejected() {
		pause("Cancel order 4711");
		this.page.click(".approval-actions :nth-child(3)");
		this.page.typeInto(".reason", "not mine", Keys.ENTER);

		answered();
		assertThat(this.page.shows(".tool.refused")).isTrue();
		assertThat(this.page.texts(".tool-result")).singleElement()
			.asString()
			.matches("did not run: rejected by \\w+: not mine");
		assertThat(this.page
			.<String>script("return getComputedStyle(document.querySelector('.tool summary code')).textDecorationLine"))
			.isEqualTo("line-through");
	}

	@Test
	void aRejectedCallThatMayHaveRunIsNotSaidNotToHave() {
		String line = this.page
			.script("""
					const call = { name: 'cancel_order', data: '{}' };
					const rejected = { id: 'c1', turnId: 't1', round: 1, index: 0, status: 'REJECTED', claimed: true,
						decisions: [{ verb: 'APPROVE', by: 'Ada', arguments: null }, { verb: 'REJECT', by: 'Ada', arguments: null }] };
					return Promise.all([import('/js/tools.js'), import('/js/approvals.js')]).then(([{ toolRow }, { outcomeOf }]) =>
						toolRow(call, { data: 'told' }, outcomeOf({ calls: [rejected] }, { id: 't1' }, 1, 0)).querySelector('.tool-result').textContent);
					""");
		assertThat(line).isEqualTo("may have run: approved by Ada, then rejected by Ada");
	}

	@Test
	void theTimeOfAPersonIsNotTheTimeOfTheTurn() {
		pause("Cancel order 4711");
		await().pollDelay(Duration.ofSeconds(3)).until(() -> true);

		this.page.click(APPROVE);

		answered();
		assertThat(this.page.texts(".turn:last-child .meta span:nth-child(2)")).singleElement()
			.asString()
			.matches("\\d+ ms|[01]\\.\\d s");
	}

	@Test
	void whatWaitsIsMarkedInTheListTheTabAndTheInbox() throws Exception {
		this.chat.ask("inbox-" + this.page.thread(), "Cancel order 4711");
		pause("Cancel order 4712");

		await().untilAsserted(
				() -> assertThat(this.page.texts(".thread.active .thread-mark")).containsExactly("waits for you"));
		String count = this.page.texts("#inbox-count").get(0);
		assertThat(count).matches("\\d+ calls wait for you");
		assertThat(this.browser.getTitle()).startsWith("(" + count.split(" ")[0] + ") ");
		this.page.click("#inbox summary");
		assertThat(this.page.texts("#inbox-list strong")).contains("Cancel order").hasSizeGreaterThan(1);
		this.page.script(
				"[...document.querySelectorAll('#inbox-list button')].find((each) => each.textContent.includes('4711')).click()");
		await().untilAsserted(() -> assertThat(this.page.thread()).startsWith("inbox-"));
		this.page.awaitApproval();
		this.page.click(APPROVE);
		answered();
		await().untilAsserted(() -> assertThat(this.page.texts(".thread.active .thread-mark")).isEmpty());
	}

	@Test
	void howLongACallHasWaitedIsSaidAsTimeGoesBy() {
		pause("Cancel order 4733");
		await().untilAsserted(() -> assertThat(this.page.shows("#inbox summary")).isTrue());
		this.page.click("#inbox summary");
		assertThat(this.page.texts("#inbox-list span").toString()).contains("Cancel order 4733 · just now");
		this.page.script("const { now } = Date; Date.now = () => now() + 3 * 3_600_000;");

		await().untilAsserted(() -> assertThat(this.page.texts("#inbox-list span").toString())
			.contains("Cancel order 4733 · 3 hr. ago")
			.doesNotContain("just now"));
		assertThat(this.page.texts(".approval-facts")).singleElement().asString().startsWith("asked 3 hr. ago");
	}

	@Test
	void whatIsLeftIsSaidToTheSecondWhereItIsShort() {
		List<String> left = this.page.script("""
				return import('/js/words.js').then(({ left }) => [-1, 0.4, 15, 100, 120, 3600, 7000, 86399, 200000]
					.map((seconds) => left(new Date(Date.now() + 1000 * seconds))))""");

		assertThat(left).containsExactly("now", "in 1 second", "in 15 seconds", "in 100 seconds", "in 2 minutes",
				"in 60 minutes", "in 117 minutes", "in 24 hours", "in 2 days");
	}

	private void pause(String question) {
		this.page.type(question);
		this.page.awaitApproval();
		this.page.awaitTimeline();
	}

	private void answered() {
		await().untilAsserted(() -> assertThat(this.page.texts(".turn:last-child .meta")).hasSize(1));
		this.page.awaitTimeline();
	}

	private JsonNode calls() throws Exception {
		return this.chat.get("/api/threads/" + this.page.thread() + "/approvals").path("calls");
	}

	private void decideElsewhere(Map<String, String> decision) throws Exception {
		JsonNode call = calls().path(0);
		Map<String, String> body = new HashMap<>(decision);
		body.put("digest", call.path("digest").asString());
		assertThat(this.chat
			.send("POST", "/api/threads/" + this.page.thread() + "/approvals/" + call.path("id").asString(), body)
			.statusCode()).isEqualTo(200);
	}

}
