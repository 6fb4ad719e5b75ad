package io.sessionkit.samples.chat;

import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.logging.Level;

import io.sessionkit.samples.chat.ChatPage.Caret;
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
import tools.jackson.databind.JsonNode;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * The page looks for decisions of others again and again while a call waits, here twice
 * in a second. Whoever types, or has the keyboard somewhere, does not notice.
 */
@Order(2)
@ExtendWith(Browsers.class)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@EnabledIf(value = "io.sessionkit.samples.chat.BrowserTests#chromiumIsThere", disabledReason = BrowserTests.NOT_RUN)
class FocusBrowserTests {

	/** At the pace of a person that takes longer than the page waits, three times. */
	private static final String LONG = ", says the customer";

	private static final String CARD = ".approval:nth-of-type(1) ";

	private static final String SECOND_CARD = ".approval:nth-of-type(2) ";

	private static final String APPROVE = ".approval-actions .danger";

	private static final String REJECT = ".approval-actions :nth-child(3)";

	/** A refusal is shown to the person; the browser logs it anyway. */
	private static final List<String> EXPECTED_ERRORS = List.of("status of 409", "status of 404");

	private RunningChat chat;

	private ChromeDriver browser;

	private ChatPage page;

	@BeforeAll
	void start(@TempDir Path database, ChromeDriver browser) {
		this.chat = RunningChat.start(database, "--demo.pace=5ms", "--logging.level.org.openqa.selenium=error");
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
		assertThat(this.browser.manage().logs().get(LogType.BROWSER).getAll())
			.filteredOn((entry) -> entry.getLevel().equals(Level.SEVERE))
			.extracting(LogEntry::getMessage)
			.filteredOn((message) -> EXPECTED_ERRORS.stream().noneMatch(message::contains))
			.isEmpty();
	}

	@Test
	void theArgumentsCanBeTypedSlowly() {
		pause("Cancel order 4711");
		this.page.editAsJson("");
		this.page.typeInto(".arguments", Keys.chord(Keys.CONTROL, Keys.END), Keys.ARROW_UP, Keys.END, Keys.ARROW_LEFT);
		long polls = this.page.polls();

		this.page.typeSlowly(LONG);

		assertThat(this.page.polls()).isGreaterThanOrEqualTo(polls + 2);
		String before = "{\n  \"orderNumber\": \"4711\",\n  \"reason\": \"asked for in the chat" + LONG;
		assertThat(this.page.caret()).isEqualTo(new Caret("arguments", before.length(), before + "\"\n}"));
	}

	@Test
	void theNameCanBeTypedSlowly() {
		pause("Cancel order 4711");
		this.page.typeInto("#approver", Keys.chord(Keys.CONTROL, "a"), "Grace", Keys.HOME);
		long polls = this.page.polls();

		this.page.typeSlowly(LONG);

		assertThat(this.page.polls()).isGreaterThanOrEqualTo(polls + 2);
		assertThat(this.page.caret()).isEqualTo(new Caret("approver", LONG.length(), LONG + "Grace"));
	}

	@Test
	void theReasonCanBeTypedSlowly() {
		pause("Cancel order 4711");
		this.page.click(REJECT);
		this.page.typeInto(".reason", "No");
		long polls = this.page.polls();

		this.page.typeSlowly(LONG);

		assertThat(this.page.polls()).isGreaterThanOrEqualTo(polls + 2);
		assertThat(this.page.caret()).isEqualTo(new Caret("reason", LONG.length() + 2, "No" + LONG));
	}

	@Test
	void theArgumentsOfOneCallCanBeTypedWhileAnotherIsDecidedElsewhere() throws Exception {
		pause("Cancel orders 4711 and 4712");
		this.page.editAsJson(SECOND_CARD);
		this.page.typeInto(SECOND_CARD + ".arguments", Keys.chord(Keys.CONTROL, "a"), "{\"order");

		decideElsewhere(Map.of("verb", "APPROVE", "by", "Bob"));
		await().untilAsserted(
				() -> assertThat(this.page.texts(CARD + ".approval-state")).containsExactly("approved by Bob"));
		this.page.typeSlowly("Number");

		assertThat(this.page.caret()).isEqualTo(new Caret("arguments", 13, "{\"orderNumber"));
	}

	@Test
	void aButtonOfACardKeepsTheKeyboard() {
		pause("Cancel order 4711");
		this.page.typeInto(".approval pre", Keys.TAB);
		assertThat(this.page.focused()).isEqualTo("Approve");

		this.page.awaitPolls(2);

		assertThat(this.page.focused()).isEqualTo("Approve");
		this.page.typeSlowly("\n");
		await().untilAsserted(() -> assertThat(this.page.texts(".turn:last-child .meta")).hasSize(1));
	}

	@Test
	void theButtonThatContinuesTheTurnKeepsTheKeyboard() throws Exception {
		pause("Cancel order 4711");
		decideElsewhere(Map.of("verb", "APPROVE", "by", "Bob"));
		await().untilAsserted(() -> assertThat(this.page.shows(".resume")).isTrue());
		this.page.showJson();
		this.page.typeInto(".approval pre", Keys.TAB);
		assertThat(this.page.focused()).isEqualTo("Continue the turn");

		this.page.awaitPolls(2);

		assertThat(this.page.focused()).isEqualTo("Continue the turn");
	}

	@Test
	void aRowOfTheListKeepsTheKeyboard() {
		pause("Cancel order 4711");
		this.page.typeInto(".thread.active .open", Keys.TAB);
		assertThat(this.page.focusedName()).isEqualTo("Rename “Cancel order 4711”");

		this.page.awaitPolls(2);

		assertThat(this.page.focusedName()).isEqualTo("Rename “Cancel order 4711”");
	}

	@Test
	void aRowOfTheListKeepsTheKeyboardWhenTheListChanges() throws Exception {
		pause("Cancel order 4711");
		this.page.typeInto(".thread.active .open", Keys.TAB);
		this.chat.ask("another-" + this.page.thread(), "Hello from elsewhere");

		decideElsewhere(Map.of("verb", "REJECT", "by", "Bob"));
		this.chat.resume(this.page.thread());

		await().untilAsserted(() -> assertThat(this.page.texts(".thread-title")).contains("Hello from elsewhere"));
		await().untilAsserted(() -> assertThat(this.page.texts(".thread.active .thread-facts")).singleElement()
			.asString()
			.startsWith("1 turn "));
		assertThat(this.page.focusedName()).isEqualTo("Rename “Cancel order 4711”");
	}

	@Test
	void aDeletedThreadCanBeHadBack() {
		this.page.ask("Hello");
		String thread = this.page.thread();
		this.page.clickInRow("[aria-label^=Delete]");

		assertThat(this.page.texts("#toast span")).containsExactly("Deleted “Hello”.");
		assertThat(this.page.thread()).isNotEqualTo(thread);
		this.page.click("#toast .quiet");

		await().untilAsserted(() -> assertThat(this.page.texts(".bubble.user")).containsExactly("Hello"));
		assertThat(this.page.thread()).isEqualTo(thread);
		assertThat(this.page.texts(".thread.active .thread-title")).containsExactly("Hello");
		assertThat(this.page.shows("#toast")).isFalse();
	}

	@Test
	void aDeletedThreadCanBeHadBackByAKey() {
		this.page.ask("Hello");
		String thread = this.page.thread();
		this.page.clickInRow("[aria-label^=Delete]");
		await().until(() -> !this.page.thread().equals(thread));

		this.page.typeInto("#question", Keys.chord(Keys.ALT, "z"));

		await().untilAsserted(() -> assertThat(this.page.texts(".bubble.user")).containsExactly("Hello"));
		assertThat(this.page.thread()).isEqualTo(thread);
	}

	@Test
	void theWayBackStaysAsLongAsTheKeyboardIsThere() {
		List<Boolean> gone = this.page.script("""
				const later = (time) => new Promise((resolve) => setTimeout(resolve, time));
				return import('/js/notices.js').then(async ({ offerUndo }) => {
					let isGone = false;
					offerUndo('Deleted.', 0.1, () => {}, () => isGone = true);
					document.querySelector('#toast button').focus();
					await later(500);
					const before = isGone;
					document.activeElement.blur();
					await later(500);
					return [before, isGone];
				})""");

		assertThat(gone).containsExactly(false, true);
	}

	@Test
	void anAnswerIsReadOutSentenceBySentenceInAnyScript() {
		List<String> said = this.page.script("""
				return import('/js/speech.js').then(({ reader }) => {
					const place = document.getElementById('announcer');
					return arguments[0].map((text) => {
						place.replaceChildren();
						reader().add(text);
						return place.textContent;
					});
				})""", List.of("One. Two", "一。二", "一！二", "एक। दो", "اول؟ دوم", "3.5 is one", "One"));

		assertThat(said).containsExactly("One.", "一。", "一！", "एक।", "اول؟", "", "");
	}

	/**
	 * A sign at the end of a piece ends a sentence if white space begins the next one.
	 */
	@Test
	void anAnswerThatComesInPiecesIsReadOutSentenceBySentence() {
		List<String> said = this.page.script("""
				return import('/js/speech.js').then(({ reader }) => {
					const place = document.getElementById('announcer');
					place.replaceChildren();
					const voice = reader();
					const said = arguments[0].map((piece) => {
						voice.add(piece);
						return [...place.children].map((each) => each.textContent).join('|');
					});
					voice.end();
					return [...said, [...place.children].map((each) => each.textContent).join('|')];
				})""", List.of("One", ".", " Two 3.", "5", "\n", "\nThree. Fo", "ur"));

		assertThat(said).containsExactly("", "", "One.", "One.", "One.|Two 3.5", "One.|Two 3.5|Three.",
				"One.|Two 3.5|Three.", "One.|Two 3.5|Three.|Four");
	}

	/** The list of threads closes when another thread is shown. */
	@Test
	void aDeletedThreadCanBeHadBackOnANarrowWindow() {
		this.page.ask("Hello");
		String thread = this.page.thread();
		this.page.narrow();
		this.page.reload();
		this.page.click("#open-sidebar");
		this.page.click(".thread.active .row-menu");
		this.page.click("#turn-menu button:nth-child(2)");

		await().untilAsserted(() -> assertThat(this.page.shows("#sidebar")).isFalse());
		assertThat(this.page.isReachable("#toast .quiet")).isTrue();
		assertThat(this.page.isReachable("#question")).isTrue();
		this.page.click("#toast .quiet");

		await().untilAsserted(() -> assertThat(this.page.texts(".bubble.user")).containsExactly("Hello"));
		assertThat(this.page.thread()).isEqualTo(thread);
	}

	@Test
	void aThreadThatIsBeingDeletedTakesNoQuestion() {
		this.page.ask("Hello");
		this.page.clickInRow("[aria-label^=Delete]");
		this.browser.navigate().back();
		await().untilAsserted(() -> assertThat(this.page.texts(".bubble.user")).containsExactly("Hello"));
		this.page.type("Another");

		await().untilAsserted(() -> assertThat(this.page.texts("#banner span")).singleElement()
			.asString()
			.startsWith("You have deleted this thread."));
		assertThat(this.page.caret().text()).isEqualTo("Another");
		this.page.click("#toast .quiet");
		await().untilAsserted(() -> assertThat(this.page.shows("#banner")).isFalse());
		this.page.send();
		await().untilAsserted(() -> assertThat(this.page.texts(".turn .meta")).hasSize(2));
	}

	@Test
	void aThreadThatIsDeletedWhenThePageIsLeftIsGone() throws Exception {
		this.page.ask("Hello");
		String thread = this.page.thread();

		this.page.clickInRow("[aria-label^=Delete]");
		this.page.reload();

		await().untilAsserted(
				() -> assertThat(this.chat.send("GET", "/api/threads/" + thread, null).statusCode()).isEqualTo(404));
	}

	@Test
	void aTitleCanBeTypedSlowly() {
		pause("Cancel order 4711");
		this.page.clickInRow("[aria-label^=Rename]");
		long polls = this.page.polls();

		this.page.typeSlowly(LONG);

		assertThat(this.page.polls()).isGreaterThanOrEqualTo(polls + 2);
		assertThat(this.page.caret()).isEqualTo(new Caret("rename", LONG.length(), LONG));
		this.page.typeSlowly("\n");
		await().untilAsserted(() -> assertThat(this.page.texts("#title")).containsExactly(LONG.strip()));
		assertThat(this.page.focusedName()).isEqualTo("Rename “" + LONG.strip() + "”");
	}

	/** The buttons of a row are there only where the mouse or the keyboard is. */
	@Test
	void aTitleIsSavedWhileTheMouseIsElsewhere() {
		this.page.ask("Hello");
		this.page.click("#question");
		this.page.typeInto(".thread.active .open", Keys.TAB);
		this.page.typeSlowly("\nBy keyboard\n");

		await().untilAsserted(() -> assertThat(this.page.texts("#title")).containsExactly("By keyboard"));
		await().untilAsserted(() -> assertThat(this.page.focusedName()).isEqualTo("Rename “By keyboard”"));
		this.page.typeSlowly("\nNot this" + Keys.ESCAPE);
		assertThat(this.page.focusedName()).isEqualTo("Rename “By keyboard”");
	}

	@Test
	void aTitleThatIsTypedDoesNotKeepAThreadThatIsDeletedElsewhere() throws Exception {
		String other = "another-" + this.page.thread();
		this.chat.ask(other, "To be deleted elsewhere");
		pause("Cancel order 4711");
		this.page.typeInto(".thread:not(.active) .open", Keys.TAB);
		this.page.typeSlowly("\nToo late");
		assertThat(this.page.caret()).isEqualTo(new Caret("rename", 8, "Too late"));

		this.chat.send("DELETE", "/api/threads/" + other, null);
		decideElsewhere(Map.of("verb", "REJECT", "by", "Bob"));
		this.chat.resume(this.page.thread());

		await().untilAsserted(() -> assertThat(this.page.texts(".turn:last-child .meta")).hasSize(1));
		await().untilAsserted(() -> assertThat(this.page.shows(".rename")).isFalse());
		assertThat(this.page.texts(".thread-title")).contains("Cancel order 4711")
			.doesNotContain("To be deleted elsewhere");
	}

	@Test
	void aDeletionThatIsRefusedBringsTheRowBack() {
		pause("Cancel order 4711");
		this.page.clickInRow("[aria-label^=Delete]");
		assertThat(this.page.texts("#toast span")).containsExactly("Deleted “Cancel order 4711”.");

		await().untilAsserted(() -> assertThat(this.page.texts("#banner span")).singleElement()
			.asString()
			.contains("waits for a decision"));
		await().untilAsserted(() -> assertThat(this.page.texts(".thread-title").get(0)).isEqualTo("Cancel order 4711"));
	}

	@Test
	void theElementWithTheKeyboardStaysWhileTheOthersAreMovedAroundIt() {
		List<Object> arranged = this.page
			.script("""
					return import('/js/dom.js').then(({ arrange, el }) => {
						const parent = el('p', {}, ...['a', 'b', 'c', 'd'].map((id) => el('input', { id })));
						const [a, b, c, d] = parent.children;
						document.body.append(parent);
						let moved = [];
						b.focus();
						const observer = new MutationObserver((records) => { moved = records.flatMap(({ addedNodes }) => [...addedNodes]); });
						observer.observe(parent, { childList: true });
						arrange(parent, [d, el('input', { id: 'e' }), b, a]);
						const order = [...parent.children].map(({ id }) => id).join('');
						return Promise.resolve().then(() => [order, document.activeElement.id, moved.includes(b), c.isConnected]);
					})""");

		assertThat(arranged).containsExactly("deba", "b", false, false);
	}

	/**
	 * But for the times in the list of threads, which go on.
	 */
	@Test
	void nothingIsDrawnAnewWhereNothingChanged() {
		pause("Cancel order 4711");
		this.page.awaitPolls(1);
		this.page.watchChanges();

		this.page.awaitPolls(3);

		assertThat(this.page.changes()).filteredOn((change) -> !change.contains("thread-facts")).isEmpty();
	}

	private void pause(String question) {
		this.page.type(question);
		this.page.awaitApproval();
		this.page.awaitTimeline();
		this.page.showJson();
	}

	/** The first call of the thread, by somebody who has another page. */
	private void decideElsewhere(Map<String, String> decision) throws Exception {
		String path = "/api/threads/" + this.page.thread() + "/approvals";
		JsonNode call = this.chat.get(path).path("calls").path(0);
		Map<String, String> body = new HashMap<>(decision);
		body.put("digest", call.path("digest").asString());
		assertThat(this.chat.send("POST", path + "/" + call.path("id").asString(), body).statusCode()).isEqualTo(200);
	}

}
