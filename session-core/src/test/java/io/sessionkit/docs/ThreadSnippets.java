package io.sessionkit.docs;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;

import io.sessionkit.Session;
import io.sessionkit.SessionKey;
import io.sessionkit.Turn;
import io.sessionkit.access.Caller;
import io.sessionkit.access.CallerResolver;
import io.sessionkit.access.SessionAccess;
import io.sessionkit.advisor.SessionAdvisor;
import io.sessionkit.advisor.SessionKeyResolver;
import io.sessionkit.conversation.Conversation;
import io.sessionkit.conversation.Conversations;
import io.sessionkit.store.HeaderChange;
import io.sessionkit.store.Page;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.util.context.ContextView;

import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.chat.messages.Message;

/**
 * The code of {@code docs/threads.md}.
 */
final class ThreadSnippets {

	private ThreadSnippets() {
	}

	static @Nullable String ask(ChatClient chat, String user, String thread, String text) {
		// tag::ask
		SessionKey session = SessionKey.of(user, thread);
		return chat.prompt().user(text).advisors(SessionAdvisor.session(session)).call().content();
		// end::ask
	}

	static List<String> titles(Conversations conversations, String user) {
		// tag::list
		List<Session> newest = conversations.store().list(user, Page.first(20));
		return newest.stream().map((thread) -> thread.key().id() + ": " + thread.title()).toList();
		// end::list
	}

	static List<Session> job(SessionAccess access, Conversations conversations) {
		// tag::job
		return access.callAs(Caller.server(), () -> conversations.store().list("ada", Page.first(20)));
		// end::job
	}

	/** The user who is signed in, as an application knows the user. */
	record User(String tenant, String name, Set<String> roles) {
	}

	static CallerResolver callers(Supplier<@Nullable User> signedIn) {
		// tag::callers
		CallerResolver callers = () -> Optional.ofNullable(signedIn.get())
			.map((user) -> Caller.of(user.tenant() + ":" + user.name(), user.roles(), user.roles().contains("ADMIN")));
		// end::callers
		return callers;
	}

	private static Caller caller(User user) {
		return Caller.of(user.tenant() + ":" + user.name(), user.roles(), false);
	}

	static CallerResolver reactiveCallers(ThreadLocal<@Nullable User> taken) {
		// tag::reactive-callers
		return new CallerResolver() {

			@Override
			public Optional<Caller> current() {
				return Optional.ofNullable(taken.get()).map((user) -> caller(user));
			}

			@Override
			public Mono<Caller> current(ContextView context) {
				return Mono.justOrEmpty(context.<User>getOrEmpty(User.class)).map((user) -> caller(user));
			}

		};
		// end::reactive-callers
	}

	static List<Message> read(Conversations conversations, String user, String thread) {
		// tag::read
		return conversations.get(SessionKey.of(user, thread)).messages();
		// end::read
	}

	// tag::agents
	record Agents(ChatClient support, ChatClient billing) {

		static Agents of(ChatClient.Builder builder) {
			return new Agents(
					builder.clone()
						.defaultSystem("You welcome customers.")
						.defaultAdvisors(SessionAdvisor.agent("support"))
						.build(),
					builder.clone()
						.defaultSystem("You answer questions about bills.")
						.defaultAdvisors(SessionAdvisor.agent("billing"))
						.build());
		}

	}
	// end::agents

	static @Nullable String answer(Agents agents, Conversations conversations, SessionKey session, String text) {
		// tag::last-agent
		String last = conversations.get(session).head().map(Turn::agent).orElse("support");
		ChatClient agent = last.equals("billing") ? agents.billing() : agents.support();
		return agent.prompt().user(text).advisors(SessionAdvisor.session(session)).call().content();
		// end::last-agent
	}

	static void title(Conversations conversations, String user, String thread, String title) {
		// tag::title
		conversations.get(SessionKey.of(user, thread)).title(title);
		// end::title
	}

	static void begin(Conversations conversations, String user, String thread) {
		// tag::create
		conversations.get(SessionKey.of(user, thread)).create(HeaderChange.NONE.title("New thread"));
		// end::create
	}

	static void settings(Conversations conversations, String user, String thread) {
		// tag::settings
		Conversation conversation = conversations.get(SessionKey.of(user, thread));
		conversation.settings((settings) -> settings.limit(50).trim((trim) -> trim.maxTokens(4000)).summarize(false));
		conversation.tags(Set.of("support"));
		conversation.timeToLive(Duration.ofDays(7));
		// end::settings
	}

	static boolean erase(Conversations conversations, String user, String thread) {
		// tag::erase
		return conversations.get(SessionKey.of(user, thread)).clear();
		// end::erase
	}

	static SessionKeyResolver resolver(Supplier<Optional<String>> signedIn) {
		// tag::resolver
		return (request) -> signedIn.get().map((user) -> SessionKey.of(user, "inbox"));
		// end::resolver
	}

	static @Nullable String title(ChatClient chat, String firstQuestion) {
		// tag::none
		return chat.prompt()
			.user("A title of five words for: " + firstQuestion)
			.advisors(SessionAdvisor.none())
			.call()
			.content();
		// end::none
	}

}
