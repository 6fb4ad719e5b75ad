package io.sessionkit.samples.chat;

import java.io.IOException;
import java.net.CookieManager;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.List;
import java.util.Map;

import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * Somebody with a browser's cookies, and the token that its page has read.
 */
final class ChatUser {

	private static final JsonMapper json = JsonMapper.builder().build();

	private final HttpClient client = HttpClient.newBuilder().cookieHandler(new CookieManager()).build();

	private final int port;

	private String header = "X-CSRF-TOKEN";

	private String token = "";

	private ChatUser(int port) {
		this.port = port;
	}

	static ChatUser nobody(RunningChat chat) throws IOException, InterruptedException {
		ChatUser user = new ChatUser(chat.port());
		user.readToken();
		return user;
	}

	static ChatUser signIn(RunningChat chat, String name) throws IOException, InterruptedException {
		ChatUser user = nobody(chat);
		HttpResponse<String> answer = user.login(name, name);
		if (answer.statusCode() != 204) {
			throw new AssertionError(answer.statusCode() + " " + answer.body());
		}
		user.readToken();
		return user;
	}

	HttpResponse<String> login(String name, String password) throws IOException, InterruptedException {
		return send("POST", "/api/login", Map.of("name", name, "password", password));
	}

	void readToken() throws IOException, InterruptedException {
		JsonNode csrf = get("/api/user").path("csrf");
		this.header = csrf.path("header").asString();
		this.token = csrf.path("token").asString();
	}

	JsonNode get(String path) throws IOException, InterruptedException {
		return json.readTree(send("GET", path, null).body());
	}

	JsonNode post(String path, Object body) throws IOException, InterruptedException {
		return json.readTree(send("POST", path, body).body());
	}

	String ask(String thread, String text) throws IOException, InterruptedException {
		return send("POST", "/api/threads/" + thread + "/turns", Map.of("text", text)).body();
	}

	HttpResponse<String> send(String method, String path, @Nullable Object body)
			throws IOException, InterruptedException {
		return this.client.send(request(method, path, body).header(this.header, this.token).build(),
				BodyHandlers.ofString());
	}

	/**
	 * As the page of another site would, if a browser let it.
	 */
	HttpResponse<String> sendWithoutToken(String method, String path, @Nullable Object body)
			throws IOException, InterruptedException {
		return this.client.send(request(method, path, body).build(), BodyHandlers.ofString());
	}

	private HttpRequest.Builder request(String method, String path, @Nullable Object body) {
		return HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + this.port + path))
			.header("Content-Type", "application/json")
			.method(method,
					(body != null) ? BodyPublishers.ofString(json.writeValueAsString(body)) : BodyPublishers.noBody());
	}

	List<String> cookies() {
		return ((CookieManager) this.client.cookieHandler().orElseThrow()).getCookieStore()
			.getCookies()
			.stream()
			.map((cookie) -> cookie.getName() + "=" + cookie.getValue())
			.toList();
	}

}
