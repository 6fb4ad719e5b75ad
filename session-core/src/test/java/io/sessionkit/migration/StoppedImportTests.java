package io.sessionkit.migration;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

import javax.sql.DataSource;

import io.sessionkit.SessionKey;
import io.sessionkit.Turn;
import io.sessionkit.TurnStatus;
import io.sessionkit.conversation.Conversation;
import io.sessionkit.conversation.Conversations;
import io.sessionkit.migration.ImportReport.NotImported;
import io.sessionkit.migration.ImportReport.Outcome;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.SessionStoreFixture;
import io.sessionkit.store.StoreUnavailableException;
import io.sessionkit.store.Tail;
import io.sessionkit.test.ScriptedChatModel.Lines;
import io.sessionkit.test.TestStores;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.ai.chat.memory.InMemoryChatMemoryRepository;
import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.UserMessage;
import org.springframework.ai.session.Session;
import org.springframework.ai.session.SessionEvent;
import org.springframework.ai.session.jdbc.JdbcSessionRepository;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Imports that stop before or after any of their commits, and are run again.
 */
class StoppedImportTests {

	private static final int TURNS = 450;

	private static final SessionKey KEY = SessionKey.of("ada", "t1");

	private final DataSource database = SourceDatabase.H2.create();

	@ParameterizedTest
	@CsvSource({ "MEMORY,false", "MEMORY,true", "H2,false", "H2,true", "POSTGRESQL,true", "REDIS,true" })
	void importThatStoppedAnywhereIsContinuedWithoutAGapOrADouble(TestStores kind, boolean afterCommit) {
		fill(300);
		SessionStore store = kind.create();
		int stopped = 0;
		for (int commit = 1; isStopped(store, commit, afterCommit); commit++) {
			stopped++;
			assertThat(into(store).run(source()).notImported()).isEmpty();
			assertThat(into(store).run(source()).conversations()).isEqualTo(Map.of(Outcome.ALREADY_IMPORTED, 1));
			assertThat(Lines.of(store.messages(KEY))).isEqualTo(Lines.of(said(0, TURNS)));
			assertThat(store.turns(KEY, Tail.ALL)).hasSize(TURNS).extracting(Turn::items).containsOnly(2);
			Conversation thread = Conversations.of(store).get(KEY);
			assertThat(thread.summary().orElseThrow().text()).isEqualTo("what was said");
			assertThat(thread.view()).hasSize(2 + 2 * (TURNS - 300));
			store.erase(KEY);
		}
		assertThat(stopped).isGreaterThanOrEqualTo(4);
	}

	@Test
	void sessionThatSomebodyUsesAfterTheImportStoppedIsLeftAlone() {
		fill(300);
		SessionStore store = TestStores.MEMORY.create();
		assertThat(isStopped(store, 2, true)).isTrue();
		store.add(KEY, List.of(new UserMessage("q"), new AssistantMessage("a")));
		List<String> before = Lines.of(store.messages(KEY));
		assertThat(into(store).run(source()).notImported()).containsExactly(new NotImported("t1", Outcome.CHANGED));
		assertThat(Lines.of(store.messages(KEY))).isEqualTo(before);
	}

	@ParameterizedTest
	@EnumSource(names = { "MEMORY", "H2", "POSTGRESQL", "MARIADB", "REDIS" })
	void sessionThatSomebodyResetsAfterTheImportStoppedIsLeftAlone(TestStores kind) {
		fill(300);
		SessionStore store = kind.create();
		assertThat(isStopped(store, 2, true)).isTrue();
		Conversations.of(store).get(KEY).reset();
		List<String> before = Lines.of(store.messages(KEY));
		assertThat(into(store).run(source()).notImported()).containsExactly(new NotImported("t1", Outcome.CHANGED));
		assertThat(Lines.of(store.messages(KEY))).isEqualTo(before);
	}

	@Test
	void sessionThatSomebodyBeginsDuringTheImportIsLeftAlone() {
		fill(300);
		SessionStore store = TestStores.MEMORY.create();
		SessionStore raced = proxy(store, (number, commit) -> {
			if (number == 1) {
				store.add(KEY, List.of(new UserMessage("q"), new AssistantMessage("a")));
			}
			return commit.run();
		});
		assertThat(into(raced).run(source()).notImported()).containsExactly(new NotImported("t1", Outcome.CHANGED));
		assertThat(store.messages(KEY)).hasSize(2);
	}

	@Test
	void sessionThatSomebodyUsesBetweenTwoPartsGetsNoMoreOfThem() {
		fill(300);
		SessionStore store = TestStores.MEMORY.create();
		SessionStore raced = proxy(store, (number, commit) -> {
			Object result = commit.run();
			if (number == 1) {
				store.add(KEY, List.of(new UserMessage("q"), new AssistantMessage("a")));
			}
			return result;
		});
		assertThat(into(raced).run(source()).notImported()).containsExactly(new NotImported("t1", Outcome.CHANGED));
		assertThat(Lines.of(store.messages(KEY))).endsWith("user: q", "assistant: a");
	}

	/** The summary of the source is placed by the fourth of its six commits. */
	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void turnOfSomebodyElseStaysInTheViewWheneverItComes(boolean beforeCommit) {
		fill(300);
		for (int raced = 1; raced < 6; raced++) {
			SessionStore store = TestStores.MEMORY.create();
			SessionStore racing = racing(store, raced, beforeCommit,
					() -> store.add(KEY, List.of(new UserMessage("q"), new AssistantMessage("a"))));
			assertThat(into(racing).run(source()).notImported()).as("commit %s", raced)
				.containsExactly(new NotImported("t1", Outcome.CHANGED));
			assertThat(view(store)).as("commit %s", raced).endsWith("user: q", "assistant: a");
		}
	}

	@Test
	void summaryIsNotPlacedOverTheTurnsOfSomebodyElseWhenAnImportIsContinued() {
		fill(300);
		SessionStore store = TestStores.MEMORY.create();
		assertThat(isStopped(store, 3, true)).isTrue();
		int[] finds = { 0 };
		SessionStore raced = (SessionStore) Proxy.newProxyInstance(SessionStore.class.getClassLoader(),
				new Class<?>[] { SessionStore.class }, (proxy, method, arguments) -> {
					if (method.getName().equals("find") && ++finds[0] == 2) {
						store.add(KEY, List.of(new UserMessage("q"), new AssistantMessage("a")));
					}
					return method.invoke(store, arguments);
				});
		assertThat(into(raced).run(source()).notImported()).containsExactly(new NotImported("t1", Outcome.CHANGED));
		assertThat(view(store)).endsWith("user: q", "assistant: a");
		assertThat(Conversations.of(store).get(KEY).summary()).isEmpty();
	}

	private static List<String> view(SessionStore store) {
		return Lines.of(Conversations.of(store).get(KEY).view());
	}

	@Test
	void sessionWhoseCallBeginsToWaitBetweenTwoPartsDoesNotStopTheImportOfOthers() {
		SessionStore store = TestStores.MEMORY.create();
		InMemoryChatMemoryRepository repository = new InMemoryChatMemoryRepository();
		repository.saveAll("t1", said(0, TURNS));
		repository.saveAll("t2", said(0, 1));
		SessionStore racing = racing(store, 2, true, () -> store.commit(io.sessionkit.store.Commit.any(KEY)
			.turn(SessionStoreFixture.turn(TurnStatus.AWAITING_APPROVAL, store.find(KEY).orElseThrow().head(), "q"))));
		ImportReport report = SessionImport.into(racing, (conversation) -> SessionKey.of("ada", conversation.id()))
			.run(ImportSource.chatMemory(repository));
		assertThat(report.notImported()).containsExactly(new NotImported("t1", Outcome.CHANGED));
		assertThat(report.count(Outcome.IMPORTED)).isEqualTo(1);
	}

	/** A store to which somebody else writes before or after one of its commits. */
	private static SessionStore racing(SessionStore store, int raced, boolean before, Runnable other) {
		return proxy(store, (number, commit) -> {
			if (number == raced && before) {
				other.run();
			}
			Object result = commit.run();
			if (number == raced && !before) {
				other.run();
			}
			return result;
		});
	}

	/**
	 * Archived turns, what was made from them, and turns that are not archived.
	 */
	private void fill(int archived) {
		JdbcSessionRepository repository = JdbcSessionRepository.builder().dataSource(this.database).build();
		repository.save(Session.builder().id("t1").userId("ada").build());
		List<SessionEvent> all = new ArrayList<>();
		said(0, TURNS).forEach((message) -> all.add(event(message, Map.of())));
		all.forEach(repository::appendEvent);
		Map<String, Object> synthetic = Map.of(SessionEvent.METADATA_SYNTHETIC, true);
		List<SessionEvent> retained = new ArrayList<>();
		retained.add(event(new UserMessage("what was it?"), synthetic));
		retained.add(event(new AssistantMessage("what was said"), synthetic));
		retained.addAll(all.subList(2 * archived, all.size()));
		assertThat(repository.compactEvents("t1", all.subList(0, 2 * archived), retained,
				repository.getEventVersion("t1")))
			.isTrue();
	}

	private static SessionEvent event(Message message, Map<String, Object> metadata) {
		return SessionEvent.builder().sessionId("t1").message(message).metadata(metadata).build();
	}

	private static List<Message> said(int from, int to) {
		return ChatMemoryImportTests.said(to).subList(2 * from, 2 * to);
	}

	private ImportSource source() {
		return ImportSource.aiSessionTables(this.database);
	}

	private static SessionImport into(SessionStore store) {
		return SessionImport.into(store, (session) -> SessionKey.of(session.user(), session.id()));
	}

	private boolean isStopped(SessionStore store, int stop, boolean afterCommit) {
		SessionStore stopping = proxy(store, (number, commit) -> {
			if (number == stop && !afterCommit) {
				throw new StoreUnavailableException("stopped", null);
			}
			Object result = commit.run();
			if (number == stop) {
				throw new StoreUnavailableException("stopped", null);
			}
			return result;
		});
		try {
			into(stopping).run(source());
			store.erase(KEY);
			return false;
		}
		catch (StoreUnavailableException ex) {
			return afterCommit || stop > 0;
		}
	}

	/** Does something around each commit, which are numbered from 1. */
	private interface Around {

		Object commit(int number, Commit commit) throws Throwable;

	}

	private interface Commit {

		Object run() throws Throwable;

	}

	private static SessionStore proxy(SessionStore store, Around around) {
		int[] commits = { 0 };
		return (SessionStore) Proxy.newProxyInstance(SessionStore.class.getClassLoader(),
				new Class<?>[] { SessionStore.class }, (proxy, method, arguments) -> {
					Commit call = () -> {
						try {
							return method.invoke(store, arguments);
						}
						catch (InvocationTargetException ex) {
							throw ex.getTargetException();
						}
					};
					return method.getName().equals("commit") ? around.commit(++commits[0], call) : call.run();
				});
	}

}
