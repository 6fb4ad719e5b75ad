package io.sessionkit.docs;

import java.util.List;
import java.util.Optional;
import java.util.UUID;

import io.sessionkit.SessionKey;
import io.sessionkit.access.Caller;
import io.sessionkit.access.SessionAccess;
import io.sessionkit.advisor.SessionAdvisor;
import io.sessionkit.chatmemory.SessionChatMemoryRepository;
import io.sessionkit.conversation.Conversations;
import io.sessionkit.store.SessionStore;
import io.sessionkit.test.ScriptedChatModel;
import io.sessionkit.test.ScriptedChatModel.Lines;
import io.sessionkit.test.TestStores;
import org.h2.jdbcx.JdbcConnectionPool;
import org.junit.jupiter.api.Test;

import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.chat.memory.ChatMemory;
import org.springframework.ai.chat.memory.ChatMemoryRepository;
import org.springframework.ai.chat.memory.MessageWindowChatMemory;
import org.springframework.ai.chat.memory.repository.jdbc.JdbcChatMemoryRepository;
import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.UserMessage;
import org.springframework.ai.content.Media;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.core.io.ByteArrayResource;
import org.springframework.core.io.ClassPathResource;
import org.springframework.jdbc.datasource.init.ResourceDatabasePopulator;
import org.springframework.util.MimeTypeUtils;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * The code of {@code docs/chat-memory.md} does what the page says.
 */
class ChatMemorySnippetsTests {

	private static final SessionKey CHAT = SessionKey.of("ada", "chat");

	private final SessionStore store = TestStores.MEMORY.create();

	private final ScriptedChatModel model = new ScriptedChatModel();

	private final ChatMemorySnippets.MemoryConfiguration configuration = new ChatMemorySnippets.MemoryConfiguration();

	private final SessionAccess access = SessionAccess.of(() -> Optional.of(Caller.of("ada")));

	private final ChatMemory memory = this.configuration.chatMemory(this.store, this.access);

	@Test
	void callIsTheSameBeforeAndAfter() {
		this.model.says("a1").says("a2");
		ChatMemorySnippets.before(ChatClient.builder(this.model), this.memory, "ada", "q1");
		ChatMemorySnippets.after(sessions(), "ada", "q2");
		assertThat(this.store.messages(SessionKey.of("ada", "ada:chat"))).hasSize(2);
		assertThat(this.store.messages(SessionKey.of("ada", "chat"))).hasSize(2);
	}

	@Test
	void clientWithoutTheSessionAdvisorUsesTheMemory() {
		this.model.says("a1").says("a2");
		ChatClient chat = ChatMemorySnippets.advised(this.model, this.memory);
		for (String text : List.of("q1", "q2")) {
			chat.prompt()
				.user(text)
				.advisors((advisors) -> advisors.param(ChatMemory.CONVERSATION_ID, "t1"))
				.call()
				.content();
		}
		assertThat(this.model.lastRequestLines()).containsExactly("user: q1", "assistant: a1", "user: q2");
		assertThat(this.configuration.chatMemoryRepository(this.store, this.access).findConversationIds())
			.containsExactly("t1");
	}

	@Test
	void callWithBothIsRefusedBeforeTheModelIsCalled() {
		this.memory.add("t1", List.of(new UserMessage("q"), new AssistantMessage("a")));
		assertThatIllegalStateException()
			.isThrownBy(() -> ChatMemorySnippets.before(sessions(), this.memory, "ada", "q1"))
			.withMessageContaining("must not have another memory");
		assertThat(this.model.prompts()).isEmpty();
		assertThat(this.memory.get("ada:chat")).isEmpty();
	}

	@Test
	void repositoryIsTheOneThatIsInjectedWhileThatOfSpringAisStarterIsThere() {
		JdbcConnectionPool database = JdbcConnectionPool.create("jdbc:h2:mem:" + UUID.randomUUID(), "sa", "");
		try (AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext()) {
			context.registerBean(SessionStore.class, () -> this.store);
			context.registerBean(SessionAccess.class, () -> this.access);
			context.registerBean("jdbcChatMemoryRepository", JdbcChatMemoryRepository.class,
					() -> JdbcChatMemoryRepository.builder().dataSource(database).build());
			context.register(ChatMemorySnippets.MemoryConfiguration.class);
			context.refresh();
			assertThat(context.getBean(ChatMemoryRepository.class)).isInstanceOf(SessionChatMemoryRepository.class);
		}
	}

	@Test
	void conversationsAreImportedAndWrittenBack() {
		JdbcConnectionPool database = database();
		JdbcChatMemoryRepository repository = JdbcChatMemoryRepository.builder().dataSource(database).build();
		this.model.says("a1").says("a2");
		ChatMemorySnippets.before(ChatClient.builder(this.model), windowOn(repository), "ada", "q1");
		assertThat(ChatMemorySnippets.chatMemory(this.store, database).turns()).isEqualTo(1);
		ChatMemorySnippets.after(sessions(), "ada", "q2");
		assertThat(this.model.lastRequestLines()).containsExactly("user: q1", "assistant: a1", "user: q2");
		ChatMemorySnippets.back(repository, "ada:chat", Conversations.of(this.store), CHAT);
		assertThat(Lines.of(repository.findByConversationId("ada:chat"))).containsExactly("user: q1", "assistant: a1",
				"user: q2", "assistant: a2");
		assertThat(ChatMemorySnippets.repository(this.store, repository, "all").turns()).isEqualTo(2);
		assertThat(ChatMemorySnippets.aiSessions(this.store, database).conversations()).isEmpty();
		database.dispose();
	}

	@Test
	void whatWasPutAwayByAResetIsNotWrittenBack() {
		JdbcConnectionPool database = database();
		JdbcChatMemoryRepository repository = JdbcChatMemoryRepository.builder().dataSource(database).build();
		this.model.says("a1").says("a2");
		ChatMemorySnippets.after(sessions(), "ada", "q1");
		Conversations conversations = Conversations.of(this.store);
		conversations.get(CHAT).reset();
		ChatMemorySnippets.after(sessions(), "ada", "q2");
		ChatMemorySnippets.back(repository, "ada:chat", conversations, CHAT);
		assertThat(Lines.of(repository.findByConversationId("ada:chat"))).containsExactly("user: q2", "assistant: a2");
		database.dispose();
	}

	@Test
	void replyOfMediaAloneIsLeftOutOfWhatIsWrittenBack() {
		JdbcConnectionPool database = database();
		JdbcChatMemoryRepository repository = JdbcChatMemoryRepository.builder().dataSource(database).build();
		Media picture = new Media(MimeTypeUtils.IMAGE_PNG, new ByteArrayResource(new byte[] { 1 }));
		this.store.add(CHAT,
				List.of(new UserMessage("paint"), AssistantMessage.builder().media(List.of(picture)).build(),
						new UserMessage("q"), new AssistantMessage("a")));
		ChatMemorySnippets.back(repository, "ada:chat", Conversations.of(this.store), CHAT);
		assertThat(Lines.of(repository.findByConversationId("ada:chat"))).containsExactly("user: paint", "user: q",
				"assistant: a");
		database.dispose();
	}

	private static JdbcConnectionPool database() {
		JdbcConnectionPool database = JdbcConnectionPool.create("jdbc:h2:mem:" + UUID.randomUUID(), "sa", "");
		new ResourceDatabasePopulator(
				new ClassPathResource("org/springframework/ai/chat/memory/repository/jdbc/schema-h2.sql"),
				new ClassPathResource("org/springframework/ai/session/jdbc/schema-h2.sql"))
			.execute(database);
		return database;
	}

	private static ChatMemory windowOn(ChatMemoryRepository repository) {
		return MessageWindowChatMemory.builder().chatMemoryRepository(repository).build();
	}

	private ChatClient.Builder sessions() {
		return ChatClient.builder(this.model).defaultAdvisors(SessionAdvisor.of(Conversations.of(this.store)));
	}

}
