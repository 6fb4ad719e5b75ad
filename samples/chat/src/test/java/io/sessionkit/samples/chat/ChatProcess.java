package io.sessionkit.samples.chat;

import java.io.File;
import java.io.IOException;
import java.net.ConnectException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import static org.awaitility.Awaitility.await;

/**
 * The application in a process of its own, on a free port. What it prints goes to a file.
 * Closing kills it: nothing of it is there afterwards but what it has stored.
 */
final class ChatProcess implements AutoCloseable {

	/**
	 * It takes a port that is free when it starts and says which: one that was looked for
	 * before may have gone to another test.
	 */
	private static final Pattern STARTED = Pattern.compile("started on port (\\d+)");

	private static final Duration PATIENCE = Duration.ofSeconds(120);

	private final HttpClient client = HttpClient.newHttpClient();

	private final Process process;

	private final Path output;

	private int port;

	private ChatProcess(Process process, Path output) {
		this.process = process;
		this.output = output;
	}

	/**
	 * Starts the application from the classes of the tests.
	 * @param output where what it prints goes
	 */
	static ChatProcess start(Path output, String... arguments) throws IOException {
		return start(output, List.of(), List.of(), arguments);
	}

	/**
	 * Starts the application with other classes in front of those of the tests.
	 */
	static ChatProcess start(Path output, List<String> options, List<Path> classes, String... arguments)
			throws IOException {
		List<String> command = new ArrayList<>();
		command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
		command.add("-XX:TieredStopAtLevel=1");
		command.add("-XX:+UseSerialGC");
		command.addAll(options);
		command.add("-cp");
		command.add(classPath(classes));
		command.add(ChatApplication.class.getName());
		command.addAll(List.of(arguments));
		command.add("--server.port=0");
		command.add("--logging.level.io.sessionkit.samples.chat=info");
		command.add("--logging.level.org.springframework.boot.tomcat=info");
		Process process = new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(output.toFile()).start();
		return new ChatProcess(process, output);
	}

	private static String classPath(List<Path> classes) {
		List<String> all = new ArrayList<>(classes.stream().map(Path::toString).toList());
		all.add(System.getProperty("java.class.path"));
		return String.join(File.pathSeparator, all);
	}

	/**
	 * Waits until it answers. One that ended instead is reported with what it printed.
	 */
	ChatProcess awaitUp() {
		await().atMost(PATIENCE).until(() -> {
			if (!this.process.isAlive()) {
				throw new AssertionError("The application has ended:\n" + output());
			}
			return isUp();
		});
		return this;
	}

	/**
	 * Waits until it has ended by itself.
	 * @return what it printed
	 */
	String awaitEnd() throws IOException {
		await().atMost(PATIENCE).until(() -> !this.process.isAlive());
		return output();
	}

	String output() throws IOException {
		return Files.readString(this.output);
	}

	/**
	 * All events of one reply, as they come.
	 */
	String ask(String thread, String text) throws IOException, InterruptedException {
		HttpRequest request = HttpRequest.newBuilder(uri("/api/threads/" + thread + "/turns"))
			.header("Content-Type", "application/json")
			.POST(BodyPublishers.ofString("{\"text\":\"" + text + "\"}"))
			.build();
		return this.client.send(request, BodyHandlers.ofString()).body();
	}

	String get(String path) throws IOException, InterruptedException {
		return this.client.send(HttpRequest.newBuilder(uri(path)).build(), BodyHandlers.ofString()).body();
	}

	private boolean isUp() throws IOException, InterruptedException {
		Matcher started = STARTED.matcher(output());
		if (!started.find()) {
			return false;
		}
		this.port = Integer.parseInt(started.group(1));
		try {
			return this.client.send(HttpRequest.newBuilder(uri("/api/about")).build(), BodyHandlers.discarding())
				.statusCode() == 200;
		}
		catch (ConnectException ex) {
			return false;
		}
	}

	private URI uri(String path) {
		return URI.create("http://127.0.0.1:" + this.port + path);
	}

	@Override
	public void close() throws InterruptedException {
		this.process.destroyForcibly().waitFor(10, TimeUnit.SECONDS);
	}

}
