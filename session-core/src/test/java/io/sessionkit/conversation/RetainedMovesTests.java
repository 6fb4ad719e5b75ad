package io.sessionkit.conversation;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;

import io.sessionkit.Session;
import io.sessionkit.SessionKey;
import io.sessionkit.Turn;
import io.sessionkit.advisor.SessionAdvisor;
import io.sessionkit.context.Retention;
import io.sessionkit.internal.retention.RetentionOnce;
import io.sessionkit.internal.snapshot.KeptTexts;
import io.sessionkit.store.ChangeRefusedException;
import io.sessionkit.store.SessionRecord;
import io.sessionkit.store.SessionStore;
import io.sessionkit.test.ScriptedChatModel;
import io.sessionkit.test.ScriptedChatModel.Lines;
import io.sessionkit.test.TestStores;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.ai.chat.client.ChatClient;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * Moves of the head among turns some of which were deleted.
 */
class RetainedMovesTests {

	private static final Map<TestStores, SessionStore> STORES = new EnumMap<>(TestStores.class);

	private final SessionKey key = SessionKey.of(UUID.randomUUID().toString());

	private final ScriptedChatModel model = new ScriptedChatModel();

	private SessionStore store;

	private Conversation thread;

	private ChatClient chat;

	private void on(TestStores kind) {
		this.store = STORES.computeIfAbsent(kind, TestStores::create);
		Conversations conversations = Conversations.of(this.store);
		this.thread = conversations.get(this.key);
		this.chat = ChatClient.builder(this.model).defaultAdvisors(SessionAdvisor.of(conversations)).build();
	}

	private void ask(int from, int to) {
		for (int i = from; i <= to; i++) {
			this.model.says("a" + i);
			this.chat.prompt().user("q" + i).advisors(SessionAdvisor.session(this.key)).call().content();
		}
	}

	private void fail() {
		this.model.fails(new IllegalStateException("down"));
		assertThatIllegalStateException().isThrownBy(
				() -> this.chat.prompt().user("lost").advisors(SessionAdvisor.session(this.key)).call().content());
	}

	private void retain(int turns) {
		Session session = this.store.find(this.key).orElseThrow();
		RetentionOnce.run(this.store, Retention.keepLastTurns(turns).batch(1), this.key, session.head());
	}

	private static List<String> turns(int from, int to) {
		List<String> lines = new ArrayList<>();
		for (int i = from; i <= to; i++) {
			lines.add("user: q" + i);
			lines.add("assistant: a" + i);
		}
		return lines;
	}

	private List<String> lines() {
		return Lines.of(this.thread.messages());
	}

	/**
	 * All turns that are left would leave the history, although nobody has named one of
	 * them.
	 */
	@ParameterizedTest
	@EnumSource
	void turnThatRetentionHasDeletedIsNoPlaceToBeginAt(TestStores kind) {
		on(kind);
		ask(1, 8);
		retain(4);
		for (long deleted = 1; deleted <= 4; deleted++) {
			long turn = deleted;
			assertThatExceptionOfType(ChangeRefusedException.class).isThrownBy(() -> edit(turn))
				.returns(ChangeRefusedException.Reason.DELETED, ChangeRefusedException::reason)
				.withMessageStartingWith("Turn " + turn + " of session " + this.key + " has no messages any more");
		}
		for (long deleted = 1; deleted <= 3; deleted++) {
			long turn = deleted;
			assertThatExceptionOfType(ChangeRefusedException.class).isThrownBy(() -> this.thread.branch("b", turn))
				.withMessageContaining("was deleted as one of the oldest");
			assertThatExceptionOfType(ChangeRefusedException.class).isThrownBy(() -> this.thread.siblings(turn));
		}
		assertThat(lines()).isEqualTo(turns(5, 8));
		this.model.says("a9");
		edit(5);
		assertThat(lines()).containsExactly("user: edited", "assistant: a9");
		this.model.says("a10");
		// in the place of a sibling, too
		edit(5);
		assertThat(lines()).isEqualTo(List.of("user: edited", "assistant: a10"));
	}

	private void edit(long turn) {
		this.chat.prompt()
			.user("edited")
			.advisors(SessionAdvisor.session(this.key).andThen(SessionAdvisor.editing(turn)))
			.call()
			.content();
	}

	@ParameterizedTest
	@EnumSource
	void redoGoesOnWithTheTurnsThatAreLeft(TestStores kind) {
		on(kind);
		ask(1, 9);
		this.thread.branch("other");
		this.thread.switchTo(Session.MAIN);
		this.thread.undo(6);
		this.thread.switchTo("other");
		fail();
		ask(11, 11);
		retain(3);
		this.thread.switchTo(Session.MAIN);
		assertThat(lines()).isEmpty();
		assertThat(this.thread.redo(1)).extracting(Turn::number).containsExactly(8L);
		assertThat(lines()).isEqualTo(turns(8, 8));
		assertThat(this.thread.redo(5)).extracting(Turn::number).containsExactly(9L);
		assertThat(lines()).isEqualTo(turns(8, 9));
	}

	@ParameterizedTest
	@EnumSource(names = { "MEMORY", "H2", "POSTGRESQL", "REDIS" })
	void redoOfTurnsThatAllWentDoesNothing(TestStores kind) {
		on(kind);
		ask(1, 3);
		this.thread.undo(2);
		this.thread.branch("other");
		ask(4, 5);
		retain(1);
		this.thread.switchTo(Session.MAIN);
		assertThat(this.thread.redo(2)).isEmpty();
		assertThat(lines()).isEmpty();
		ask(6, 6);
		assertThat(this.model.lastRequestLines()).containsExactly("user: q6");
	}

	@ParameterizedTest
	@EnumSource(names = { "MEMORY", "H2", "POSTGRESQL", "REDIS" })
	void redoPassesOverATurnWhoseMessagesWereDeleted(TestStores kind) {
		on(kind);
		ask(1, 3);
		this.thread.undo(2);
		this.thread.delete(2);
		assertThat(this.thread.redo(1)).extracting(Turn::number).containsExactly(3L);
		assertThat(lines()).containsExactly("user: q1", "assistant: a1", "user: q3", "assistant: a3");
		assertThat(this.thread.undo(1)).extracting(Turn::number).containsExactly(3L);
	}

	@ParameterizedTest
	@EnumSource(names = { "MEMORY", "H2", "POSTGRESQL", "REDIS" })
	void deletedBranchLeavesNothingOfTurnsThatWentBefore(TestStores kind) {
		on(kind);
		ask(1, 1);
		this.thread.branch("other");
		ask(2, 3);
		retain(1);
		assertThat(keptTexts()).anyMatch((payload) -> payload.contains("q2"));
		this.thread.switchTo(Session.MAIN);
		this.thread.deleteBranch("other", false);
		assertThat(keptTexts()).noneMatch((payload) -> payload.contains("q2") || payload.contains("a2"));
	}

	private List<String> keptTexts() {
		return this.store.records(this.key, KeptTexts.KIND).stream().map(SessionRecord::payload).toList();
	}

	@ParameterizedTest
	@EnumSource
	void siblingsNameTheFirstTurnThatIsLeftOfAWay(TestStores kind) {
		on(kind);
		ask(1, 2);
		edit(2, 3);
		ask(4, 5);
		retain(2);
		this.thread.choose(2);
		assertThat(lines()).isEmpty();
		ask(6, 6);
		assertThat(this.thread.siblings()).containsExactly(Map.entry(1L, List.of(4L)));
		this.thread.choose(4);
		assertThat(lines()).isEqualTo(turns(4, 5));
	}

	private void edit(long turn, int number) {
		this.model.says("a" + number);
		this.chat.prompt()
			.user("q" + number)
			.advisors(SessionAdvisor.session(this.key).andThen(SessionAdvisor.editing(turn)))
			.call()
			.content();
	}

}
