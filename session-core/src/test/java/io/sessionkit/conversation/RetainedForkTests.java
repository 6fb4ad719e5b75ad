package io.sessionkit.conversation;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;

import io.sessionkit.SessionKey;
import io.sessionkit.Turn;
import io.sessionkit.advisor.SessionAdvisor;
import io.sessionkit.context.Retention;
import io.sessionkit.context.SentHistory;
import io.sessionkit.internal.snapshot.KeptTexts;
import io.sessionkit.store.SessionRecord;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.Tail;
import io.sessionkit.test.ScriptedChatModel;
import io.sessionkit.test.ScriptedChatModel.Lines;
import io.sessionkit.test.TestStores;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.ai.chat.client.ChatClient;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The snapshots of forks of sessions whose oldest turns were deleted.
 */
class RetainedForkTests {

	private static final Map<TestStores, SessionStore> STORES = new EnumMap<>(TestStores.class);

	private final SessionKey key = SessionKey.of(UUID.randomUUID().toString());

	private final SessionKey copyKey = SessionKey.of(UUID.randomUUID().toString());

	private final ScriptedChatModel model = new ScriptedChatModel();

	private SessionStore store;

	private Conversation thread;

	private Conversation copy;

	private ChatClient chat;

	private void on(TestStores kind) {
		this.store = STORES.computeIfAbsent(kind, TestStores::create);
		Conversations conversations = Conversations.builder(this.store)
			.retention(Retention.keepLastTurns(3).batch(1))
			.build();
		this.thread = conversations.get(this.key);
		this.copy = conversations.get(this.copyKey);
		this.chat = ChatClient.builder(this.model).defaultAdvisors(SessionAdvisor.of(conversations)).build();
	}

	private void ask(SessionKey session, int from, int to) {
		for (int i = from; i <= to; i++) {
			this.model.says("a" + i);
			this.chat.prompt().user("q" + i).advisors(SessionAdvisor.session(session)).call().content();
		}
	}

	private static List<String> turns(int from, int to) {
		List<String> lines = new ArrayList<>();
		for (int i = from; i <= to; i++) {
			lines.add("user: q" + i);
			lines.add("assistant: a" + i);
		}
		return lines;
	}

	private static List<Long> withItems(Conversation session) {
		return session.turns(Tail.ALL).stream().filter((turn) -> turn.items() > 0).map(Turn::number).toList();
	}

	private static List<List<String>> shown(Conversation session) {
		return withItems(session).stream()
			.map((turn) -> Lines.of(session.snapshot(turn).orElseThrow().messages()))
			.toList();
	}

	private static List<Integer> missing(Conversation session) {
		return withItems(session).stream()
			.map((turn) -> session.snapshot(turn).orElseThrow())
			.map(SentHistory::missing)
			.toList();
	}

	private List<SessionRecord> kept(SessionKey session) {
		return this.store.records(session, KeptTexts.KIND);
	}

	@ParameterizedTest
	@EnumSource
	void snapshotsOfAForkShowWhatThoseOfTheOriginalShow(TestStores kind) {
		on(kind);
		ask(this.key, 1, 7);
		this.thread.fork(this.copyKey);
		assertThat(shown(this.copy)).containsExactly(turns(2, 4), turns(3, 5), turns(4, 6));
		assertThat(missing(this.copy)).containsOnly(0);
		assertThat(Lines.of(this.copy.messages())).isEqualTo(turns(5, 7));
		assertThat(kept(this.copyKey)).hasSize(3);
	}

	@ParameterizedTest
	@EnumSource
	void forkLosesWhatItsSnapshotsNoLongerShow(TestStores kind) {
		on(kind);
		ask(this.key, 1, 7);
		this.thread.fork(this.copyKey);
		ask(this.copyKey, 8, 8);
		assertThat(shown(this.copy)).containsExactly(turns(3, 5), turns(4, 6), turns(5, 7));
		assertThat(missing(this.copy)).containsOnly(0);
		ask(this.copyKey, 9, 12);
		assertThat(shown(this.copy)).containsExactly(turns(7, 9), turns(8, 10), turns(9, 11));
		assertThat(missing(this.copy)).containsOnly(0);
		assertThat(kept(this.copyKey)).hasSize(3).noneMatch((record) -> record.payload().contains("q6"));
		assertThat(shown(this.thread)).containsExactly(turns(2, 4), turns(3, 5), turns(4, 6));
	}

	@ParameterizedTest
	@EnumSource(names = { "MEMORY", "H2", "POSTGRESQL", "REDIS" })
	void forkOfAForkShowsTheSame(TestStores kind) {
		on(kind);
		ask(this.key, 1, 7);
		this.thread.fork(this.copyKey);
		ask(this.copyKey, 8, 8);
		SessionKey second = SessionKey.of(UUID.randomUUID().toString());
		this.copy.fork(second);
		Conversation other = Conversations.of(this.store).get(second);
		assertThat(shown(other)).isEqualTo(shown(this.copy));
		assertThat(missing(other)).containsOnly(0);
	}

	@ParameterizedTest
	@EnumSource(names = { "MEMORY", "H2", "POSTGRESQL", "REDIS" })
	void forkAtATurnHasNothingOfWhatLaterSnapshotsShow(TestStores kind) {
		on(kind);
		ask(this.key, 1, 7);
		this.thread.fork(this.copyKey, 5);
		assertThat(shown(this.copy)).containsExactly(turns(2, 4));
		assertThat(missing(this.copy)).containsOnly(0);
		assertThat(kept(this.copyKey)).hasSize(3);
		ask(this.copyKey, 8, 10);
		assertThat(kept(this.copyKey)).noneMatch((record) -> record.payload().contains("q4"));
	}

	@ParameterizedTest
	@EnumSource(names = { "MEMORY", "H2", "POSTGRESQL", "REDIS" })
	void textThatOnlySnapshotsOfAForkShowIsDeletedByTheNumberOfItsTurn(TestStores kind) {
		on(kind);
		ask(this.key, 1, 7);
		this.thread.fork(this.copyKey);
		long turn = kept(this.copyKey).stream()
			.filter((record) -> record.payload().contains("q4"))
			.mapToLong((record) -> Long.parseLong(record.id()))
			.findFirst()
			.orElseThrow();
		assertThat(this.copy.delete(turn)).isZero();
		assertThat(missing(this.copy)).containsExactly(2, 2, 2);
		assertThat(kept(this.copyKey)).noneMatch((record) -> record.payload().contains("q4"));
		assertThat(missing(this.thread)).containsOnly(0);
	}

	@ParameterizedTest
	@EnumSource
	void messagesThatTheSnapshotsOfTheOriginalMissAreMissingInTheFork(TestStores kind) {
		on(kind);
		ask(this.key, 1, 7);
		this.thread.delete(4);
		this.thread.delete(6);
		this.thread.fork(this.copyKey);
		assertThat(missing(this.thread)).containsExactly(2, 4);
		assertThat(shown(this.copy)).isEqualTo(shown(this.thread));
		assertThat(missing(this.copy)).isEqualTo(missing(this.thread));
		assertThat(Lines.of(this.copy.snapshot(withItems(this.copy).get(1)).orElseThrow().messages()))
			.isEqualTo(turns(5, 5));
	}

	@ParameterizedTest
	@EnumSource(names = { "MEMORY", "POSTGRESQL" })
	void forkIsMadeAgainIfATextIsDeletedMeanwhile(TestStores kind) {
		on(kind);
		ask(this.key, 1, 7);
		AtomicInteger calls = new AtomicInteger();
		SessionStore reading = CallsOfStore.before(this.store, () -> {
			if (calls.incrementAndGet() == 3) {
				this.thread.delete(4);
			}
		});
		Conversations.of(reading).get(this.key).fork(this.copyKey);
		assertThat(kept(this.copyKey)).isNotEmpty().noneMatch((record) -> record.payload().contains("q4"));
		assertThat(missing(this.copy)).containsExactly(2, 2, 2);
	}

}
