package io.sessionkit.samples.chat;

import java.io.IOException;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.sessionkit.Session;
import io.sessionkit.SessionKey;
import io.sessionkit.access.Caller;
import io.sessionkit.access.SessionAccess;
import io.sessionkit.conversation.Approvals;
import io.sessionkit.conversation.Compensations;
import io.sessionkit.store.SessionStore;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

import org.springframework.web.bind.annotation.RequestMethod;
import org.springframework.web.servlet.mvc.method.annotation.RequestMappingHandlerMapping;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * The profile "users" over HTTP. The attacks find the endpoints themselves, so that a new
 * one is attacked too.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class UsersTests {

	/**
	 * The addresses that are open to everybody: the user who is signed in, and the login.
	 */
	private static final Set<String> OPEN = Set.of("/api/user", "/api/login");

	private static final String VICTIM = "of-ada";

	private static final String ABSENT = "of-none";

	private RunningChat chat;

	private ChatUser ada;

	private ChatUser bob;

	private ChatUser eve;

	@BeforeAll
	void start(@TempDir Path folder) {
		this.chat = RunningChat.start(folder, "--demo.pace=1ms", "--demo.look-up=1ms",
				"--spring.profiles.active=users");
	}

	@AfterAll
	void stop() {
		this.chat.close();
	}

	@BeforeEach
	void signIn() throws Exception {
		this.ada = ChatUser.signIn(this.chat, "ada");
		this.bob = ChatUser.signIn(this.chat, "bob");
		this.eve = ChatUser.signIn(this.chat, "eve");
	}

	@Test
	void sameNameIsAnotherThreadForEachUser() throws Exception {
		this.ada.ask("same", "My name is Ada");
		this.bob.ask("same", "My name is Bob");

		assertThat(this.ada.ask("same", "What is my name?")).contains("Ada").doesNotContain("Bob");
		assertThat(this.ada.get("/api/threads/same").toString()).doesNotContain("Bob");
		assertThat(this.bob.get("/api/threads").path("threads").values())
			.filteredOn((thread) -> thread.path("id").asString().equals("same"))
			.singleElement()
			.satisfies((thread) -> assertThat(thread.path("turns").asInt()).isEqualTo(1));
		assertThat(this.bob.send("DELETE", "/api/threads/same", null).statusCode()).isEqualTo(204);
		assertThat(this.ada.get("/api/threads/same").path("turns").values()).hasSize(2);
	}

	/**
	 * A fork, an edit, a branch and all that goes back and forth is for the owner too.
	 */
	@Test
	void everythingThatAThreadCanDoIsThereForItsOwner() throws Exception {
		this.ada.ask("work", "Roll a die");
		this.ada.ask("work", "Roll two dice");
		String copy = this.ada.post("/api/threads/work/fork", Map.of()).path("id").asString();
		assertThat(this.ada.get("/api/threads/" + copy).path("forkedFrom").path("id").asString()).isEqualTo("work");
		assertThat(this.bob.send("GET", "/api/threads/" + copy, null).statusCode()).isEqualTo(404);
		for (String path : List.of("/undo", "/redo", "/branches", "/turns/1/again", "/summaries")) {
			assertThat(this.ada.send("POST", "/api/threads/work" + path, Map.of("name", "side")).statusCode()).as(path)
				.isBetween(200, 201);
		}
		assertThat(this.ada.get("/api/threads/work/turns/1").path("items").values()).isNotEmpty();
	}

	/**
	 * An answer that goes on without a reader belongs to its user, whoever asks with the
	 * same names.
	 */
	@Test
	void requestOfTheSameNameIsAnotherOneForEachUser() throws Exception {
		Map<String, Object> question = Map.of("text", "Tell me a story", "request", "r1");
		this.chat.hold();
		try {
			CompletableFuture<String> ofAda = later(this.ada, "/api/threads/story/turns", question);
			await().until(() -> this.chat.inLine(SessionKey.of("ada", "story")) == 1);
			CompletableFuture<String> ofBob = later(this.bob, "/api/threads/story/turns", question);
			await().until(() -> this.chat.inLine(SessionKey.of("bob", "story")) == 1);
			assertThat(this.bob.send("DELETE", "/api/threads/story/requests/r1", null).statusCode()).isEqualTo(204);
			assertThat(ofBob.join()).doesNotContain("tore out half a page");
			assertThat(this.chat.inLine(SessionKey.of("ada", "story"))).isEqualTo(1);
			this.chat.release();
			assertThat(ofAda.join()).contains("\"status\":\"COMPLETED\"").contains("event:turn");
		}
		finally {
			this.chat.release();
		}
		assertThat(this.ada.get("/api/threads/story").path("turns").values()).hasSize(1);
		assertThat(this.eve.send("GET", "/api/threads/story", null).statusCode()).isEqualTo(404);
	}

	private static CompletableFuture<String> later(ChatUser user, String path, Object body) {
		return CompletableFuture.supplyAsync(() -> {
			try {
				return user.send("POST", path, body).body();
			}
			catch (IOException | InterruptedException ex) {
				throw new CompletionException(ex);
			}
		});
	}

	@Test
	void callWaitsForSomebodyElse() throws Exception {
		this.ada.ask("order", "Cancel order 4711 because it was bought twice");

		JsonNode call = this.ada.get("/api/threads/order/approvals").path("calls").path(0);
		Map<String, Object> approval = Map.of("digest", call.path("digest").asString(), "verb", "APPROVE", "by", "eve");
		String own = "/api/threads/order/approvals/" + call.path("id").asString();
		String inbox = "/api/inbox/ada/order/calls/" + call.path("id").asString();
		assertThat(this.ada.send("POST", own, approval).statusCode()).isEqualTo(403);
		assertThat(this.ada.send("POST", inbox, approval).statusCode()).isEqualTo(403);
		assertThat(this.ada.get("/api/inbox").values()).isEmpty();
		assertThat(this.bob.get("/api/inbox").values()).isEmpty();
		assertThat(this.bob.send("POST", inbox, approval).statusCode()).isEqualTo(404);
		assertThat(this.eve.get("/api/inbox").values())
			.filteredOn((each) -> each.path("thread").asString().equals("order"))
			.singleElement()
			.satisfies((each) -> {
				assertThat(each.path("owner").asString()).isEqualTo("ada");
				assertThat(each.path("title").isNull()).isTrue();
				assertThat(each.path("call").path("arguments").asString()).contains("4711");
			});
		assertThat(this.eve.send("POST", inbox, with(approval, "arguments", "{\"order\":1}")).body())
			.contains("faults");

		HttpResponse<String> decided = this.eve.send("POST", inbox, with(approval, "by", "ada"));

		assertThat(decided.statusCode()).as(decided.body()).isEqualTo(200);
		assertThat(decided.body()).contains("\"by\":\"eve\"");
		assertThat(this.ada.send("POST", "/api/threads/order/resume", null).body())
			.contains("\"status\":\"COMPLETED\"");
		assertThat(this.chat.cancelledOrders()).contains("4711");
		assertThat(this.eve.get("/api/inbox").values())
			.noneMatch((each) -> each.path("thread").asString().equals("order"));
	}

	@Test
	void decisionOnCallsToComeIsRevokedByWhoDecidesAndNobodyElse() throws Exception {
		this.ada.ask("always", "Cancel order 4715");
		JsonNode call = this.ada.get("/api/threads/always/approvals").path("calls").path(0);
		this.eve.send("POST", "/api/inbox/ada/always/calls/" + call.path("id").asString(),
				Map.of("digest", call.path("digest").asString(), "verb", "APPROVE", "always", "TOOL"));
		this.ada.send("POST", "/api/threads/always/resume", null);

		String ofInbox = "/api/inbox/ada/always/standing-decisions";
		JsonNode standing = this.eve.get(ofInbox).path(0);
		assertThat(standing.path("by").asString()).isEqualTo("eve");
		String one = "/standing-decisions/" + standing.path("id").asString();
		assertThat(this.ada.send("DELETE", "/api/threads/always" + one, null).statusCode()).isEqualTo(403);
		assertThat(this.bob.send("GET", ofInbox, null).statusCode()).isEqualTo(404);
		assertThat(this.bob.send("DELETE", "/api/inbox/ada/always" + one, null).statusCode()).isEqualTo(404);
		assertThat(this.eve.send("DELETE", "/api/inbox/ada/always" + one, null).statusCode()).isEqualTo(204);
		assertThat(this.eve.get(ofInbox).values()).isEmpty();
		this.ada.ask("always", "Cancel order 4716");
		assertThat(this.chat.cancelledOrders()).contains("4715").doesNotContain("4716");
	}

	@Test
	void whatTakesSomethingBackWaitsForSomebodyElseToo() throws Exception {
		approve(this.eve, "back", "Cancel order 4712");
		JsonNode plan = this.ada.get("/api/threads/back/rewind?from=1");
		this.ada.send("POST", "/api/threads/back/rewind", Map.of("from", 1, "digest", plan.path("digest").asString()));

		assertThat(this.ada.get("/api/inbox").values()).isEmpty();
		assertThat(this.bob.get("/api/inbox").values()).isEmpty();
		JsonNode waiting = this.eve.get("/api/inbox")
			.values()
			.stream()
			.filter((each) -> each.path("thread").asString().equals("back"))
			.findFirst()
			.orElseThrow();
		assertThat(waiting.path("takesBack").asBoolean()).isTrue();
		Map<String, Object> approval = Map.of("digest", waiting.path("call").path("digest").asString(), "verb",
				"APPROVE");
		String path = "/rewind/" + waiting.path("call").path("id").asString();
		assertThat(this.ada.send("POST", "/api/threads/back/rewind/calls" + path.substring(7), approval).statusCode())
			.isEqualTo(403);
		assertThat(this.bob.send("POST", "/api/inbox/ada/back" + path, approval).statusCode()).isEqualTo(404);
		assertThat(this.eve.send("POST", "/api/inbox/ada/back" + path, approval).statusCode()).isEqualTo(200);
		plan = this.ada.get("/api/threads/back/rewind");
		assertThat(this.ada
			.send("POST", "/api/threads/back/rewind", Map.of("from", 1, "digest", plan.path("digest").asString()))
			.body()).contains("COMPLETED");
		assertThat(this.chat.restoredOrders()).contains("4712");
	}

	private void approve(ChatUser approver, String thread, String question) throws Exception {
		this.ada.ask(thread, question);
		JsonNode call = this.ada.get("/api/threads/" + thread + "/approvals").path("calls").path(0);
		approver.send("POST", "/api/inbox/ada/" + thread + "/calls/" + call.path("id").asString(),
				Map.of("digest", call.path("digest").asString(), "verb", "APPROVE"));
		this.ada.send("POST", "/api/threads/" + thread + "/resume", null);
	}

	/**
	 * Everybody but Ada is told of her thread what they are told of one that there never
	 * was, and nothing of hers changes.
	 */
	@ParameterizedTest
	@ValueSource(strings = { "nobody", "bob", "eve" })
	void nobodyReachesTheThreadOfAnother(String name) throws Exception {
		Target target = target();
		ChatUser attacker = name.equals("nobody") ? ChatUser.nobody(this.chat) : ChatUser.signIn(this.chat, name);
		Object before = stateOf(target);
		Set<String> attacked = new HashSet<>();
		for (Endpoint endpoint : endpoints()) {
			if (name.equals("eve") && endpoint.path().startsWith("/api/inbox")) {
				continue; // she decides there
			}
			attacker.send("DELETE", "/api/threads/" + VICTIM, null);
			attacker.send("DELETE", "/api/threads/" + ABSENT, null);
			HttpResponse<String> victim = endpoint.send(attacker, target, VICTIM);
			HttpResponse<String> absent = endpoint.send(attacker, target, ABSENT);
			assertThat(victim.statusCode()).as("%s %s", endpoint, victim.body()).isEqualTo(absent.statusCode());
			assertThat(comparable(victim)).as(endpoint.toString()).isEqualTo(comparable(absent));
			assertThat(victim.body()).as(endpoint.toString()).doesNotContain("4713", "4714", "Rosalind");
			if (name.equals("nobody") && !OPEN.contains(endpoint.path())) {
				assertThat(victim.statusCode()).as(endpoint.toString()).isEqualTo(401);
			}
			assertThat(stateOf(target)).as(endpoint.toString()).isEqualTo(before);
			attacked.add(endpoint.toString());
		}
		assertThat(attacked).hasSizeGreaterThan(25)
			.contains("GET /api/threads/{id}", "POST /api/threads/{id}/approvals/{call}");
	}

	/**
	 * A page of another site has the cookies and not the token.
	 */
	@Test
	void nothingChangesWithoutTheToken() throws Exception {
		Target target = target();
		Object before = stateOf(target);
		for (Endpoint endpoint : endpoints()) {
			if (endpoint.method() != RequestMethod.GET) {
				assertThat(
						this.ada.sendWithoutToken(endpoint.method().name(), endpoint.of(target, VICTIM), target.body())
							.statusCode())
					.as(endpoint.toString())
					.isEqualTo(403);
			}
		}
		assertThat(this.ada.sendWithoutToken("POST", "/api/logout", null).statusCode()).isEqualTo(403);
		assertThat(this.ada.get("/api/user").path("name").asString()).isEqualTo("ada");
		assertThat(stateOf(target)).isEqualTo(before);
	}

	@Test
	void loginGivesAnotherSessionAndLogoutEndsIt() throws Exception {
		ChatUser user = ChatUser.nobody(this.chat);
		List<String> before = user.cookies();
		assertThat(before).singleElement().asString().startsWith("CHAT_SESSION=");
		assertThat(user.login("ada", "wrong").statusCode()).isEqualTo(401);
		assertThat(user.login("mallory", "mallory").body()).isEqualTo(user.login("ada", "wrong").body());
		assertThat(user.login("ada", "ada").statusCode()).isEqualTo(204);
		assertThat(user.cookies()).doesNotContainAnyElementsOf(before);
		HttpResponse<String> old = user.send("POST", "/api/threads/t/turns", Map.of("text", "with the old token"));
		assertThat(old.statusCode()).isEqualTo(403);
		assertThat(old.body()).contains("STALE");
		user.readToken();
		assertThat(user.send("POST", "/api/logout", null).statusCode()).isEqualTo(204);
		assertThat(user.send("GET", "/api/threads", null).statusCode()).isEqualTo(401);
		assertThat(user.get("/api/user").path("name").isNull()).isTrue();
	}

	@ParameterizedTest
	@ValueSource(strings = { "/", "/index.html" })
	void pageLeadsToTheLogin(String path) throws Exception {
		HttpResponse<String> answer = ChatUser.nobody(this.chat).send("GET", path, null);
		assertThat(answer.statusCode()).isEqualTo(302);
		assertThat(answer.headers().firstValue("location")).get().asString().endsWith("/login.html");
		assertThat(answer.headers().firstValue("content-security-policy")).isPresent();
		assertThat(this.ada.send("GET", path, null).body()).contains("<title>SessionKit Chat</title>");
	}

	private Target target() throws Exception {
		if (this.ada.send("GET", "/api/threads/" + VICTIM, null).statusCode() == 404) {
			this.ada.ask(VICTIM, "My name is Rosalind");
			this.ada.ask(VICTIM, "Cancel order 4713");
			JsonNode call = call(0);
			this.eve.send("POST", "/api/inbox/ada/" + VICTIM + "/calls/" + call.path("id").asString(),
					Map.of("digest", call.path("digest").asString(), "verb", "APPROVE", "always", "ARGUMENTS"));
			this.ada.send("POST", "/api/threads/" + VICTIM + "/resume", null);
			this.ada.ask(VICTIM, "Cancel order 4714");
		}
		JsonNode call = call(1);
		assertThat(call.path("pending").asBoolean()).isTrue();
		String standing = this.ada.get("/api/threads/" + VICTIM + "/approvals")
			.path("standing")
			.path(0)
			.path("id")
			.asString();
		return new Target(call.path("id").asString(), call.path("digest").asString(), standing);
	}

	private JsonNode call(int index) throws Exception {
		return this.ada.get("/api/threads/" + VICTIM + "/approvals").path("calls").path(index);
	}

	/** All that the store has of the thread, and what its tools have done. */
	private Object stateOf(Target target) {
		SessionKey key = SessionKey.of("ada", VICTIM);
		SessionStore store = this.chat.bean(SessionStore.class);
		return this.chat.bean(SessionAccess.class).callAs(Caller.server(), () -> {
			Session session = store.find(key).orElseThrow();
			List<Object> state = new ArrayList<>(List.of(session, this.chat.bean(Approvals.class).ledger(key),
					this.chat.bean(Approvals.class).standingDecisions(key),
					this.chat.bean(Compensations.class).ledger(key), this.chat.cancelledOrders(),
					this.chat.restoredOrders()));
			state.add(store.items(key, session.openTurn()).toString());
			return state.toString();
		});
	}

	private List<Endpoint> endpoints() {
		return this.chat.bean(RequestMappingHandlerMapping.class)
			.getHandlerMethods()
			.keySet()
			.stream()
			.flatMap((mapping) -> mapping.getPatternValues()
				.stream()
				.flatMap((path) -> methods(mapping.getMethodsCondition().getMethods())
					.map((method) -> new Endpoint(method, path))))
			.distinct()
			.toList();
	}

	private static Stream<RequestMethod> methods(Set<RequestMethod> methods) {
		return methods.isEmpty() ? Stream.of(RequestMethod.GET, RequestMethod.POST) : methods.stream();
	}

	/** Returns the answer without what differs between any two answers. */
	private static String comparable(HttpResponse<String> answer) {
		return answer.body()
			.lines()
			.filter((line) -> !line.contains("waiting") && !line.contains("begun"))
			.collect(Collectors.joining("\n"))
			.replace(VICTIM, "X")
			.replace(ABSENT, "X")
			.replaceAll("data:\\{}\\n*", "")
			.replaceAll("[0-9a-f-]{8,}|[0-9.]+|\"token\":\"[^\"]+\"", "#");
	}

	private static Map<String, Object> with(Map<String, Object> body, String name, Object value) {
		return Stream.concat(body.entrySet().stream(), Map.of(name, value).entrySet().stream())
			.collect(Collectors.toMap(Map.Entry::getKey, Map.Entry::getValue, (first, last) -> last));
	}

	/**
	 * A thread of Ada's with a call that waits and a standing decision.
	 */
	private record Target(String call, String digest, String standing) {

		/** Something of everything that any endpoint asks for. */
		Map<String, Object> body() {
			return Map.ofEntries(Map.entry("text", "Hello"), Map.entry("digest", this.digest),
					Map.entry("verb", "APPROVE"), Map.entry("by", "ada"), Map.entry("name", "attack"),
					Map.entry("password", "attack"), Map.entry("title", "attack"), Map.entry("turn", 1),
					Map.entry("turns", 1), Map.entry("from", 1), Map.entry("accept", true));
		}

	}

	private record Endpoint(RequestMethod method, String path) {

		HttpResponse<String> send(ChatUser attacker, Target target, String thread) throws Exception {
			return attacker.send(this.method.name(), of(target, thread),
					(this.method != RequestMethod.GET) ? target.body() : null);
		}

		String of(Target target, String thread) {
			String filled = this.path.replace("{id}", thread)
				.replace("{owner}", "ada")
				.replace("{number}", "1")
				.replace("{call}", target.call())
				.replace("{decision}", target.standing())
				.replace("{request}", "r1");
			assertThat(filled).as("A path with a new variable: say here what an attacker writes for it")
				.doesNotContain("{");
			return filled + "?name=main&force=true&from=1";
		}

		@Override
		public String toString() {
			return this.method + " " + this.path;
		}

	}

}
