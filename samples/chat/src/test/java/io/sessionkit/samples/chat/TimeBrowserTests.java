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
import org.openqa.selenium.interactions.Actions;
import org.openqa.selenium.logging.LogEntry;
import org.openqa.selenium.logging.LogType;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Going back and forth in a thread on the page: undo, edits, other answers, branches,
 * forks, and an answer that somebody has stopped.
 */
@EnabledIf(value = "io.sessionkit.samples.chat.BrowserTests#chromiumIsThere", disabledReason = BrowserTests.NOT_RUN)
@ExtendWith(Browsers.class)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Order(1)
class TimeBrowserTests {

	private static final String[] ARGUMENTS = { "--demo.pace=10ms", BrowserTests.QUIET };

	private static final String QUESTIONS = ".bubble.user";

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
		this.chat.release();
		this.page.closeOtherWindows();
		assertThat(this.browser.manage().logs().get(LogType.BROWSER).getAll())
			.filteredOn((entry) -> entry.getLevel().equals(Level.SEVERE))
			.extracting(LogEntry::getMessage)
			.filteredOn((message) -> this.expectedErrors.stream().noneMatch(message::contains))
			.isEmpty();
	}

	@Test
	void turnsAreUndoneAndComeBack() {
		assertThat(this.page.shows("#moves")).isFalse();
		talk("One", "Two", "Three");
		assertThat(disabled("#undo")).isFalse();
		assertThat(disabled("#redo")).isTrue();

		this.page.click("#undo");
		awaitQuestions("One", "Two");
		this.page.typeInto("#question", Keys.chord(Keys.ALT, "u"));
		awaitQuestions("One");
		assertThat(this.page.texts(".entry .number")).containsExactly("Turn 1");
		assertThat(this.page.texts("#timeline-sum")).singleElement().asString().startsWith("1 turn ·");
		assertThat(disabled("#redo")).isFalse();
		this.page.click("#undo");
		await().untilAsserted(() -> assertThat(this.page.shows(".empty")).isTrue());
		assertThat(disabled("#undo")).isTrue();

		this.page.reload();
		this.page.click("#redo");
		awaitQuestions("One");
		this.page.typeInto("#scroller", Keys.chord(Keys.ALT, "r"));
		awaitQuestions("One", "Two");
		this.page.ask("Another");
		awaitQuestions("One", "Two", "Another");
		assertThat(disabled("#redo")).isTrue();
		assertThat(this.page.texts("#turn-4 .pager-place")).containsExactly("2 of 2");
	}

	@Test
	void aQuestionIsEditedInItsPlace() throws IOException {
		this.page.ask("My name is Ada");
		this.page.ask("What is my name?");
		this.page.ask("Hello");

		this.page.click("#turn-1 [aria-label='Edit the question']");
		assertThat(this.page.caret().text()).isEqualTo("My name is Ada");
		this.page.screenshot("time-edit");
		this.page.replace(".edit-text", "Tell me a story");
		this.page.typeInto(".edit-text", Keys.ENTER);
		this.page.awaitFirstWords();
		assertThat(this.page.texts(QUESTIONS)).containsExactly("Tell me a story");
		assertThat(this.page.texts(".entry .number")).containsExactly("Now");
		awaitAnswered();

		awaitQuestions("Tell me a story");
		this.page.screenshot("time-edited");
		assertThat(this.page.texts(".entry-mark")).containsExactly("Answer 2 of 2");
		this.page.click("#turn-4 [aria-label='Previous answer']");
		awaitQuestions("My name is Ada", "What is my name?", "Hello");
		assertThat(this.page.texts(".pager-place")).containsExactly("1 of 2");
		assertThat(this.page.ask("What is my name?")).contains("Ada");
	}

	@Test
	void theThreadBeginsWithTheTurnsThatItKeeps() throws IOException {
		assertThat(this.page.shows("#keeping")).isFalse();
		talk("One", "Two", "Three", "Four", "Five");
		assertThat(this.page.texts("#keeping-text")).containsExactly("This thread keeps everything.");
		assertThat(this.page.accessibleName("#keep")).isEqualTo("Keep");

		this.page.typeInto("#keep", Keys.END);
		await().untilAsserted(() -> assertThat(this.page.texts("#keeping-text"))
			.containsExactly("This thread keeps its newest 5 turns."));
		assertThat(this.page.texts("#keeping-outcome")).containsExactly("This applies after the next answer.");
		assertThat(this.page.caret().field()).isEqualTo("keep");
		assertThat(this.page.shows(".deleted")).isFalse();
		this.page.type("Six");
		awaitQuestions("Two", "Three", "Four", "Five", "Six");

		String words = "Turn 1 was deleted: this thread keeps its newest 5 turns.";
		assertThat(this.page.texts(".deleted")).containsExactly(words, words);
		assertThat(this.page.texts(".entry .number")).containsExactly("Turn 2", "Turn 3", "Turn 4", "Turn 5", "Turn 6");
		assertThat(this.page.texts("#keeping-text"))
			.containsExactly("This thread keeps its newest 5 turns. 1 turn was deleted.");
		this.page.script("document.getElementById('scroller').scrollTop = 0");
		this.page.screenshot("time-kept");
		this.page.click("[data-turn='2'] .entry-details");
		await().untilAsserted(() -> assertThat(this.page.shows("#inspector [role=tab]")).isTrue());
		this.page.click("#inspector [role=tab]:last-child");
		assertThat(this.page.texts("#inspector dd")).contains("its newest 5 turns", "1");
		this.page.click("#close-inspector");
		this.page.narrow();
		this.page.screenshot("time-kept-narrow");
		this.page.click("#toggle-timeline");
		this.page.screenshot("time-kept-narrow-timeline");
		assertThat(this.page.tooWide()).isEmpty();
	}

	@Test
	void anEditIsCalledOffWithoutATrace() {
		this.page.ask("One");

		this.page.click("#turn-1 [aria-label='Edit the question']");
		this.page.typeInto(".edit-text", " and more", Keys.ESCAPE);

		assertThat(this.page.shows(".edit")).isFalse();
		assertThat(this.page.focusedName()).isEqualTo("Edit the question");
		assertThat(this.page.texts(QUESTIONS)).containsExactly("One");
		this.page.click("#turn-1 [aria-label='Edit the question']");
		this.page.typeInto(".edit-text", Keys.chord(Keys.SHIFT, Keys.ENTER), "second line");
		assertThat(this.page.caret().text()).isEqualTo("One\nsecond line");
		this.page.awaitPolls(2);
		assertThat(this.page.caret().text()).isEqualTo("One\nsecond line");
		this.page.click(".edit .quiet");
		assertThat(this.page.texts(QUESTIONS)).containsExactly("One");
	}

	@Test
	void anEditGoesOnAfterAReload() throws Exception {
		this.page.ask("Hello");
		this.chat.hold();
		edit(1, "Tell me a story");
		this.page.awaitFirstWords();

		this.page.reload();

		this.page.awaitFirstWords();
		assertThat(this.page.shows("#stop")).isTrue();
		assertThat(this.page.texts(QUESTIONS)).containsExactly("Tell me a story");
		this.chat.release();
		await().untilAsserted(() -> assertThat(this.page.texts(".turn .meta")).hasSize(1));
		assertThat(this.page.texts(".bubble.assistant").get(0)).endsWith("tore out half a page.");
		assertThat(this.page.shows("#queue")).isFalse();
		assertThat(this.chat.thread(this.page.thread()).path("thread").path("head").asInt()).isEqualTo(2);
	}

	/** The page has left before the answer was there, and its request is repeated. */
	@Test
	void anEditThatIsAnsweredWhileThePageIsAwayIsNotMadeAgain() throws Exception {
		this.page.ask("Hello");
		this.chat.hold();
		edit(1, "Tell me a story");
		this.page.awaitFirstWords();
		String address = this.browser.getCurrentUrl();
		this.browser.get("about:blank");
		this.chat.release();
		String thread = address.substring(address.indexOf('#') + 1);
		await().until(() -> this.chat.thread(thread).path("thread").path("head").asInt() == 2);
		this.expectedErrors.add("status of 404"); // the turn in whose place it was asked
													// is gone

		this.page = ChatPage.open(this.browser, address);

		await().until(() -> this.page
			.<Boolean>script("return Object.keys(localStorage).every((name) => !name.startsWith('queue:'))"));
		this.page.awaitTimeline();
		assertThat(this.page.texts(QUESTIONS)).containsExactly("Tell me a story");
		assertThat(this.page.shows("#banner")).isFalse();
		assertThat(this.chat.thread(thread).path("thread").path("head").asInt()).isEqualTo(2);
	}

	/** Another window has edited the same turn meanwhile. */
	@Test
	void anEditThatHasNeverArrivedIsGivenBackIfItsPlaceIsTaken() throws Exception {
		this.page.ask("Hello");
		this.page.<Object>script("""
				const fetch = window.fetch;
				window.isCut = true;
				window.fetch = (url, options) => window.isCut && options?.method === 'POST'
					? Promise.reject(new TypeError('network error')) : fetch(url, options);
				""");
		edit(1, "Tell me a story");
		await().untilAsserted(() -> assertThat(this.page.texts(".turn.aside .note > span")).singleElement()
			.asString()
			.startsWith("The connection is lost."));
		this.chat.ask(this.page.thread(), "Roll a die", 1);
		await().untilAsserted(() -> assertThat(this.page.texts(QUESTIONS)).contains("Roll a die"));
		this.page.clickInRow("[aria-label^=Rename]");
		this.page.typeInto(".rename", "Found");
		this.expectedErrors.add("404"); // the turn in whose place it was asked is gone

		this.page.<Object>script("window.isCut = false");

		await().untilAsserted(() -> assertThat(this.page.texts("#banner span")).singleElement()
			.asString()
			.startsWith("The turn in whose place you asked is not there any more."));
		awaitQuestions("Roll a die");
		assertThat(this.page.<String>script("return document.getElementById('question').value"))
			.isEqualTo("Tell me a story");
		assertThat(this.page.shows("#queue, .turn.aside")).isFalse();
		assertThat(this.page.caret().text()).endsWith("Found");
	}

	@Test
	void anEditThatFailsLeavesTheThreadAsItWas() throws IOException {
		talk("One", "Two");

		edit(1, "Please fail");
		await().untilAsserted(() -> assertThat(this.page.shows(".turn.failed")).isTrue());

		awaitQuestions("One", "Two", "Please fail");
		assertThat(this.page.texts(".turn.failed .replacing"))
			.containsExactly("Turn 1, in whose place it was asked, stays as it was.");
		this.page.screenshot("time-failed-edit");
		this.page.click(".turn.failed .retry");
		await().untilAsserted(() -> assertThat(this.page.texts(".attempts")).containsExactly("2 attempts"));
		awaitQuestions("One", "Two", "Please fail");
		assertThat(this.page.shows(".pager")).isFalse();
	}

	@Test
	void arrowsLeadToTheOtherAnswers() throws IOException {
		this.page.ask("Tell me a story");
		this.page.ask("Roll a die");

		this.page.click("#turn-2 [aria-label='Another answer']");
		awaitPlace("2 of 2");
		this.page.awaitTimeline();
		this.page.click("#turn-3 [aria-label='Another answer']");
		awaitPlace("3 of 3");
		this.page.awaitTimeline();

		assertThat(this.page.texts(QUESTIONS)).containsExactly("Tell me a story", "Roll a die");
		assertThat(this.page.accessibleName(".pager")).isEqualTo("Answers in the place of turn 4");
		assertThat(this.page.<Boolean>script("return document.querySelector('.pager .next').disabled")).isTrue();
		this.page.screenshot("time-answers");
		this.page.typeInto(".pager .previous", Keys.ENTER);
		awaitPlace("2 of 3");
		await().untilAsserted(() -> assertThat(this.page.focusedName()).isEqualTo("Previous answer"));
		new Actions(this.browser).sendKeys(Keys.ENTER).perform();
		awaitPlace("1 of 3");
		await().untilAsserted(() -> assertThat(this.page.focusedName()).isEqualTo("Next answer"));
		assertThat(this.page.texts(".entry .number")).containsExactly("Turn 1", "Turn 2");
		this.page.reload();
		awaitPlace("1 of 3");
	}

	@Test
	void branchesAreMadeSwitchedAndDeleted() throws IOException {
		talk("One", "Two", "Three");
		assertThat(this.page.shows("#branches")).isFalse();

		branch(2, "cheaper");
		awaitQuestions("One", "Two");
		assertThat(this.page.texts("#on-branch")).containsExactly("cheaper");
		this.page.ask("Three, but cheaper");
		await().untilAsserted(() -> assertThat(this.page.texts(".branch")).containsExactly("main\n3 turns",
				"cheaper\n3 turns · from “main” after turn 2"));
		assertThat(this.page.texts(".entry-mark")).containsExactly("“main” parts here");
		this.page.screenshot("time-branches");
		assertThat(this.page.tooWide()).isEmpty();

		this.page.click("#branch-list li:first-child .branch");
		awaitQuestions("One", "Two", "Three");
		assertThat(this.page.texts(".branch[aria-current]")).containsExactly("main\n3 turns");
		assertThat(this.page.texts(".entry-mark")).containsExactly("“cheaper” parts here");
		this.page.click("#branch-list li:last-child [aria-label^=Delete]");
		assertThat(this.page.focused()).isEqualTo("Keep");
		this.page.screenshot("time-branch-delete");
		new Actions(this.browser).sendKeys(Keys.ESCAPE).perform();
		assertThat(this.page.focusedName()).isEqualTo("Delete the branch “cheaper”");
		this.page.click("#branch-list li:last-child [aria-label^=Delete]");
		this.page.click(".branch-confirm .danger");

		await().untilAsserted(() -> assertThat(this.page.shows("#branches")).isFalse());
		assertThat(this.page.texts(QUESTIONS)).containsExactly("One", "Two", "Three");
	}

	@Test
	void aNameThatIsTakenIsRefusedWhereItIsWritten() {
		talk("One");
		this.expectedErrors.add("status of 400");

		this.page.click("#turn-1 [aria-haspopup=menu]");
		this.page.click("#turn-menu button:first-child");
		this.page.replace("#branch-name", "main");
		this.page.typeInto("#branch-name", Keys.ENTER);

		await().untilAsserted(() -> assertThat(this.page.texts("#branch-problem")).singleElement()
			.asString()
			.contains("has a branch “main” already. Choose another name."));
		this.page.click("#cancel-branch");
		assertThat(this.page.shows("#branches")).isFalse();
	}

	@Test
	void aForkIsAThreadOfItsOwn() {
		talk("My name is Ada", "Two", "Three");
		String original = this.page.thread();

		this.page.click("#turn-2 [aria-haspopup=menu]");
		this.page.click("#turn-menu button:last-child");
		awaitQuestions("My name is Ada", "Two");
		assertThat(this.page.thread()).isNotEqualTo(original);
		assertThat(this.page.texts("#forked-from")).containsExactly("Forked from My name is Ada");
		assertThat(this.page.ask("What is my name?")).contains("Ada");

		this.page.click("#forked-from .link");
		awaitQuestions("My name is Ada", "Two", "Three");
		assertThat(this.page.shows("#forked-from")).isFalse();
	}

	@Test
	void whatWasReadOfAStoppedAnswerStays() {
		this.page.ask("My name is Ada");
		this.chat.hold();
		this.page.type("Tell me a story");
		String read = this.page.awaitFirstWords();

		this.page.click("#stop");
		this.chat.release();

		await().untilAsserted(() -> assertThat(this.page.texts("#turn-2 .cut")).containsExactly("Stopped here."));
		assertThat(this.page.texts("#turn-2 .bubble.assistant")).singleElement()
			.asString()
			.startsWith(read.strip())
			.doesNotContain("tore out half a page");
		assertThat(this.page.texts(".entry .status")).containsExactly("stopped here");
		assertThat(this.page.ask("How many messages are there?")).contains("5 messages,");
		this.page.reload();
		assertThat(this.page.texts(".cut")).containsExactly("Stopped here.");
	}

	@Test
	void anotherAnswerThatIsStoppedStandsBesideTheFirst() {
		this.page.ask("Tell me a story");
		this.page.ask("Two");

		this.chat.hold();
		this.page.click("#turn-1 [aria-label='Another answer']");
		this.page.awaitFirstWords();
		this.page.typeInto("#question", Keys.ESCAPE);
		this.chat.release();

		await().untilAsserted(() -> assertThat(this.page.texts("#turn-3 .cut")).containsExactly("Stopped here."));
		assertThat(this.page.texts(QUESTIONS)).containsExactly("Tell me a story");
		this.page.click("#turn-3 .previous");
		awaitQuestions("Tell me a story", "Two");
	}

	@Test
	void everythingIsThereForTheKeyboardAlone() {
		talk("One", "Two");

		this.page.typeInto("#turn-1 [aria-label='Copy the question']", Keys.TAB);
		assertThat(this.page.focusedName()).isEqualTo("Edit the question");
		this.page.awaitStill();
		assertThat(this.page.<String>script("return getComputedStyle(document.activeElement).opacity")).isEqualTo("1");
		new Actions(this.browser).sendKeys(Keys.ENTER, " edited", Keys.ENTER).perform();
		awaitQuestions("One edited");
		this.page.awaitTimeline();
		assertThat(this.page.caret().field()).isEqualTo("question");
		List<String> names = new ArrayList<>();
		this.page.typeInto("#turn-3 [aria-label='Details of turn 3']", Keys.TAB);
		for (int step = 0; step < 3; step++) {
			names.add(this.page.focusedName());
			new Actions(this.browser).sendKeys(Keys.TAB).perform();
		}
		assertThat(names).containsExactly("Another answer", "More for turn 3", "Previous answer");
		this.page.typeInto("#turn-3 [aria-haspopup=menu]", Keys.ENTER);
		assertThat(this.page.focused()).isEqualTo("Branch from here");
		new Actions(this.browser).sendKeys(Keys.ARROW_DOWN).perform();
		assertThat(this.page.focused()).isEqualTo("Take back from here");
		new Actions(this.browser).sendKeys(Keys.ARROW_DOWN).perform();
		assertThat(this.page.focused()).isEqualTo("Fork into a new thread");
		new Actions(this.browser).sendKeys(Keys.ESCAPE).perform();
		assertThat(this.page.focusedName()).isEqualTo("More for turn 3");
		assertThat(this.page.shows("#turn-menu")).isFalse();
		new Actions(this.browser).sendKeys(Keys.ENTER, Keys.ENTER).perform();
		new Actions(this.browser).sendKeys("typed", Keys.ENTER).perform();
		await().untilAsserted(() -> assertThat(this.page.texts("#on-branch")).containsExactly("typed"));
		this.page.typeInto("#on-branch", Keys.ENTER);
		assertThat(this.page.focused()).startsWith("typed");
		this.page.typeInto("#branch-list li:first-child .branch", Keys.ENTER);
		await().untilAsserted(() -> assertThat(this.page.texts("#on-branch")).containsExactly("main"));
		await().untilAsserted(() -> assertThat(this.page.focused()).startsWith("main"));
		this.page.typeInto("#scroller", "?");
		assertThat(this.page.texts("#shortcuts kbd")).contains("Alt + U", "Alt + R");
		this.page.click("#close-shortcuts");
	}

	@Test
	void aPhoneHasAllOfItToo() throws IOException {
		talk("One", "Two with a question that is long enough to need more than one line on a phone");
		this.page.narrow();
		this.page.reload();

		this.page.click("#turn-2 [aria-label='Another answer']");
		awaitPlace("2 of 2");
		this.page.awaitTimeline();
		assertThat(this.page.isReachable(".pager .previous")).isTrue();
		assertThat(this.page.isReachable("#undo")).isTrue();
		this.page.screenshot("time-phone");
		assertThat(this.page.tooWide()).isEmpty();
		this.page.click("#turn-3 [aria-haspopup=menu]");
		assertThat(this.page.isReachable("#turn-menu button:last-child")).isTrue();
		this.page.screenshot("time-phone-menu");
		this.page.click("#turn-menu button:first-child");
		this.page.replace("#branch-name", "a rather long name of a branch that needs room");
		this.page.screenshot("time-phone-name");
		this.page.typeInto("#branch-name", Keys.ENTER);
		await().untilAsserted(() -> assertThat(this.page.shows("#on-branch")).isTrue());
		this.page.screenshot("time-phone-branch");
		assertThat(this.page.tooWide()).isEmpty();
		assertThat(this.page.isReachable("#undo")).isTrue();
		assertThat(this.page.isReachable("#toggle-timeline")).isTrue();
		this.page.click("#turn-1 [aria-label='Edit the question']");
		this.page.screenshot("time-phone-edit");
		assertThat(this.page.tooWide()).isEmpty();
		this.page.click(".edit .quiet");
		this.page.click("#on-branch");
		this.page.awaitStill();
		this.page.screenshot("time-phone-tree");
		assertThat(this.page.tooWide()).isEmpty();
		this.page.click("#branch-list li:last-child [aria-label^=Delete]");
		this.page.click(".branch-confirm .danger");
		await().untilAsserted(() -> assertThat(this.page.shows("#branches")).isFalse());
		this.page.click("#close-timeline");
		this.page.wide();
	}

	@Test
	void anotherWindowSeesEveryMove() {
		talk("One", "Two", "Three");
		ChatPage other = this.page.openInAnotherWindow();

		this.page.click("#undo");
		await().untilAsserted(() -> assertThat(other.texts(QUESTIONS)).containsExactly("One", "Two"));
		edit(2, "Two edited");
		await().untilAsserted(() -> assertThat(other.texts(QUESTIONS)).containsExactly("One", "Two edited"));
		other.click(".previous");
		awaitQuestions("One", "Two");
		branch(1, "side");
		await().untilAsserted(() -> assertThat(other.texts(QUESTIONS)).containsExactly("One"));
		assertThat(other.texts("#on-branch")).containsExactly("side");
		other.click("#branch-list li:first-child .branch");
		awaitQuestions("One", "Two");
		other.click("#branch-list li:last-child [aria-label^=Delete]");
		other.click(".branch-confirm .danger");
		await().untilAsserted(() -> assertThat(this.page.shows("#branches")).isFalse());
	}

	@Test
	void whileACallWaitsThePageSaysWhyNothingMoves() {
		talk("One");
		this.page.type("Cancel order 4711");
		this.page.awaitApproval();
		this.page.awaitTimeline();
		this.expectedErrors.add("status of 409");

		this.page.click("#undo");
		awaitProblem();
		this.page.click("#turn-1 [aria-label='Another answer']");
		awaitProblem();
		edit(1, "One edited");
		awaitProblem();
		assertThat(this.page.shows(".edit")).isTrue();
		this.page.click(".edit .quiet");
		branchName(1, "side");
		await().untilAsserted(() -> assertThat(this.page.texts("#branch-problem")).singleElement()
			.asString()
			.contains("waits for a decision"));
		this.page.click("#cancel-branch");
		assertThat(this.page.texts(QUESTIONS)).containsExactly("One", "Cancel order 4711");
	}

	@Test
	void anEditWhoseCallWaitsTakesItsPlaceWhenItIsDecided() {
		talk("One", "Two");

		edit(1, "Cancel order 4711");
		this.page.awaitApproval();
		awaitQuestions("One", "Two", "Cancel order 4711");
		assertThat(this.page.texts(".awaiting_approval .replacing"))
			.containsExactly("Its answer takes the place of turn 1.");
		this.page.click(".approval-actions .danger");

		awaitQuestions("Cancel order 4711");
		awaitPlace("2 of 2");
	}

	@Test
	void placesInTheTreeSurviveARestartOfTheApplication() {
		talk("One", "Two", "Three");
		edit(3, "Three edited");
		awaitAnswered();
		awaitQuestions("One", "Two", "Three edited");
		branch(2, "side");
		this.page.ask("Three on the side");
		this.page.ask("Four on the side");
		this.page.click("#undo");
		awaitQuestions("One", "Two", "Three on the side");
		int port = this.chat.port();
		this.expectedErrors.add("net::ERR_");

		this.chat.close();
		this.chat = RunningChat.startOn(port, this.database, ARGUMENTS);
		this.page.reload();

		awaitQuestions("One", "Two", "Three on the side");
		assertThat(this.page.texts("#on-branch")).containsExactly("side");
		this.page.click("#redo");
		awaitQuestions("One", "Two", "Three on the side", "Four on the side");
		this.page.click("#branch-list li:first-child .branch");
		awaitQuestions("One", "Two", "Three edited");
		awaitPlace("2 of 2");
		this.page.click(".pager .previous");
		awaitQuestions("One", "Two", "Three");
		assertThat(this.page.ask("How many messages are there?")).contains("7 messages,");
	}

	@Test
	void earlierTurnsOfABranchAreCountedAndReadInPages() throws Exception {
		String thread = "branched-" + this.page.thread();
		for (int turn = 1; turn <= 60; turn++) {
			this.chat.ask(thread, "Hello " + turn);
		}
		for (int answer = 0; answer < 5; answer++) {
			this.chat.again(thread, 60 + answer);
		}
		this.page.script("location.hash = arguments[0]", thread);
		await().untilAsserted(() -> assertThat(this.page.texts(QUESTIONS)).hasSize(50).endsWith("Hello 60"));
		assertThat(this.page.texts(".earlier")).containsExactly("Show earlier turns (10 more)");

		this.page.script("document.getElementById('scroller').scrollTop = 0");
		this.page.click(".earlier");
		await().untilAsserted(() -> assertThat(this.page.texts(QUESTIONS)).hasSize(60).startsWith("Hello 1"));
		awaitPlace("6 of 6");
		this.page.ask("Hello 61");
		await().untilAsserted(() -> assertThat(this.page.texts(QUESTIONS)).hasSize(61).startsWith("Hello 1"));
		this.page.click("#undo");
		await().untilAsserted(() -> assertThat(this.page.texts(QUESTIONS)).hasSize(60).endsWith("Hello 60"));
		this.page.script("document.querySelector('.pager .previous').click()");
		awaitPlace("5 of 6");
		await().untilAsserted(
				() -> assertThat(this.page.texts(QUESTIONS)).hasSizeGreaterThanOrEqualTo(50).endsWith("Hello 60"));
	}

	private void talk(String... questions) {
		for (String question : questions) {
			this.page.ask(question);
		}
	}

	private void edit(int turn, String text) {
		this.page.click("#turn-" + turn + " [aria-label='Edit the question']");
		this.page.replace(".edit-text", text);
		this.page.typeInto(".edit-text", Keys.ENTER);
	}

	private void branch(int turn, String name) {
		branchName(turn, name);
		await().untilAsserted(() -> assertThat(this.page.shows("#branch-dialog")).isFalse());
	}

	private void branchName(int turn, String name) {
		this.page.click("#turn-" + turn + " [aria-haspopup=menu]");
		this.page.click("#turn-menu button:first-child");
		this.page.replace("#branch-name", name);
		this.page.typeInto("#branch-name", Keys.ENTER);
	}

	private void awaitAnswered() {
		await().untilAsserted(() -> assertThat(this.page.shows(".live")).isFalse());
		this.page.awaitTimeline();
	}

	private void awaitQuestions(String... questions) {
		await().untilAsserted(() -> assertThat(this.page.texts(QUESTIONS)).containsExactly(questions));
	}

	private void awaitPlace(String place) {
		await().untilAsserted(() -> assertThat(this.page.texts(".pager-place")).containsExactly(place));
	}

	private void awaitProblem() {
		await().untilAsserted(() -> assertThat(this.page.texts("#banner span")).singleElement()
			.asString()
			.contains("waits for a decision"));
		this.page.click("#banner .icon-button");
		await().untilAsserted(() -> assertThat(this.page.shows("#banner")).isFalse());
	}

	private boolean disabled(String button) {
		return "true".equals(this.page
			.<String>script("return document.querySelector(arguments[0]).getAttribute('aria-disabled')", button));
	}

}
