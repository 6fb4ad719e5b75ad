package io.sessionkit.samples.chat;

import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Requests as a foreign page would have a browser send them, written by hand: no client
 * would send most of them.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class SameOriginTests {

	private static final String QUESTION = "{\"text\":\"My name is Ada\"}";

	private static final String JSON = "Content-Type: application/json";

	private RunningChat chat;

	private String self;

	@BeforeAll
	void start(@TempDir Path folder) throws Exception {
		this.chat = RunningChat.start(folder, "--demo.pace=1ms");
		this.self = "127.0.0.1:" + this.chat.port();
		this.chat.ask("secret", "Hello");
	}

	@AfterAll
	void stop() {
		this.chat.close();
	}

	@ParameterizedTest
	@ValueSource(strings = { "localhost", "localhost:PORT", "LocalHost:80", "127.0.0.1", "127.0.0.1:PORT", "[::1]:PORT",
			"[::1]" })
	void answersToItsOwnNames(String host) throws IOException {
		assertThat(send("GET / HTTP/1.1", "Host: " + host).status()).isEqualTo(200);
		assertThat(send("GET /api/threads/secret HTTP/1.1", "Host: " + host).status()).isEqualTo(200);
	}

	@ParameterizedTest
	@ValueSource(strings = { "rebound.example", "rebound.example:PORT", "localhost.", "localhost.:PORT", "127.0.0.1.",
			"localhost.rebound.example", "127.0.0.1.rebound.example:PORT", "rebound.example.localhost", "0.0.0.0:PORT",
			"127.1", "2130706433", "[::ffff:127.0.0.1]:PORT", "[::1].", "localhost:PORT:PORT", "localhost:",
			"localhost@rebound.example", "rebound.example@localhost", "rebound.example:80@localhost:PORT",
			"localhost, rebound.example", "localhost rebound.example", "localhost/rebound.example", "localhost#", "" })
	void refusesOtherHosts(String host) throws Exception {
		for (String path : List.of("/", "/index.html", "/js/app.js", "/api/threads", "/api/threads/secret", "/error")) {
			assertThat(send("GET " + path + " HTTP/1.1", "Host: " + host)).as(path)
				.satisfies(SameOriginTests::isRefused);
		}
		assertThat(post("/api/threads/by-host/turns", QUESTION, "Host: " + host, JSON))
			.satisfies(SameOriginTests::isRefused);
		assertThat(this.chat.send("GET", "/api/threads/by-host", null).statusCode()).isEqualTo(404);
	}

	@Test
	void refusesARequestWithoutHostOrWithTwo() throws IOException {
		assertThat(send("GET /api/threads/secret HTTP/1.1")).satisfies(SameOriginTests::isRefused);
		assertThat(send("GET /api/threads/secret HTTP/1.0")).satisfies(SameOriginTests::isRefused);
		assertThat(send("GET /api/threads/secret HTTP/1.1", "Host: " + this.self, "Host: rebound.example"))
			.satisfies(SameOriginTests::isRefused);
		assertThat(send("GET /api/threads/secret HTTP/1.1", "Host: rebound.example", "Host: " + this.self))
			.satisfies(SameOriginTests::isRefused);
	}

	@Test
	void takesNoOtherHeaderOrAddressForTheHost() throws IOException {
		assertThat(send("GET /api/threads/secret HTTP/1.1", "Host: rebound.example", "X-Forwarded-Host: localhost",
				"Forwarded: host=localhost"))
			.satisfies(SameOriginTests::isRefused);
		assertThat(send("GET http://localhost/api/threads/secret HTTP/1.1", "Host: rebound.example"))
			.satisfies(SameOriginTests::isRefused);
		assertThat(send("GET http://rebound.example/api/threads/secret HTTP/1.1", "Host: " + this.self))
			.satisfies(SameOriginTests::isRefused);
	}

	@Test
	void saysWhichHostItDoesNotAnswerToAndHowToChangeThat() throws IOException {
		Answer answer = send("GET / HTTP/1.1", "Host: chat.example:8443");

		assertThat(answer.status()).isEqualTo(403);
		assertThat(answer.header("content-type")).containsExactly("application/problem+json");
		assertThat(answer.body()).contains("'chat.example:8443'", "'chat.hosts'");
	}

	@ParameterizedTest
	@CsvSource({ "POST, /api/threads/by-origin/turns", "PUT, /api/threads/secret/title",
			"PUT, /api/threads/secret/retention", "DELETE, /api/threads/secret", "POST, /api/threads/secret/resume",
			"POST, /api/threads/secret/summaries", "GET, /api/threads/secret", "OPTIONS, /api/threads/secret" })
	void refusesForeignPages(String method, String path) throws Exception {
		String request = method + " " + path + " HTTP/1.1";
		for (String origin : List.of("http://foreign.example", "null", "", "http://localhost:1", "https://" + this.self,
				"http://localhost:" + this.chat.port(), "http://" + this.self + ".foreign.example",
				"http://" + this.self + "@foreign.example", "http://" + this.self + "/", "file://", this.self)) {
			assertThat(send(this.chat.port(), request, QUESTION, "Host: " + this.self, JSON, "Origin: " + origin))
				.as(origin)
				.satisfies(SameOriginTests::isRefused)
				.satisfies((answer) -> assertThat(answer.header("access-control-allow-origin")).isEmpty());
		}
		for (String site : List.of("cross-site", "same-site", "", "anything")) {
			assertThat(send(this.chat.port(), request, QUESTION, "Host: " + this.self, JSON, "Sec-Fetch-Site: " + site))
				.as(site)
				.satisfies(SameOriginTests::isRefused);
		}
		assertThat(this.chat.send("GET", "/api/threads/by-origin", null).statusCode()).isEqualTo(404);
		assertThat(this.chat.send("GET", "/api/threads/secret", null).body()).contains("\"title\":\"Hello\"");
	}

	@Test
	void answersToItsOwnPageAndToProgramsThatAreNoBrowsers() throws IOException {
		String path = "/api/threads/own/turns";

		assertThat(post(path, QUESTION, "Host: " + this.self, JSON, "Origin: http://" + this.self,
				"Sec-Fetch-Site: same-origin")
			.status()).isEqualTo(200);
		assertThat(post(path, QUESTION, "Host: " + this.self, "Content-Type: application/json;charset=UTF-8").status())
			.isEqualTo(200);
		assertThat(send("GET /api/threads/own HTTP/1.1", "Host: " + this.self, "Sec-Fetch-Site: none").status())
			.isEqualTo(200);
	}

	@Test
	void canBeOpenedByALinkOfAnotherSiteButNotInAFrame() throws IOException {
		String[] link = { "Host: " + this.self, "Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: navigate" };

		assertThat(send("GET / HTTP/1.1", with(link, "Sec-Fetch-Dest: document")).status()).isEqualTo(200);
		assertThat(send("GET / HTTP/1.1", with(link, "Sec-Fetch-Dest: iframe"))).satisfies(SameOriginTests::isRefused);
		assertThat(send("POST / HTTP/1.1", with(link, "Sec-Fetch-Dest: document", JSON)))
			.satisfies(SameOriginTests::isRefused);
		assertThat(send("GET /js/app.js HTTP/1.1", "Host: " + this.self, "Sec-Fetch-Site: cross-site",
				"Sec-Fetch-Mode: no-cors", "Sec-Fetch-Dest: script"))
			.satisfies(SameOriginTests::isRefused);
	}

	@ParameterizedTest
	@ValueSource(strings = { "turns", "resume", "summaries", "approvals/any" })
	void refusesAPostThatAFormCouldSend(String path) throws Exception {
		String target = "/api/threads/secret/" + path;
		for (String type : List.of("text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x",
				"text/plain; application/json", "application/jsonx", "application/problem+json", "nonsense", "*/*", ";",
				"")) {
			assertThat(post(target, QUESTION, "Host: " + this.self, "Content-Type: " + type).status()).as(type)
				.isEqualTo(415);
		}
		assertThat(post(target, QUESTION, "Host: " + this.self).status()).isEqualTo(415);
		assertThat(post(target, "", "Host: " + this.self).status()).isEqualTo(415);
		assertThat(this.chat.thread("secret").path("turns").values()).hasSize(1);
	}

	/**
	 * But for what the server refuses before it gets here, as a path with a null byte:
	 * nothing of the application is in those answers.
	 */
	@Test
	void forbidsFramesInEveryAnswer() throws IOException {
		String host = "Host: " + this.self;
		List<Answer> answers = List.of(send("GET / HTTP/1.1", host), send("GET /js/app.js HTTP/1.1", host),
				send("GET /icon.svg HTTP/1.1", host), send("HEAD / HTTP/1.1", host),
				send("GET /api/threads HTTP/1.1", host), send("GET /api/threads/none HTTP/1.1", host),
				send("GET /none HTTP/1.1", host), send("GET /error HTTP/1.1", host), send("DELETE / HTTP/1.1", host),
				send("OPTIONS / HTTP/1.1", host), send("GET / HTTP/1.1", "Host: rebound.example"),
				send("GET / HTTP/1.0"), post("/api/threads/frames/turns", QUESTION, host, JSON),
				post("/api/threads/frames/turns", "{", host, JSON), post("/api/threads/frames/turns", "", host),
				post("/api/threads/frames/turns", QUESTION, host, JSON, "Origin: null"),
				send("GET /a;b=c//d HTTP/1.1", host));

		assertThat(answers).extracting(Answer::status).contains(200, 400, 403, 404, 405, 415, 500);
		assertThat(answers).allSatisfy((answer) -> {
			assertThat(answer.header("x-frame-options")).containsExactly("DENY");
			assertThat(answer.header("content-security-policy")).singleElement()
				.asString()
				.contains("default-src 'none'", "frame-ancestors 'none'", "form-action 'none'", "base-uri 'none'")
				.doesNotContain("unsafe", "*", "http");
			assertThat(answer.header("x-content-type-options")).containsExactly("nosniff");
			assertThat(answer.header("cross-origin-resource-policy")).containsExactly("same-origin");
		});
	}

	@Test
	void answersToOtherNamesWhereItIsToldTo(@TempDir Path folder) throws IOException {
		try (RunningChat other = RunningChat.start(folder, "--demo.pace=1ms",
				"--chat.hosts=chat.example, Intern.Example", "--server.forward-headers-strategy=framework")) {
			assertThat(send(other.port(), "GET / HTTP/1.1", "", "Host: chat.example").status()).isEqualTo(200);
			assertThat(send(other.port(), "GET / HTTP/1.1", "", "Host: intern.example:8443").status()).isEqualTo(200);
			assertThat(send(other.port(), "GET / HTTP/1.1", "", "Host: 127.0.0.1"))
				.satisfies(SameOriginTests::isRefused);
			assertThat(send(other.port(), "POST /api/threads/t/turns HTTP/1.1", QUESTION, "Host: chat.example", JSON,
					"Origin: https://chat.example", "X-Forwarded-Proto: https")
				.status()).isEqualTo(200);
			assertThat(send(other.port(), "POST /api/threads/t/turns HTTP/1.1", QUESTION, "Host: chat.example", JSON,
					"Origin: http://chat.example", "X-Forwarded-Proto: https"))
				.satisfies(SameOriginTests::isRefused);
		}
	}

	private static void isRefused(Answer answer) {
		assertThat(answer.status()).isIn(400, 403);
		assertThat(answer.body()).doesNotContain("Hello", "<script");
	}

	private static String[] with(String[] headers, String... more) {
		return Stream.concat(Stream.of(headers), Stream.of(more)).toArray(String[]::new);
	}

	private Answer post(String path, String body, String... headers) throws IOException {
		return send(this.chat.port(), "POST " + path + " HTTP/1.1", body, headers);
	}

	private Answer send(String request, String... headers) throws IOException {
		return send(this.chat.port(), request, "", headers);
	}

	private Answer send(int port, String request, String body, String... headers) throws IOException {
		StringBuilder text = new StringBuilder(request).append("\r\n");
		for (String header : headers) {
			text.append(header.replace("PORT", String.valueOf(port))).append("\r\n");
		}
		text.append("Connection: close\r\n");
		if (!body.isEmpty() || request.startsWith("POST")) {
			text.append("Content-Length: ").append(body.length()).append("\r\n");
		}
		text.append("\r\n").append(body);
		try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
			socket.getOutputStream().write(text.toString().getBytes(StandardCharsets.ISO_8859_1));
			return Answer.parse(new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8));
		}
	}

	record Answer(int status, List<String> headers, String body) {

		private static Answer parse(String text) {
			String[] parts = text.split("\r\n\r\n", 2);
			List<String> lines = parts[0].lines().toList();
			return new Answer(Integer.parseInt(lines.get(0).split(" ")[1]), lines.subList(1, lines.size()), parts[1]);
		}

		private List<String> header(String name) {
			return this.headers.stream()
				.filter((line) -> line.toLowerCase(Locale.ROOT).startsWith(name + ":"))
				.map((line) -> line.substring(name.length() + 1).strip())
				.toList();
		}

	}

}
