package io.sessionkit.samples.chat;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.logging.Level;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

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
import org.openqa.selenium.chrome.ChromeDriver;
import org.openqa.selenium.logging.LogEntry;
import org.openqa.selenium.logging.LogType;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Tests that the arguments of a tool call that a person sees are those that run, whatever
 * the model has written, and what a person writes is what is sent.
 */
@Order(2)
@ExtendWith(Browsers.class)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@EnabledIf(value = "io.sessionkit.samples.chat.BrowserTests#chromiumIsThere", disabledReason = BrowserTests.NOT_RUN)
class ArgumentsBrowserTests {

	private static final String SHOWN = ".approval pre";

	private static final String APPROVE = ".approval-actions .danger";

	/** It stands where it is written; the compiler would take the escape for it. */
	private static final String RIGHT_TO_LEFT = Character.toString(0x202e);

	private final long seed = new Random().nextLong();

	private ToolCallingModel model;

	private RunningChat chat;

	private ChromeDriver browser;

	private ChatPage page;

	@BeforeAll
	void start(@TempDir Path database, ChromeDriver browser) throws IOException {
		this.model = ToolCallingModel.start();
		this.chat = RunningChat.start(database,
				Stream.concat(this.model.settings().stream(), Stream.of("--logging.level.org.openqa.selenium=error"))
					.toArray(String[]::new));
		this.browser = browser;
	}

	@AfterAll
	void stop() {
		this.chat.close();
		this.model.close();
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
			.filteredOn((message) -> !message.contains("status of 409"))
			.isEmpty();
	}

	@Test
	void numbersHaveAllTheirDigitsAndNamesThatAreThereTwiceAreShownTwice() throws IOException {
		pause("""
				{"orderNumber":9007199254740993,"reason" : [1e400, -0.10,1.0,\t{ },[ ]],
				"orderNumber":4711}""");

		String laidOut = """
				{
				  "orderNumber": 9007199254740993,
				  "reason": [
				    1e400,
				    -0.10,
				    1.0,
				    {},
				    []
				  ],
				  "orderNumber": 4711
				}""";
		assertThat(this.page.texts(SHOWN)).containsExactly(laidOut);
		assertThat(this.page.texts(".approval-fault")).singleElement()
			.asString()
			.contains("cannot take these arguments", "a name is there twice");
		assertThat(this.page.shows(".approval-actions .danger")).isFalse();
		this.page.screenshot("wide-arguments-numbers");
		this.page.editAsJson("");
		assertThat(this.page.<String>script("return document.querySelector('.arguments').value")).isEqualTo(laidOut);
	}

	@Test
	void whatIsTypedIsSentLetterByLetter() throws Exception {
		pause("{\"orderNumber\":\"4711\",\"reason\":\"because\"}");
		this.page.editAsJson("");
		String edited = "{ \"orderNumber\" :\"\\u0034712\",\n\n \"reason\":\"\\u202e 9007199254740993 é “x”\"}";
		this.page.script("document.querySelector('.arguments').value = arguments[0]", edited);

		this.page.click(APPROVE);

		answer();
		assertThat(call().path("decisions").path(0).path("arguments").asString()).isEqualTo(edited);
		assertThat(this.chat.cancelledOrders()).last().isEqualTo("4712");
	}

	@Test
	void numbersThatAreTypedAreSentWithAllTheirDigits() {
		pause("{\"orderNumber\":\"4711\",\"reason\":\"because\"}");
		this.page.editAsJson("");
		String edited = "{\"orderNumber\":9007199254740993,\"orderNumber\":1e400}";
		this.page.replace(".arguments", edited);
		this.page.script("""
				window.sent = [];
				const fetch = window.fetch;
				window.fetch = (url, options) => {
					sent.push(options.body);
					return fetch(url, options);
				}""");

		this.page.click(APPROVE);

		await().untilAsserted(() -> assertThat(this.page.texts(".approval-problem")).singleElement()
			.asString()
			.isEqualTo("The arguments are not one JSON object, or a name is there twice."));
		String body = this.page.script("return window.sent.find((body) => body?.includes('digest'))");
		assertThat(JsonMapper.shared().readTree(body).path("arguments").asString()).isEqualTo(edited);
		assertThat(this.page.<String>script("return document.querySelector('.arguments').value")).isEqualTo(edited);
	}

	@Test
	void whatCannotBeSeenIsShownAsItsEscape() throws Exception {
		String hidden = RIGHT_TO_LEFT + "\u200b\u2067\u00a0\u00ad\ufe0f\u115f\u2028" + Character.toString(0xe0041);
		pause("{\"orderNumber\":\"4711\",\"reason\":\"a\\u202eb\\n" + hidden + "c e\u0301\u0302\u0303\u0304\"}");

		assertThat(this.page.texts(SHOWN))
			.containsExactly("{\n  \"orderNumber\": \"4711\",\n  \"reason\": \"a\\u202eb\\n"
					+ "\\u202e\\u200b\\u2067\\u00a0\\u00ad\\ufe0f\\u115f\\u2028\\udb40\\udc41c e\u0301\u0302\\u0303\\u0304\"\n}");
		assertThat(this.page.texts(SHOWN + " mark")).hasSize(2);
		this.page.screenshot("wide-arguments-hidden");
		this.page.editAsJson("");
		String typed = this.page.script("return document.querySelector('.arguments').value");
		assertThat(typed)
			.isEqualTo(this.page.<String>script("return document.querySelector('.approval pre').textContent"));
		this.page.click(APPROVE);

		answer();
		this.page.click(".tool summary");
		assertThat(this.page.texts(".tool dt")).containsExactly("Arguments", "Edited to", "Result", "Decision");
		assertThat(this.page.texts(".tool dd").subList(0, 2)).allMatch((text) -> text.contains("\\u202e\\u200b\\u2067"))
			.noneMatch((text) -> text.contains(RIGHT_TO_LEFT));
		JsonNode before = JsonMapper.shared().readTree(call().path("arguments").asString());
		assertThat(JsonMapper.shared().readTree(call().path("decisions").path(0).path("arguments").asString()))
			.isEqualTo(before);
	}

	@Test
	void whatAResultQuotesOfTheArgumentsIsShownAsItsEscapeToo() {
		pause("{\"orderNumber\":\"4711\",\"reason\":\"" + RIGHT_TO_LEFT + "eciwt thguob\"}");
		this.page.click(APPROVE);
		answer();

		assertThat(this.page.texts(".tool-result")).containsExactly("Order 4711 is cancelled (\\u202eeciwt thguob).");
		this.page.click(".tool summary");
		assertThat(this.page.texts(".tool dd").get(1)).isEqualTo("\"Order 4711 is cancelled (\\u202eeciwt thguob).\"");
		this.page.click("#undo");
		await().untilAsserted(() -> assertThat(this.page.texts(".rewind-stays li")).singleElement()
			.asString()
			.contains("(\\u202eeciwt thguob)"));
		this.page.click(".rewind-actions .quiet");
		assertThat(this.page.<String>script("""
				const decision = { verb: 'REJECT', by: 'Ada', arguments: null, standing: false, reason: arguments[0] };
				return import('/js/approvals.js').then(({ decidedText }) =>
					decidedText({ title: 'Cancel', status: 'REJECTED', decisions: [decision] }))""", RIGHT_TO_LEFT))
			.isEqualTo("Cancel: rejected by Ada: \\u202e.");
	}

	@Test
	void textFromRightToLeftStaysInsideOfItsQuotes() throws IOException {
		pause("{\"\u05d0\":\"1\",\"\u05d1\":\"\u05d2 12 \u05d3\",\"reason\":2}");

		List<Boolean> inOrder = this.page.script("""
				return [...document.querySelectorAll('.approval pre .name')].map((name) => {
					const rest = document.createRange();
					rest.setStartAfter(name);
					rest.setEndAfter(name.nextSibling);
					return name.getBoundingClientRect().right <= rest.getClientRects()[0].left + 1;
				})""");
		assertThat(inOrder).containsExactly(true, true, true);
		assertThat(this.page.<Boolean>script("""
				const [, value] = document.querySelectorAll('.approval pre .string');
				const name = value.previousElementSibling;
				return name.getBoundingClientRect().right < value.getBoundingClientRect().left""")).isTrue();
		this.page.screenshot("wide-arguments-right-to-left");
	}

	@Test
	void aTextThatPretendsToBeOtherArgumentsLooksLikeAText() throws IOException {
		pause("{\"reason\":\"bought twice" + " ".repeat(120) + "\u02ba, \u02baorderNumber\u02ba: \u02ba1\u02ba,"
				+ "\",\"orderNumber\":\"4711\"}");

		assertThat(this.page.texts(SHOWN + " .name")).containsExactly("\"reason\"", "\"orderNumber\"");
		assertThat(this.page.texts(SHOWN + " .string")).hasSize(2).last().isEqualTo("\"4711\"");
		assertThat(this.page.<Boolean>script("""
				const background = (css) => getComputedStyle(document.querySelector(css)).backgroundColor;
				return background('.approval pre .name') !== background('.approval pre .string')""")).isTrue();
		this.page.screenshot("wide-arguments-forged");
	}

	@Test
	void argumentsThatAreNoJsonAreShownAsTheyAre() {
		String text = "{\"orderNumber\": NaN,  'reason'\n\t: 9007199254740993} {\"orderNumber\": \"" + RIGHT_TO_LEFT;
		pause(text);

		assertThat(this.page.texts(SHOWN))
			.containsExactly(text.replace("\t", "\\u0009").replace(RIGHT_TO_LEFT, "\\u202e"));
	}

	@Test
	void longArgumentsAreShownAndSentToTheEnd() throws Exception {
		String reason = IntStream.range(0, 10_000)
			.mapToObj((i) -> "no. %05d, ".formatted(i))
			.collect(Collectors.joining());
		String arguments = "{\"reason\":\"" + reason + "\",\"orderNumber\":\"4711\"}";
		assertThat(arguments).hasSizeGreaterThan(100_000);
		pause(arguments);

		String laidOut = "{\n  \"reason\": \"" + reason + "\",\n  \"orderNumber\": \"4711\"\n}";
		assertThat(this.page.<String>script("return document.querySelector('.approval pre').textContent"))
			.isEqualTo(laidOut);
		assertThat(this.page.texts(".approval-facts"))
			.contains(String.format(Locale.ENGLISH, "%,d characters. Scroll to read all of them.", laidOut.length()));
		assertThat(this.page.tooWide()).isEmpty();
		this.page.screenshot("wide-arguments-long");
		this.page.editAsJson("");
		assertThat(this.page.<String>script("return document.querySelector('.arguments').value")).isEqualTo(laidOut);
		this.page.click(APPROVE);

		answer();
		assertThat(call().path("decisions").path(0).path("arguments").asString()).isEqualTo(laidOut);
	}

	@Test
	void whatIsNoneOfTheChoicesIsShownAndHasToBeChosen() {
		List<Object> form = form("{\"region\":\"XX\",\"loud\":\"yes\"}", Map.of("region", "EU", "loud", "false"));

		assertThat(form).containsExactly(
				List.of("XX (none of the choices)", "\"yes\" (none of the choices)", "(not given)"),
				List.of("Region is none of the choices.", "Loud is none of the choices."),
				"{\"region\": \"EU\", \"loud\": false}");
	}

	@Test
	void aChoiceThatTheModelHasNotMadeIsMadeByAPersonOrByNobody() {
		assertThat(form("{\"note\":\"a\"}", Map.of("note", "b"))).containsExactly(
				List.of("(not given)", "(not given)", "(not given)"), List.of("Region is missing."), "null");
		assertThat(form("{\"region\":\"US\",\"note\":\"a\"}", Map.of("note", "b"))).containsExactly(
				List.of("US", "(not given)", "(not given)"), List.of(), "{\"region\": \"US\", \"note\": \"b\"}");
		assertThat(form("{\"region\":\"US\",\"size\":2}", Map.of("size", "", "loud", "true")))
			.containsExactly(List.of("US", "(not given)", "2"), List.of(), "{\"region\": \"US\", \"loud\": true}");
	}

	/**
	 * Returns what the choices show, what is wrong when all is sent as it is, and what is
	 * sent once some values are others.
	 */
	private List<Object> form(String arguments, Map<String, String> values) {
		return this.page.script(
				"""
						const schema = { type: 'object', required: ['region'], properties: {
							region: { type: 'string', enum: ['EU', 'US'] }, loud: { type: 'boolean' },
							size: { type: 'integer', enum: [1, 2] }, note: { type: 'string' } } };
						const [text, values] = arguments;
						return import('/js/fields.js').then(({ argumentsForm }) => {
							const { content: [form], value } = argumentsForm(text, schema);
							const shown = [...form.querySelectorAll('select')].map(({ selectedOptions: [option] }) => option.textContent);
							value();
							const faults = [...form.querySelectorAll('.fault')].map(({ textContent }) => textContent);
							for (const [name, other] of Object.entries(values)) {
								form.querySelector(`[data-field=${name}]`).value = other;
							}
							return [shown, faults, String(value())];
						})""",
				arguments, values);
	}

	/** A browser may say so of the key that ends a composition. */
	@Test
	void escapeThatEndsACompositionDropsNothingThatWasTyped() {
		pause("{\"orderNumber\":\"4711\",\"reason\":\"because\"}");
		this.page.editAsJson("");

		this.page.<Object>script(
				"""
						document.querySelector('.arguments').dispatchEvent(
							new KeyboardEvent('keydown', { key: 'Escape', isComposing: true, bubbles: true, cancelable: true }))""");

		assertThat(this.page.shows(".arguments")).isTrue();
	}

	@Test
	void manyOrDeeplyNestedArgumentsDoNotStopThePage() {
		assertThat(this.page.<Long>script("""
				return import('/js/arguments.js').then(({ layOut, shown }) => {
					const many = shown(layOut('[' + '"",'.repeat(200_000) + '""]'));
					return many.querySelectorAll('bdi').length;
				})""")).isEqualTo(200_001);
		assertThat(this.page.<Long>script("""
				return import('/js/arguments.js').then(({ layOut }) =>
					layOut('['.repeat(50_000) + ']'.repeat(50_000)).length)""")).isBetween(200_000L, 4_000_000L);
	}

	/**
	 * The seed is in the message of a failure.
	 */
	@Test
	void nothingButWhiteSpaceBetweenTokensIsEverChanged() {
		Random random = new Random(this.seed);
		List<String> texts = Stream.generate(() -> value(random, 4)).limit(500).toList();

		List<String> laidOut = this.page.script("""
				return import('/js/arguments.js').then(({ layOut }) => arguments[0].map(layOut))""", texts);

		for (int i = 0; i < texts.size(); i++) {
			assertThat(tokens(laidOut.get(i))).as("seed %s, text %s", this.seed, texts.get(i))
				.isEqualTo(tokens(texts.get(i)));
		}
		List<String> shown = this.page
			.script("""
					return import('/js/arguments.js').then(({ shown }) => arguments[0].map((text) => shown(text).textContent))""",
					texts);
		assertThat(shown).as("seed %s", this.seed).isEqualTo(texts);
	}

	private static String value(Random random, int depth) {
		String space = List.of("", "", " ", "\n", "\t", "\r\n").get(random.nextInt(6));
		int count = random.nextInt(4);
		return space + switch (random.nextInt((depth > 0) ? 7 : 5)) {
			case 0 -> List.of("0", "-0", "1E+400", "9007199254740993", "0.10", "-1.0e-7").get(random.nextInt(6));
			case 1 -> List.of("true", "false", "null").get(random.nextInt(3));
			case 2, 3, 4 -> string(random);
			case 5 ->
				Stream.generate(() -> value(random, depth - 1)).limit(count).collect(Collectors.joining(",", "[", "]"));
			default -> Stream.generate(() -> space + string(random) + space + ":" + value(random, depth - 1))
				.limit(count)
				.collect(Collectors.joining(",", "{", "}"));
		} + space;
	}

	private static String string(Random random) {
		List<String> parts = List.of("a", "name", " ", "  ", "\\\"", "\\\\", "\\u0022", "\\n", "/", "{", "}", "[", "]",
				":", ",", "'", "é", "\u05d0", Character.toString(0x1f600));
		return Stream.generate(() -> parts.get(random.nextInt(parts.size())))
			.limit(random.nextInt(6))
			.collect(Collectors.joining("", "\"", "\""));
	}

	/** The text without the white space that is outside of its strings. */
	private static String tokens(String json) {
		StringBuilder tokens = new StringBuilder();
		boolean inString = false;
		for (int i = 0; i < json.length(); i++) {
			char c = json.charAt(i);
			if (inString && c == '\\') {
				tokens.append(c).append(json.charAt(++i));
				continue;
			}
			inString ^= c == '"';
			if (inString || " \n\t\r".indexOf(c) < 0) {
				tokens.append(c);
			}
		}
		return tokens.toString();
	}

	private void pause(String arguments) {
		this.model.callsWith(arguments);
		this.page.type("Cancel it");
		this.page.awaitApproval();
		this.page.awaitTimeline();
		this.page.showJson();
	}

	private void answer() {
		await().untilAsserted(() -> assertThat(this.page.texts(".turn:last-child .meta")).hasSize(1));
		this.page.awaitTimeline();
	}

	private JsonNode call() throws Exception {
		return this.chat.get("/api/threads/" + this.page.thread() + "/approvals").path("calls").path(0);
	}

}
