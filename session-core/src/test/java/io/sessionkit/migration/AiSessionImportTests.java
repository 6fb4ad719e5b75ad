package io.sessionkit.migration;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

import javax.sql.DataSource;

import io.sessionkit.SessionItem;
import io.sessionkit.SessionKey;
import io.sessionkit.Turn;
import io.sessionkit.conversation.Conversation;
import io.sessionkit.conversation.Conversations;
import io.sessionkit.migration.ImportReport.NotImported;
import io.sessionkit.migration.ImportReport.Outcome;
import io.sessionkit.migration.ImportReport.Reason;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.Tail;
import io.sessionkit.test.ScriptedChatModel;
import io.sessionkit.test.ScriptedChatModel.Lines;
import io.sessionkit.test.TestStores;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.AssistantMessage.ToolCall;
import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.UserMessage;
import org.springframework.ai.session.CreateSessionRequest;
import org.springframework.ai.session.DefaultSessionService;
import org.springframework.ai.session.EventFilter;
import org.springframework.ai.session.SessionEvent;
import org.springframework.ai.session.SessionService;
import org.springframework.ai.session.advisor.SessionMemoryAdvisor;
import org.springframework.ai.session.compaction.RecursiveSummarizationCompactionStrategy;
import org.springframework.ai.session.compaction.TurnCountTrigger;
import org.springframework.ai.session.compaction.TurnWindowCompactionStrategy;
import org.springframework.ai.session.jdbc.JdbcSessionRepository;
import org.springframework.ai.tool.function.FunctionToolCallback;
import org.springframework.jdbc.core.JdbcTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * Imports from what the community's Spring AI Session has written.
 */
class AiSessionImportTests {

	private static final Instant SAID = Instant.parse("2026-01-02T03:04:05.123456Z");

	private final SessionStore store = TestStores.MEMORY.create();

	private final SessionImport imports = SessionImport.into(this.store,
			(session) -> SessionKey.of(session.user(), session.id()));

	private final ScriptedChatModel model = new ScriptedChatModel();

	record Order(String id) {
	}

	@ParameterizedTest
	@EnumSource
	void sessionsThatTheirAdvisorHasWrittenKeepUsersAndToolRounds(SourceDatabase kind) {
		DataSource database = kind.create();
		ChatClient chat = ChatClient.builder(this.model)
			.defaultAdvisors(SessionMemoryAdvisor.builder(service(database)).build())
			.defaultToolCallbacks(FunctionToolCallback.builder("look", (Order order) -> "found")
				.description("looks")
				.inputType(Order.class)
				.build())
			.build();
		this.model.says("a1").calls(new ToolCall("c1", "function", "look", "{\"id\":\"1\"}")).says("a2");
		ask(chat, "ada", "t1", "q1");
		ask(chat, "ada", "t1", "q2");
		this.model.says("b1");
		ask(chat, "bob", "t2", "q1");
		ImportReport report = this.imports.run(ImportSource.aiSessionTables(database));
		assertThat(report.conversations()).isEqualTo(Map.of(Outcome.IMPORTED, 2));
		assertThat(report.leftOut()).isEmpty();
		assertThat(lines("ada", "t1")).containsExactly("user: q1", "assistant: a1", "user: q2",
				"assistant look({\"id\":\"1\"})", "tool look=\"found\"", "assistant: a2");
		assertThat(this.store.turns(SessionKey.of("ada", "t1"), Tail.ALL)).extracting(Turn::items)
			.containsExactly(2, 4);
		assertThat(lines("bob", "t2")).containsExactly("user: q1", "assistant: b1");
		assertThat(this.imports.run(ImportSource.aiSessionTables(database)).conversations())
			.isEqualTo(Map.of(Outcome.ALREADY_IMPORTED, 2));
	}

	@ParameterizedTest
	@EnumSource
	void summaryOfArchivedEventsIsTheSummaryOfTheSession(SourceDatabase kind) {
		DataSource database = kind.create();
		ScriptedChatModel summarizer = new ScriptedChatModel();
		SessionService service = service(database);
		ChatClient chat = ChatClient.builder(this.model)
			.defaultAdvisors(SessionMemoryAdvisor.builder(service)
				.compactionTrigger(new TurnCountTrigger(3))
				.compactionStrategy(
						RecursiveSummarizationCompactionStrategy.builder(ChatClient.builder(summarizer).build())
							.maxEventsToKeep(2)
							.overlapSize(0)
							.build())
				.build())
			.build();
		summarizer.says("summary 1").says("summary 2");
		for (int i = 1; i <= 7; i++) {
			this.model.says("a" + i);
			ask(chat, "ada", "t1", "q" + i);
		}
		List<String> theirs = Lines
			.of(service.getEvents("t1", EventFilter.active()).stream().map(SessionEvent::getMessage).toList());
		assertThat(theirs).contains("assistant: summary 2");
		ImportReport report = this.imports.run(ImportSource.aiSessionTables(database));
		assertThat(report.summaries()).isEqualTo(1);
		assertThat(lines("ada", "t1")).hasSize(14).startsWith("user: q1").endsWith("assistant: a7");
		Conversation thread = Conversations.of(this.store).get(SessionKey.of("ada", "t1"));
		assertThat(thread.summary().orElseThrow().text()).isEqualTo("summary 2");
		assertThat(Lines.of(thread.view())).hasSameSizeAs(theirs)
			.endsWith(theirs.subList(1, theirs.size()).toArray(String[]::new));
	}

	@ParameterizedTest
	@EnumSource
	void eventsThatAWindowHasArchivedAreNotSentAgain(SourceDatabase kind) {
		DataSource database = kind.create();
		ChatClient chat = ChatClient.builder(this.model)
			.defaultAdvisors(SessionMemoryAdvisor.builder(service(database))
				.compactionTrigger(new TurnCountTrigger(2))
				.compactionStrategy(TurnWindowCompactionStrategy.builder().maxTurns(1).build())
				.build())
			.build();
		for (int i = 1; i <= 4; i++) {
			this.model.says("a" + i);
			ask(chat, "ada", "t1", "q" + i);
		}
		ImportReport report = this.imports.run(ImportSource.aiSessionTables(database));
		assertThat(report.summaries()).isEqualTo(1);
		assertThat(lines("ada", "t1")).hasSize(8);
		Conversation thread = Conversations.of(this.store).get(SessionKey.of("ada", "t1"));
		assertThat(thread.summary()).isEmpty();
		assertThat(Lines.of(thread.view())).containsExactly("user: q3", "assistant: a3", "user: q4", "assistant: a4");
	}

	@Test
	void expiredSessionsBranchesAndBrokenDataAreLeftOut() {
		DataSource database = SourceDatabase.H2.create();
		SessionService service = service(database);
		create(service, "old", Duration.ofDays(-1));
		append(service, "old", "e1", new UserMessage("q"), null);
		create(service, "t1", Duration.ofDays(1));
		append(service, "t1", "e2", new UserMessage("q1"), null);
		append(service, "t1", "e3", new UserMessage("of a sub-agent"), "writer");
		append(service, "t1", "e4", new AssistantMessage("a1"), null);
		append(service, "t1", "e5", new UserMessage("q2"), null);
		append(service, "t1", "e6",
				AssistantMessage.builder()
					.content("")
					.toolCalls(List.of(new ToolCall("c1", "function", "look", "{}")))
					.build(),
				null);
		append(service, "t1", "e7", new AssistantMessage("a2"), null);
		append(service, "t1", "e8", new UserMessage("q3"), null);
		append(service, "t1", "e9", new AssistantMessage("a3"), null);
		new JdbcTemplate(database).update("UPDATE AI_SESSION_EVENT SET message_data = 'secret' WHERE id = 'e6'");
		ImportReport report = this.imports.run(ImportSource.aiSessionTables(database));
		assertThat(report.notImported()).containsExactly(new NotImported("old", Outcome.EXPIRED));
		assertThat(lines("ada", "t1")).containsExactly("user: q1", "assistant: a1", "user: q3", "assistant: a3");
		assertThat(report.count(Reason.BRANCH)).isEqualTo(1);
		assertThat(report.leftOutMessages().stream().filter((each) -> each.reason() == Reason.UNREADABLE))
			.extracting(ImportReport.LeftOut::message)
			.containsExactly("e6", "e5", "e7");
		assertThat(report.toString()).doesNotContain("secret");
		assertThat(this.store.items(SessionKey.of("ada", "t1"), Tail.ALL)).extracting(SessionItem::at)
			.containsOnly(SAID);
	}

	@Test
	void summaryOfTurnsThatWereAllLeftOutIsNamed() {
		DataSource database = SourceDatabase.H2.create();
		SessionService service = service(database);
		create(service, "t1", Duration.ofDays(1));
		append(service, "t1", "e1", new UserMessage("q1"), null);
		append(service, "t1", "e2", new AssistantMessage("what was said"), null);
		append(service, "t1", "e3", new UserMessage("q2"), null);
		append(service, "t1", "e4", new AssistantMessage("a2"), null);
		JdbcTemplate events = new JdbcTemplate(database);
		events.update("UPDATE AI_SESSION_EVENT SET archived = TRUE WHERE id = 'e1'");
		events.update("UPDATE AI_SESSION_EVENT SET synthetic = TRUE WHERE id = 'e2'");
		ImportReport report = this.imports.run(ImportSource.aiSessionTables(database));
		assertThat(lines("ada", "t1")).containsExactly("user: q2", "assistant: a2");
		assertThat(report.summaries()).isZero();
		assertThat(report.leftOutMessages()).containsExactly(new ImportReport.LeftOut("t1", "e1", Reason.UNFINISHED),
				new ImportReport.LeftOut("t1", "e2", Reason.NO_QUESTION));
	}

	@Test
	void tablesOfAnotherVersionAreRefused() {
		DataSource database = SourceDatabase.H2.empty();
		new JdbcTemplate(database).execute("CREATE TABLE AI_SESSION (id VARCHAR(255), metadata VARCHAR(10))");
		assertThatIllegalStateException().isThrownBy(() -> this.imports.run(ImportSource.aiSessionTables(database)))
			.withMessageContaining("0.6")
			.withMessageContaining("user_id");
	}

	private static SessionService service(DataSource database) {
		return DefaultSessionService.builder()
			.sessionRepository(JdbcSessionRepository.builder().dataSource(database).build())
			.build();
	}

	private static void create(SessionService service, String id, Duration timeToLive) {
		service.create(CreateSessionRequest.builder().id(id).userId("ada").timeToLive(timeToLive).build());
	}

	private static void append(SessionService service, String session, String id, Message message, String branch) {
		service.appendEvent(SessionEvent.builder()
			.id(id)
			.sessionId(session)
			.timestamp(SAID)
			.message(message)
			.branch(branch)
			.build());
	}

	private static void ask(ChatClient chat, String user, String session, String text) {
		chat.prompt()
			.user(text)
			.advisors((advisors) -> advisors.param(SessionMemoryAdvisor.SESSION_ID_CONTEXT_KEY, session)
				.param(SessionMemoryAdvisor.USER_ID_CONTEXT_KEY, user))
			.call()
			.content();
	}

	private List<String> lines(String owner, String id) {
		return new ArrayList<>(Lines.of(this.store.messages(SessionKey.of(owner, id))));
	}

}
