package io.sessionkit.samples.chat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.condition.EnabledIf;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.openqa.selenium.Keys;
import org.openqa.selenium.OutputType;
import org.openqa.selenium.chrome.ChromeDriver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Takes the pictures of the documentation: {@code -Dsessionkit.docs.update=true} puts
 * them into docs/images, and {@code -Dchat.pictures=all} takes each state in four widths,
 * light and dark, into target/screenshots. Nothing may stick out of any of them.
 */
@EnabledIf(value = "io.sessionkit.samples.chat.BrowserTests#chromiumIsThere",
		disabledReason = "Chromium or its driver is missing")
@ExtendWith(Browsers.class)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class PicturesBrowserTests {

	private static final boolean ALL = "all".equals(System.getProperty("chat.pictures"));

	private static final Path IMAGES = Path.of("../../docs/images");

	private static final List<Integer> WIDTHS = ALL ? List.of(390, 768, 1280, 1920) : List.of(390, 1280);

	private RunningChat chat;

	private ChromeDriver browser;

	private ChatPage page;

	@BeforeAll
	void start(@TempDir Path database, ChromeDriver browser) {
		this.chat = RunningChat.start(database, "--demo.pace=1ms", BrowserTests.QUIET);
		this.browser = browser;
		this.page = ChatPage.open(this.browser, "http://127.0.0.1:" + this.chat.port() + "/");
	}

	@AfterAll
	void stop() {
		this.chat.close();
	}

	@Test
	void nothingSticksOutOfAnyPicture() throws Exception {
		this.chat.ask("notes", "Show me Markdown");
		this.chat.ask("trip", "Tell me a story");
		this.page.ask("My name is Ada");
		this.page.ask("Roll two dice, and what time is it?");
		this.page.ask("Show me the code");
		document(); // while the browser has a mouse
		take("conversation");
		this.page.click(".turn:last-child .meta button");
		await().untilAsserted(() -> assertThat(this.page.shows(".stored")).isTrue());
		take("inspector");
		this.page.click("#close-inspector");
		branches();
		this.page.script("location.hash = 'notes'");
		await().untilAsserted(() -> assertThat(this.page.texts(".bubble.user")).containsExactly("Show me Markdown"));
		take("markdown");
		this.page.type("Please fail");
		await().untilAsserted(() -> assertThat(this.page.shows(".turn.failed")).isTrue());
		this.page.awaitTimeline();
		this.page.type("Cancel order 4711 because it was bought twice");
		this.page.awaitApproval();
		this.page.awaitTimeline();
		take("card");
		this.page.click(".approval-actions :nth-child(2)");
		take("card-edit");
		this.page.newThread();
		take("start");
	}

	private void branches() throws IOException {
		this.page.click(".turn:last-child [aria-label='Another answer']");
		await().untilAsserted(() -> assertThat(this.page.texts(".pager-place")).containsExactly("2 of 2"));
		this.page.click(".turn:first-of-type [aria-haspopup=menu]");
		this.page.click("#turn-menu button:first-child");
		take("branch-name");
		this.page.typeInto("#branch-name", Keys.ENTER);
		await().untilAsserted(() -> assertThat(this.page.shows("#branches")).isTrue());
		this.page.click("#branch-list li:first-child .branch");
		await().untilAsserted(() -> assertThat(this.page.shows(".pager-place")).isTrue());
		take("branches");
		this.page.click(".turn:last-child [aria-label='Edit the question']");
		take("edit");
		this.page.typeInto(".edit-text", Keys.ESCAPE);
	}

	private void take(String state) throws IOException {
		for (int width : WIDTHS) {
			for (String scheme : ALL ? List.of("light", "dark") : List.of("light")) {
				show(width, scheme);
				this.page.screenshot("picture-" + state + "-" + width + "-" + scheme);
				assertThat(this.page.tooWide()).as("%s, %d, %s", state, width, scheme)
					.filteredOn((element) -> !element.startsWith("div.table"))
					.isEmpty();
			}
		}
		show(1280, "light");
	}

	private void document() throws IOException {
		if (Boolean.getBoolean("sessionkit.docs.update")) {
			Files.write(IMAGES.resolve("chat-wide.png"), this.browser.getScreenshotAs(OutputType.BYTES));
			show(390, "light");
			Files.write(IMAGES.resolve("chat-narrow.png"), this.browser.getScreenshotAs(OutputType.BYTES));
			show(1280, "light");
		}
	}

	private void show(int width, String scheme) {
		Chromium.resize(this.browser, width, (width < 800) ? 844 : (width < 1900) ? 800 : 1080, width < 500);
		this.browser.executeCdpCommand("Emulation.setEmulatedMedia",
				Map.of("features", List.of(Map.of("name", "prefers-color-scheme", "value", scheme))));
		this.page.awaitStill();
	}

}
