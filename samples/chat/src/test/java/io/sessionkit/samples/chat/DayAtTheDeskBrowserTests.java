package io.sessionkit.samples.chat;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.stream.Stream;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.condition.EnabledIf;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.openqa.selenium.Keys;
import org.openqa.selenium.chrome.ChromeDriver;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * A day of work in one thread: Markdown, tools, decisions, summaries, stops, reloads, a
 * second window, and a server that goes away twice. Afterwards the page shows what the
 * store holds, and it has not become heavier. The build does a few turns;
 * {@code -Dchat.day.turns=200} does a day.
 */
@EnabledIf(value = "io.sessionkit.samples.chat.BrowserTests#chromiumIsThere",
		disabledReason = "Chromium or its driver is missing")
@ExtendWith(Browsers.class)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class DayAtTheDeskBrowserTests {

	private static final int TURNS = Integer.getInteger("chat.day.turns", 24);

	private static final String[] ARGUMENTS = { "--demo.pace=1ms", BrowserTests.QUIET };

	private final long seed = Long.getLong("chat.day.seed", System.nanoTime());

	private final Random random = new Random(this.seed);

	private Path database;

	private RunningChat chat;

	private ChromeDriver browser;

	private ChatPage page;

	private ChatPage other;

	@BeforeAll
	void start(@TempDir Path database, ChromeDriver browser) {
		this.database = database;
		this.chat = RunningChat.start(database, ARGUMENTS);
		this.browser = browser;
		Chromium.hurry(this.browser);
		this.page = ChatPage.open(this.browser, "http://127.0.0.1:" + this.chat.port() + "/");
	}

	@AfterAll
	void stop() {
		this.chat.close();
	}

	@Test
	void thePageShowsWhatTheStoreHoldsAndDoesNotBecomeHeavier() throws Exception {
		System.out.println("A day of " + TURNS + " turns, seed " + this.seed);
		this.page.ask("My name is Ada");
		this.other = this.page.openInAnotherWindow();
		List<Weight> weights = new ArrayList<>();
		for (int turn = 2; turn <= TURNS; turn++) {
			step(turn);
			if (turn == TURNS / 3 || turn == 2 * TURNS / 3) {
				goAway();
			}
			if (turn % Math.max(6, TURNS / 8) == 0) {
				weights.add(weigh(turn));
			}
		}

		this.page.reload();
		showAll();
		JsonNode stored = stored();
		assertThat(shown()).as("seed %s", this.seed).isEqualTo(expected(stored));
		assertThat(this.page.texts(".entry:not(.running)")).hasSize(stored.size());
		assertThat(this.page.ask("What is my name?")).contains("Ada");
		weights.forEach((weight) -> System.out.println("Day at the desk: " + weight));
		Weight first = weights.get(0);
		Weight last = weights.get(weights.size() - 1);
		assertThat(last.heap() / Math.max(1, last.turns()))
			.as("bytes for each turn on the page, first %s, last %s", first, last)
			.isLessThan(3 * first.heap() / Math.max(1, first.turns()));
	}

	private void step(int turn) {
		switch (this.random.nextInt(10)) {
			case 0 -> this.page.ask("Show me Markdown");
			case 1 -> this.page.ask("Show me the code");
			case 2 -> decide("Cancel order " + (1000 + turn), true);
			case 3 -> decide("Cancel order " + (1000 + turn), false);
			case 4 -> stopInTheMiddle();
			case 5 -> askInTheOtherWindow();
			case 6 -> {
				this.page.reload();
				this.page.ask("What did I roll?");
			}
			case 7 -> fail();
			default -> this.page.ask("Roll two dice, and what time is it?");
		}
	}

	private void decide(String question, boolean approves) {
		this.page.type(question);
		this.page.awaitApproval();
		this.page.awaitTimeline();
		if (approves) {
			this.page.click(".approval-actions .danger");
		}
		else {
			this.page.click(".approval-actions :nth-child(3)");
			this.page.typeInto(".reason", "not today", Keys.ENTER);
		}
		await().atMost(Duration.ofSeconds(30))
			.untilAsserted(() -> assertThat(this.page.texts(".turn:last-child .meta")).hasSize(1));
		this.page.awaitTimeline();
	}

	private void stopInTheMiddle() {
		long before = stored().size();
		this.page.type("Write 35 kB");
		this.page.awaitFirstWords();
		this.page.click("#stop");
		await().untilAsserted(() -> assertThat(stored()).hasSize((int) before + 1));
		await().untilAsserted(() -> assertThat(this.page.shows(".turn:last-child.cut-short")).isTrue());
		this.page.awaitTimeline();
	}

	private void fail() {
		long before = stored().size();
		this.page.type("Please fail");
		await().untilAsserted(() -> assertThat(stored()).hasSize((int) before + 1));
		await().untilAsserted(() -> assertThat(this.page.shows(".turn:last-child.failed")).isTrue());
		this.page.awaitTimeline();
	}

	private void askInTheOtherWindow() {
		int before = this.page.texts(".entry").size();
		this.other.reload();
		this.other.ask("Roll a die");
		await().untilAsserted(() -> assertThat(this.page.texts(".entry")).hasSizeGreaterThan(before));
		this.page.awaitTimeline();
	}

	private void goAway() {
		int port = this.chat.port();
		this.chat.close();
		await().untilAsserted(() -> assertThat(this.page.shows("#banner")).isTrue());
		this.chat = RunningChat.startOn(port, this.database, ARGUMENTS);
		await().atMost(Duration.ofSeconds(30)).untilAsserted(() -> assertThat(this.page.shows("#banner")).isFalse());
	}

	private void showAll() {
		while (this.page.shows(".earlier")) {
			int before = this.page.texts(".entry").size();
			this.page.click(".earlier");
			await().untilAsserted(() -> assertThat(this.page.texts(".entry")).hasSizeGreaterThan(before));
		}
	}

	/**
	 * Measures the weight of the page after a while, without what the browser would free
	 * anyway.
	 */
	private Weight weigh(int turn) {
		this.page.reload();
		this.page.awaitTimeline();
		this.browser.executeCdpCommand("HeapProfiler.collectGarbage", Map.of());
		long heap = this.page.script("return performance.memory.usedJSHeapSize");
		long nodes = this.page.script("return document.querySelectorAll('*').length");
		long turns = this.page.script("return document.querySelectorAll('.turn').length");
		this.page
			.script("""
					window.long = [];
					new PerformanceObserver((list) => list.getEntries().forEach(({ duration }) => long.push(Math.round(duration))))
						.observe({ entryTypes: ['longtask'] })""");
		this.page.ask("Show me Markdown");
		List<Long> blocks = this.page.script("return long");
		return new Weight(turn, turns, nodes, heap, blocks);
	}

	/**
	 * Each turn that is shown: its number, its state, its question, answers and tools.
	 */
	private List<String> shown() {
		return this.page.script("""
				const all = (turn, css) => [...turn.querySelectorAll(css)];
				return [...document.querySelectorAll('.turn')].map((turn) => [turn.id.slice(5),
					['failed', 'cancelled'].find((state) => turn.classList.contains(state)) ?? 'completed',
					all(turn, '.bubble.user').map((node) => node.textContent).join(),
					all(turn, '.bubble.assistant').length, all(turn, '.tool').length,
					all(turn, '.tool.refused').length].join(' '))""");
	}

	/**
	 * The same, from what is stored. Of attempts that follow each other only the last is
	 * shown.
	 */
	private List<String> expected(JsonNode turns) {
		List<String> expected = new ArrayList<>();
		String before = "";
		for (JsonNode turn : turns) {
			String question = texts(turn, "user").findFirst().orElse("");
			String status = turn.path("status").asString().toLowerCase(Locale.ROOT);
			if (question.equals(before)) {
				expected.remove(expected.size() - 1);
			}
			before = status.equals("completed") ? "" : question;
			long tools = turn.path("messages").valueStream().mapToLong((message) -> message.path("calls").size()).sum();
			long refused = turn.path("messages")
				.valueStream()
				.flatMap((message) -> message.path("results").valueStream())
				.filter((result) -> result.path("data").asString().contains("not today"))
				.count();
			expected.add(String.join(" ", turn.path("number").asString(), status, question,
					String.valueOf(texts(turn, "assistant").count()), String.valueOf(tools), String.valueOf(refused)));
		}
		return expected;
	}

	private static Stream<String> texts(JsonNode turn, String role) {
		return turn.path("messages")
			.valueStream()
			.filter((message) -> message.path("role").asString().equals(role))
			.map((message) -> message.path("text").asString(""))
			.filter((text) -> !text.isEmpty());
	}

	/** All turns, from the application itself. */
	private JsonNode stored() {
		try {
			String path = "/api/threads/" + this.page.thread() + "?limit=100";
			JsonNode newest = this.chat.get(path);
			List<JsonNode> turns = new ArrayList<>(newest.path("turns").values());
			while (turns.get(0).path("number").asInt() > 1) {
				turns.addAll(0,
						this.chat.get(path + "&before=" + turns.get(0).path("number").asInt()).path("turns").values());
			}
			return JsonMapper.shared().valueToTree(turns);
		}
		catch (Exception ex) {
			throw new IllegalStateException(ex);
		}
	}

	/**
	 * @param blocks how long the page stood still in milliseconds, each time it did so
	 * for more than 50, while a turn of Markdown was answered
	 */
	private record Weight(int turn, long turns, long nodes, long heap, List<Long> blocks) {
	}

}
