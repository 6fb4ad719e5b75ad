package io.sessionkit.samples.chat;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.logging.Level;

import io.sessionkit.SessionKey;
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
import org.junit.jupiter.params.provider.ValueSource;
import org.openqa.selenium.chrome.ChromeDriver;
import org.openqa.selenium.logging.LogEntry;
import org.openqa.selenium.logging.LogType;
import tools.jackson.databind.JsonNode;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Questions that wait on the page: for the answer before, for another window, for the
 * connection, and for the person.
 */
@EnabledIf(value = "io.sessionkit.samples.chat.BrowserTests#chromiumIsThere", disabledReason = BrowserTests.NOT_RUN)
@ExtendWith(Browsers.class)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Order(2)
class WaitingBrowserTests {

	private static final String QUESTIONS = ".bubble.user";

	private static final String WAITING = "#queue-list .queue-text";

	private static final String WORDS = "#queue-words";

	private static final String STORY = "Tell me a story";

	/** No question reaches the application while {@code isCut} is true. */
	private static final String KEEP_QUESTIONS = """
			const fetch = window.fetch;
			window.isCut = true;
			window.fetch = (url, options) => window.isCut && options?.method === 'POST'
				? Promise.reject(new TypeError('network error')) : fetch(url, options);
			""";

	/** All that may have been asked was so three days ago. */
	private static final String LONG_AGO = """
			for (const name of Object.keys(localStorage).filter((name) => name.startsWith('queue:'))) {
				const entries = JSON.parse(localStorage.getItem(name));
				entries.filter(({ sentAt }) => sentAt).forEach((entry) => { entry.sentAt -= 3 * 86_400_000; });
				localStorage.setItem(name, JSON.stringify(entries));
			}
			""";

	/** No question is taken, since a decision is waited for. */
	private static final String REFUSE_QUESTIONS = """
			const fetch = window.fetch;
			window.refused = 0;
			window.fetch = (url, options) => url.endsWith('/turns') && options?.method === 'POST' && ++window.refused
				? Promise.resolve(Response.json({ kind: 'WAITS', detail: 'A decision is waited for.' }, { status: 409 }))
				: fetch(url, options);
			""";

	private static final String SOME_TIME = "return new Promise((resolve) => setTimeout(resolve, 1000))";

	/** What is to be stopped is told to nobody while {@code isCut} is true. */
	private static final String KEEP_STOPS = """
			const fetch = window.fetch;
			window.isCut = true;
			window.fetch = (url, options) => window.isCut && options?.method === 'DELETE'
				? Promise.reject(new TypeError('network error')) : fetch(url, options);
			""";

	private final List<String> expectedErrors = new ArrayList<>();

	private RunningChat chat;

	private ChromeDriver browser;

	private ChatPage page;

	@BeforeAll
	void start(@TempDir Path database, ChromeDriver browser) {
		this.chat = RunningChat.start(database, "--demo.pace=1ms", "--demo.look-up=1ms", BrowserTests.QUIET);
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
	void whatIsAskedMeanwhileWaitsAndIsAskedInItsTurn() throws IOException {
		tellStory();
		this.page.type("My name is Ada");
		this.page.type("What is my name?");

		assertThat(this.page.texts(WORDS)).containsExactly("2 questions wait for this answer.");
		assertThat(this.page.texts(WAITING)).containsExactly("My name is Ada", "What is my name?");
		assertThat(this.page.texts(".queue-place")).containsExactly("1", "2");
		assertThat(this.page.texts(QUESTIONS)).containsExactly(STORY);
		assertThat(this.page.tooWide()).isEmpty();
		this.page.screenshot("waiting");
		this.chat.release();

		awaitQuestions(STORY, "My name is Ada", "What is my name?");
		await().untilAsserted(() -> assertThat(this.page.texts(".turn:last-child .bubble.assistant")).singleElement()
			.asString()
			.contains("Your name is Ada"));
		assertThat(this.page.shows("#queue")).isFalse();
	}

	@Test
	void whatWaitsCanBeTakenBackIntoTheFieldOrNotBeAsked() {
		tellStory();
		this.page.type("Roll a die");
		this.page.type("Hello");

		this.page.click("#queue-list li:first-child [aria-label='Back into the field']");
		assertThat(this.page.caret().text()).isEqualTo("Roll a die");
		this.page.typeInto("#question", " or two");
		this.page.click("#queue-list [aria-label='Do not ask this']");
		assertThat(this.page.shows("#queue")).isFalse();
		assertThat(this.page.caret()).isEqualTo(new ChatPage.Caret("question", 17, "Roll a die or two"));
		this.chat.release();

		this.page.awaitTimeline();
		awaitQuestions(STORY);
	}

	@Test
	void whoStopsTheAnswerSaysWhetherTheOthersAreAsked() {
		tellStory();
		this.page.type("Hello");

		this.page.click("#stop");

		await().untilAsserted(() -> assertThat(this.page.texts(".turn .cut")).containsExactly("Stopped here."));
		this.chat.release();
		assertThat(this.page.texts(WORDS)).containsExactly("Not sent, since you have stopped the answer.");
		this.page.awaitPolls(2);
		awaitQuestions(STORY);
		this.page.click("#queue p .quiet");
		awaitQuestions(STORY, "Hello");
		assertThat(this.page.shows("#queue")).isFalse();
	}

	@Test
	void anAnswerIsStoppedOnceTheApplicationHasHeardOfIt() throws Exception {
		this.page.ask("Hello");
		tellStory();
		this.page.<Object>script(KEEP_STOPS);

		this.page.click("#stop");

		await().untilAsserted(() -> assertThat(this.page.texts(".turn.aside .note"))
			.containsExactly("Stops as soon as the application answers."));
		assertThat(statuses()).containsExactly("COMPLETED");
		this.page.<Object>script("window.isCut = false");
		await().untilAsserted(() -> assertThat(this.page.texts(".turn .cut")).containsExactly("Stopped here."));
		awaitQuestions("Hello", STORY);
	}

	@Test
	void aStopThatWasNotHeardIsRepeatedAfterAReload() throws Exception {
		this.page.ask("Hello");
		stopUnheard(this.page);

		this.page.reload();

		await().untilAsserted(() -> assertThat(this.page.texts(".turn .cut")).containsExactly("Stopped here."));
		awaitQuestions("Hello", STORY);
		await().untilAsserted(() -> assertThat(kept("stop:")).isEmpty());
	}

	@Test
	void aStopThatWasNotHeardIsRepeatedByAnotherWindowOnceItsOwnIsClosed() throws Exception {
		this.page.ask("Hello");
		stopUnheard(this.page.openInAnotherWindow());

		this.page.closeOtherWindows();

		await().untilAsserted(() -> assertThat(this.page.texts(".turn .cut")).containsExactly("Stopped here."));
		awaitQuestions("Hello", STORY);
		await().untilAsserted(() -> assertThat(kept("stop:")).isEmpty());
	}

	@Test
	void aStopThatCannotBeReadIsForgotten() {
		this.page.ask("Hello");
		this.page.<Object>script("""
				localStorage.setItem('stop:x:' + sessionStorage.getItem('tab'), '{');
				localStorage.setItem('stop:x:closed', '{');
				""");

		this.page.reload();

		await().untilAsserted(() -> assertThat(kept("stop:")).isEmpty());
		this.page.ask("Roll a die");
		awaitQuestions("Hello", "Roll a die");
	}

	/** The call may be on its way still. */
	@Test
	void aStopThatFindsNothingIsRepeated() {
		tellStory();
		this.page.<Object>script("""
				const fetch = window.fetch;
				window.stops = 0;
				window.fetch = (url, options) => options?.method === 'DELETE' && ++window.stops < 3
					? Promise.resolve(new Response(null, { status: 202 })) : fetch(url, options);
				""");

		this.page.click("#stop");

		await().untilAsserted(() -> assertThat(this.page.texts(".turn .cut")).containsExactly("Stopped here."));
		assertThat(this.page.<Long>script("return window.stops")).isEqualTo(3);
	}

	@Test
	void whatMayBeAskedIsNotPutBackIntoTheField() {
		this.page.ask("Hello");
		ChatPage other = this.page.openInAnotherWindow();
		tellStory();
		other.type("Roll a die");
		await().untilAsserted(() -> assertThat(other.shows(".waits")).isTrue());
		other.<Object>script(KEEP_STOPS);

		other.click(".waits .quiet:last-child");

		other.<Object>script(SOME_TIME);
		assertThat(other.caret().text()).isEmpty();
		other.<Object>script("window.isCut = false");
		await().untilAsserted(() -> assertThat(other.caret().text()).isEqualTo("Roll a die"));
		this.chat.release();
		awaitQuestions("Hello", STORY);
	}

	/** A browser may say so of the key that ends a composition. */
	@Test
	void escapeThatEndsACompositionStopsNothing() {
		tellStory();

		this.page.<Object>script(
				"""
						document.getElementById('question').dispatchEvent(
							new KeyboardEvent('keydown', { key: 'Escape', isComposing: true, bubbles: true, cancelable: true }))""");

		this.page.<Object>script(SOME_TIME);
		assertThat(this.page.shows("#stop")).isTrue();
		assertThat(this.page.shows(".turn.aside")).isFalse();
	}

	@Test
	void aReloadLosesNothingAndAsksNothingTwice() throws Exception {
		tellStory();
		this.page.type("Roll a die");

		this.page.reload();

		this.page.awaitFirstWords();
		assertThat(this.page.texts(WAITING)).containsExactly("Roll a die");
		this.chat.release();
		awaitQuestions(STORY, "Roll a die");
		await().untilAsserted(() -> assertThat(this.page.texts(".turn .meta")).hasSize(2));
		assertThat(this.page.texts(".bubble.assistant").get(0)).endsWith("tore out half a page.");
		assertThat(statuses()).containsExactly("COMPLETED", "COMPLETED");
	}

	/**
	 * The application gets the question and answers it, and the page never hears of it.
	 */
	@Test
	void aQuestionWhoseConnectionBrokeIsSentAgainAndAskedOnce() throws Exception {
		this.page.script("""
				const real = window.fetch;
				window.sent = [];
				window.fetch = async (url, options) => {
					const response = await real(url, options);
					if (url.endsWith('/turns') && options.method === 'POST') {
						sent.push(JSON.parse(options.body).request);
						if (sent.length === 1) {
							await response.text();
							throw new TypeError('network error');
						}
					}
					return response;
				};""");

		this.page.type("Roll a die");

		await().untilAsserted(() -> assertThat(this.page.texts(".turn .meta")).hasSize(1));
		await().untilAsserted(() -> assertThat(this.page.<List<String>>script("return sent")).hasSize(2));
		List<String> sent = this.page.script("return sent");
		assertThat(sent.get(1)).isEqualTo(sent.get(0));
		awaitQuestions("Roll a die");
		assertThat(statuses()).containsExactly("COMPLETED");
		assertThat(this.page.shows("#queue")).isFalse();
		assertThat(this.page.ask("Hello")).startsWith("Hello!");
	}

	/** The connection is there, and the same request would be refused again. */
	@Test
	void aQuestionThatIsRefusedIsNotSentAgain() {
		this.page.ask("Hello");
		this.page.<Object>script("""
				const real = window.fetch;
				window.sent = 0;
				window.fetch = (url, options) => url.endsWith('/turns') && options.method === 'POST' && ++window.sent
					? Promise.resolve(new Response('<h1>Content too large</h1>', { status: 413 })) : real(url, options);
				""");

		this.page.type("Roll a die");

		await().untilAsserted(
				() -> assertThat(this.page.texts(".turn.aside .note > span")).containsExactly("Not answered."));
		assertThat(this.page.texts("#banner > span")).containsExactly("The application refused this (413).");
		this.page.awaitPolls(3);
		assertThat(this.page.<Long>script("return window.sent")).isEqualTo(1);
		assertThat(this.page.shows("#queue")).isFalse();
	}

	@Test
	void aQuestionThatComesTooSoonIsSentAgainWhenTheApplicationWantsIt() throws Exception {
		this.page.<Object>script("""
				const real = window.fetch;
				window.sent = [];
				window.fetch = (url, options) => {
					if (!url.endsWith('/turns') || options.method !== 'POST') {
						return real(url, options);
					}
					window.sent.push({ at: Date.now(), name: JSON.parse(options.body).request });
					return window.sent.length > 1 ? real(url, options)
						: Promise.resolve(new Response(null, { status: 429, headers: { 'Retry-After': '3' } }));
				};""");

		this.page.type("Roll a die");

		await().untilAsserted(() -> assertThat(this.page.texts(".turn.aside .note > span")).singleElement()
			.asString()
			.startsWith("The application takes no more questions at the moment."));
		await().untilAsserted(() -> assertThat(this.page.texts(".turn .meta")).hasSize(1));
		assertThat(this.page.<Long>script("return window.sent[1].at - window.sent[0].at")).isGreaterThanOrEqualTo(3000);
		assertThat(this.page.<Boolean>script("return window.sent[1].name === window.sent[0].name")).isTrue();
		assertThat(statuses()).containsExactly("COMPLETED");
	}

	@Test
	void theClockOfTheBrowserKeepsNoQuestionFromBeingSentAgain() throws Exception {
		this.page.<Object>script(
				"""
						const real = window.fetch;
						window.sent = 0;
						window.fetch = (url, options) => !url.endsWith('/turns') || options.method !== 'POST' || ++window.sent > 1
							? real(url, options) : Promise.resolve(new Response(null, { status: 429, headers: { 'Retry-After': '5' } }));
						""");
		this.page.type("Roll a die");
		await().untilAsserted(() -> assertThat(this.page.shows(".turn.aside")).isTrue());

		this.page.<Object>script("""
				const now = Date.now;
				Date.now = () => now() - 3_600_000;
				""");

		await().untilAsserted(() -> assertThat(this.page.texts(".turn .meta")).hasSize(1));
		assertThat(statuses()).containsExactly("COMPLETED");
	}

	@Test
	void theApplicationSaysByItsOwnClockUntilWhenItWantsNoQuestion() throws Exception {
		this.page.<Object>script(
				"""
						const real = window.fetch;
						const inAnHour = (seconds) => new Date(Date.now() + 3_600_000 + seconds * 1000).toUTCString();
						window.sent = 0;
						window.fetch = (url, options) => !url.endsWith('/turns') || options.method !== 'POST' || ++window.sent > 1
							? real(url, options) : Promise.resolve(new Response(null,
								{ status: 429, headers: { 'Date': inAnHour(0), 'Retry-After': inAnHour(2) } }));
						""");

		this.page.type("Roll a die");

		await().untilAsserted(() -> assertThat(this.page.texts(".turn .meta")).hasSize(1));
		assertThat(this.page.<Long>script("return window.sent")).isEqualTo(2);
		assertThat(statuses()).containsExactly("COMPLETED");
	}

	@ParameterizedTest
	@ValueSource(strings = { """
			for (const name of ['localStorage', 'sessionStorage']) {
				Object.defineProperty(window, name, { get() { throw new DOMException('Denied', 'SecurityError'); } });
			}""", """
			Storage.prototype.setItem = () => { throw new DOMException('Full', 'QuotaExceededError'); };
			""" })
	void aBrowserThatKeepsNothingAsksAndSaysSo(String script) {
		Object added = this.browser.executeCdpCommand("Page.addScriptToEvaluateOnNewDocument", Map.of("source", script))
			.get("identifier");
		this.expectedErrors.add("status of 404"); // the thread that was new when the page
													// was left
		try {
			this.page.reload();
			this.page.newThread();
			this.page.typeInto("#question", STORY);
			assertThat(this.page.texts("#banner > span")).singleElement()
				.asString()
				.startsWith("This browser keeps nothing more for this page");

			this.chat.hold();
			this.page.type("");
			this.page.awaitFirstWords();
			this.page.type("Hello");
			assertThat(this.page.texts(WAITING)).containsExactly("Hello");
			this.chat.release();

			awaitQuestions(STORY, "Hello");
			await().untilAsserted(() -> assertThat(this.page.shows("#queue")).isFalse());
		}
		finally {
			this.browser.executeCdpCommand("Page.removeScriptToEvaluateOnNewDocument", Map.of("identifier", added));
		}
	}

	@Test
	void aSecondWindowWaitsForTheFirst() throws Exception {
		this.page.ask("My name is Ada");
		ChatPage other = this.page.openInAnotherWindow();
		tellStory();

		other.type("What is my name?");
		other.type("Hello");

		await()
			.untilAsserted(() -> assertThat(other.texts(".waits span")).containsExactly("Waits for another window."));
		assertThat(other.texts(WAITING)).containsExactly("Hello");
		other.screenshot("waiting-for-another");
		this.chat.release();
		await().untilAsserted(() -> assertThat(other.texts(QUESTIONS)).containsExactly("My name is Ada", STORY,
				"What is my name?", "Hello"));
		awaitQuestions("My name is Ada", STORY, "What is my name?", "Hello");
		assertThat(statuses()).hasSize(4).containsOnly("COMPLETED");
	}

	@Test
	void whatWaitsForAnotherWindowIsTakenBackWithoutATrace() throws Exception {
		this.page.ask("Hello");
		ChatPage other = this.page.openInAnotherWindow();
		tellStory();
		other.type("Roll a die");
		await().untilAsserted(() -> assertThat(other.shows(".waits")).isTrue());

		other.click(".waits .quiet:last-child");

		await().untilAsserted(() -> assertThat(other.shows(".live, .turn.aside")).isFalse());
		assertThat(other.caret().text()).isEqualTo("Roll a die");
		this.chat.release();
		awaitQuestions("Hello", STORY);
		await().untilAsserted(() -> assertThat(this.page.texts(".turn .meta")).hasSize(2));
		assertThat(statuses()).containsExactly("COMPLETED", "COMPLETED");
	}

	/**
	 * A browser does not keep it from bringing back what the other one deletes at that
	 * moment.
	 */
	@Test
	void aWindowWritesNothingOfWhatWaitsInAnother() {
		this.page.ask("Hello");
		ChatPage other = this.page.openInAnotherWindow();
		tellStory();
		other.type("Roll a die");
		await().untilAsserted(() -> assertThat(other.shows(".waits")).isTrue());
		this.page.<Object>script("""
				window.written = [];
				for (const change of ['setItem', 'removeItem']) {
					const made = Storage.prototype[change];
					Storage.prototype[change] = function (name, ...text) {
						window.written.push(name);
						return made.call(this, name, ...text);
					};
				}
				window.dispatchEvent(new Event('focus'));
				return new Promise((resolve) => setTimeout(resolve, 1000));
				""");

		assertThat(this.page.<List<String>>script("return window.written"))
			.noneMatch((name) -> name.startsWith("queue:"));
		this.chat.release();
		awaitQuestions("Hello", STORY, "Roll a die");
	}

	@Test
	void whatWaitedInAWindowThatIsClosedIsFoundInAnother() {
		this.page.ask("Hello");
		ChatPage other = this.page.openInAnotherWindow();
		this.chat.hold();
		other.type(STORY);
		other.awaitFirstWords();
		other.type("Roll a die");

		this.page.closeOtherWindows();
		this.chat.release();

		await().untilAsserted(
				() -> assertThat(this.page.texts(WORDS)).containsExactly("Not sent, since its window was closed."));
		awaitQuestions("Hello", STORY);
		await().untilAsserted(() -> assertThat(this.page.texts(".turn .meta")).hasSize(2));
		this.page.click("#queue p .quiet");
		awaitQuestions("Hello", STORY, "Roll a die");
	}

	/** The application may not know any more that it was asked. */
	@Test
	void whatWasSentLongAgoIsNotSentAgainByItself() {
		this.page.ask("Hello");
		ChatPage other = this.page.openInAnotherWindow();
		loseLongAgo(other);

		this.page.closeOtherWindows();

		await().untilAsserted(() -> assertThat(this.page.texts(WORDS))
			.containsExactly("Not sent again, since it was sent long ago: it may have been asked."));
		assertThat(this.page.texts(WAITING)).containsExactly("Roll a die");
		this.page.awaitPolls(2);
		awaitQuestions("Hello");
		this.page.click("#queue p .quiet");
		awaitQuestions("Hello", "Roll a die");
		await().untilAsserted(() -> assertThat(this.page.shows("#queue")).isFalse());
	}

	@Test
	void whatWasSentLongAgoIsNotSaidToBeUnasked() {
		this.page.ask("Hello");
		loseLongAgo(this.page);
		await().untilAsserted(() -> assertThat(this.page.texts(WAITING)).containsExactly("Roll a die"));
		assertThat(this.page.shows(".turn.aside")).isFalse();

		this.page.click("#queue-list [aria-label='Do not ask this']");

		awaitSaid("It is not sent again, but may have been asked.");
		this.page.<Object>script("window.isCut = false");
		this.page.awaitPolls(2);
		awaitQuestions("Hello");
	}

	@Test
	void whatWasSentLongAgoIsNotSaidToBeUnaskedOnceItIsRefused() {
		this.page.ask("Hello");
		loseLongAgo(this.page);
		await().untilAsserted(() -> assertThat(this.page.shows("#queue p .quiet")).isTrue());
		this.page.<Object>script(REFUSE_QUESTIONS);
		this.page.click("#queue p .quiet");
		awaitRefusal();

		this.page.click("#queue-list [aria-label='Do not ask this']");

		awaitSaid("It is not sent again, but may have been asked.");
		awaitQuestions("Hello");
	}

	/** They are sent together. */
	@Test
	void wordsForQuestionsThatWaitSayThatOneOfThemMayHaveBeenAsked() {
		this.page.ask("Hello");
		keep("[entry('one', 'failed', null, 0), entry('two', 'old', 1, 0)]");

		this.page.reload();

		await().untilAsserted(() -> assertThat(this.page.texts(WAITING)).containsExactly("one", "two"));
		assertThat(this.page.texts(WORDS))
			.containsExactly("Not sent again, since it was sent long ago: it may have been asked.");
	}

	/** As one that was lost, and then refused. */
	@Test
	void wordsForAQuestionThatWaitsSayThatItMayHaveBeenAskedWhateverKeepsItNow() {
		this.page.ask("Hello");
		keep("[entry('one', 'closed', anHourAgo, 0)]");

		this.page.reload();

		await().untilAsserted(() -> assertThat(this.page.texts(WORDS))
			.containsExactly("Not sent again, since its window was closed: it may have been asked."));
	}

	/** Its own window has shown more of the thread that was there before. */
	@Test
	void aQuestionIsRetriedInAThreadThatWasBegunAnew() throws Exception {
		this.page.ask("Hello");
		this.page.ask("Hello again");
		String thread = this.page.thread();
		this.page.<Object>script("""
				const fetch = window.fetch;
				window.fetch = (url, options) => url.endsWith('/head') ? new Promise(() => {}) : fetch(url, options);
				""");
		assertThat(this.chat.send("DELETE", "/api/threads/" + thread, null).statusCode()).isLessThan(300);
		this.chat.ask(thread, "Anew");
		this.page.type("Roll a die");
		await().untilAsserted(() -> assertThat(this.page.texts(QUESTIONS)).startsWith("Anew"));

		this.page.click(".retry");

		awaitQuestions("Anew", "Roll a die");
		await().untilAsserted(() -> assertThat(this.page.texts(".turn .meta")).hasSize(2));
		assertThat(statuses()).containsExactly("COMPLETED", "COMPLETED");
	}

	/** They were typed when more of the thread was shown that was there before. */
	@Test
	void whatIsHeldIsSentInAThreadThatWasBegunAnew() throws Exception {
		this.page.ask("Anew");
		keep("[entry('Hello', 'failed', null, 5), entry('Roll a die', 'failed', null, 5)]");
		this.page.reload();
		await().untilAsserted(() -> assertThat(this.page.texts(WAITING)).containsExactly("Hello", "Roll a die"));

		this.page.click("#queue p .quiet");

		awaitQuestions("Anew", "Hello", "Roll a die");
		await().untilAsserted(() -> assertThat(this.page.texts(".turn .meta")).hasSize(3));
		assertThat(statuses()).hasSize(3).containsOnly("COMPLETED");
	}

	/** A person has said something of those alone that were held. */
	@Test
	void whatWaitsUnheldIsNotTakenForSentAnewWithTheOthers() {
		this.page.type("Cancel order 5001");
		this.page.awaitApproval();
		keep("[entry('Hello', null, anHourAgo, 0), entry('Roll a die', 'asked', anHourAgo, 0)]");
		this.page.reload();
		this.page.awaitApproval();
		await().untilAsserted(() -> assertThat(this.page.shows("#queue p .quiet")).isTrue());

		this.page.click("#queue p .quiet");

		await().untilAsserted(() -> assertThat(this.page.shows("#queue p .quiet")).isFalse());
		assertThat(sentAnHourAgo()).containsExactly(true, false);
		this.page
			.<Object>script(KEEP_QUESTIONS.replace("options?.method", "url.endsWith('/turns') && options?.method"));
		this.page.click(".approval-actions .danger");
		await().untilAsserted(() -> assertThat(this.page.texts(".turn.aside .note > span")).singleElement()
			.asString()
			.startsWith("The connection is lost."));
		assertThat(sentAnHourAgo()).as("sent once more").containsExactly(true, false);
	}

	@Test
	void whatWaitsGoesOnAfterADecision() {
		this.page.sendAtOnce("Cancel order 5001", "Hello");
		this.page.awaitApproval();
		await().untilAsserted(
				() -> assertThat(this.page.texts(WORDS)).containsExactly("1 question waits for your decision."));

		this.page.click(".approval-actions .danger");

		awaitQuestions("Cancel order 5001", "Hello");
		await().untilAsserted(() -> assertThat(this.page.shows("#queue")).isFalse());
	}

	@Test
	void whatIsSentNowJoinsTheAnswerBeforeItsNextStep() throws Exception {
		this.chat.hold();
		this.page.type("Check orders 1, 2 and 3");
		await().untilAsserted(() -> assertThat(this.page.shows(".live .tool")).isTrue());
		this.page.type("Leave out 3");

		this.page.click(".steer");
		assertThat(this.page.texts(".queue-state")).containsExactly("joins before the next step");
		awaitOffer();
		this.chat.releaseOne();
		await()
			.untilAsserted(() -> assertThat(this.page.texts(".live .joined .bubble")).containsExactly("Leave out 3"));
		assertThat(this.page.shows("#queue")).isFalse();
		this.chat.release();

		await().untilAsserted(() -> assertThat(this.page.texts(".turn .meta")).hasSize(1));
		assertThat(this.page.texts(".turn .joined .bubble")).containsExactly("Leave out 3");
		assertThat(this.page.texts(".tool summary code")).containsExactly("check_order", "check_order");
		assertThat(this.page.texts(".bubble.assistant")).singleElement()
			.asString()
			.contains("You said meanwhile: “Leave out 3”.");
		assertThat(statuses()).containsExactly("COMPLETED");
		this.page.screenshot("joined");
		this.page.reload();
		assertThat(this.page.texts(QUESTIONS)).containsExactly("Check orders 1, 2 and 3", "Leave out 3");
		assertThat(this.page.shows("#queue")).isFalse();
	}

	@Test
	void whatFindsNoNextStepIsAskedBehindTheAnswer() throws Exception {
		tellStory();
		this.page.type("Hello");

		this.page.click(".steer");
		awaitOffer();
		this.chat.release();

		awaitQuestions(STORY, "Hello");
		await().untilAsserted(() -> assertThat(this.page.texts(".turn .meta")).hasSize(2));
		assertThat(this.page.shows("#queue")).isFalse();
		assertThat(statuses()).containsExactly("COMPLETED", "COMPLETED");
	}

	/** It may have joined an answer that broke off, with which another window goes on. */
	@Test
	void whatMayHaveJoinedIsAskedForAgain() throws Exception {
		tellStory();
		this.page.type("Hello");
		this.page.<Object>script(
				"""
						const real = window.fetch;
						window.sent = [];
						window.fetch = (url, options) => url.endsWith('/turns') && options.method === 'POST'
							&& window.sent.push(JSON.parse(options.body).request) === 1
								? Promise.resolve(Response.json({ kind: 'RUNS', detail: 'Another window is being answered.' }, { status: 409 }))
								: real(url, options);
						""");
		this.expectedErrors.add("409");

		this.page.click(".steer");

		awaitOffer();
		assertThat(this.page.texts(".queue-state")).containsExactly("joins before the next step");
		this.chat.release();
		awaitQuestions(STORY, "Hello");
		List<String> sent = this.page.script("return window.sent");
		assertThat(sent).hasSize(2).allMatch(sent.get(0)::equals);
	}

	/** Nobody knows whether it had joined that answer. */
	@Test
	void whatWasToJoinAnAnswerThatIsStoppedMayHaveBeenAsked() {
		tellStory();
		this.page.type("Hello");
		this.page.click(".steer");
		awaitOffer();
		this.page.<Object>script("""
				const fetch = window.fetch;
				window.fetch = (url, options) => options?.method === 'DELETE'
					? Promise.resolve(new Response(null, { status: 202 })) : fetch(url, options);
				""");

		this.page.click("#stop");

		await().untilAsserted(() -> assertThat(this.page.texts(".turn.aside .note"))
			.containsExactly("It had ended already, or could not be stopped."));
		assertThat(this.page.texts(WORDS))
			.containsExactly("Not sent again, since you have stopped the answer: it may have been asked.");
		this.page.<Object>script(LONG_AGO);
		await().untilAsserted(() -> assertThat(this.page.texts(WORDS))
			.containsExactly("Not sent again, since it was sent long ago: it may have been asked."));
	}

	@Test
	void whatWasToJoinAnAnswerThatIsStoppedIsNotAskedOnceTheApplicationHasHeardOfIt() {
		tellStory();
		this.page.type("Hello");
		this.page.click(".steer");
		awaitOffer();

		this.page.click("#stop");

		await().untilAsserted(() -> assertThat(this.page.texts(WORDS))
			.containsExactly("Not sent, since you have stopped the answer."));
		this.page.click("#queue-list [aria-label='Do not ask this']");
		awaitSaid("It is not asked.");
	}

	@Test
	void whatIsRefusedAsItIsToJoinIsNotSaidToBeAsked() {
		tellStory();
		this.page.type("Hello");
		this.page.<Object>script(REFUSE_QUESTIONS);
		this.page.click(".steer");
		awaitRefusal();
		await().untilAsserted(() -> assertThat(this.page.shows(".queue-state")).isFalse());

		this.page.click("#queue-list [aria-label='Do not ask this']");

		awaitSaid("It is not asked.");
	}

	@Test
	void whatIsToJoinCanBeWithdrawn() throws Exception {
		tellStory();
		this.page.type("Roll a die");
		this.page.click(".steer");

		this.page.click("#queue-list [aria-label='Do not ask this']");

		assertThat(this.page.shows("#queue")).isFalse();
		String thread = this.page.thread();
		await().until(() -> this.chat.inLine(SessionKey.of(thread)) == 1);
		this.chat.release();
		await().untilAsserted(() -> assertThat(this.page.texts(".turn .meta")).hasSize(1));
		assertThat(this.page.ask("How many messages are there?")).contains("3 messages,");
	}

	@Test
	void aSecondWindowCanJoinTheAnswerOfTheFirst() throws Exception {
		this.page.ask("Hello");
		ChatPage other = this.page.openInAnotherWindow();
		this.chat.hold();
		this.page.type("Check orders 1, 2 and 3");
		await().untilAsserted(() -> assertThat(this.page.shows(".live .tool")).isTrue());
		other.type("That is enough");
		await().untilAsserted(() -> assertThat(other.shows(".waits")).isTrue());

		other.click(".waits .quiet");
		awaitOffer();
		this.chat.release();

		await().untilAsserted(() -> assertThat(other.texts(".turn .joined .bubble")).containsExactly("That is enough"));
		assertThat(other.texts(".bubble.assistant").get(1)).endsWith("You said meanwhile: “That is enough”.");
		await().untilAsserted(
				() -> assertThat(this.page.texts(".turn .joined .bubble")).containsExactly("That is enough"));
		assertThat(other.shows("#queue")).isFalse();
		assertThat(statuses()).containsExactly("COMPLETED", "COMPLETED");
	}

	/** Up to its first words. */
	private void tellStory() {
		this.chat.hold();
		this.page.type(STORY);
		this.page.awaitFirstWords();
	}

	/** In a window that the application does not hear any more. */
	private void stopUnheard(ChatPage window) {
		this.chat.hold();
		window.type(STORY);
		window.awaitFirstWords();
		window.<Object>script(KEEP_STOPS);
		window.click("#stop");
		await().untilAsserted(() -> assertThat(window.texts(".turn.aside .note"))
			.containsExactly("Stops as soon as the application answers."));
	}

	/** The window does not know whether it was asked. */
	private void loseLongAgo(ChatPage window) {
		window.<Object>script(KEEP_QUESTIONS);
		window.type("Roll a die");
		await().untilAsserted(() -> assertThat(window.texts(".turn.aside .note > span")).singleElement()
			.asString()
			.startsWith("The connection is lost."));
		window.<Object>script(LONG_AGO);
	}

	/** What may have been asked was so an hour ago, which is {@code anHourAgo}. */
	private void keep(String entries) {
		this.page.<Object>script(
				"""
						const anHourAgo = Date.now() - 3_600_000;
						const entry = (id, held, sentAt, seen) => ({ id, text: id, sent: false, sentAt, seen, steers: false, joined: false, held, place: null });
						localStorage.setItem(`queue:${location.hash.slice(1)}:${sessionStorage.getItem('tab')}`, JSON.stringify(%s));
						"""
					.formatted(entries));
	}

	/** Whether the page knows so of each question that waits. */
	private List<Boolean> sentAnHourAgo() {
		return this.page
			.script("""
					return JSON.parse(localStorage.getItem(`queue:${location.hash.slice(1)}:${sessionStorage.getItem('tab')}`))
						.map(({ sentAt }) => Date.now() - sentAt >= 3_600_000);
					""");
	}

	private void awaitRefusal() {
		await().until(() -> this.page.<Long>script("return window.refused") > 0);
	}

	private void awaitSaid(String words) {
		await().untilAsserted(
				() -> assertThat(this.page.<String>script("return document.getElementById('announcer').textContent"))
					.contains(words));
	}

	/** The names of what the browser keeps. */
	private List<String> kept(String beginning) {
		return this.page.script("return Object.keys(localStorage).filter((name) => name.startsWith(arguments[0]))",
				beginning);
	}

	private void awaitOffer() {
		String thread = this.page.thread();
		await().until(() -> this.chat.offers(thread) == 1);
	}

	private void awaitQuestions(String... questions) {
		await().untilAsserted(() -> assertThat(this.page.texts(QUESTIONS)).containsExactly(questions));
	}

	private List<String> statuses() throws Exception {
		return this.chat.thread(this.page.thread())
			.path("turns")
			.values()
			.stream()
			.map((JsonNode turn) -> turn.path("status").asString())
			.toList();
	}

}
