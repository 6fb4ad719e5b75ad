package io.sessionkit.samples.chat;

import java.nio.file.Path;
import java.util.List;

import org.junit.jupiter.api.AfterAll;
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

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Ada in a browser of her own, and Bob and Eve one after the other in another one.
 */
@EnabledIf(value = "io.sessionkit.samples.chat.BrowserTests#chromiumIsThere", disabledReason = BrowserTests.NOT_RUN)
@ExtendWith(Browsers.class)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Order(1)
class UsersBrowserTests {

	private RunningChat chat;

	private ChromeDriver browser;

	private ChromeDriver another;

	private ChatPage ada;

	private ChatPage other;

	@BeforeAll
	void start(@TempDir Path database, ChromeDriver browser, ChromeDriver another) {
		this.chat = RunningChat.start(database, "--demo.pace=1ms", "--demo.look-up=1ms",
				"--spring.profiles.active=users", BrowserTests.QUIET);
		this.browser = browser;
		this.another = another;
		List.of(this.browser, this.another).forEach(Chromium::hurry);
	}

	@AfterAll
	void stop() {
		this.chat.close();
	}

	@BeforeEach
	void openLogin() {
		for (ChromeDriver each : List.of(this.browser, this.another)) {
			each.get(address() + "login.html");
			each.manage().deleteAllCookies();
			each.executeScript("localStorage.clear(); sessionStorage.clear()");
		}
		this.ada = ChatPage.openLogin(this.browser, address());
		this.other = ChatPage.openLogin(this.another, address());
	}

	private String address() {
		return "http://127.0.0.1:" + this.chat.port() + "/";
	}

	@Test
	void eachSeesOnlyTheirOwnThreads() {
		this.ada.signIn("ada");
		this.other.click("#demo-users button:nth-child(2)");
		this.ada.newThread();
		this.ada.ask("I am Ada");
		this.other.newThread();
		this.other.ask("I am Bob");

		assertThat(this.ada.texts("#who-name")).containsExactly("ada");
		assertThat(this.other.texts("#who-name")).containsExactly("bob");
		assertThat(this.ada.texts(".thread-title")).contains("I am Ada").doesNotContain("I am Bob");
		assertThat(this.other.texts(".thread-title")).containsExactly("I am Bob");
		this.another.get(address() + "#" + this.ada.thread());
		this.other.reload();
		assertThat(this.other.texts("#title")).containsExactly("New thread");
		assertThat(this.other.texts(".bubble")).isEmpty();
	}

	@Test
	void callWaitsForEveAndTheTurnGoesOnByItself() throws Exception {
		this.ada.signIn("ada");
		this.ada.newThread();
		this.ada.type("Cancel order 4711 because it was bought twice");
		await().untilAsserted(
				() -> assertThat(this.ada.texts(".approval-state")).containsExactly("waits for an approver"));
		assertThat(this.ada.shows(".approval-actions") || this.ada.shows("#approver") || this.ada.shows("#open-inbox"))
			.isFalse();
		this.ada.screenshot("users-asks");
		this.other.signIn("bob");
		assertThat(this.other.shows("#open-inbox") || this.other.shows("#inbox")).isFalse();
		assertThat(this.other.texts(".thread-title")).doesNotContain("Cancel order 4711 because it was bought twice");
		this.other.signOut();
		this.other.signIn("eve");

		await().untilAsserted(() -> assertThat(this.other.texts("#inbox-badge")).containsExactly("1"));
		assertThat(this.other.<String>script("return document.title")).startsWith("(1) ");
		this.other.typeInto("#open-inbox", Keys.ENTER);
		await().untilAsserted(() -> assertThat(this.other.texts(".inbox-whose")).containsExactly("ada asks"));
		assertThat(this.other.texts("#inbox-dialog .fields").toString()).contains("4711", "it was bought twice");
		this.other.screenshot("users-inbox");
		assertThat(this.other.focused()).isEqualTo("Approve");
		new Actions(this.another).sendKeys(Keys.ENTER).perform();

		await().untilAsserted(
				() -> assertThat(this.other.texts("#inbox-dialog .approval-state")).containsExactly("approved by eve"));
		await().untilAsserted(() -> assertThat(this.ada.texts(".turn .meta")).hasSize(1));
		assertThat(this.chat.cancelledOrders()).containsOnlyOnce("4711");
		this.ada.click(".tool summary");
		assertThat(this.ada.texts(".tool .decision")).containsExactly("approved by eve");
		await().untilAsserted(() -> assertThat(this.other.shows("#inbox-badge")).isFalse());
	}

	@Test
	void rejectionIsWrittenInTheInboxWhileItIsLookedAtAgain() {
		this.ada.signIn("ada");
		this.ada.newThread();
		this.ada.type("Cancel order 4715");
		this.other.signIn("eve");
		await().untilAsserted(() -> assertThat(this.other.texts("#inbox-badge")).containsExactly("1"));
		this.other.click("#open-inbox");
		this.other.click("#inbox-dialog .approval-actions :nth-child(3)");
		this.other.typeSlowly("It is on its way already");
		new Actions(this.another).sendKeys(Keys.ENTER).perform();

		await().untilAsserted(() -> assertThat(this.other.texts("#inbox-dialog .approval-state"))
			.containsExactly("rejected by eve: It is on its way already"));
		await().untilAsserted(() -> assertThat(this.ada.texts(".turn .meta")).hasSize(1));
		assertThat(this.chat.cancelledOrders()).doesNotContain("4715");
		assertThat(this.ada.texts(".turn .tool-result").toString()).contains("It is on its way already");
	}

	/** It counts for the calls of the thread that wait already, too. */
	@Test
	void decisionForAllCallsToComeIsMadeInTheInbox() throws Exception {
		this.ada.signIn("ada");
		this.ada.newThread();
		this.ada.type("Cancel orders 4721, 4722 and 4723");
		this.other.signIn("eve");
		await().untilAsserted(() -> assertThat(this.other.texts("#inbox-badge")).containsExactly("3"));
		this.other.click("#open-inbox");
		assertThat(this.other.texts("#inbox-dialog .approval h3 > span:first-of-type")).extracting((text) -> text)
			.containsExactly("Cancel order 4721?", "Cancel order 4722?", "Cancel order 4723?");
		this.other.click("#inbox-dialog .approval-actions :nth-child(3)");
		this.other.typeInto(".reason", "No", Keys.ENTER);
		await().untilAsserted(() -> assertThat(this.other.texts("#inbox-dialog .approval-state").get(0))
			.isEqualTo("rejected by eve: No"));
		this.other.click("#inbox-dialog .approval-actions :nth-child(4)");
		this.other.click("#inbox-dialog .approval-form .danger");

		await().untilAsserted(() -> assertThat(this.other.texts("#inbox-dialog .approval-state")).hasSize(3)
			.noneMatch((state) -> state.contains("waits")));
		assertThat(this.other.shows(".approval-overtaken")).isFalse();
		await().untilAsserted(() -> assertThat(this.ada.texts(".turn .meta")).hasSize(1));
		assertThat(this.chat.cancelledOrders()).contains("4722", "4723").doesNotContain("4721");
	}

	/** The application has stopped while the call ran that was approved here. */
	@Test
	void callThatWaitsAgainIsShownAsItIsNow() {
		this.other.signIn("eve");
		this.other.holdStill();
		List<String> shown = this.other
			.script("""
					return import('/js/inbox.js').then(async ({ showInboxOf }) => {
						const call = { id: 'c1', digest: 'd', index: 0, tool: 'cancel_order', title: 'Cancel order', arguments: '{}', schema: null,
							status: 'PROPOSED', pending: true, requestedAt: new Date(), expiresAt: null, decisions: [], times: 1, fault: null };
						const decisions = [{ verb: 'APPROVE', by: 'eve', arguments: null, standing: false, reason: null }];
						const actions = { decide: async () => ({ ...call, status: 'APPROVED', pending: false, decisions }), open() {}, changed() {} };
						const show = (...calls) => showInboxOf(calls.map((each) => ({ owner: 'ada', thread: 't', title: null, takesBack: false,
							requestedAt: each.requestedAt, call: each })), actions);
						const shown = [];
						const note = () => shown.push(document.querySelector('#inbox-calls .approval-state').textContent);
						show(call);
						document.getElementById('open-inbox').click();
						show({ ...call, status: 'UNCERTAIN' });
						note();
						show(call);
						document.querySelector('#inbox-calls .approval-actions .danger').click();
						await new Promise((resolve) => requestAnimationFrame(resolve));
						show(call);
						note();
						show({ ...call, status: 'UNCERTAIN', decisions });
						note();
						document.getElementById('inbox-dialog').close();
						return shown;
					})""");

		assertThat(shown).containsExactly("may have run: nobody knows", "approved by eve",
				"may have run: nobody knows");
	}

	@Test
	void lostLoginLosesNoDraft() {
		this.ada.signIn("ada");
		this.ada.newThread();
		this.ada.ask("Hello");
		String thread = this.ada.thread();
		this.ada.typeInto("#question", "Half a thought");
		this.browser.manage().deleteCookieNamed("CHAT_SESSION");

		this.ada.awaitLogin();
		this.ada.signIn("ada");

		assertThat(this.ada.thread()).isEqualTo(thread);
		assertThat(this.ada.caret().text()).isEqualTo("Half a thought");
	}

	/** The application knows users by names in small letters. */
	@Test
	void nameWithACapitalLeadsBackToTheSameThread() {
		this.ada.signIn("ada");
		this.ada.newThread();
		String thread = this.ada.thread();
		this.browser.manage().deleteCookieNamed("CHAT_SESSION");
		this.ada.awaitLogin();
		new Actions(this.browser).sendKeys("Ada", Keys.TAB, "ada", Keys.ENTER).perform();

		await().untilAsserted(() -> assertThat(this.ada.texts("#who-name")).containsExactly("ada"));
		assertThat(this.ada.thread()).isEqualTo(thread);
		assertThat(this.ada.<String>script("return localStorage.getItem('user')")).isEqualTo("ada");
	}

	/**
	 * Also a question that is sent when nobody is signed in any more is asked, once.
	 */
	@Test
	void questionThatIsSentWithoutALoginIsAskedAfterIt() {
		this.ada.signIn("ada");
		this.ada.newThread();
		this.ada.ask("Hello");
		this.ada.typeInto("#question", "Roll a die");
		// it would ask for the login before the question is sent
		this.ada.holdStill();
		this.browser.manage().deleteCookieNamed("CHAT_SESSION");
		this.ada.send();
		this.ada.signIn("ada");

		await().untilAsserted(() -> assertThat(this.ada.texts(".turn .meta")).hasSize(2));
		assertThat(this.ada.texts(".bubble.user")).containsExactly("Hello", "Roll a die");
	}

	@Test
	void nothingOfOneUserIsThereForTheNext() {
		this.other.signIn("bob");
		this.other.newThread();
		this.other.ask("Something private");
		this.other.typeInto("#question", "A private draft");
		String thread = this.other.thread();
		ChatPage second = this.other.openInAnotherWindow();
		this.other.signOut();
		second.awaitLogin();
		this.other.closeOtherWindows();
		this.another.navigate().back();
		this.other.signIn("eve");
		this.another.get(address() + "#" + thread);
		this.other.reload();

		assertThat(this.other.texts("#who-name")).containsExactly("eve");
		assertThat(this.other.caret().text()).isEmpty();
		assertThat(this.other.<String>script("return JSON.stringify(localStorage)")).doesNotContain("private");
		assertThat(this.other.texts(".thread-title")).doesNotContain("Something private");
		assertThat(this.other.<String>script("return document.body.textContent")).doesNotContain("private");
	}

	/**
	 * Logs in as another window of the same browser does, then runs a script in the page.
	 */
	private void logInBehindThePage(String name, String then) {
		this.browser.executeAsyncScript("""
				const [name, done] = arguments;
				const user = await (await fetch('api/user')).json();
				await fetch('api/login', { method: 'POST', body: JSON.stringify({ name: name, password: name }),
					headers: { 'Content-Type': 'application/json', [user.csrf.header]: user.csrf.token } });
				""" + then + "\ndone();", name);
	}

	/**
	 * A window that was open before the login was made anew works on, if it is the same
	 * user's.
	 */
	@Test
	void windowFromBeforeTheLoginWorksOn() {
		this.ada.signIn("ada");
		this.ada.newThread();
		this.ada.ask("Hello");
		logInBehindThePage("ada", "await fetch('api/user');");

		this.ada.ask("Roll a die");

		assertThat(this.ada.texts(".turn .meta")).hasSize(2);
	}

	/**
	 * Not even while it finds out that somebody else has signed in.
	 */
	@Test
	void windowOfTheUserBeforeSendsNothingAsTheNextOne() {
		this.ada.signIn("ada");
		this.ada.newThread();
		this.ada.ask("Hello");
		logInBehindThePage("bob", """
				const api = await import(new URL('js/api.js', document.baseURI));
				await api.user();
				api.ask('stolen', 'Hello', 'r1').next().catch(() => {});""");

		await().untilAsserted(() -> assertThat(this.ada.texts("#who-name")).containsExactly("bob"));
		assertThat(this.ada.<Long>script("return fetch('api/threads/stolen').then((answer) => answer.status)"))
			.isEqualTo(404);
	}

	@Test
	void axeFindsNothingAndAllFitsAPhone() throws Exception {
		this.ada.check("login");
		this.ada.narrow();
		this.ada.check("phone-login");
		assertThat(this.ada.isReachable("#sign-in")).isTrue();
		assertThat(this.ada.<Long>script("return document.documentElement.scrollWidth")).isEqualTo(390);
		this.ada.wide();
		new Actions(this.browser).sendKeys("ada", Keys.TAB, "wrong", Keys.ENTER).perform();
		await().untilAsserted(() -> assertThat(this.ada.shows("#login-problem")).isTrue());
		this.ada.check("login-refused");
		this.ada.click("#demo-users button");
		this.ada.newThread();
		this.ada.type("Cancel order 4716");
		await().untilAsserted(() -> assertThat(this.ada.shows(".approval-state")).isTrue());
		this.ada.check("users-chat");
		this.other.signIn("eve");
		await().untilAsserted(() -> assertThat(this.other.shows("#inbox-badge")).isTrue());
		this.other.check("users-approver");
		this.other.click("#open-inbox");
		this.other.check("users-inbox");
		this.other.click("#inbox-dialog .approval-actions :nth-child(2)");
		this.other.check("users-inbox-edit");
		this.other.narrow();
		this.other.check("phone-users-inbox");
		this.other.click("#close-inbox");
		assertThat(this.other.tooWide()).isEmpty();
		this.other.check("phone-users");
		this.other.click("#open-sidebar");
		this.other.check("phone-users-sidebar");
		assertThat(this.other.isReachable("#sign-out")).isTrue();
		this.other.wide();
	}

}
