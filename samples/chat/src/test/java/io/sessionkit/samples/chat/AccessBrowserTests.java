package io.sessionkit.samples.chat;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;

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
 * The page for people who do not see it, or see it in other colours: axe-core finds
 * nothing, light or dark, in any state; a reply is said while it comes; and the question
 * field is near.
 */
@EnabledIf(value = "io.sessionkit.samples.chat.BrowserTests#chromiumIsThere",
		disabledReason = "Chromium or its driver is missing")
@ExtendWith(Browsers.class)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Order(1)
class AccessBrowserTests {

	private RunningChat chat;

	private ChromeDriver browser;

	private ChatPage page;

	@BeforeAll
	void start(@TempDir Path database, ChromeDriver browser) {
		this.chat = RunningChat.start(database, "--demo.pace=1ms", BrowserTests.QUIET);
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

	@Test
	void axeFindsNothingWhereOneReads() throws Exception {
		this.page.check("start");
		this.page.ask("Show me Markdown");
		for (int turn = 0; turn < 5; turn++) {
			this.page.ask("Roll two dice");
		}
		await().untilAsserted(() -> assertThat(this.page.shows(".mark .summary-card")).isTrue());
		this.page.script("document.querySelectorAll('details:not(.inbox)').forEach((each) => { each.open = true; })");
		this.page.check("long-opened");
		this.page.click(".turn:last-child .meta button");
		await().untilAsserted(() -> assertThat(this.page.shows(".stored")).isTrue());
		this.page.check("inspector");
		this.page.click("[role=tab]:nth-child(2)");
		this.page.check("inspector-context");
		this.page.click("[role=tab]:nth-child(3)");
		this.page.check("inspector-rounds");
		this.page.click("#close-inspector");
		this.page.click("#show-shortcuts");
		this.page.check("keys");
		this.page.click("#close-shortcuts");
		this.page.type("Please fail");
		await().untilAsserted(() -> assertThat(this.page.shows(".turn.failed")).isTrue());
		this.page.awaitTimeline();
		this.page.check("failed");
		this.page.type("Write 35 kB");
		this.page.awaitFirstWords();
		this.page.check("streaming");
		// It may be over by now.
		this.page.script("document.getElementById('stop').click()");
		await().atMost(Duration.ofMinutes(1)).untilAsserted(() -> assertThat(this.page.shows(".live")).isFalse());
		this.page.awaitTimeline();
		this.page.clickInRow("[aria-label^=Rename]");
		this.page.check("rename");
		this.page.typeInto(".rename", Keys.ESCAPE);
		this.page.narrow();
		this.page.reload();
		this.page.check("phone");
		this.page.click("#open-sidebar");
		this.page.check("phone-threads");
		this.page.click("#close-sidebar");
		this.page.click("#toggle-timeline");
		this.page.check("phone-timeline");
		this.page.click("#close-timeline");
		this.page.wide();
		this.page.reload();
		this.page.clickInRow("[aria-label^=Delete]");
		await().untilAsserted(() -> assertThat(this.page.shows("#toast .quiet")).isTrue());
		// what can be taken back stays as long as somebody is at it
		this.page.script("document.querySelector('#toast .quiet').focus()");
		this.page.check("deleted");
		this.page.click("#toast .quiet");
	}

	@Test
	void axeFindsNothingWhereOneGoesBackAndForth() throws Exception {
		this.page.ask("Roll a die");
		this.page.ask("Roll two dice");
		this.page.click("#turn-1 [aria-label='Edit the question']");
		this.page.check("edit");
		this.page.typeInto(".edit-text", Keys.ESCAPE);
		this.page.click("#turn-2 [aria-label='Another answer']");
		await().untilAsserted(() -> assertThat(this.page.texts(".pager-place")).containsExactly("2 of 2"));
		this.page.awaitTimeline();
		this.page.check("answers");
		this.page.click("#turn-1 [aria-haspopup=menu]");
		this.page.check("turn-menu");
		this.page.click("#turn-menu button:first-child");
		this.page.check("branch-name");
		this.page.typeInto("#branch-name", Keys.ENTER);
		await().untilAsserted(() -> assertThat(this.page.shows("#branches")).isTrue());
		this.page.check("branches");
		this.page.click("#branch-list [aria-label^=Delete]");
		this.page.check("branch-delete");
		this.page.click(".branch-confirm .quiet");
		this.page.click("#turn-1 [aria-haspopup=menu]");
		this.page.click("#turn-menu button:last-child");
		await().untilAsserted(() -> assertThat(this.page.shows("#forked-from")).isTrue());
		this.page.check("fork");
		this.page.narrow();
		this.page.reload();
		this.page.check("phone-moves");
		this.page.wide();
	}

	@Test
	void axeFindsNothingWhereOneDecides() throws Exception {
		this.page.type("Cancel orders 4711 and 4712");
		this.page.awaitApproval();
		this.page.awaitTimeline();
		this.page.check("card");
		this.page.click(".approval-actions :nth-child(4)");
		this.page.check("card-always");
		this.page.typeInto(".approval-scope input", Keys.ESCAPE);
		this.page.click(".approval-actions :nth-child(2)");
		this.page.replace(".arguments-form input", String.valueOf(Keys.BACK_SPACE));
		this.page.check("card-edit");
		this.page.click(".arguments-form .link");
		this.page.check("card-json");
		this.page.typeInto(".arguments", Keys.ESCAPE);
		this.page.narrow();
		this.page.reload();
		this.page.awaitApproval();
		this.page.check("phone-card");
		this.page.wide();
		this.page.script("document.querySelector('#approver').value = ''");
		this.page.click(".approval-actions .danger");
		this.page.check("card-name");
	}

	@Test
	void axeFindsNothingWhereOneWaitsAndTakesBack() throws Exception {
		this.chat.hold();
		this.page.type("Tell me a story");
		this.page.awaitFirstWords();
		this.page.type("Hello");
		this.page.type("What is my name?");
		assertThat(this.page.texts("#queue li")).hasSize(2);
		this.page.script("document.getElementById('stop').click()");
		this.chat.release();
		await().untilAsserted(() -> assertThat(this.page.shows(".live")).isFalse());
		this.page.awaitTimeline();
		this.page.check("queue");
		this.page.script(
				"document.querySelectorAll('#queue [aria-label=\"Do not ask this\"]').forEach((each) => each.click())");
		for (String order : List.of("7009", "7001")) {
			int before = this.page.texts(".turn .meta").size();
			this.page.type("Cancel order " + order);
			this.page.awaitApproval();
			this.page.click(".approval-actions .danger");
			await().untilAsserted(() -> assertThat(this.page.texts(".turn .meta")).hasSize(before + 1));
			this.page.awaitTimeline();
		}
		this.page.click(".turn:nth-last-child(2) [aria-haspopup=menu]");
		this.page.click("#turn-menu button:nth-child(2)");
		await().untilAsserted(() -> assertThat(this.page.shows(".rewind-steps")).isTrue());
		this.page.check("rewind-plan");
		this.page.click(".rewind-actions .danger");
		for (int call = 2; call > 0; call--) {
			int waiting = call;
			await().untilAsserted(() -> assertThat(this.page.texts("#rewind .approval-actions")).hasSize(waiting));
			if (call == 2) {
				this.page.check("rewind-cards");
			}
			this.page.click("#rewind .approval-actions .danger");
		}
		await().untilAsserted(() -> assertThat(this.page.shows(".rewind-outcome.fault")).isTrue());
		this.page.check("rewind-failed");
		this.page.narrow();
		this.page.check("phone-rewind");
		this.page.click("#close-rewind");
		assertThat(this.page.tooWide()).isEmpty();
		this.page.check("phone-taking-back");
		this.page.wide();
		this.page.click("#undo");
		await().untilAsserted(() -> assertThat(this.page.shows("#rewind")).isTrue());
		this.page.check("undo-warns");
	}

	/**
	 * A reply is announced in sentences, each once, and without the signs of Markdown.
	 */
	@Test
	void aReplyIsSaidSentenceBySentenceWhileItComes() {
		this.page.script("""
				window.said = [];
				new MutationObserver((records) => records.forEach(({ addedNodes }) => addedNodes.forEach((node) => {
					said.push([node.textContent, document.querySelector('.live') !== null]);
				}))).observe(document.getElementById('announcer'), { childList: true })""");

		this.page.ask("Tell me a story");

		List<List<Object>> said = this.page.script("return said");
		assertThat(said.get(0)).isEqualTo(List.of("Asked. The model works.", true));
		assertThat(said.get(1))
			.isEqualTo(List.of("There was once a lighthouse keeper who could not remember yesterday.", true));
		assertThat(said).hasSizeGreaterThan(8);
		assertThat(String.join(" ", said.subList(1, said.size()).stream().map((each) -> (String) each.get(0)).toList())
			.replaceAll("\\s+", " ")).isEqualTo(this.page.texts(".bubble.assistant").get(0).replaceAll("\\s+", " "));
	}

	@Test
	void theFieldIsReachedFromTheStartInTwoSteps() {
		this.page.ask("Hello");
		this.page.narrow(); // at this width nothing has the focus at the start
		this.page.reload();

		new Actions(this.browser).sendKeys(Keys.TAB).perform();
		assertThat(this.page.focused()).isEqualTo("Skip to the question field");
		new Actions(this.browser).sendKeys(Keys.ENTER).perform();

		assertThat(this.page.caret().field()).isEqualTo("question");
	}

	/**
	 * With the colours of the system nothing that tells a state may be a colour alone.
	 */
	@Test
	void everyStateCanBeToldApartWithForcedColours() throws Exception {
		this.browser.executeCdpCommand("Emulation.setEmulatedMedia",
				Map.of("features", List.of(Map.of("name", "forced-colors", "value", "active"))));
		try {
			this.page.ask("Roll a die");
			this.page.ask("Roll a die");
			this.page.type("Please fail");
			await().untilAsserted(() -> assertThat(this.page.shows(".turn.failed")).isTrue());
			this.page.awaitTimeline();

			assertThat(this.page
				.<String>script("return getComputedStyle(document.querySelector('.bubble.user')).borderStyle"))
				.isEqualTo("solid");
			assertThat(this.page.<String>script("return getComputedStyle(document.querySelector('.note')).borderStyle"))
				.isEqualTo("solid");
			assertThat(this.page.<List<String>>script(
					"""
							return [...document.querySelectorAll('.chart .in, .chart .out')].map((bar) => getComputedStyle(bar).fill)""")
				.stream()
				.distinct()).hasSize(2);
			this.page.screenshot("forced-colours");
		}
		finally {
			this.browser.executeCdpCommand("Emulation.setEmulatedMedia", Map.of("features", List.of()));
		}
	}

}
