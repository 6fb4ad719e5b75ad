package io.sessionkit.chatmemory;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;

import io.sessionkit.SessionItem;
import io.sessionkit.SessionKey;
import io.sessionkit.Turn;
import io.sessionkit.TurnStatus;
import io.sessionkit.codec.UnstorableMessageException;
import io.sessionkit.conversation.Conversation;
import io.sessionkit.conversation.Conversations;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.Tail;
import io.sessionkit.test.ObservedStore;
import io.sessionkit.test.ScriptedChatModel.Lines;
import io.sessionkit.test.TestStores;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.ai.chat.memory.MessageWindowChatMemory;
import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.AssistantMessage.ToolCall;
import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.SystemMessage;
import org.springframework.ai.chat.messages.ToolResponseMessage;
import org.springframework.ai.chat.messages.ToolResponseMessage.ToolResponse;
import org.springframework.ai.chat.messages.UserMessage;
import org.springframework.ai.content.Media;
import org.springframework.util.MimeTypeUtils;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/**
 * Sessions as a {@code ChatMemoryRepository}, on a store of each family.
 */
class SessionChatMemoryRepositoryTests {

	private static final Map<TestStores, SessionStore> STORES = new EnumMap<>(TestStores.class);

	private final String id = UUID.randomUUID().toString();

	private final String owner = UUID.randomUUID().toString();

	private final SessionKey key = SessionKey.of(this.owner, this.id);

	private SessionStore store = TestStores.MEMORY.create();

	private SessionChatMemoryRepository repository = SessionChatMemoryRepository.of(this.store, () -> this.owner);

	private void on(TestStores kind) {
		this.store = STORES.computeIfAbsent(kind, TestStores::create);
		this.repository = SessionChatMemoryRepository.of(this.store, () -> this.owner);
	}

	@ParameterizedTest
	@EnumSource(names = { "MEMORY", "H2", "POSTGRESQL", "REDIS" })
	void windowOfSpringAiForgetsOnlyForItself(TestStores kind) {
		on(kind);
		MessageWindowChatMemory window = MessageWindowChatMemory.builder()
			.chatMemoryRepository(this.repository)
			.maxMessages(4)
			.build();
		for (int i = 1; i <= 4; i++) {
			window.add(this.id, new UserMessage("q" + i));
			window.add(this.id, new AssistantMessage("a" + i));
		}
		assertThat(Lines.of(window.get(this.id))).containsExactly("user: q3", "assistant: a3", "user: q4",
				"assistant: a4");
		assertThat(this.store.messages(this.key)).hasSize(8);
		assertThat(turns()).hasSize(4).extracting(Turn::items).containsOnly(2);
	}

	@ParameterizedTest
	@EnumSource(names = { "MEMORY", "H2", "POSTGRESQL", "REDIS" })
	void otherEndLeavesTheTurnsThatItReplacesAndDeletesNone(TestStores kind) {
		on(kind);
		save(user("q1"), answer("a1"), user("q2"), answer("a2"), user("q3"), answer("a3"));
		save(user("q1"), answer("a1"), user("other"), answer("b2"));
		assertThat(found()).containsExactly("user: q1", "assistant: a1", "user: other", "assistant: b2");
		assertThat(Lines.of(this.store.messages(this.key))).isEqualTo(found());
		assertThat(turns()).hasSize(4).extracting(Turn::status).containsOnly(TurnStatus.COMPLETED);
		Conversation thread = Conversations.of(this.store).get(this.key);
		assertThat(thread.siblings(4)).extracting(Turn::number).containsExactly(2L, 4L);
		thread.choose(2);
		assertThat(Lines.of(thread.messages())).containsExactly("user: q1", "assistant: a1", "user: q2",
				"assistant: a2", "user: q3", "assistant: a3");
	}

	@ParameterizedTest
	@EnumSource(names = { "MEMORY", "H2", "POSTGRESQL", "REDIS" })
	void emptyListEmptiesTheMemoryAndKeepsTheTurns(TestStores kind) {
		on(kind);
		save(user("q1"), answer("a1"));
		save();
		assertThat(found()).isEmpty();
		assertThat(turns()).hasSize(1);
		assertThat(Conversations.of(this.store).get(this.key).redo(1)).hasSize(1);
		assertThat(found()).containsExactly("user: q1", "assistant: a1");
		this.repository.deleteByConversationId(this.id);
		assertThat(this.store.find(this.key)).isEmpty();
	}

	@Test
	void sameListChangesNothing() {
		save(new SystemMessage("s"), user("q1"), answer("a1"), user("q2"));
		long version = this.store.find(this.key).orElseThrow().version();
		this.repository.saveAll(this.id, this.repository.findByConversationId(this.id));
		assertThat(this.store.find(this.key).orElseThrow().version()).isEqualTo(version);
		assertThat(found()).containsExactly("system: s", "user: q1", "assistant: a1", "user: q2");
	}

	@Test
	void changedWordsOfATurnReplaceItFromThereOn() {
		save(user("q1"), answer("a1"), user("q2"), answer("a2"));
		save(user("q1"), answer("better"), user("q2"), answer("a2"));
		assertThat(found()).containsExactly("user: q1", "assistant: better", "user: q2", "assistant: a2");
		assertThat(turns()).hasSize(4);
	}

	/** Nobody has changed the messages that a window has evicted. */
	@Test
	void changeBehindWhatWasEvictedLeavesThatInTheLog() {
		save(user("q1"), answer("a1"), user("q2"), answer("a2"), user("q3"), answer("a3"));
		save(user("q3"), answer("a3"));
		save(user("q3"), answer("better"));
		assertThat(found()).containsExactly("user: q3", "assistant: better");
		assertThat(Lines.of(this.store.messages(this.key))).containsExactly("user: q1", "assistant: a1", "user: q2",
				"assistant: a2", "user: q3", "assistant: better");
	}

	@ParameterizedTest
	@EnumSource(names = { "MEMORY", "H2", "POSTGRESQL", "REDIS" })
	void changeAfterAResetLeavesTheTurnsBeforeItInTheLog(TestStores kind) {
		on(kind);
		save(user("q1"), answer("a1"), user("q2"), answer("a2"));
		thread().reset();
		save(user("q3"), answer("a3"));
		save(user("q3"), answer("better"));
		assertThat(found()).containsExactly("user: q3", "assistant: better");
		assertThat(logged()).containsExactly("user: q1", "assistant: a1", "user: q2", "assistant: a2", "user: q3",
				"assistant: better");
		save();
		assertThat(found()).isEmpty();
		assertThat(logged()).containsExactly("user: q1", "assistant: a1", "user: q2", "assistant: a2");
	}

	@Test
	void emptyListLeavesWhatWasEvictedInTheLog() {
		save(user("q1"), answer("a1"), user("q2"), answer("a2"));
		save(user("q2"), answer("a2"));
		save();
		assertThat(found()).isEmpty();
		assertThat(logged()).containsExactly("user: q1", "assistant: a1");
		save(user("q3"), answer("a3"));
		assertThat(found()).containsExactly("user: q3", "assistant: a3");
	}

	@ParameterizedTest
	@EnumSource(names = { "MEMORY", "H2", "POSTGRESQL", "REDIS" })
	void changeBehindDeletedTurnsIsWritten(TestStores kind) {
		on(kind);
		save(user("q1"), answer("a1"), user("q2"), answer("a2"));
		thread().delete(1);
		save(user("q2"), answer("better"));
		assertThat(found()).containsExactly("user: q2", "assistant: better");
		assertThat(logged()).isEqualTo(found());
	}

	/** Seeded turns that a reset keeps belong together. */
	@Test
	void changeInTheMiddleOfASeedReplacesItAll() {
		thread().seed(List.of(user("s1"), answer("t1"), user("s2"), answer("t2")));
		save(user("s1"), answer("t1"), user("s2"), answer("t2"), user("q3"), answer("a3"));
		thread().reset();
		assertThat(found()).containsExactly("user: s1", "assistant: t1", "user: s2", "assistant: t2");
		save(user("s1"), answer("t1"), user("s2"), answer("better"), user("q4"), answer("a4"));
		assertThat(found()).containsExactly("user: s1", "assistant: t1", "user: s2", "assistant: better", "user: q4",
				"assistant: a4");
		save(user("s1"), answer("t1"), user("s2"), answer("better"), user("q5"), answer("a5"));
		assertThat(found()).endsWith("assistant: better", "user: q5", "assistant: a5").hasSize(6);
	}

	@Test
	void invalidListChangesNothingAlsoIfAQuestionWaits() {
		save(user("q1"), answer("a1"), user("q2"));
		assertThatIllegalArgumentException().isThrownBy(() -> save(answer("a0"), user("q1"), answer("a1")));
		assertThat(found()).containsExactly("user: q1", "assistant: a1", "user: q2");
		assertThat(turns()).hasSize(1);
	}

	@Test
	void openQuestionThatIsReplacedIsKeptBesideTheHistory() {
		save(user("q1"), answer("a1"), user("q2"));
		save(user("q1"), answer("a1"), user("q3"));
		assertThat(found()).containsExactly("user: q1", "assistant: a1", "user: q3");
		assertThat(turns()).extracting(Turn::status).containsExactly(TurnStatus.COMPLETED, TurnStatus.FAILED);
		assertThat(Lines.of(this.store.items(this.key, 2).stream().map(SessionItem::message).toList()))
			.containsExactly("user: q2");
	}

	@ParameterizedTest
	@EnumSource(names = { "MEMORY", "H2", "POSTGRESQL", "REDIS" })
	void callsWithoutResultsAreSetAsideWhenTheNextQuestionIsSaved(TestStores kind) {
		on(kind);
		save(user("q1"), answer("a1"), user("q2"), look());
		save(user("q1"), answer("a1"), user("q2"), look(), user("q3"));
		assertThat(found()).containsExactly("user: q1", "assistant: a1", "user: q3");
		save(user("q1"), answer("a1"), user("q3"), answer("a3"));
		assertThat(turns()).extracting(Turn::status)
			.containsExactly(TurnStatus.COMPLETED, TurnStatus.FAILED, TurnStatus.COMPLETED);
	}

	/** The result comes too late: the question behind the calls is the newest one. */
	@Test
	void questionIsSavedAlthoughTheResultOfItsPredecessorComesMeanwhile() {
		save(user("q1"), answer("a1"), user("q2"), look());
		ObservedStore observed = new ObservedStore(this.store);
		observed.beforeCommit(() -> {
			observed.beforeCommit(() -> {
			});
			SessionChatMemory.of(this.store, () -> this.owner).add(this.id, found("c1"));
		});
		SessionChatMemoryRepository.of(observed, () -> this.owner)
			.saveAll(this.id, List.of(user("q1"), answer("a1"), user("q2"), look(), user("q3")));
		assertThat(found()).containsExactly("user: q1", "assistant: a1", "user: q3");
		assertThat(turns()).extracting(Turn::status).containsExactly(TurnStatus.COMPLETED, TurnStatus.FAILED);
		assertThat(this.store.items(this.key, 2)).hasSize(3);
	}

	@Test
	void windowOfSpringAiContinuesAfterAToolThatNeverAnswered() {
		MessageWindowChatMemory window = MessageWindowChatMemory.builder()
			.chatMemoryRepository(this.repository)
			.maxMessages(6)
			.build();
		for (int i = 1; i <= 4; i++) {
			window.add(this.id, new UserMessage("q" + i));
			window.add(this.id, new AssistantMessage("a" + i));
		}
		window.add(this.id, new UserMessage("q5"));
		window.add(this.id, look());
		window.add(this.id, found("c1"));
		window.add(this.id, new UserMessage("q6"));
		window.add(this.id, new AssistantMessage("a6"));
		assertThat(Lines.of(window.get(this.id))).endsWith("user: q6", "assistant: a6").doesNotContain("user: q5");
		assertThat(turns()).extracting(Turn::status)
			.containsExactly(TurnStatus.COMPLETED, TurnStatus.COMPLETED, TurnStatus.COMPLETED, TurnStatus.COMPLETED,
					TurnStatus.FAILED, TurnStatus.COMPLETED);
	}

	@Test
	void laterOfTwoSavesWinsAndTheTurnOfTheOtherIsStillThere() {
		save(user("q1"), answer("a1"));
		List<Message> seen = this.repository.findByConversationId(this.id);
		save(user("q1"), answer("a1"), user("mine"), answer("a2"));
		List<Message> other = new ArrayList<>(seen);
		other.addAll(List.of(user("other"), answer("b2")));
		this.repository.saveAll(this.id, other);
		assertThat(found()).endsWith("user: other", "assistant: b2");
		assertThat(Conversations.of(this.store).get(this.key).siblings(3)).hasSize(2);
	}

	@ParameterizedTest
	@EnumSource(names = { "MEMORY", "H2", "POSTGRESQL", "REDIS" })
	void sameMediaAreNoChange(TestStores kind) {
		on(kind);
		save(image(), answer("a1"));
		save(image(), answer("a1"), user("q2"));
		save(image(), answer("a1"), user("q2"), answer("a2"));
		assertThat(turns()).extracting(Turn::status).containsExactly(TurnStatus.COMPLETED, TurnStatus.COMPLETED);
		assertThat(found()).hasSize(4);
	}

	private static Message image() {
		Media media = Media.builder()
			.mimeType(MimeTypeUtils.IMAGE_PNG)
			.data(new byte[] { 1, 2, 3 })
			.id("i")
			.name("n")
			.build();
		return UserMessage.builder()
			.text("look")
			.media(media)
			.metadata(Map.of("parts", List.of(new byte[] { 4 })))
			.build();
	}

	@Test
	void saveThatAnotherOneComesBeforeReplacesItsTurn() {
		ObservedStore observed = new ObservedStore(this.store);
		this.repository = SessionChatMemoryRepository.of(observed, () -> this.owner);
		save(user("q1"), answer("a1"));
		observed.beforeCommit(() -> {
			observed.beforeCommit(() -> {
			});
			save(user("q1"), answer("a1"), user("other"), answer("b2"));
		});
		save(user("q1"), answer("a1"), user("mine"), answer("a2"));
		assertThat(found()).containsExactly("user: q1", "assistant: a1", "user: mine", "assistant: a2");
		assertThat(Conversations.of(this.store).get(this.key).siblings(3)).extracting(Turn::number)
			.containsExactly(2L, 3L);
	}

	@Test
	void messageThatCannotBeStoredLeavesTheQuestionThatWaits() {
		save(user("q1"), answer("a1"), user("q2"));
		Message unstorable = UserMessage.builder().text("q3").metadata(Map.of("it", new Object())).build();
		assertThatExceptionOfType(UnstorableMessageException.class)
			.isThrownBy(() -> save(user("q1"), answer("a1"), unstorable));
		assertThat(found()).containsExactly("user: q1", "assistant: a1", "user: q2");
		assertThat(turns()).hasSize(1);
	}

	@Test
	void invalidListChangesNothing() {
		save(user("q1"), answer("a1"));
		assertThatIllegalArgumentException().isThrownBy(() -> save(answer("a0"), user("q1"), answer("a1")));
		assertThat(found()).containsExactly("user: q1", "assistant: a1");
		assertThat(turns()).hasSize(1);
	}

	@ParameterizedTest
	@EnumSource(names = { "MEMORY", "H2", "POSTGRESQL", "REDIS" })
	void idsAreThoseOfTheOwner(TestStores kind) {
		on(kind);
		save(user("q1"), answer("a1"));
		this.store.add(SessionKey.of(UUID.randomUUID().toString(), "other"), List.of(user("q"), answer("a")));
		assertThat(this.repository.findConversationIds()).containsExactly(this.id);
		assertThat(this.repository.findByConversationId("other")).isEmpty();
	}

	private void save(Message... messages) {
		this.repository.saveAll(this.id, List.of(messages));
	}

	private List<String> found() {
		return Lines.of(this.repository.findByConversationId(this.id));
	}

	private List<String> logged() {
		return Lines.of(this.store.messages(this.key));
	}

	private Conversation thread() {
		return Conversations.of(this.store).get(this.key);
	}

	@Test
	void answerWithoutContentIsNotReturned() {
		MessageWindowChatMemory window = MessageWindowChatMemory.builder()
			.chatMemoryRepository(this.repository)
			.build();
		window.add(this.id, user("q1"));
		window.add(this.id, answer(""));
		window.add(this.id, user("q2"));
		window.add(this.id, answer("a2"));
		assertThat(found()).containsExactly("user: q2", "assistant: a2");
		assertThat(turns()).extracting(Turn::status).containsExactly(TurnStatus.FAILED, TurnStatus.COMPLETED);
	}

	@Test
	void hiddenThoughtsInFrontOfAReplyAreLeftOut() {
		MessageWindowChatMemory window = MessageWindowChatMemory.builder()
			.chatMemoryRepository(this.repository)
			.build();
		for (int i = 1; i <= 2; i++) {
			window.add(this.id, user("q" + i));
			window.add(this.id, List.of(answer(""), answer(" "), answer("a" + i)));
		}
		assertThat(found()).containsExactly("user: q1", "assistant: a1", "user: q2", "assistant: a2");
		assertThat(turns()).extracting(Turn::status).containsOnly(TurnStatus.COMPLETED);
		assertThat(turns()).hasSize(2);
	}

	private List<Turn> turns() {
		return this.store.turns(this.key, Tail.ALL);
	}

	private static Message user(String text) {
		return new UserMessage(text);
	}

	private static AssistantMessage look() {
		return AssistantMessage.builder()
			.content("")
			.toolCalls(List.of(new ToolCall("c1", "function", "look", "{}")))
			.build();
	}

	private static ToolResponseMessage found(String id) {
		return ToolResponseMessage.builder().responses(List.of(new ToolResponse(id, "look", "found"))).build();
	}

	private static Message answer(String text) {
		return new AssistantMessage(text);
	}

}
