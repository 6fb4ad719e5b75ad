package io.sessionkit.samples.chat;

import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublisher;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandler;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.regex.Pattern;

import io.sessionkit.SessionKey;
import io.sessionkit.access.Caller;
import io.sessionkit.access.SessionAccess;
import io.sessionkit.conversation.Conversations;
import io.sessionkit.store.SessionStore;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;

/**
 * The whole application on a free port, with its database file in a given folder, and a
 * plain HTTP client for it.
 */
final class RunningChat implements AutoCloseable {

	/**
	 * Held while an application starts or ends. It sets up the log of the whole JVM then,
	 * and its processing ahead of time is a system property.
	 */
	static final Object ONE_AT_A_TIME = new Object();

	private static final Pattern TICKET = Pattern.compile("[0-9a-f-]{36} \\d+");

	private static final JsonMapper json = JsonMapper.builder().build();

	private final HttpClient client = HttpClient.newHttpClient();

	private final ConfigurableApplicationContext context;

	private final HeldModel model;

	private RunningChat(ConfigurableApplicationContext context, HeldModel model) {
		this.context = context;
		this.model = model;
	}

	static RunningChat start(Path folder, String... arguments) {
		return startOn(0, folder, arguments);
	}

	/**
	 * On a given port, so that a page in a browser finds the application again.
	 */
	static RunningChat startOn(int port, Path folder, String... arguments) {
		List<String> all = new ArrayList<>(List.of(arguments));
		all.add("--server.port=" + port);
		all.add("--CHAT_DATA=" + folder.toAbsolutePath());
		HeldModel model = new HeldModel();
		synchronized (ONE_AT_A_TIME) {
			return new RunningChat(new SpringApplicationBuilder(ChatApplication.class)
				.initializers((context) -> context.getBeanFactory().addBeanPostProcessor(model))
				.run(all.toArray(String[]::new)), model);
		}
	}

	/**
	 * From now on the model stops behind the first words of an answer, and before it
	 * looks at the results of tools.
	 */
	void hold() {
		this.model.hold();
	}

	/**
	 * Lets the model go on up to its next call.
	 */
	void releaseOne() {
		this.model.releaseOne();
	}

	/**
	 * Lets the model go on, for good.
	 */
	void release() {
		this.model.release();
	}

	/**
	 * All events of one reply.
	 */
	List<Event> ask(String thread, String text) throws IOException, InterruptedException {
		return events(send("POST", turns(thread), Map.of("text", text)));
	}

	/**
	 * All events of the reply to a question in the place of another one.
	 */
	List<Event> ask(String thread, String text, long editing) throws IOException, InterruptedException {
		return events(send("POST", turns(thread), Map.of("text", text, "editing", editing)));
	}

	/**
	 * All events of the reply to a request with a name.
	 */
	List<Event> askAs(String request, String thread, String text) throws IOException, InterruptedException {
		return events(send("POST", turns(thread), Map.of("text", text, "request", request)));
	}

	/**
	 * The reply to a request with a name as it arrives; closing it closes the connection.
	 */
	InputStream openAs(String request, String thread, String text) throws IOException, InterruptedException {
		return send("POST", turns(thread), Map.of("text", text, "request", request), BodyHandlers.ofInputStream())
			.body();
	}

	/**
	 * All events of another reply to the question of a turn.
	 */
	List<Event> again(String thread, long turn) throws IOException, InterruptedException {
		return events(send("POST", turns(thread) + "/" + turn + "/again", Map.of()));
	}

	/**
	 * All events of the reply to a turn that waited.
	 */
	List<Event> resume(String thread) throws IOException, InterruptedException {
		return events(send("POST", "/api/threads/" + thread + "/resume", null));
	}

	private static List<Event> events(HttpResponse<String> response) {
		if (response.statusCode() != 200) {
			throw new AssertionError(response.statusCode() + " " + response.body());
		}
		return events(response.body());
	}

	/**
	 * The events that are left of a reply, up to its end.
	 */
	static List<Event> events(InputStream reply) throws IOException {
		return events(new String(reply.readAllBytes(), StandardCharsets.UTF_8));
	}

	private static List<Event> events(String reply) {
		return reply.lines()
			.filter((line) -> line.startsWith("data:"))
			.map(Event::parse)
			.filter((event) -> !event.data().isEmpty())
			.toList();
	}

	/**
	 * The text of the reply, put together from its chunks.
	 */
	String reply(String thread, String text) throws IOException, InterruptedException {
		return text(ask(thread, text));
	}

	static String text(List<Event> events) {
		StringBuilder reply = new StringBuilder();
		events.forEach((event) -> reply.append(event.data().path("text").asString("")));
		return reply.toString();
	}

	/**
	 * The reply as it arrives; closing it closes the connection.
	 */
	InputStream open(String thread, String text) throws IOException, InterruptedException {
		return send("POST", turns(thread), Map.of("text", text), BodyHandlers.ofInputStream()).body();
	}

	/**
	 * The reply when it is whole; cancelling it closes the connection.
	 */
	Future<HttpResponse<String>> begin(String thread, String text) {
		return sendLater("POST", turns(thread), Map.of("text", text));
	}

	JsonNode get(String path) throws IOException, InterruptedException {
		return json.readTree(send("GET", path, null).body());
	}

	JsonNode thread(String id) throws IOException, InterruptedException {
		return get("/api/threads/" + id);
	}

	HttpResponse<String> send(String method, String path, @Nullable Object body)
			throws IOException, InterruptedException {
		return send(method, path, body, BodyHandlers.ofString());
	}

	/**
	 * Without waiting for the answer.
	 */
	CompletableFuture<HttpResponse<String>> sendLater(String method, String path, Object body) {
		return this.client.sendAsync(request(method, path, BodyPublishers.ofString(json.writeValueAsString(body))),
				BodyHandlers.ofString());
	}

	/**
	 * With a body as it is.
	 */
	HttpResponse<String> sendJson(String method, String path, String body) throws IOException, InterruptedException {
		return this.client.send(request(method, path, BodyPublishers.ofString(body)), BodyHandlers.ofString());
	}

	private <T> HttpResponse<T> send(String method, String path, @Nullable Object body, BodyHandler<T> handler)
			throws IOException, InterruptedException {
		BodyPublisher publisher = (body != null) ? BodyPublishers.ofString(json.writeValueAsString(body))
				: BodyPublishers.noBody();
		return this.client.send(request(method, path, publisher), handler);
	}

	/**
	 * Ends the answer that has this event.
	 * @return the status of the answer to that
	 */
	int stopRunning(String thread, String event) throws IOException, InterruptedException {
		HttpRequest stop = HttpRequest
			.newBuilder(URI.create("http://127.0.0.1:" + port() + "/api/threads/" + thread + "/running"))
			.header("Last-Event-ID", event)
			.DELETE()
			.build();
		return this.client.send(stop, BodyHandlers.discarding()).statusCode();
	}

	private HttpRequest request(String method, String path, BodyPublisher body) {
		return HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port() + path))
			.header("Content-Type", "application/json")
			.method(method, body)
			.build();
	}

	private static String turns(String thread) {
		return "/api/threads/" + thread + "/turns";
	}

	int port() {
		return this.context.getEnvironment().getRequiredProperty("local.server.port", Integer.class);
	}

	boolean has(Class<?> bean) {
		return this.context.getBeanNamesForType(bean).length > 0;
	}

	/**
	 * Returns the number of messages that were sent to join a turn of the thread.
	 */
	int offers(String thread) {
		return this.context.getBean(SessionStore.class).records(SessionKey.of(thread), "offer").size();
	}

	/**
	 * Returns the number of calls on a thread that wait or are being answered.
	 */
	long inLine(SessionKey thread) {
		SessionStore store = this.context.getBean(SessionStore.class);
		return this.context.getBean(SessionAccess.class)
			.callAs(Caller.server(), () -> store.record(thread, "line", "turn"))
			.stream()
			.flatMap((line) -> TICKET.matcher(line.payload()).results())
			.count();
	}

	<T> T bean(Class<T> type) {
		return this.context.getBean(type);
	}

	/**
	 * Writes an attribute of a thread, as code of the application would.
	 */
	void put(String thread, String name, Object value) {
		this.context.getBean(Conversations.class).get(thread).putAttribute(name, value);
	}

	/**
	 * The orders that this process has cancelled, one entry for each run of the tool.
	 */
	List<String> cancelledOrders() {
		return this.context.getBean(OrderTools.class).cancelled();
	}

	/**
	 * The orders that this process has restored, one entry for each run of the tool.
	 */
	List<String> restoredOrders() {
		return this.context.getBean(RestoringTools.class).restored();
	}

	@Override
	public void close() {
		synchronized (ONE_AT_A_TIME) {
			this.context.close();
		}
	}

	/**
	 * One event of a reply: a piece of text, the turn, or a problem. Events that hold
	 * nothing say that the question waits, and when that is over. On a busy machine they
	 * are there for each question, so they are left out.
	 */
	record Event(JsonNode data) {

		private static Event parse(String line) {
			return new Event(json.readTree(line.substring("data:".length())));
		}

		boolean isText() {
			return this.data.has("text");
		}

	}

}
