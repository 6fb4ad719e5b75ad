package io.sessionkit.samples.chat;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;

import com.sun.net.httpserver.HttpServer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.condition.EnabledIf;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.openqa.selenium.By;
import org.openqa.selenium.WindowType;
import org.openqa.selenium.chrome.ChromeDriver;
import tools.jackson.databind.JsonNode;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * A page of somebody else, in the browser of a person who has the chat running: it can
 * neither read nor write, nor show the chat as a part of itself.
 */
@ExtendWith(Browsers.class)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@EnabledIf(value = "io.sessionkit.samples.chat.BrowserTests#chromiumIsThere", disabledReason = BrowserTests.NOT_RUN)
class ForeignPageBrowserTests {

	private HttpServer foreign;

	private RunningChat chat;

	private ChromeDriver browser;

	/** Shows a page that came from a server whose name now leads to the chat. */
	private String rebound;

	private String window;

	private String thread;

	private int runsBefore;

	/**
	 * The page of the rebound name comes from the port that the chat gets afterwards: for
	 * the browser it stays the same site.
	 */
	@BeforeAll
	void start(@TempDir Path database, ChromeDriver browser) throws IOException {
		this.browser = browser;
		HttpServer before = serve(0);
		int port = before.getAddress().getPort();
		this.browser.get("http://rebound.example:" + port + "/");
		this.rebound = this.browser.getWindowHandle();
		before.stop(0);
		this.chat = RunningChat.startOn(port, database, "--demo.pace=1ms", "--logging.level.org.openqa.selenium=error");
		this.foreign = serve(0);
	}

	private static HttpServer serve(int port) throws IOException {
		HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 0);
		server.createContext("/", (exchange) -> {
			byte[] page = "<!doctype html><title>Foreign</title>".getBytes(StandardCharsets.UTF_8);
			exchange.getResponseHeaders().add("Content-Type", "text/html");
			exchange.sendResponseHeaders(200, page.length);
			exchange.getResponseBody().write(page);
			exchange.close();
		});
		server.start();
		return server;
	}

	@AfterAll
	void stop() {
		if (this.chat != null) {
			this.chat.close();
		}
		if (this.foreign != null) {
			this.foreign.stop(0);
		}
	}

	@BeforeEach
	void aCallWaitsAndAForeignPageIsOpen(TestInfo test) throws Exception {
		this.thread = test.getTestMethod().orElseThrow().getName();
		this.runsBefore = this.chat.cancelledOrders().size();
		this.chat.ask(this.thread, "Cancel order 4711");
		if (this.window == null) {
			this.browser.switchTo().newWindow(WindowType.TAB);
			this.window = this.browser.getWindowHandle();
		}
		this.browser.switchTo().window(this.window);
		this.browser.get("http://foreign.example:" + this.foreign.getAddress().getPort() + "/");
	}

	@Test
	void aNameThatIsReboundToThisMachineIsRefused() throws Exception {
		this.browser.switchTo().window(this.rebound);
		assertThat(this.browser.getCurrentUrl()).isEqualTo("http://rebound.example:" + this.chat.port() + "/");

		assertThat(fetched(path(""), Map.of())).startsWith("403").doesNotContain("4711");
		assertThat(fetched(path("/approvals/" + call().path("id").asString()),
				Map.of("method", "POST", "headers", Map.of("Content-Type", "application/json"), "body", approval())))
			.startsWith("403");

		assertThat(call().path("status").asString()).isEqualTo("PROPOSED");
		this.browser.switchTo().newWindow(WindowType.TAB);
		this.browser.get("http://rebound.example:" + this.chat.port() + "/");
		assertThat(this.browser.getPageSource()).contains("chat.hosts").doesNotContain("<script");
		this.browser.close();
	}

	@Test
	void anotherPortOfThisMachineIsForeignToo() throws Exception {
		this.browser.get("http://127.0.0.1:" + this.foreign.getAddress().getPort() + "/");

		fetched("http://127.0.0.1:" + this.chat.port() + path("/approvals/" + call().path("id").asString()),
				Map.of("method", "POST", "mode", "no-cors", "body", approval()));
		fetched("http://127.0.0.1:" + this.chat.port() + path(""), Map.of("method", "DELETE"));

		assertThat(call().path("status").asString()).isEqualTo("PROPOSED");
	}

	@Test
	void aFormOfAForeignPageDecidesNothing() throws Exception {
		String body = approval();
		int end = body.lastIndexOf('"');

		submit("text/plain", path("/approvals/" + call().path("id").asString()), body.substring(0, end),
				body.substring(end));

		assertThat(this.browser.getPageSource()).doesNotContain("APPROVED");
		assertThat(call().path("status").asString()).isEqualTo("PROPOSED");
	}

	@Test
	void aFormOfAForeignPageDoesNotContinueATurn() throws Exception {
		this.chat.send("POST", path("/approvals/" + call().path("id").asString()),
				Map.of("verb", "APPROVE", "by", "Ada", "digest", call().path("digest").asString()));

		submit("application/x-www-form-urlencoded", path("/resume"), "", "");
		submit("multipart/form-data", path("/resume"), "a", "b");

		assertThat(call().path("status").asString()).isEqualTo("APPROVED");
		assertThat(this.chat.cancelledOrders()).hasSize(this.runsBefore);
	}

	@Test
	void aFormOfAForeignPageDoesNotSummarize() throws Exception {
		submit("text/plain", path("/summaries"), "", "");

		assertThat(this.browser.getPageSource()).doesNotContain("outcome").contains("Only pages of http://127.0.0.1:");
	}

	@Test
	void aScriptOfAForeignPageNeitherReadsNorWrites() throws Exception {
		String chat = "http://127.0.0.1:" + this.chat.port();
		String call = path("/approvals/" + call().path("id").asString());

		assertThat(fetched(chat + path(""), Map.of())).startsWith("TypeError");
		assertThat(fetched(chat + call,
				Map.of("method", "POST", "headers", Map.of("Content-Type", "application/json"), "body", approval())))
			.startsWith("TypeError");
		fetched(chat + call, Map.of("method", "POST", "mode", "no-cors", "body", approval()));
		fetched(chat + path("/resume"), Map.of("method", "POST", "mode", "no-cors"));
		assertThat(fetched(chat + path(""), Map.of("method", "DELETE"))).startsWith("TypeError");

		assertThat(call().path("status").asString()).isEqualTo("PROPOSED");
	}

	@Test
	void theChatIsNotShownInAFrame() {
		for (String host : List.of("127.0.0.1", "localhost")) {
			this.browser.executeScript("""
					const frame = document.createElement('iframe');
					frame.src = arguments[0];
					frame.onload = () => { frame.title = 'loaded'; };
					document.body.replaceChildren(frame)""", "http://" + host + ":" + this.chat.port() + "/");
			await().until(() -> Objects.equals(this.browser.findElement(By.tagName("iframe")).getAttribute("title"),
					"loaded"));
			this.browser.switchTo().frame(0);
			assertThat(this.browser.executeScript("return location.href").toString()).startsWith("chrome-error:");
			this.browser.switchTo().defaultContent();
		}
	}

	@Test
	void aLinkOfAForeignPageOpensTheChat() {
		this.browser.executeScript("location.href = arguments[0]", "http://127.0.0.1:" + this.chat.port() + "/");

		await().until(() -> !this.browser.findElements(By.cssSelector(".badge")).isEmpty());
	}

	private JsonNode call() throws Exception {
		return this.chat.get(path("/approvals")).path("calls").path(0);
	}

	private String approval() throws Exception {
		return "{\"verb\":\"APPROVE\",\"digest\":\"" + call().path("digest").asString() + "\",\"by\":\"Mallory\"}";
	}

	private String path(String rest) {
		return "/api/threads/" + this.thread + rest;
	}

	/**
	 * Returns what the page that is open gets to see.
	 */
	private String fetched(String url, Map<String, Object> options) {
		return (String) this.browser.executeScript("""
				return fetch(arguments[0], arguments[1])
					.then((response) => response.text().then((text) => `${response.status} ${text}`), String)""", url,
				options);
	}

	/**
	 * Sends a form from the foreign page, as text/plain with a field that makes a JSON
	 * text of it, and waits until the browser has left that page.
	 */
	private void submit(String type, String path, String name, String value) {
		this.browser.get("http://foreign.example:" + this.foreign.getAddress().getPort() + "/");
		this.browser.executeScript("""
				const [enctype, action, name, value] = arguments;
				const form = Object.assign(document.createElement('form'), { method: 'post', enctype, action });
				if (name) {
					form.append(Object.assign(document.createElement('input'), { name, value }));
				}
				document.body.append(form);
				form.submit()""", type, "http://127.0.0.1:" + this.chat.port() + path, name, value);
		await().until(() -> !this.browser.getCurrentUrl().contains("foreign.example"));
	}

}
