package io.sessionkit.migration;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Predicate;

import javax.sql.DataSource;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.sessionkit.Session;
import io.sessionkit.SessionItem;
import io.sessionkit.SessionKey;
import io.sessionkit.Turn;
import io.sessionkit.advisor.SessionAdvisor;
import io.sessionkit.context.Retention;
import io.sessionkit.conversation.Conversations;
import io.sessionkit.migration.ImportReport.LeftOut;
import io.sessionkit.migration.ImportReport.NotImported;
import io.sessionkit.migration.ImportReport.Outcome;
import io.sessionkit.migration.ImportReport.Reason;
import io.sessionkit.store.Page;
import io.sessionkit.store.RecordWrite;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.Tail;
import io.sessionkit.test.ScriptedChatModel;
import io.sessionkit.test.ScriptedChatModel.Lines;
import io.sessionkit.test.TestStores;
import org.h2.jdbcx.JdbcConnectionPool;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.LoggerFactory;

import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.chat.client.advisor.MessageChatMemoryAdvisor;
import org.springframework.ai.chat.memory.ChatMemory;
import org.springframework.ai.chat.memory.ChatMemoryRepository;
import org.springframework.ai.chat.memory.InMemoryChatMemoryRepository;
import org.springframework.ai.chat.memory.MessageWindowChatMemory;
import org.springframework.ai.chat.memory.repository.jdbc.JdbcChatMemoryRepository;
import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.AssistantMessage.ToolCall;
import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.SystemMessage;
import org.springframework.ai.chat.messages.ToolResponseMessage;
import org.springframework.ai.chat.messages.ToolResponseMessage.ToolResponse;
import org.springframework.ai.chat.messages.UserMessage;
import org.springframework.ai.content.Media;
import org.springframework.core.io.ByteArrayResource;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.util.MimeTypeUtils;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * Imports from what Spring AI's own classes have written.
 */
class ChatMemoryImportTests {

	private static final Instant WRITTEN = Instant.parse("2026-01-02T03:04:05.123456Z");

	private final SessionStore store = TestStores.MEMORY.create();

	private final SessionImport imports = SessionImport.into(this.store,
			(conversation) -> SessionKey.of("ada", conversation.id()));

	@Test
	void messagesThatAreTooOldAreDeletedByTheNextCall() {
		DataSource database = SourceDatabase.H2.create();
		repository(database).saveAll("t1", List.of(new UserMessage("old"), new AssistantMessage("answer")));
		new JdbcTemplate(database).update("UPDATE SPRING_AI_CHAT_MEMORY SET timestamp = DATE '2024-01-01'");
		this.imports.run(ImportSource.chatMemoryTable(database));
		Conversations conversations = Conversations.builder(this.store)
			.retention(Retention.keepFor(Duration.ofDays(90)))
			.build();
		ChatClient.builder(new ScriptedChatModel().says("a"))
			.defaultAdvisors(SessionAdvisor.of(conversations))
			.build()
			.prompt()
			.user("q")
			.advisors(SessionAdvisor.session(SessionKey.of("ada", "t1")))
			.call()
			.content();
		assertThat(Lines.of(this.store.messages(SessionKey.of("ada", "t1")))).containsExactly("user: q",
				"assistant: a");
	}

	@Test
	void databaseThatGivesNoConnectionIsNotTakenForOneWithoutTheTable() throws SQLException {
		JdbcConnectionPool pool = (JdbcConnectionPool) SourceDatabase.H2.create();
		pool.setMaxConnections(1);
		pool.setLoginTimeout(1);
		Connection held = pool.getConnection();
		assertThatIllegalStateException().isThrownBy(() -> this.imports.run(ImportSource.chatMemoryTable(pool)))
			.withMessageContaining("gave no connection")
			.withMessageNotContaining("has no table");
		held.close();
		assertThat(this.imports.run(ImportSource.chatMemoryTable(pool)).conversations()).isEmpty();
		pool.dispose();
	}

	@ParameterizedTest
	@EnumSource
	void conversationsThatTheMemoryAdvisorHasWrittenGoOnAsSessions(SourceDatabase kind) {
		DataSource database = kind.create();
		ScriptedChatModel model = new ScriptedChatModel();
		MessageWindowChatMemory memory = MessageWindowChatMemory.builder()
			.chatMemoryRepository(repository(database))
			.build();
		ChatClient chat = ChatClient.builder(model)
			.defaultAdvisors(MessageChatMemoryAdvisor.builder(memory).build())
			.build();
		for (String thread : List.of("t1", "t2", "t1")) {
			model.says("answer");
			chat.prompt()
				.user("question")
				.advisors((advisors) -> advisors.param(ChatMemory.CONVERSATION_ID, thread))
				.call()
				.content();
		}
		ImportReport report = this.imports.run(ImportSource.chatMemoryTable(database));
		assertThat(report.conversations()).isEqualTo(Map.of(Outcome.IMPORTED, 2));
		assertThat(report.turns()).isEqualTo(3);
		assertThat(report.messages()).isEqualTo(6);
		assertThat(report.leftOut()).isEmpty();
		assertThat(turns("t1")).extracting(Turn::items).containsExactly(2, 2);
		model.says("next");
		ChatClient.builder(model)
			.defaultAdvisors(SessionAdvisor.of(Conversations.of(this.store)))
			.build()
			.prompt()
			.user("more")
			.advisors(SessionAdvisor.session(key("t1")))
			.call()
			.content();
		assertThat(model.lastRequestLines()).containsExactly("user: question", "assistant: answer", "user: question",
				"assistant: answer", "user: more");
	}

	@ParameterizedTest
	@EnumSource
	void timesAreKept(SourceDatabase kind) {
		DataSource database = kind.create();
		ChatMemoryRepository repository = repository(database);
		repository.saveAll("t1", List.of(at(user("q"), WRITTEN), at(answer("a"), WRITTEN.plusSeconds(7))));
		this.imports.run(ImportSource.chatMemoryTable(database));
		assertThat(this.store.items(key("t1"), Tail.ALL)).extracting(SessionItem::at)
			.containsExactly(WRITTEN, WRITTEN.plusSeconds(7));
		assertThat(turns("t1").get(0).startedAt()).isEqualTo(WRITTEN);
		assertThat(turns("t1").get(0).endedAt()).isEqualTo(WRITTEN.plusSeconds(7));
		SessionImport others = SessionImport.into(this.store, (conversation) -> SessionKey.of("bob", "t1"));
		assertThat(others.run(ImportSource.chatMemory(repository)).messages()).isEqualTo(2);
		List<SessionItem> items = this.store.items(SessionKey.of("bob", "t1"), Tail.ALL);
		assertThat(items).extracting(SessionItem::at).containsExactly(WRITTEN, WRITTEN.plusSeconds(7));
		assertThat(items).allSatisfy((item) -> assertThat(item.message().getMetadata())
			.doesNotContainKey(JdbcChatMemoryRepository.CONVERSATION_TS));
	}

	@ParameterizedTest
	@EnumSource
	void whatCanBePartOfNoTurnIsLeftOutAndNamedWithoutItsText(SourceDatabase kind) {
		DataSource database = kind.create();
		repository(database).saveAll("t1", List.of(new SystemMessage("secret"), answer("secret"), user("q1"),
				answer(" "), answer("a1"), user("secret")));
		repository(database).saveAll("t2", List.of(user("secret")));
		insert(database, "t1", "TOOL", "secret", 6);
		ImportReport report = this.imports.run(ImportSource.chatMemoryTable(database));
		assertThat(report.conversations()).isEqualTo(Map.of(Outcome.IMPORTED, 1, Outcome.EMPTY, 1));
		assertThat(report.leftOutMessages()).containsExactlyInAnyOrder(new LeftOut("t1", "0", Reason.SYSTEM_TEXT),
				new LeftOut("t1", "1", Reason.LEADING_ANSWER), new LeftOut("t1", "3", Reason.EMPTY),
				new LeftOut("t1", "5", Reason.UNFINISHED), new LeftOut("t1", "6", Reason.EMPTY),
				new LeftOut("t2", "0", Reason.UNFINISHED));
		assertThat(report.notImported()).containsExactly(new NotImported("t2", Outcome.EMPTY));
		assertThat(report.toString()).doesNotContain("secret");
		assertThat(lines("t1")).containsExactly("user: q1", "assistant: a1");
		assertThat(this.store.find(key("t2"))).isEmpty();
	}

	@ParameterizedTest
	@EnumSource
	void dryRunReportsTheSameAndWritesNothing(SourceDatabase kind) {
		DataSource database = kind.create();
		for (int i = 0; i < 3; i++) {
			repository(database).saveAll("t" + i, said(300));
		}
		ImportReport dry = this.imports.dryRun().run(ImportSource.chatMemoryTable(database));
		assertThat(this.store.list("ada", Page.first(10))).isEmpty();
		ImportReport done = this.imports.run(ImportSource.chatMemoryTable(database));
		assertThat(dry.dryRun()).isTrue();
		assertThat(done.dryRun()).isFalse();
		assertThat(dry.turns()).isEqualTo(done.turns()).isEqualTo(900);
		assertThat(dry.conversations()).isEqualTo(done.conversations());
		assertThat(this.imports.dryRun().run(ImportSource.chatMemoryTable(database)).conversations())
			.isEqualTo(Map.of(Outcome.ALREADY_IMPORTED, 3));
	}

	/** The function has forgotten the thread. */
	@Test
	void dryRunSeesThatTwoConversationsHaveTheSameKey() {
		DataSource database = SourceDatabase.H2.create();
		repository(database).saveAll("t1", said(1));
		repository(database).saveAll("t2", said(1));
		assertOutcomes(Map.of(Outcome.IMPORTED, 1, Outcome.EXISTS, 1), database);
	}

	/** The first conversation has nothing to import, so the second gets the key. */
	@Test
	void dryRunGivesTheKeyOfAnEmptyConversationToTheNext() {
		DataSource database = SourceDatabase.H2.create();
		repository(database).saveAll("t1", List.of(user("q")));
		repository(database).saveAll("t2", said(1));
		assertOutcomes(Map.of(Outcome.EMPTY, 1, Outcome.IMPORTED, 1), database);
	}

	/** All conversations get one key, in a dry run as in one that writes. */
	private void assertOutcomes(Map<Outcome, Integer> expected, DataSource database) {
		SessionImport into = SessionImport.into(this.store, (conversation) -> SessionKey.of("ada", "chat"));
		assertThat(into.dryRun().run(ImportSource.chatMemoryTable(database)).conversations()).isEqualTo(expected);
		assertThat(into.run(ImportSource.chatMemoryTable(database)).conversations()).isEqualTo(expected);
	}

	@Test
	void conversationOfASourceWithAnotherNameIsAnotherOne() {
		DataSource first = SourceDatabase.H2.create();
		repository(first).saveAll("t1", said(1));
		DataSource second = SourceDatabase.H2.create();
		repository(second).saveAll("t1", said(2));
		ImportSource shop = ImportSource.chatMemoryTable(first).named("shop");
		ImportSource support = ImportSource.chatMemoryTable(second).named("support");
		assertThat(this.imports.run(shop).conversations()).isEqualTo(Map.of(Outcome.IMPORTED, 1));
		assertThat(this.imports.run(support).conversations()).isEqualTo(Map.of(Outcome.EXISTS, 1));
		assertThat(this.imports.run(shop).conversations()).isEqualTo(Map.of(Outcome.ALREADY_IMPORTED, 1));
		assertThatIllegalArgumentException().isThrownBy(() -> shop.named(" ")).withMessageContaining("blank");
	}

	@ParameterizedTest
	@EnumSource(
			names = { "MEMORY", "H2", "POSTGRESQL", "MARIADB", "SQLITE", "HSQLDB", "REDIS", "REDIS_CLUSTER", "FILE" })
	void secondRunWritesNothingOnAnyStore(TestStores kind) {
		SessionStore target = kind.create();
		DataSource database = SourceDatabase.H2.create();
		repository(database).saveAll("t1", said(450));
		SessionImport into = SessionImport.into(target, (conversation) -> SessionKey.of("ada", conversation.id()));
		assertThat(into.run(ImportSource.chatMemoryTable(database)).turns()).isEqualTo(450);
		Session session = target.find(key("t1")).orElseThrow();
		ImportReport again = into.run(ImportSource.chatMemoryTable(database));
		assertThat(again.conversations()).isEqualTo(Map.of(Outcome.ALREADY_IMPORTED, 1));
		assertThat(again.turns()).isZero();
		assertThat(target.find(key("t1")).orElseThrow().version()).isEqualTo(session.version());
		assertThat(Lines.of(target.messages(key("t1")))).isEqualTo(Lines.of(said(450)));
		Conversations.of(target).get(key("t1")).addTurn(said(1), null);
		assertThat(into.run(ImportSource.chatMemoryTable(database)).count(Outcome.ALREADY_IMPORTED)).isEqualTo(1);
	}

	@Test
	void sessionThatDidNotComeFromTheConversationIsLeftAlone() {
		this.store.add(key("t1"), List.of(user("mine"), answer("yours")));
		InMemoryChatMemoryRepository repository = new InMemoryChatMemoryRepository();
		repository.saveAll("t1", said(1));
		repository.saveAll("t2", said(1));
		ImportReport report = this.imports.run(ImportSource.chatMemory(repository));
		assertThat(report.notImported()).containsExactly(new NotImported("t1", Outcome.EXISTS));
		assertThat(lines("t1")).containsExactly("user: mine", "assistant: yours");
		SessionImport all = SessionImport.into(this.store, (conversation) -> key("one"));
		assertThat(all.run(ImportSource.chatMemory(repository)).conversations())
			.isEqualTo(Map.of(Outcome.IMPORTED, 1, Outcome.EXISTS, 1));
		assertThat(lines("one")).hasSize(2);
	}

	@Test
	void conversationWithoutAKeyIsNotImported() {
		InMemoryChatMemoryRepository repository = new InMemoryChatMemoryRepository();
		repository.saveAll("bad\nid", said(1));
		repository.saveAll("t1", said(1));
		assertThat(this.imports.run(ImportSource.chatMemory(repository)).conversations())
			.isEqualTo(Map.of(Outcome.KEY_REFUSED, 1, Outcome.IMPORTED, 1));
	}

	/** It returns null on purpose, so nobody is warned. */
	@Test
	void conversationForWhichTheFunctionReturnsNullIsNotImportedWithoutAWarning() {
		InMemoryChatMemoryRepository repository = new InMemoryChatMemoryRepository();
		List.of("a", "b", "t1").forEach((id) -> repository.saveAll(id, said(1)));
		Map<String, SessionKey> known = Map.of("t1", key("t1"));
		SessionImport into = SessionImport.into(this.store, (conversation) -> known.get(conversation.id()));
		assertThat(logged(() -> assertThat(into.run(ImportSource.chatMemory(repository)).conversations())
			.isEqualTo(Map.of(Outcome.KEY_REFUSED, 2, Outcome.IMPORTED, 1)))).isEmpty();
	}

	@Test
	void exceptionOfTheFunctionIsLoggedOnceWithItsClassAlsoBehindAConversationThatIsLeftOut() {
		InMemoryChatMemoryRepository repository = new InMemoryChatMemoryRepository();
		List.of("a", "b", "c").forEach((id) -> repository.saveAll(id, said(1)));
		SessionImport into = SessionImport.into(this.store, (conversation) -> {
			if (conversation.id().equals("a")) {
				return null;
			}
			throw new UnsupportedOperationException("secret");
		});
		List<String> logged = logged(() -> assertThat(into.run(ImportSource.chatMemory(repository)).conversations())
			.isEqualTo(Map.of(Outcome.KEY_REFUSED, 3)));
		assertThat(logged).singleElement()
			.asString()
			.contains(UnsupportedOperationException.class.getName(), "KEY_REFUSED")
			.doesNotContain("secret");
	}

	@Test
	void conversationThatItsRepositoryCannotReadDoesNotStopTheImportOfOthers() {
		InMemoryChatMemoryRepository all = new InMemoryChatMemoryRepository();
		List.of("a", "b", "t1").forEach((id) -> all.saveAll(id, said(1)));
		ChatMemoryRepository repository = failing(all, (id) -> !id.equals("t1"), new AtomicBoolean());
		List<String> logged = logged(
				() -> assertThat(this.imports.run(ImportSource.chatMemory(repository)).notImported()).containsExactly(
						new NotImported("a", Outcome.UNREADABLE), new NotImported("b", Outcome.UNREADABLE)));
		assertThat(logged).singleElement()
			.asString()
			.contains(UnsupportedOperationException.class.getName(), "UNREADABLE")
			.doesNotContain("secret");
		assertThat(lines("t1")).hasSize(2);
	}

	@Test
	void repositoryThatCannotBeReachedEndsTheImport() {
		InMemoryChatMemoryRepository all = new InMemoryChatMemoryRepository();
		all.saveAll("t1", said(1));
		AtomicBoolean away = new AtomicBoolean();
		ChatMemoryRepository repository = failing(all, (id) -> {
			away.set(true);
			return true;
		}, away);
		assertThatIllegalStateException().isThrownBy(() -> this.imports.run(ImportSource.chatMemory(repository)))
			.withMessage("away");
	}

	/**
	 * A repository that fails to read some conversations, and all of them while it is
	 * away.
	 */
	private static ChatMemoryRepository failing(ChatMemoryRepository repository, Predicate<String> fails,
			AtomicBoolean away) {
		return new ChatMemoryRepository() {

			@Override
			public List<String> findConversationIds() {
				if (away.get()) {
					throw new IllegalStateException("away");
				}
				return repository.findConversationIds();
			}

			@Override
			public List<Message> findByConversationId(String id) {
				if (fails.test(id)) {
					throw new UnsupportedOperationException("secret");
				}
				return repository.findByConversationId(id);
			}

			@Override
			public void saveAll(String id, List<Message> messages) {
				repository.saveAll(id, messages);
			}

			@Override
			public void deleteByConversationId(String id) {
				repository.deleteByConversationId(id);
			}

		};
	}

	@Test
	void sessionThatCannotBeReadDoesNotStopTheImportOfOthers() {
		InMemoryChatMemoryRepository repository = new InMemoryChatMemoryRepository();
		repository.saveAll("t1", said(1));
		repository.saveAll("t2", said(1));
		this.imports.run(ImportSource.chatMemory(repository));
		this.store.put(key("t1"), RecordWrite.put(ImportRecord.KIND, ImportRecord.ID, "spoilt"));
		ImportReport report = this.imports.run(ImportSource.chatMemory(repository));
		assertThat(report.conversations()).isEqualTo(Map.of(Outcome.UNREADABLE, 1, Outcome.ALREADY_IMPORTED, 1));
		assertThat(report.notImported()).containsExactly(new NotImported("t1", Outcome.UNREADABLE));
	}

	/** Returns the warnings of an import. */
	private static List<String> logged(Runnable work) {
		Logger logger = (Logger) LoggerFactory.getLogger(SessionImport.class);
		ListAppender<ILoggingEvent> log = new ListAppender<>();
		log.start();
		logger.addAppender(log);
		try {
			work.run();
		}
		finally {
			logger.detachAppender(log);
		}
		return log.list.stream()
			.filter((event) -> event.getLevel().isGreaterOrEqual(Level.WARN))
			.map(ILoggingEvent::getFormattedMessage)
			.toList();
	}

	/** As those of Cassandra and Cosmos DB, and many of applications. */
	@Test
	void toolMessagesWithoutResultsOfARepositoryCostNoTurn() {
		InMemoryChatMemoryRepository repository = new InMemoryChatMemoryRepository();
		repository.saveAll("t1", List.of(user("q1"), answer(""),
				ToolResponseMessage.builder().responses(List.of()).build(), answer("a1")));
		ImportReport report = this.imports.run(ImportSource.chatMemory(repository));
		assertThat(lines("t1")).containsExactly("user: q1", "assistant: a1");
		assertThat(report.leftOutMessages()).containsExactly(new LeftOut("t1", "1", Reason.EMPTY),
				new LeftOut("t1", "2", Reason.EMPTY));
	}

	@Test
	void repliesAreImportedAsACallStoresThem() {
		InMemoryChatMemoryRepository repository = new InMemoryChatMemoryRepository();
		Message reply = AssistantMessage.builder()
			.content("a1")
			.properties(Map.of("reason", Outcome.EMPTY, "raw", new Object(), "model", "m1"))
			.build();
		Media lost = new Media(MimeTypeUtils.IMAGE_PNG, new ByteArrayResource(new byte[] { 1 })) {
		};
		Message nothingLeft = AssistantMessage.builder().media(List.of(lost)).build();
		repository.saveAll("t1", List.of(user("q1"), reply, user("q2"), nothingLeft));
		ImportReport report = this.imports.run(ImportSource.chatMemory(repository));
		assertThat(lines("t1")).containsExactly("user: q1", "assistant: a1");
		assertThat(this.store.messages(key("t1")).get(1).getMetadata()).containsEntry("reason", "EMPTY")
			.containsEntry("model", "m1")
			.doesNotContainKey("raw");
		assertThat(report.leftOut()).isEqualTo(Map.of(Reason.UNSTORABLE, 2L));
	}

	@Test
	void toolRoundsOfAnyRepositoryStayWithTheirTurn() {
		InMemoryChatMemoryRepository repository = new InMemoryChatMemoryRepository();
		AssistantMessage calls = AssistantMessage.builder()
			.content("")
			.toolCalls(List.of(new ToolCall("c1", "function", "look", "{}")))
			.build();
		Message results = ToolResponseMessage.builder()
			.responses(List.of(new ToolResponse("c1", "look", "found")))
			.build();
		repository.saveAll("t1", List.of(user("q1"), calls, results, answer("a1"), user("q2"), calls, user("q3"),
				answer("a3"), results, answer("stray"), user("\ud800"), answer("a4"), user("q5"), answer("a5")));
		ImportReport report = this.imports.run(ImportSource.chatMemory(repository));
		assertThat(lines("t1")).containsExactly("user: q1", "assistant look({})", "tool look=found", "assistant: a1",
				"user: q5", "assistant: a5");
		assertThat(turns("t1")).extracting(Turn::items).containsExactly(4, 2);
		assertThat(report.count(Reason.UNFINISHED)).isEqualTo(6);
		assertThat(report.count(Reason.UNSTORABLE)).isEqualTo(2);
	}

	@Test
	void resultsOfOneReplyMayComeInAMessageEach() {
		InMemoryChatMemoryRepository repository = new InMemoryChatMemoryRepository();
		AssistantMessage calls = AssistantMessage.builder()
			.content("")
			.toolCalls(
					List.of(new ToolCall("c1", "function", "look", "{}"), new ToolCall("c2", "function", "look", "{}")))
			.build();
		repository.saveAll("t1", List.of(user("q1"), calls, result("c1"), result("c2"), answer("a1"), user("q2"), calls,
				result("c1"), answer("a2")));
		ImportReport report = this.imports.run(ImportSource.chatMemory(repository));
		assertThat(lines("t1")).containsExactly("user: q1", "assistant look({}) look({})", "tool look=c1",
				"tool look=c2", "assistant: a1");
		assertThat(report.count(Reason.UNFINISHED)).as("a result is missing").isEqualTo(4);
	}

	@Test
	void earlierTableIsReadInTheOrderOfItsTimes() {
		DataSource database = earlierTable();
		insertEarlier(database, "t1", "ASSISTANT", "a1", WRITTEN.plusSeconds(1));
		insertEarlier(database, "t1", "USER", "q1", WRITTEN);
		insertEarlier(database, "t2", "USER", "q1", WRITTEN);
		insertEarlier(database, "t2", "ASSISTANT", "a1", WRITTEN);
		ImportReport report = this.imports.run(ImportSource.chatMemoryTable(database));
		assertThat(lines("t1")).containsExactly("user: q1", "assistant: a1");
		assertThat(report.notImported()).containsExactly(new NotImported("t2", Outcome.ORDER_UNKNOWN));
		assertThat(this.imports.run(ImportSource.chatMemoryTable(database)).count(Outcome.ALREADY_IMPORTED))
			.isEqualTo(1);
	}

	@Test
	void conversationThatWasSavedTwiceAtOnceIsNotImported() {
		DataSource database = SourceDatabase.H2.create();
		repository(database).saveAll("t1", said(1));
		insert(database, "t1", "USER", "q", 0);
		assertThat(this.imports.run(ImportSource.chatMemoryTable(database)).notImported())
			.containsExactly(new NotImported("t1", Outcome.ORDER_UNKNOWN));
		assertThat(this.store.find(key("t1"))).isEmpty();
	}

	/** As a table of 1.x is left by the column that 2.0 needs. */
	@ParameterizedTest
	@ValueSource(strings = { "BIGINT DEFAULT 0 NOT NULL", "BIGINT" })
	void rowsThatAreOlderThanTheSequenceAreReadInTheOrderOfTheirTimes(String sequence) {
		DataSource database = earlierTable();
		for (int i = 0; i < 600; i++) {
			insertEarlier(database, "t1", "ASSISTANT", "a" + i, WRITTEN.plusSeconds(2 * i + 1));
			insertEarlier(database, "t1", "USER", "q" + i, WRITTEN.plusSeconds(2 * i));
		}
		insertEarlier(database, "t2", "USER", "q", WRITTEN);
		insertEarlier(database, "t2", "ASSISTANT", "a", WRITTEN);
		new JdbcTemplate(database).execute("ALTER TABLE SPRING_AI_CHAT_MEMORY ADD sequence_id " + sequence);
		repository(database).saveAll("t3", said(1));
		ImportReport report = this.imports.run(ImportSource.chatMemoryTable(database));
		assertThat(lines("t1")).hasSize(1200).startsWith("user: q0", "assistant: a0").endsWith("assistant: a599");
		assertThat(lines("t3")).hasSize(2);
		assertThat(report.notImported()).containsExactly(new NotImported("t2", Outcome.ORDER_UNKNOWN));
	}

	@Test
	void pagesAreOfOneOrderAlsoIfTheConversationIsWrittenMeanwhile() {
		DataSource database = SourceDatabase.H2.create();
		for (int i = 10; i < 16; i++) {
			insert(database, "t1", "USER", "q" + i, i);
		}
		ChatMemoryTable table = new ChatMemoryTable(database);
		SourceConversation conversation = new SourceConversation("t1", "");
		assertThat(table.refusal(conversation, WRITTEN)).isNull();
		long last = table.messages(conversation, -1, 3).get(2).position();
		insert(database, "t1", "USER", "again", 15);
		assertThat(table.messages(conversation, last, 2)).extracting(SourceMessage::position).containsExactly(13L, 14L);
	}

	/** As MariaDB and MySQL do if nobody says otherwise. */
	@Test
	void conversationWithWhichTheDatabaseMixesAnotherIsNotImported() {
		DataSource database = SourceDatabase.H2.create();
		new JdbcTemplate(database)
			.execute("ALTER TABLE SPRING_AI_CHAT_MEMORY ALTER COLUMN conversation_id VARCHAR_IGNORECASE(36)");
		insert(database, "ada:m", "USER", "q1", 0);
		insert(database, "ada:m", "ASSISTANT", "a1", 1);
		insert(database, "Ada:m", "USER", "q2", 2);
		insert(database, "Ada:m", "ASSISTANT", "a2", 3);
		ImportReport report = this.imports.run(ImportSource.chatMemoryTable(database));
		assertThat(report.conversations()).isEqualTo(Map.of(Outcome.ORDER_UNKNOWN, 1));
		assertThat(report.turns()).isZero();
	}

	@Test
	void missingTableIsNamed() {
		ImportSource source = ImportSource.chatMemoryTable(SourceDatabase.H2.empty());
		assertThatIllegalStateException().isThrownBy(() -> this.imports.run(source))
			.withMessageContaining("SPRING_AI_CHAT_MEMORY");
	}

	@Test
	void manyConversationsAreReadInPages() {
		int messages = Integer.getInteger("sessionkit.import-messages", 6000);
		DataSource database = SourceDatabase.H2.create();
		JdbcChatMemoryRepository repository = repository(database);
		for (int i = 0; i < messages / 10; i++) {
			repository.saveAll("t" + i, said(5));
		}
		ImportReport report = this.imports.run(ImportSource.chatMemoryTable(database));
		assertThat(report.count(Outcome.IMPORTED)).isEqualTo(messages / 10);
		assertThat(report.messages()).isEqualTo(messages / 10 * 10L);
		assertThat(this.store.list("ada", new Page(0, Integer.MAX_VALUE))).hasSize(messages / 10);
	}

	private static JdbcChatMemoryRepository repository(DataSource database) {
		return JdbcChatMemoryRepository.builder().dataSource(database).build();
	}

	private static void insert(DataSource database, String id, String type, String content, long sequence) {
		new JdbcTemplate(database).update("INSERT INTO SPRING_AI_CHAT_MEMORY VALUES (?, ?, ?, ?, ?)", id, content, type,
				java.sql.Timestamp.from(WRITTEN), sequence);
	}

	private static DataSource earlierTable() {
		DataSource database = SourceDatabase.H2.empty();
		new JdbcTemplate(database).execute("CREATE TABLE SPRING_AI_CHAT_MEMORY (conversation_id VARCHAR(36) NOT NULL,"
				+ " content LONGVARCHAR NOT NULL, type VARCHAR(10) NOT NULL, timestamp TIMESTAMP NOT NULL)");
		return database;
	}

	private static void insertEarlier(DataSource database, String id, String type, String content, Instant at) {
		new JdbcTemplate(database).update("INSERT INTO SPRING_AI_CHAT_MEMORY VALUES (?, ?, ?, ?)", id, content, type,
				java.sql.Timestamp.from(at.truncatedTo(ChronoUnit.MILLIS)));
	}

	private static Message at(Message message, Instant at) {
		Map<String, Object> time = Map.of(JdbcChatMemoryRepository.CONVERSATION_TS, at);
		return (message instanceof UserMessage) ? UserMessage.builder().text(message.getText()).metadata(time).build()
				: AssistantMessage.builder().content(message.getText()).properties(time).build();
	}

	static List<Message> said(int turns) {
		List<Message> said = new ArrayList<>();
		for (int i = 0; i < turns; i++) {
			said.add(user("q" + i));
			said.add(answer("a" + i));
		}
		return said;
	}

	private static Message result(String id) {
		return ToolResponseMessage.builder().responses(List.of(new ToolResponse(id, "look", id))).build();
	}

	private static Message user(String text) {
		return new UserMessage(text);
	}

	private static Message answer(String text) {
		return new AssistantMessage(text);
	}

	private static SessionKey key(String id) {
		return SessionKey.of("ada", id);
	}

	private List<Turn> turns(String id) {
		return this.store.turns(key(id), Tail.ALL);
	}

	private List<String> lines(String id) {
		return Lines.of(this.store.messages(key(id)));
	}

}
