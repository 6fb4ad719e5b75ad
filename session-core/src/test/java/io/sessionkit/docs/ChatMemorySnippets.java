package io.sessionkit.docs;

import javax.sql.DataSource;

import io.sessionkit.SessionKey;
import io.sessionkit.access.Caller;
import io.sessionkit.access.SessionAccess;
import io.sessionkit.advisor.SessionAdvisor;
import io.sessionkit.chatmemory.SessionChatMemory;
import io.sessionkit.chatmemory.SessionChatMemoryRepository;
import io.sessionkit.conversation.Conversations;
import io.sessionkit.migration.ImportReport;
import io.sessionkit.migration.ImportSource;
import io.sessionkit.migration.SessionImport;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.Window;
import org.jspecify.annotations.Nullable;

import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.chat.client.advisor.MessageChatMemoryAdvisor;
import org.springframework.ai.chat.memory.ChatMemory;
import org.springframework.ai.chat.memory.ChatMemoryRepository;
import org.springframework.ai.chat.memory.repository.jdbc.JdbcChatMemoryRepository;
import org.springframework.ai.chat.model.ChatModel;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Primary;

/**
 * The code of {@code docs/chat-memory.md}.
 */
final class ChatMemorySnippets {

	private ChatMemorySnippets() {
	}

	// tag::before
	static @Nullable String before(ChatClient.Builder builder, ChatMemory memory, String user, String text) {
		return builder.defaultAdvisors(MessageChatMemoryAdvisor.builder(memory).build())
			.build()
			.prompt()
			.user(text)
			.advisors((advisors) -> advisors.param(ChatMemory.CONVERSATION_ID, user + ":chat"))
			.call()
			.content();
	}
	// end::before

	// tag::after
	static @Nullable String after(ChatClient.Builder builder, String user, String text) {
		return builder.build()
			.prompt()
			.user(text)
			.advisors(SessionAdvisor.session(SessionKey.of(user, "chat")))
			.call()
			.content();
	}
	// end::after

	// tag::beans
	@Configuration(proxyBeanMethods = false)
	static class MemoryConfiguration {

		@Bean
		ChatMemory chatMemory(SessionStore store, SessionAccess access) {
			return SessionChatMemory.of(store, () -> access.caller().name()).window(Window.items(40));
		}

		@Bean
		@Primary
		ChatMemoryRepository chatMemoryRepository(SessionStore store, SessionAccess access) {
			return SessionChatMemoryRepository.of(store, () -> access.caller().name());
		}

	}
	// end::beans

	static ChatClient advised(ChatModel model, ChatMemory memory) {
		// tag::advised
		return ChatClient.builder(model).defaultAdvisors(MessageChatMemoryAdvisor.builder(memory).build()).build();
		// end::advised
	}

	static ImportReport chatMemory(SessionStore store, DataSource database) {
		// tag::import
		SessionImport imports = SessionImport.into(store, (conversation) -> {
			String[] userAndThread = conversation.id().split(":", 2);
			return SessionKey.of(userAndThread[0], userAndThread[1]);
		});
		ImportReport expected = imports.dryRun().run(ImportSource.chatMemoryTable(database));
		ImportReport done = imports.run(ImportSource.chatMemoryTable(database));
		// end::import
		return (expected.turns() == done.turns()) ? done : expected;
	}

	static ImportReport aiSessions(SessionStore store, DataSource database) {
		// tag::sessions
		return SessionImport.into(store, (session) -> SessionKey.of(session.user(), session.id()))
			.run(ImportSource.aiSessionTables(database));
		// end::sessions
	}

	static ImportReport repository(SessionStore store, ChatMemoryRepository repository, String owner) {
		// tag::repository
		return SessionImport.into(store, (conversation) -> SessionKey.of(owner, conversation.id()))
			.run(ImportSource.chatMemory(repository));
		// end::repository
	}

	// tag::back
	static void back(JdbcChatMemoryRepository old, String id, Conversations conversations, SessionKey key) {
		old.saveAll(id, conversations.get(key).view().stream().filter((each) -> each.getText() != null).toList());
	}
	// end::back

	static ImportReport job(SessionAccess access, SessionImport imports, ImportSource source) {
		// tag::job
		return access.callAs(Caller.server(), () -> imports.run(source));
		// end::job
	}

}
