package io.sessionkit.context;

import java.time.Duration;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.function.Consumer;

import io.sessionkit.Session;
import io.sessionkit.SessionKey;
import io.sessionkit.SessionLostException;
import io.sessionkit.advisor.SessionAdvisor;
import io.sessionkit.approval.ApprovalScenario;
import io.sessionkit.approval.ApprovalScenario.Participant;
import io.sessionkit.conversation.Conversations;
import io.sessionkit.store.RecordWrite;
import io.sessionkit.store.SessionStore;
import io.sessionkit.test.ScriptedChatModel;
import io.sessionkit.test.TestStores;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.UserMessage;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Turns of a session whose header names a summary that is gone, for example because an
 * application has deleted its record, on a store of each family.
 */
@ParameterizedClass
@EnumSource(names = { "MEMORY", "H2", "POSTGRESQL", "REDIS" })
class LostSummaryTests {

	private static final Map<TestStores, SessionStore> stores = new EnumMap<>(TestStores.class);

	@Parameter
	TestStores kind;

	private final SessionKey key = SessionKey.of("ada", UUID.randomUUID().toString());

	private final ScriptedChatModel model = new ScriptedChatModel();

	private SessionStore store;

	private ChatClient chat;

	@BeforeEach
	void begin() {
		this.store = stores.computeIfAbsent(this.kind, TestStores::create);
		this.chat = ChatClient.builder(this.model)
			.defaultAdvisors(SessionAdvisor.of(Conversations.of(this.store)))
			.build();
		for (int i = 1; i <= 3; i++) {
			this.store.add(this.key, List.of(new UserMessage("q" + i), new AssistantMessage("a" + i)));
		}
	}

	private void summarize(long turn) {
		SnapshotProperties.TestSummaries.move(this.store, this.key, turn, "s" + turn, "story " + turn);
	}

	private void lose(long turn) {
		this.store.put(this.key, new RecordWrite(SessionStore.SUMMARY, "s" + turn, RecordWrite.ANY, null, null));
	}

	private void ask(Consumer<ChatClient.AdvisorSpec> more) {
		this.model.says("a4");
		this.chat.prompt().user("q4").advisors(SessionAdvisor.session(this.key)).advisors(more).call().content();
	}

	private Session header() {
		return this.store.find(this.key).orElseThrow();
	}

	@Test
	void turnIsSentTheTurnsThemselvesAndTheHeaderNamesNoSummaryAnyMore() {
		summarize(2);
		lose(2);
		ask((advisors) -> {
		});
		assertThat(this.model.lastRequestLines()).containsExactly("user: q1", "assistant: a1", "user: q2",
				"assistant: a2", "user: q3", "assistant: a3", "user: q4");
		assertThat(header()).extracting(Session::summaryTurn, Session::summaryId, Session::head)
			.containsExactly(0L, null, 4L);
	}

	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void turnBeginsWithTheNewestSummaryThatExists(boolean namesTheBranch) {
		summarize(1);
		summarize(2);
		lose(2);
		ask(namesTheBranch ? SessionAdvisor.branch(Session.MAIN) : (advisors) -> {
		});
		assertThat(this.model.lastRequestLines()).hasSize(7)
			.anySatisfy((line) -> assertThat(line).contains("story 1"))
			.endsWith("user: q2", "assistant: a2", "user: q3", "assistant: a3", "user: q4")
			.noneSatisfy((line) -> assertThat(line).contains("story 2"));
		assertThat(header()).extracting(Session::summaryTurn, Session::summaryId).containsExactly(1L, "s1");
	}

	@Test
	void callThatExpectsATurnThatIsNotThereChangesNothing() {
		summarize(2);
		lose(2);
		Session before = header();
		assertThatExceptionOfType(SessionLostException.class).isThrownBy(() -> ask(SessionAdvisor.expectTurn(9)));
		assertThat(header()).isEqualTo(before);
	}

	@Test
	void turnThatWaitsContinuesWithASummaryThatExists() {
		summarize(1);
		summarize(2);
		ApprovalScenario one = ApprovalScenario.ofOneCall();
		ApprovalScenario scenario = new ApprovalScenario(one.siblings(), one.durability(), one.setup(),
				Duration.ofMinutes(1), one.replies());
		try (Participant us = scenario.takePart(this.store, (id) -> {
		}, (id) -> {
		})) {
			us.pauseAndApprove(this.key, scenario);
			lose(2);
			us.model().says("done");
			us.chat().prompt().advisors(SessionAdvisor.session(this.key)).call().content();
			assertThat(us.model().lastRequestLines()).anySatisfy((line) -> assertThat(line).contains("story 1"))
				.contains("user: q2", "user: q3", "user: question");
		}
		assertThat(header()).extracting(Session::summaryTurn, Session::summaryId, Session::head)
			.containsExactly(1L, "s1", 4L);
	}

}
