package io.sessionkit.docs;

import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReference;

import io.sessionkit.Session;
import io.sessionkit.SessionKey;
import io.sessionkit.SessionNotFoundException;
import io.sessionkit.SessionSettings;
import io.sessionkit.access.Caller;
import io.sessionkit.access.CallerRequiredException;
import io.sessionkit.access.SessionAccess;
import io.sessionkit.advisor.SessionAdvisor;
import io.sessionkit.codec.JsonMessageCodec;
import io.sessionkit.conversation.Conversations;
import io.sessionkit.store.Page;
import io.sessionkit.store.StoreOptions;
import io.sessionkit.store.Tail;
import io.sessionkit.store.memory.InMemorySessionStore;
import io.sessionkit.test.ScriptedChatModel;
import org.junit.jupiter.api.Test;
import reactor.util.context.Context;

import org.springframework.ai.chat.client.ChatClient;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * The code of {@code docs/threads.md} does what the page says.
 */
class ThreadSnippetsTests {

	private final Conversations conversations = Conversations
		.of(new InMemorySessionStore(StoreOptions.of(JsonMessageCodec.create())));

	private final ScriptedChatModel model = new ScriptedChatModel();

	private final AtomicReference<Optional<String>> signedIn = new AtomicReference<>(Optional.empty());

	private final ChatClient chat = ChatClient.builder(this.model)
		.defaultAdvisors(SessionAdvisor.builder(this.conversations)
			.resolver(ThreadSnippets.resolver(this.signedIn::get))
			.build())
		.build();

	@Test
	void threadsOfTwoUsersWithTheSameIdAreTwo() {
		this.model.says("a1").says("a2");
		ThreadSnippets.ask(this.chat, "ada", "t1", "mine");
		ThreadSnippets.ask(this.chat, "bob", "t1", "his");
		assertThat(this.model.lastRequestLines()).containsExactly("user: his");
		assertThat(ThreadSnippets.read(this.conversations, "ada", "t1")).hasSize(2);
		ThreadSnippets.erase(this.conversations, "bob", "t1");
		assertThat(ThreadSnippets.read(this.conversations, "bob", "t1")).isEmpty();
		assertThat(ThreadSnippets.read(this.conversations, "ada", "t1")).hasSize(2);
		assertThat(ThreadSnippets.titles(this.conversations, "bob")).isEmpty();
	}

	@Test
	void agentsShareASessionAndTheOneThatSpokeLastGoesOnWhoeverFailedSince() {
		SessionKey session = SessionKey.of("ada", "t1");
		ThreadSnippets.Agents agents = ThreadSnippets.Agents
			.of(ChatClient.builder(this.model).defaultAdvisors(SessionAdvisor.of(this.conversations)));
		this.model.says("hello").says("which bill?").fails(new IllegalStateException("down")).says("it is paid");
		ThreadSnippets.answer(agents, this.conversations, session, "hi");
		assertThat(this.model.lastRequestLines()).containsExactly("system: You welcome customers.", "user: hi");
		agents.billing().prompt().user("my bill").advisors(SessionAdvisor.session(session)).call().content();
		assertThat(this.model.lastRequestLines()).containsExactly("system: You answer questions about bills.",
				"user: hi", "assistant: hello", "user: my bill");
		assertThatIllegalStateException().isThrownBy(() -> agents.support()
			.prompt()
			.user("are you there?")
			.advisors(SessionAdvisor.session(session))
			.call()
			.content());
		assertThat(this.conversations.get(session).turns(Tail.newest(1)).get(0).agent()).isEqualTo("support");
		ThreadSnippets.answer(agents, this.conversations, session, "that of May");
		assertThat(this.model.lastRequestLines()).startsWith("system: You answer questions about bills.");
		assertThat(this.conversations.get(session).head().orElseThrow().agent()).isEqualTo("billing");
	}

	@Test
	void ownersAreThoseOfTheCallerAndAJobReachesAll() {
		AtomicReference<ThreadSnippets.User> user = new AtomicReference<>(
				new ThreadSnippets.User("acme", "ada", Set.of("LEAD")));
		SessionAccess access = SessionAccess.of(ThreadSnippets.callers(user::get));
		assertThat(access.caller()).isEqualTo(Caller.of("acme:ada", "LEAD"));
		try (Conversations guarded = Conversations.builder(this.conversations.store()).access(access).build()) {
			assertThat(guarded.get("t1").key()).isEqualTo(SessionKey.of("acme:ada", "t1"));
			ThreadSnippets.begin(this.conversations, "ada", "t1");
			assertThatExceptionOfType(SessionNotFoundException.class)
				.isThrownBy(() -> guarded.store().list("ada", Page.first(20)));
			assertThat(ThreadSnippets.job(access, guarded)).hasSize(1);
			user.set(null);
			assertThatExceptionOfType(CallerRequiredException.class).isThrownBy(() -> guarded.get("t1"));
		}
	}

	@Test
	void callerOfAStreamIsTheUserOfItsContext() {
		ThreadLocal<ThreadSnippets.User> taken = new ThreadLocal<>();
		SessionAccess access = SessionAccess.of(ThreadSnippets.reactiveCallers(taken));
		ThreadSnippets.User ada = new ThreadSnippets.User("acme", "ada", Set.of());
		assertThat(access.caller(Context.of(ThreadSnippets.User.class, ada)).block()).isEqualTo(Caller.of("acme:ada"));
		taken.set(ada);
		assertThat(access.caller()).isEqualTo(Caller.of("acme:ada"));
	}

	@Test
	void settingsOfOneThreadAreItsOwn() {
		ThreadSnippets.begin(this.conversations, "ada", "t1");
		ThreadSnippets.begin(this.conversations, "ada", "t2");
		ThreadSnippets.settings(this.conversations, "ada", "t1");
		Session session = this.conversations.get(SessionKey.of("ada", "t1")).session().orElseThrow();
		assertThat(session.settings())
			.isEqualTo(SessionSettings.NONE.limit(50).trim((trim) -> trim.maxTokens(4000)).summarize(false));
		assertThat(session.tags()).containsExactly("support");
		assertThat(session.timeToLive()).isEqualTo(Duration.ofDays(7));
		assertThat(this.conversations.get(SessionKey.of("ada", "t2")).settings()).isEqualTo(SessionSettings.NONE);
	}

	@Test
	void listHasTheNewestFirstWithTheirTitles() {
		this.model.says("a1").says("a2");
		ThreadSnippets.begin(this.conversations, "ada", "t2");
		ThreadSnippets.ask(this.chat, "ada", "t1", "q");
		ThreadSnippets.title(this.conversations, "ada", "t1", "Tea");
		assertThat(ThreadSnippets.titles(this.conversations, "ada")).containsExactly("t1: Tea", "t2: New thread");
		assertThatExceptionOfType(SessionNotFoundException.class)
			.isThrownBy(() -> ThreadSnippets.title(this.conversations, "ada", "t3", "Tea"));
	}

	@Test
	void resolverNamesTheThreadOfWhoeverIsSignedInAndNoneLeavesACallOut() {
		this.signedIn.set(Optional.of("ada"));
		this.model.says("a1").says("a title");
		this.chat.prompt().user("q").call().content();
		assertThat(ThreadSnippets.title(this.chat, "q")).isEqualTo("a title");
		assertThat(this.conversations.get(SessionKey.of("ada", "inbox")).messages()).hasSize(2);
		assertThat(this.model.lastRequest()).hasSize(1);
	}

}
