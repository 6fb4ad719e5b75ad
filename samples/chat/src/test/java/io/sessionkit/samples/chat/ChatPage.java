package io.sessionkit.samples.chat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;

import com.deque.html.axecore.args.AxeRunOptions;
import com.deque.html.axecore.results.Results;
import com.deque.html.axecore.selenium.AxeBuilder;
import org.awaitility.Awaitility;
import org.awaitility.pollinterval.IterativePollInterval;
import org.openqa.selenium.By;
import org.openqa.selenium.ElementNotInteractableException;
import org.openqa.selenium.JavascriptException;
import org.openqa.selenium.Keys;
import org.openqa.selenium.NoSuchElementException;
import org.openqa.selenium.OutputType;
import org.openqa.selenium.StaleElementReferenceException;
import org.openqa.selenium.WebElement;
import org.openqa.selenium.WindowType;
import org.openqa.selenium.chrome.ChromeDriver;
import org.openqa.selenium.interactions.Actions;
import org.openqa.selenium.support.ui.WebDriverWait;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * One window of the browser with the chat page. What it finds is read from the page in
 * one go, since the page draws its lists anew whenever something happens.
 */
final class ChatPage {

	/** A test waits for so long only if it fails, or if the machine is very busy. */
	private static final Duration PATIENCE = Duration.ofSeconds(30);

	private static final Duration POLL = Duration.ofMillis(50);

	private static final Duration LOOK = Duration.ofMillis(100);

	private static final Duration KEYSTROKE = Duration.ofMillis(90);

	private static final Path SCREENSHOTS = Path.of("target/screenshots");

	private static final boolean PICTURES = System.getProperty("chat.pictures") != null;

	/** Where a page has been asked for so long, it is asked again. */
	private static final int LONGEST_LOOK = 1000;

	/**
	 * The page itself looks until it finds something: to be asked costs a browser more
	 * than a look. What tests do to the timers of the page does not matter here.
	 */
	private static final String UNTIL = """
			const look = () => {
				%s
			};
			const isThere = (found) => found !== null && found !== undefined && found !== false;
			const end = performance.now() + %d;
			return (async () => {
				let found = look();
				while (!isThere(found) && performance.now() < end) {
					await scheduler.postTask(() => {}, { delay: 25 });
					found = look();
				}
				return found;
			})();""";

	/** The window that each browser is on. */
	private static final Map<ChromeDriver, String> CURRENT = new ConcurrentHashMap<>();

	private final ChromeDriver driver;

	private final String window;

	static {
		Awaitility.setDefaultTimeout(PATIENCE);
		Awaitility.setDefaultPollDelay(LOOK);
		Awaitility.setDefaultPollInterval(new IterativePollInterval(ChatPage::later, LOOK));
	}

	private ChatPage(ChromeDriver driver) {
		this.driver = driver;
		this.window = driver.getWindowHandle();
		CURRENT.put(driver, this.window);
	}

	/** What has not come soon is looked for less often: each look costs the browser. */
	private static Duration later(Duration before) {
		return before.compareTo(LOOK.multipliedBy(2)) < 0 ? before.plus(LOOK.dividedBy(2)) : LOOK.multipliedBy(3);
	}

	/**
	 * In the window that the browser shows, as wide as a laptop's.
	 */
	static ChatPage open(ChromeDriver driver, String address) {
		ChatPage page = new ChatPage(driver);
		page.wide();
		driver.get(address);
		page.awaitThread();
		return page;
	}

	/**
	 * Opens the login, which is shown as long as nobody is signed in.
	 */
	static ChatPage openLogin(ChromeDriver driver, String address) {
		ChatPage page = new ChatPage(driver);
		page.wide();
		driver.get(address);
		page.awaitLogin();
		return page;
	}

	void awaitLogin() {
		until("return document.querySelector('#demo-users > button') && true");
	}

	/**
	 * By the keyboard alone.
	 */
	void signIn(String name) {
		awaitLogin();
		new Actions(onPage()).sendKeys(name, Keys.TAB, name, Keys.ENTER).perform();
		awaitThread();
	}

	void signOut() {
		click("#sign-out");
		awaitLogin();
	}

	ChatPage openInAnotherWindow() {
		String address = onPage().getCurrentUrl();
		this.driver.switchTo().newWindow(WindowType.WINDOW);
		return open(this.driver, address);
	}

	void closeOtherWindows() {
		CURRENT.remove(this.driver);
		for (String each : this.driver.getWindowHandles()) {
			if (!each.equals(this.window)) {
				this.driver.switchTo().window(each).close();
			}
		}
		onPage();
	}

	void wide() {
		Chromium.resize(onPage(), 1280, 800, false);
	}

	void narrow() {
		Chromium.resize(onPage(), 390, 844, true);
	}

	void reload() {
		onPage().navigate().refresh();
		awaitThread();
	}

	private void awaitThread() {
		until("return document.querySelector('#conversation > :not(.loading)') && document.querySelector('#badges > *') && true");
	}

	void newThread() {
		click("#new-thread");
		until("return document.querySelector('.empty') !== null");
	}

	/**
	 * Asks as somebody does who pastes the text: what the keys do one by one is a matter
	 * of {@link #typeInto}.
	 */
	void type(String text) {
		WebElement question = script("""
				const question = document.getElementById('question');
				question.focus();
				question.setSelectionRange(question.value.length, question.value.length);
				document.execCommand('insertText', false, arguments[0]);
				return question""", text);
		question.sendKeys(Keys.ENTER);
	}

	void send() {
		script("document.getElementById('composer').requestSubmit()");
	}

	/** From now on it looks for no changes until it is loaded again. */
	void holdStill() {
		script("""
				for (let id = window.setTimeout(() => 0); id > 0; id--) {
					window.clearTimeout(id);
				}
				window.setTimeout = () => 0;""");
	}

	/**
	 * One question behind the other, before anything can be answered.
	 */
	void sendAtOnce(String... texts) {
		script("""
				const question = document.getElementById('question');
				for (const text of arguments[0]) {
					question.value = text;
					question.dispatchEvent(new Event('input'));
					document.getElementById('composer').requestSubmit();
				}""", List.of(texts));
	}

	/**
	 * The answer when it is whole and stored.
	 */
	String ask(String text) {
		long before = texts(".turn .meta").size();
		type(text);
		until("return document.querySelectorAll('.turn .meta').length > " + before);
		awaitTimeline();
		return texts(".turn:last-child .bubble.assistant").stream().reduce((first, last) -> last).orElseThrow();
	}

	/**
	 * The timeline follows once the list of threads has been read again.
	 */
	void awaitTimeline() {
		until("""
				return !document.querySelector('.live')
					&& document.querySelectorAll('.entry').length >= document.querySelectorAll('.turn').length""");
	}

	/**
	 * Waits for an answer that is being written, and returns its first words.
	 */
	String awaitFirstWords() {
		return until("return document.querySelector('.live .bubble.assistant .text')?.textContent || null");
	}

	/**
	 * Waits until the page asks for a decision on a tool call, and writes a name if there
	 * is none.
	 */
	void awaitApproval() {
		until("return document.querySelector('.approval .approval-actions') !== null");
		script("""
				const approver = document.getElementById('approver');
				if (approver.value === '') {
					approver.value = 'Somebody';
					approver.dispatchEvent(new Event('input'));
				}""");
	}

	/**
	 * Opens the form for the arguments of a call, as JSON.
	 * @param card the selector of its card, with a space at the end
	 */
	void editAsJson(String card) {
		click(card + ".approval-actions :nth-child(2)");
		if (shows(card + ".arguments-form .link")) {
			click(card + ".arguments-form .link");
		}
	}

	/**
	 * Shows the arguments of all calls as JSON.
	 */
	void showJson() {
		script("document.querySelectorAll('.approval .as-json').forEach((each) => { each.open = true; })");
	}

	void click(String css) {
		act(css, (element) -> {
			awaitStill(element);
			element.click();
		});
	}

	/** The mouse may miss what still moves. */
	private void awaitStill(WebElement element) {
		script("""
				const place = () => JSON.stringify(arguments[0].getBoundingClientRect());
				return (async () => {
					for (let before = null, now = place(); now !== before; now = place()) {
						before = now;
						await new Promise((resolve) => setTimeout(resolve, 20));
					}
				})();
				""", element);
	}

	/**
	 * A button in the row of the thread that is shown. The mouse is over the row first:
	 * only then the button is there.
	 */
	void clickInRow(String button) {
		act(".thread.active", (row) -> {
			new Actions(this.driver).moveToElement(row).perform();
			row.findElement(By.cssSelector(button)).click();
		});
	}

	void typeInto(String css, CharSequence... keys) {
		act(css, (field) -> field.sendKeys(keys));
	}

	/**
	 * Types in the place of what a field holds.
	 */
	void replace(String css, String text) {
		typeInto(css, Keys.chord(Keys.CONTROL, "a"), text);
	}

	/**
	 * Types where the keyboard is, at the pace of a person.
	 */
	void typeSlowly(String text) {
		Actions actions = new Actions(onPage());
		text.chars().forEach((key) -> actions.sendKeys(Character.toString(key)).pause(KEYSTROKE));
		actions.perform();
	}

	/**
	 * Returns the place of the caret.
	 */
	Caret caret() {
		List<Object> caret = script("""
				const field = document.activeElement;
				return [field.id || field.className, field.selectionStart ?? -1, field.value ?? '']""");
		return new Caret((String) caret.get(0), (Long) caret.get(1), (String) caret.get(2));
	}

	/**
	 * Returns the number of times that the page has looked for changes.
	 */
	long polls() {
		return script("""
				return performance.getEntriesByType('resource').filter(({ name }) => name.endsWith('/head')).length""");
	}

	/**
	 * Waits until the page has looked for changes so many times more, and has shown what
	 * it found: it looks again only then.
	 */
	void awaitPolls(int more) {
		until("return performance.getEntriesByType('resource').filter(({ name }) => name.endsWith('/head')).length > "
				+ (polls() + more));
	}

	/**
	 * Notes from now on which elements get other children or texts.
	 */
	void watchChanges() {
		script("""
				window.changes = [];
				const note = (record) => {
					const element = record.target.nodeType === Node.TEXT_NODE ? record.target.parentElement : record.target;
					changes.push(`${element?.localName}#${element?.id}.${element?.className}`);
				};
				new MutationObserver((records) => records.forEach(note))
					.observe(document.documentElement, { subtree: true, childList: true, characterData: true })""");
	}

	List<String> changes() {
		return script("return window.changes");
	}

	/**
	 * The id of the thread that is shown.
	 */
	String thread() {
		return script("return decodeURIComponent(location.hash.slice(1))");
	}

	/**
	 * The text of everything that a person can see under this selector.
	 */
	List<String> texts(String css) {
		return script("""
				return [...document.querySelectorAll(arguments[0])]
					.filter((element) => element.checkVisibility({ visibilityProperty: true }))
					.map((element) => element.innerText.trim())""", css);
	}

	/**
	 * The text of what the keyboard is on.
	 */
	String focused() {
		return onPage().switchTo().activeElement().getText();
	}

	/**
	 * Returns the accessible name of the focused element.
	 */
	String focusedName() {
		return onPage().switchTo().activeElement().getAccessibleName();
	}

	/**
	 * Returns the accessible name of an element.
	 */
	String accessibleName(String css) {
		return onPage().findElement(By.cssSelector(css)).getAccessibleName();
	}

	boolean shows(String css) {
		return !texts(css).isEmpty();
	}

	/**
	 * Returns the elements that are wider than their place: the page itself, whatever
	 * sticks out of the window, and boxes that scroll sideways. Only code may scroll.
	 */
	List<String> tooWide() {
		return script(
				"""
						const sideways = (element) => element.scrollWidth > element.clientWidth + 1
							&& ['auto', 'scroll'].includes(getComputedStyle(element).overflowX);
						const out = (element) => {
							const box = element.getBoundingClientRect();
							return box.right > innerWidth + 1 || box.left < -1;
						};
						const root = document.documentElement;
						return [...document.querySelectorAll('#app *')]
							.filter((element) => element.checkVisibility({ visibilityProperty: true }) && !element.closest('pre'))
							.filter((element) => sideways(element) || out(element))
							.concat(root.scrollWidth > innerWidth ? [root] : [])
							.map((element) => `${element.localName}.${element.className}`)""");
	}

	/**
	 * If there is more in it than it shows.
	 */
	boolean scrolls(String css) {
		return script("""
				const element = document.querySelector(arguments[0]);
				return element.scrollHeight > element.clientHeight""", css);
	}

	/**
	 * If all of it is inside of the window, and nothing lies over it.
	 */
	boolean isReachable(String css) {
		return script(
				"""
						const element = document.querySelector(arguments[0]);
						const box = element.getBoundingClientRect();
						const top = document.elementFromPoint(box.left + box.width / 2, box.top + box.height / 2);
						return box.width > 0 && box.left >= 0 && box.top >= 0 && box.right <= innerWidth && box.bottom <= innerHeight
							&& element.contains(top)""",
				css);
	}

	/**
	 * Waits until nothing moves but what always does, such as the dots of an answer.
	 */
	void awaitStill() {
		until("""
				return document.getAnimations().every((each) => each.playState !== 'running'
					|| each.effect.getComputedTiming().iterations === Infinity) && true""");
	}

	/**
	 * Has axe-core look at it by every rule, best practices included, and in the dark
	 * colour scheme by those on colours: nothing else differs there.
	 */
	void check(String state) throws IOException {
		check(state, "light", axe());
		check(state, "dark", axe().setAxeScriptProvider(() -> "// it is there from before")
			.withOnlyRules(List.of("color-contrast", "link-in-text-block")));
	}

	/** What is right is not described, which takes it more time than to find it. */
	private static AxeBuilder axe() {
		AxeRunOptions violations = new AxeRunOptions();
		violations.setResultTypes(List.of("violations"));
		return new AxeBuilder().withOptions(violations);
	}

	private void check(String state, String scheme, AxeBuilder axe) throws IOException {
		onPage().executeCdpCommand("Emulation.setEmulatedMedia",
				Map.of("features", List.of(Map.of("name", "prefers-color-scheme", "value", scheme))));
		if (!shows(".live")) {
			awaitStill();
		}
		Results results = axe.setLegacyMode(true).setTimeout(120).analyze(this.driver);
		assertThat(results.getViolations()).as("%s, %s", state, scheme)
			.extracting((rule) -> rule.getId() + " " + rule.getImpact() + " "
					+ rule.getNodes().stream().map((node) -> node.getHtml() + node.getFailureSummary()).toList())
			.isEmpty();
		if (!shows(".live")) {
			screenshot("access-" + state + "-" + scheme);
		}
	}

	/**
	 * Waits until nothing moves, and takes a picture if somebody is going to look at it.
	 */
	void screenshot(String name) throws IOException {
		awaitStill();
		if (PICTURES) {
			Files.createDirectories(SCREENSHOTS);
			Files.write(SCREENSHOTS.resolve(name + ".png"), onPage().getScreenshotAs(OutputType.BYTES));
		}
	}

	private void act(String css, Consumer<WebElement> action) {
		onPage();
		waiting().until((driver) -> {
			action.accept(driver.findElement(By.cssSelector(css)));
			return true;
		});
	}

	@SuppressWarnings("TypeParameterUnusedInFormals")
	private <T> T until(String script) {
		// the page may be left meanwhile
		return waiting().ignoring(JavascriptException.class)
			.until((driver) -> this.<T>script(UNTIL.formatted(script, LONGEST_LOOK)));
	}

	private WebDriverWait waiting() {
		WebDriverWait wait = new WebDriverWait(this.driver, PATIENCE, POLL);
		wait.ignoreAll(List.of(NoSuchElementException.class, StaleElementReferenceException.class,
				ElementNotInteractableException.class));
		return wait;
	}

	/**
	 * Runs a script and returns its result, or that of the promise that it returns.
	 */
	@SuppressWarnings({ "unchecked", "TypeParameterUnusedInFormals" })
	<T> T script(String script, Object... arguments) {
		return (T) onPage().executeScript(script, arguments);
	}

	private ChromeDriver onPage() {
		if (!this.window.equals(CURRENT.get(this.driver))) {
			this.driver.switchTo().window(this.window);
			CURRENT.put(this.driver, this.window);
		}
		return this.driver;
	}

	/**
	 * The place of the caret.
	 *
	 * @param field the id of the field, or its class
	 * @param position how many characters are before it
	 * @param text all that the field holds
	 */
	record Caret(String field, long position, String text) {
	}

}
