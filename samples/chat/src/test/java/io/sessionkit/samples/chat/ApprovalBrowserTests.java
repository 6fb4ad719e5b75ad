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
 * Tool calls that a person decides on, in a real browser.
 */
@Order(2)
@ExtendWith(Browsers.class)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@EnabledIf(value = "io.sessionkit.samples.chat.BrowserTests#chromiumIsThere", disabledReason = BrowserTests.NOT_RUN)
class ApprovalBrowserTests {

	private static final String[] ARGUMENTS = { "--demo.pace=5ms", "--logging.level.org.openqa.selenium=error" };

	private static final List<String> EXPECTED_ERRORS = List.of("status of 409", "net::ERR_");

	private static final String STATE = ".approval-state";

	private static final String APPROVE = ".approval-actions .danger";

	private static final String EDIT = ".approval-actions :nth-child(2)";

	private static final String REJECT = ".approval-actions :nth-child(3)";

	private static final String ALWAYS = ".approval-actions :nth-child(4)";

	private Path database;

	private RunningChat chat;

	private ChromeDriver browser;

	private ChatPage page;

	private int runsBefore;

	@BeforeAll
	void start(@TempDir Path database, ChromeDriver browser) {
		this.database = database;
		this.chat = RunningChat.start(database, ARGUMENTS);
		this.browser = browser;
	}

	@AfterAll
	void stop() {
		this.chat.close();
	}

	@BeforeEach
	void openNewThread() {
		this.runsBefore = this.chat.cancelledOrders().size();
		this.page = ChatPage.open(this.browser, "http://127.0.0.1:" + this.chat.port() + "/");
		this.page.newThread();
	}

	/**
	 * A decision that is refused and an application that is away are told to the person;
	 * the browser notes them all the same.
	 */
	@AfterEach
	void logsNoOtherErrors() {
		this.page.closeOtherWindows();
		assertThat(this.browser.manage().logs().get(LogType.BROWSER).getAll())
			.filteredOn((entry) -> entry.getLevel().equals(Level.SEVERE))
			.extracting(LogEntry::getMessage)
			.filteredOn((message) -> EXPECTED_ERRORS.stream().noneMatch(message::contains))
			.isEmpty();
	}

	@Test
	void cancelsAnOrderOnceItIsApproved() throws IOException {
		pause("Cancel order 4711 because it was bought twice");

		assertThat(this.page.texts(".approval h3 code")).containsExactly("cancel_order");
		assertThat(this.page.texts(STATE)).containsExactly("waits for your decision");
		assertThat(this.page.texts(".approval-what")).containsExactly("Cancels an order. Call it once for each order.");
		assertThat(this.page.texts(".approval pre"))
			.containsExactly("{\n  \"orderNumber\": \"4711\",\n  \"reason\": \"it was bought twice\"\n}");
		assertThat(this.page.texts(".approval-facts")).containsExactly("asked just now · expires in 24 hours");
		assertThat(this.page.texts(".approval-actions button")).containsExactly("Approve", "Edit & approve", "Reject",
				"Always …");
		assertThat(this.page.texts(".bubble.user")).containsExactly("Cancel order 4711 because it was bought twice");
		assertThat(this.page.texts(".entry .status")).containsExactly("waits for you");
		this.page.screenshot("wide-approval");
		assertThat(this.page.tooWide()).isEmpty();
		assertThat(cancelled()).isEmpty();
		this.page.click(APPROVE);

		assertThat(answer()).isEqualTo("Order 4711 is cancelled (it was bought twice).");
		assertThat(cancelled()).containsExactly("4711");
		assertThat(this.page.shows(".approval")).isFalse();
		this.page.click(".tool summary");
		assertThat(this.page.texts(".tool .decision")).containsExactly("approved by Ada");
		assertThat(this.page.texts(".entry .status")).isEmpty();
		assertThat(this.page.texts(".entry-facts")).singleElement().asString().contains("decided by Ada");
	}

	@Test
	void tellsTheModelWhyACallWasRejected() {
		pause("Cancel order 4711");

		this.page.click(REJECT);
		this.page.typeInto(".reason", "It is <b>sent</b>", Keys.ENTER);

		assertThat(answer()).isEqualTo("Nothing was cancelled. I was told: “It is <b>sent</b>”");
		assertThat(cancelled()).isEmpty();
		this.page.click(".tool summary");
		assertThat(this.page.texts(".tool .decision")).containsExactly("rejected by Ada: It is <b>sent</b>");
	}

	@Test
	void runsWithTheArgumentsOfThePerson() throws IOException {
		pause("Cancel order 4711");

		this.page.editAsJson("");
		this.page.replace(".arguments", "{\"orderNumber\":12}");
		this.page.screenshot("wide-approval-edit");
		this.page.click(APPROVE);
		await().untilAsserted(() -> assertThat(this.page.texts(".approval-problem")).singleElement()
			.asString()
			.contains("The reason is missing.", "The order number has the wrong type."));
		this.page.replace(".arguments", "{\"orderNumber\":\"4712\",\"reason\":\"the other one\"}");
		this.page.click(APPROVE);

		assertThat(answer()).isEqualTo("Order 4712 is cancelled (the other one).");
		assertThat(cancelled()).containsExactly("4712");
		this.page.click(".tool summary");
		assertThat(this.page.texts(".tool .decision")).containsExactly("edited and approved by Ada");
	}

	@Test
	void doesNotAskAgainAfterAnAlwaysUntilThatIsRevoked() throws IOException {
		pause("Cancel order 4711");
		this.page.click(ALWAYS);
		this.page.screenshot("wide-approval-always");
		this.page.click(".approval-form .danger");
		answer();

		assertThat(this.page.ask("Cancel order 4712")).startsWith("Order 4712 is cancelled");
		assertThat(cancelled()).containsExactly("4711", "4712");
		assertThat(this.page.texts("#standing-list li > span")).containsExactly("cancel_order always approved, by Ada");
		this.page.click(".turn:last-child .tool summary");
		assertThat(this.page.texts(".turn:last-child .decision")).containsExactly("always approved by Ada");
		this.page.screenshot("wide-approval-standing");
		this.page.click("#standing-list button");
		await().untilAsserted(() -> assertThat(this.page.shows("#standing")).isFalse());
		pause("Cancel order 4713");
	}

	@Test
	void rejectsTheSameCallAlways() {
		pause("Cancel order 4711");
		this.page.click(ALWAYS);
		this.page.click(".approval-scope input[value=ARGUMENTS]");
		this.page.click(".approval-form .primary");
		answer();

		assertThat(this.page.ask("Cancel order 4711")).startsWith("Nothing was cancelled.");
		assertThat(this.page.texts("#standing-list li > span"))
			.containsExactly("cancel_order always rejected with these arguments, by Ada");
		pause("Cancel order 4712");
	}

	@Test
	void showsTheSameListInAnotherWindowAndWhatWasDecidedThere() {
		pause("Cancel orders 4711 and 4712");
		ChatPage other = this.page.openInAnotherWindow();
		other.awaitApproval();
		other.showJson();
		assertThat(other.texts(".approval pre")).isEqualTo(this.page.texts(".approval pre")).hasSize(2);

		other.replace("#approver", "Bob");
		other.click(".approval:nth-of-type(1) .danger");

		await().untilAsserted(
				() -> assertThat(this.page.texts(STATE)).containsExactly("approved by Bob", "waits for your decision"));
		assertThat(cancelled()).isEmpty();
		this.page.click(APPROVE);
		assertThat(answer()).startsWith("Order 4711 is cancelled").contains("Order 4712 is cancelled");
		await().untilAsserted(() -> assertThat(other.texts(".turn .meta")).hasSize(1));
		assertThat(other.texts(".bubble.assistant")).isEqualTo(this.page.texts(".bubble.assistant"));
		assertThat(cancelled()).containsExactly("4711", "4712");
	}

	/** Nobody else was faster, and what was typed was used. */
	@Test
	void takesItsOwnDecisionsForItsOwn() {
		pause("Cancel orders 4711, 4712, 4713 and 4714");
		String next = ".approval:not(.decided) ";

		this.page.click(next + REJECT);
		this.page.typeInto(".reason", "It is sent", Keys.ENTER);
		await().untilAsserted(() -> assertThat(this.page.texts(STATE).get(0)).isEqualTo("rejected by Ada: It is sent"));
		assertThat(this.page.shows(".approval-overtaken") || this.page.shows(".approval-form")).isFalse();
		this.page.click(next + EDIT);
		this.page.replace(".arguments-form input", "4799");
		this.page.click(".approval-form .danger");
		await().untilAsserted(() -> assertThat(this.page.texts(STATE).get(1)).isEqualTo("edited and approved by Ada"));
		assertThat(this.page.shows(".approval-overtaken") || this.page.shows(".approval-form")).isFalse();
		this.page.click(next + ALWAYS);
		this.page.click(".approval-form .danger");

		assertThat(answer()).contains("Order 4799 is cancelled", "Order 4713 is cancelled", "Order 4714 is cancelled");
		assertThat(this.page.shows(".approval-overtaken")).isFalse();
		assertThat(cancelled()).containsExactlyInAnyOrder("4799", "4713", "4714");
	}

	@Test
	void saysThatACallWaitsOnlyForTheOthers() {
		pause("Cancel order 4711 and roll a die");

		assertThat(this.page.texts(STATE)).containsExactlyInAnyOrder("waits for your decision",
				"needs no decision, waits for the others");
		this.page.click(APPROVE);
		assertThat(answer()).contains("Order 4711 is cancelled");
	}

	@Test
	void goesOnAfterARestartOfTheApplication() {
		pause("Cancel order 4711");
		int port = this.chat.port();

		this.chat.close();
		this.chat = RunningChat.startOn(port, this.database, ARGUMENTS);
		this.runsBefore = 0;
		this.page.reload();

		this.page.awaitApproval();
		assertThat(this.page.texts(STATE)).containsExactly("waits for your decision");
		assertThat(this.page.texts("#title")).containsExactly("Cancel order 4711");
		this.page.click(APPROVE);
		assertThat(answer()).startsWith("Order 4711 is cancelled");
		this.page.reload();
		assertThat(this.page.texts(".tool-result")).singleElement().asString().startsWith("Order 4711 is cancelled");
		assertThat(cancelled()).containsExactly("4711");
	}

	@Test
	void showsATurnThatGoesOnAfterAReloadAndInAnotherWindow() {
		pause("Cancel order 4711");
		ChatPage other = this.page.openInAnotherWindow();
		other.awaitApproval();
		this.chat.hold();
		try {
			this.page.click(APPROVE);
			await().untilAsserted(() -> assertThat(this.page.shows(".live .tool")).isTrue());
			this.page.reload();
			for (ChatPage each : List.of(this.page, other)) {
				await().untilAsserted(() -> assertThat(each.texts(".live .tool-result")).singleElement()
					.asString()
					.startsWith("Order 4711 is cancelled"));
			}
		}
		finally {
			this.chat.release();
		}

		assertThat(answer()).startsWith("Order 4711 is cancelled");
		await().untilAsserted(() -> assertThat(other.texts(".turn .meta")).hasSize(1));
		assertThat(other.texts(".bubble.assistant")).isEqualTo(this.page.texts(".bubble.assistant"));
		assertThat(cancelled()).containsExactly("4711");
	}

	/** Its tool has run, so it stays open and can go on. */
	@Test
	void stopsATurnThatGoesOnAfterAReload() {
		pause("Cancel order 4711");
		this.chat.hold();
		try {
			this.page.click(APPROVE);
			await().untilAsserted(() -> assertThat(this.page.shows(".live .tool")).isTrue());
			this.page.reload();
			await().untilAsserted(() -> assertThat(this.page.shows(".live .tool")).isTrue());
			this.page.click("#stop");
			await().untilAsserted(() -> assertThat(this.page.shows(".resume")).isTrue());
		}
		finally {
			this.chat.release();
		}
		this.page.click(".resume");

		assertThat(answer()).startsWith("Order 4711 is cancelled");
		assertThat(cancelled()).containsExactly("4711");
	}

	@Test
	void saysThatAMessageHasToWait() {
		pause("Cancel order 4711");

		this.page.type("Hello");

		await().untilAsserted(() -> assertThat(this.page.texts("#banner span")).containsExactly(
				"A tool call of this thread waits for a decision. Approve or reject it first, then send your message."));
		assertThat(this.page.texts(STATE)).containsExactly("waits for your decision");
		assertThat(this.page.<String>script("return document.getElementById('question').value")).isEqualTo("Hello");
		this.page.click(APPROVE);
		assertThat(answer()).startsWith("Order 4711 is cancelled");
		assertThat(this.page.texts(".bubble.user")).containsExactly("Cancel order 4711");
	}

	@Test
	void offersToGoOnWithWhatNobodyDecidedInTime() {
		int port = this.chat.port();
		this.chat.close();
		this.chat = RunningChat.startOn(port, this.database, ARGUMENTS[0], ARGUMENTS[1],
				"--sessionkit.approval.expires-after=1s");
		this.runsBefore = 0;
		this.page.type("Cancel order 4711");

		await().untilAsserted(() -> assertThat(this.page.texts(STATE)).containsExactly("expired: it did not run"));
		assertThat(this.page.shows(".approval.refused")).isTrue();
		this.page.click(".resume");

		assertThat(answer()).contains("Nobody decided on this call in time");
		assertThat(cancelled()).isEmpty();
		this.chat.close();
		this.chat = RunningChat.startOn(port, this.database, ARGUMENTS);
	}

	@Test
	void canBeDecidedByKeyboardAndSaysItsNames() {
		pause("Cancel order 4711");
		assertThat(this.page.accessibleName(".approval")).startsWith("Cancel order 4711?");
		assertThat(this.page.accessibleName("#approver")).isEqualTo("You decide as");
		assertThat(this.page.accessibleName(".approval-actions")).isEqualTo("Decide: Cancel order 4711");

		this.page.typeInto(".approval pre", Keys.TAB);
		assertThat(this.page.focused()).isEqualTo("Approve");
		this.page.typeInto(REJECT, Keys.ENTER);
		assertThat(this.page.accessibleName(".reason")).isEqualTo("Why? The model is told (optional)");
		this.page.typeInto(".reason", Keys.ESCAPE);
		assertThat(this.page.focused()).isEqualTo("Approve");
		this.page.typeInto(EDIT, Keys.ENTER);
		assertThat(this.page.accessibleName(".arguments-form input")).isEqualTo("Order number");
		this.page.typeInto(".arguments-form input", Keys.ESCAPE);
		this.page.typeInto(APPROVE, Keys.ENTER);

		assertThat(answer()).startsWith("Order 4711 is cancelled");
	}

	@Test
	void fitsANarrowWindow() throws IOException {
		this.page.narrow();
		this.page.screenshot("narrow-empty");
		this.page.wide();
		pause("Cancel order 4711 because " + "averylongword".repeat(12));
		this.page.narrow();
		this.page.reload();
		this.page.awaitApproval();

		this.page.screenshot("narrow-approval");
		assertThat(this.page.tooWide()).isEmpty();
		assertThat(this.page.isReachable("#composer")).isTrue();
		this.page.click(EDIT);
		this.page.screenshot("narrow-approval-edit");
		assertThat(this.page.tooWide()).isEmpty();
	}

	private void pause(String question) {
		this.page.type(question);
		this.page.awaitApproval();
		this.page.awaitTimeline();
		this.page.showJson();
		this.page.replace("#approver", "Ada");
	}

	/**
	 * The answer of the turn that waited, when it is stored.
	 */
	private String answer() {
		await().untilAsserted(() -> assertThat(this.page.texts(".turn:last-child .meta")).hasSize(1));
		this.page.awaitTimeline();
		List<String> texts = this.page.texts(".turn:last-child .bubble.assistant");
		return texts.get(texts.size() - 1);
	}

	private List<String> cancelled() {
		List<String> all = this.chat.cancelledOrders();
		return all.subList(this.runsBefore, all.size());
	}

}
