package io.sessionkit.samples.chat;

import java.io.IOException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The application in a process of its own, killed as soon as the reply is there.
 */
class KilledProcessTests {

	private final HttpClient client = HttpClient.newHttpClient();

	@TempDir
	private Path folder;

	@Test
	void whatWasAnsweredSurvivesAKilledProcess() throws Exception {
		int port = freePort();
		Process process = start(port);
		try {
			Awaitility.await().atMost(Duration.ofSeconds(60)).until(() -> isUp(port));
			assertThat(ask(port, "My name is Ada")).contains("COMPLETED");
		}
		finally {
			process.destroyForcibly().waitFor(10, TimeUnit.SECONDS);
		}
		try (RunningChat chat = RunningChat.start(this.folder, "--demo.pace=1ms")) {
			assertThat(chat.reply("t1", "What is my name?")).contains("Ada");
		}
	}

	private Process start(int port) throws IOException {
		return new ProcessBuilder(Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-cp",
				System.getProperty("java.class.path"), ChatApplication.class.getName(), "--server.port=" + port,
				"--CHAT_DATA=" + this.folder.toAbsolutePath(), "--demo.pace=1ms")
			.redirectErrorStream(true)
			.redirectOutput(ProcessBuilder.Redirect.DISCARD)
			.start();
	}

	private boolean isUp(int port) throws IOException, InterruptedException {
		try {
			return this.client.send(HttpRequest.newBuilder(uri(port, "/api/about")).build(), BodyHandlers.discarding())
				.statusCode() == 200;
		}
		catch (ConnectException ex) {
			return false;
		}
	}

	private String ask(int port, String text) throws IOException, InterruptedException {
		HttpRequest request = HttpRequest.newBuilder(uri(port, "/api/threads/t1/turns"))
			.header("Content-Type", "application/json")
			.POST(BodyPublishers.ofString("{\"text\":\"" + text + "\"}"))
			.build();
		return this.client.send(request, BodyHandlers.ofString()).body();
	}

	private static URI uri(int port, String path) {
		return URI.create("http://127.0.0.1:" + port + path);
	}

	private static int freePort() throws IOException {
		try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
			return socket.getLocalPort();
		}
	}

}
