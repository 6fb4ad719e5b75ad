package io.sessionkit.store;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;

import io.sessionkit.Session;
import io.sessionkit.SessionItem;
import io.sessionkit.SessionKey;
import io.sessionkit.Turn;
import io.sessionkit.TurnOpenException;
import io.sessionkit.TurnStatus;
import io.sessionkit.ViewTotals;
import io.sessionkit.codec.UnstorableMessageException;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.AssistantMessage.ToolCall;
import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.SystemMessage;
import org.springframework.ai.chat.messages.ToolResponseMessage;
import org.springframework.ai.chat.messages.ToolResponseMessage.ToolResponse;
import org.springframework.ai.chat.messages.UserMessage;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.tuple;
import static org.awaitility.Awaitility.await;

/**
 * The readable protocol: messages, add, pop, clear, find and list.
 */
abstract class ProtocolContract extends SessionStoreFixture {

	@Test
	void absentSessionReadsAsEmpty() {
		SessionKey key = key();
		assertThat(store().find(key)).isEmpty();
		assertThat(store().open(key, Window.ALL)).isEmpty();
		assertThat(store().messages(key)).isEmpty();
		assertThat(store().items(key, 1)).isEmpty();
		assertThat(store().turns(key, Tail.ALL)).isEmpty();
		assertThat(store().records(key, "kind")).isEmpty();
		assertThat(store().list(key.owner(), Page.first(10))).isEmpty();
	}

	@Test
	void messagesComeBackEqualAndInOrder() {
		SessionKey key = key();
		List<Message> messages = List.of(new UserMessage("what is the weather?"),
				AssistantMessage.builder()
					.content("let me see")
					.toolCalls(List.of(new ToolCall("1", "function", "weather", "{\"city\":\"Oslo\"}")))
					.build(),
				ToolResponseMessage.builder()
					.responses(List.of(new ToolResponse("1", "weather", "rain"), new ToolResponse("2", "wind", "")))
					.build(),
				new AssistantMessage("it rains"));
		store().add(key, messages);
		assertThat(store().messages(key)).isEqualTo(messages);
		assertThat(store().items(key, Tail.ALL)).extracting(SessionItem::role)
			.containsExactlyElementsOf(messages.stream().map(Message::getMessageType).toList());
	}

	@Test
	void limitTakesTheNewestOldestFirst() {
		SessionKey key = key();
		store().add(key, batch("1", "2", "3"));
		store().add(key, batch("4", "5"));
		assertThat(store().messages(key, 3)).extracting(Message::getText).containsExactly("3", "4", "5");
	}

	@Test
	void limitOfZeroIsNone() {
		SessionKey key = key();
		store().add(key, batch("1", "2"));
		assertThat(store().messages(key, 0)).isEmpty();
	}

	@Test
	void limitBeyondTheSizeIsEverything() {
		SessionKey key = key();
		store().add(key, batch("1", "2"));
		assertThat(store().messages(key, 100)).extracting(Message::getText).containsExactly("1", "2");
		assertThat(store().messages(key, Integer.MAX_VALUE)).hasSize(2);
	}

	@Test
	void negativeLimitIsRefused() {
		assertThatIllegalArgumentException().isThrownBy(() -> store().messages(key(), -1)).withMessageContaining("-1");
	}

	@Test
	void emptyBatchCreatesNothing() {
		SessionKey key = key();
		store().add(key, List.of());
		assertThat(store().find(key)).isEmpty();
	}

	@Test
	void emptyBatchChangesNothing() {
		SessionKey key = key();
		store().add(key, batch("1"));
		Session before = header(key);
		store().add(key, List.of());
		assertThat(header(key)).isEqualTo(before);
	}

	@Test
	void addedMessagesAreCompletedTurnsOfAQuestionEach() {
		SessionKey key = key();
		store().add(key, batch("q1", "a1", "q2", "a2", "q3"));
		assertThat(store().turns(key, Tail.ALL)).extracting(Turn::number, Turn::status, Turn::items)
			.containsExactly(tuple(1L, TurnStatus.COMPLETED, 2), tuple(2L, TurnStatus.COMPLETED, 2),
					tuple(3L, TurnStatus.COMPLETED, 1));
		assertThat(store().items(key, Tail.ALL)).extracting(SessionItem::turn).containsExactly(1L, 1L, 2L, 2L, 3L);
	}

	@Test
	void addedQuestionsInARowAndAGreetingStayInOneTurn() {
		SessionKey key = key();
		store().add(key, List.of(new AssistantMessage("hello"), new UserMessage("q1"), new UserMessage("q2"),
				new AssistantMessage("a"), new SystemMessage("from now on"), new UserMessage("q3")));
		assertThat(store().items(key, Tail.ALL)).extracting(SessionItem::turn).containsExactly(1L, 1L, 1L, 1L, 2L, 2L);
	}

	@Test
	void batchWithAnUnstorableMessageIsNotStoredAtAll() {
		SessionKey fresh = key();
		Message unstorable = UserMessage.builder()
			.text("secret")
			.metadata(new HashMap<>(Map.of("value", new Object())))
			.build();
		assertThatExceptionOfType(UnstorableMessageException.class)
			.isThrownBy(() -> store().add(fresh, List.of(new UserMessage("fine"), unstorable)))
			.withMessageNotContaining("secret");
		assertThat(store().find(fresh)).isEmpty();

		SessionKey used = key();
		Session before = threadOf(used, 1);
		assertThatExceptionOfType(UnstorableMessageException.class)
			.isThrownBy(() -> store().add(used, List.of(new UserMessage("fine"), unstorable)));
		assertThat(header(used)).isEqualTo(before);
		assertThat(log(used)).containsExactly("q1", "a1");
	}

	@Test
	void concurrentBatchesStayContiguous() throws Exception {
		SessionKey key = key();
		int writers = 8;
		int batches = 10;
		List<Callable<Boolean>> tasks = new ArrayList<>();
		for (int writer = 0; writer < writers; writer++) {
			String name = "w" + writer;
			tasks.add(() -> {
				for (int i = 0; i < batches; i++) {
					store().add(key, batch(name + "." + i + ".0", name + "." + i + ".1", name + "." + i + ".2"));
				}
				return true;
			});
		}
		race(tasks);
		List<String> log = log(key);
		assertThat(log).hasSize(writers * batches * 3).doesNotHaveDuplicates();
		for (int i = 0; i < log.size(); i += 3) {
			String stem = log.get(i).substring(0, log.get(i).length() - 1);
			assertThat(log.subList(i, i + 3)).containsExactly(stem + 0, stem + 1, stem + 2);
		}
		for (int writer = 0; writer < writers; writer++) {
			String prefix = "w" + writer + ".";
			assertThat(log.stream().filter((text) -> text.startsWith(prefix)).toList()).isSorted();
		}
		assertThat(sequences(store().items(key, Tail.ALL))).isSorted().doesNotHaveDuplicates();
	}

	@Test
	void concurrentFirstWritersLoseNothing() throws Exception {
		SessionKey key = key();
		List<Callable<Boolean>> tasks = new ArrayList<>();
		for (int i = 0; i < 25; i++) {
			String text = "first " + i;
			tasks.add(() -> {
				store().add(key, batch(text));
				return true;
			});
		}
		race(tasks);
		assertThat(log(key)).hasSize(25).doesNotHaveDuplicates();
		assertThat(header(key).totals().turns()).isEqualTo(25);
	}

	@Test
	void popTakesTheNewestMessageAway() {
		SessionKey key = key();
		threadOf(key, 2);
		assertThat(store().pop(key)).map(Message::getText).contains("a2");
		assertThat(log(key)).containsExactly("q1", "a1", "q2");
		assertThat(header(key).totals()).isEqualTo(new ViewTotals(2, 3, tokens(3)));
		assertThat(store().pop(key)).map(Message::getText).contains("q2");
		assertThat(header(key).totals()).isEqualTo(new ViewTotals(1, 2, tokens(2)));
		assertThat(header(key).head()).isEqualTo(1);
	}

	/** As with the deletion of a turn: a message goes, and nothing else. */
	@Test
	void popLeavesTheAttributesAsTheyAre() {
		SessionKey key = key();
		commit(Commit.first(key).header(HeaderChange.NONE.attributes(Map.of("step", 0))));
		for (int step = 1; step <= 2; step++) {
			commit(Commit.any(key)
				.turn(completed("q" + step, "a" + step))
				.header(HeaderChange.NONE.attributes(Map.of("step", step))));
		}
		for (long head : new long[] { 2, 1, 1, 0 }) {
			assertThat(store().pop(key)).isPresent();
			assertThat(header(key).head()).isEqualTo(head);
			assertThat(header(key).attributes()).isEqualTo(Map.of("step", 2));
		}
		assertThat(store().pop(key)).isEmpty();
		assertThat(header(key).attributes()).isEqualTo(Map.of("step", 2));
	}

	@Test
	void popBringsNoAttributesBackThatWereRemoved() {
		SessionKey key = key();
		commit(Commit.first(key).turn(completed("q1")).header(HeaderChange.NONE.attributes(Map.of("step", 1))));
		commit(Commit.any(key).turn(completed("q2")).header(HeaderChange.NONE.attributes(Map.of())));
		assertThat(store().pop(key)).isPresent();
		assertThat(header(key).head()).isEqualTo(1);
		assertThat(header(key).attributes()).isEmpty();
	}

	@Test
	void popOfAnAbsentThreadIsEmpty() {
		SessionKey key = key();
		assertThat(store().pop(key)).isEmpty();
		assertThat(store().find(key)).isEmpty();
	}

	@Test
	void popOfAThreadThatHasBeenPoppedEmptyIsEmpty() {
		SessionKey key = key();
		store().add(key, batch("only"));
		assertThat(store().pop(key)).isPresent();
		assertThat(store().pop(key)).isEmpty();
		assertThat(header(key).totals()).isEqualTo(ViewTotals.NONE);
		assertThat(header(key).head()).isZero();
	}

	@Test
	void numbersAreNotReusedAfterPop() {
		SessionKey key = key();
		threadOf(key, 1);
		store().pop(key);
		store().pop(key);
		CommitResult result = commit(Commit.any(key).turn(completed("again")));
		assertThat(result.turn()).isEqualTo(2);
		assertThat(result.firstItem()).isEqualTo(3);
		assertThat(log(key)).containsExactly("again");
	}

	@Test
	void concurrentPopsNeverTakeTheSameMessage() throws Exception {
		SessionKey key = key();
		threadOf(key, 4);
		List<Optional<Message>> popped = race(8, () -> store().pop(key));
		assertThat(popped).allMatch(Optional::isPresent);
		assertThat(new HashSet<>(popped.stream().map((message) -> message.orElseThrow().getText()).toList()))
			.hasSize(8);
		assertThat(log(key)).isEmpty();
		assertThat(header(key).totals()).isEqualTo(ViewTotals.NONE);
	}

	@Test
	void clearErasesASession() {
		SessionKey key = key();
		threadOf(key, 2);
		store().put(key, RecordWrite.create("note", "1", "text"));
		assertThat(store().clear(key)).isTrue();
		assertThat(store().find(key)).isEmpty();
		assertThat(store().messages(key)).isEmpty();
		assertThat(store().turns(key, Tail.ALL)).isEmpty();
		assertThat(store().records(key, "note")).isEmpty();
		assertThat(store().records(key.owner(), "note", Page.first(10))).isEmpty();
		assertThat(store().list(key.owner(), Page.first(10))).isEmpty();
	}

	@Test
	void sessionWhoseTurnWaitsIsNeitherClearedNorShortened() {
		SessionKey key = key();
		threadOf(key, 1);
		store().commit(Commit.any(key).turn(turn(TurnStatus.AWAITING_APPROVAL, 1, "q2")));
		Session before = header(key);
		assertThatExceptionOfType(TurnOpenException.class).isThrownBy(() -> store().clear(key))
			.withMessageContaining(key.toString())
			.satisfies((ex) -> assertThat(ex.turn()).isEqualTo(2));
		assertThatExceptionOfType(TurnOpenException.class).isThrownBy(() -> store().pop(key));
		assertThat(header(key)).isEqualTo(before);
		assertThat(log(key)).containsExactly("q1", "a1");
		store().erase(key);
		assertThat(store().find(key)).isEmpty();
	}

	@Test
	void clearIsIdempotent() {
		SessionKey key = key();
		assertThat(store().clear(key)).isFalse();
		threadOf(key, 1);
		assertThat(store().clear(key)).isTrue();
		assertThat(store().clear(key)).isFalse();
		assertThat(store().find(key)).isEmpty();
	}

	@Test
	void erasureSaysWhetherThereWasASession() {
		SessionKey key = key();
		assertThat(store().erase(key)).as("absent").isFalse();
		threadOf(key, 1);
		store().commit(Commit.any(key).turn(turn(TurnStatus.AWAITING_APPROVAL, 1, "q2")));
		assertThat(store().erase(key)).as("its turn waits").isTrue();
		assertThat(store().erase(key)).as("erased").isFalse();
		commit(Commit.first(key).header(HeaderChange.NONE.title("new")));
		assertThat(store().erase(key)).as("without turns").isTrue();
	}

	@Test
	void ofConcurrentErasuresOneAtLeastHasFoundTheSession() throws Exception {
		SessionKey key = key();
		threadOf(key, 2);
		assertThat(race(8, () -> store().erase(key))).contains(true);
		assertThat(store().erase(key)).isFalse();
	}

	@Test
	void clearTouchesOneSessionOnly() {
		SessionKey key = key();
		SessionKey neighbour = SessionKey.of(key.owner(), key.id() + "x");
		SessionKey stranger = SessionKey.of(key.owner() + "x", key.id());
		SessionKey ownerless = SessionKey.of(key.id());
		for (SessionKey each : List.of(key, neighbour, stranger, ownerless)) {
			threadOf(each, 1);
			store().put(each, RecordWrite.create("note", "1", "text"));
		}
		store().clear(key);
		for (SessionKey each : List.of(neighbour, stranger, ownerless)) {
			assertThat(log(each)).containsExactly("q1", "a1");
			assertThat(store().records(each, "note")).hasSize(1);
		}
	}

	@Test
	void sessionAfterClearStartsAnew() {
		SessionKey key = key();
		threadOf(key, 3);
		commit(Commit.any(key).header(HeaderChange.NONE.title("old").tags(Set.of("old"))));
		store().clear(key);
		store().add(key, batch("new"));
		Session session = header(key);
		assertThat(log(key)).containsExactly("new");
		assertThat(session.version()).isEqualTo(1);
		assertThat(session.turns()).isEqualTo(1);
		assertThat(session.items()).isEqualTo(1);
		assertThat(session.title()).isNull();
		assertThat(session.tags()).isEmpty();
	}

	@Test
	void listIsLastWrittenFirst() {
		String owner = name("owner");
		List<SessionKey> keys = new ArrayList<>();
		for (int i = 0; i < 5; i++) {
			keys.add(SessionKey.of(owner, "thread " + i));
			writeLater(keys.get(i), (i > 0) ? keys.get(i - 1) : null);
		}
		assertThat(listed(owner, Page.first(10))).containsExactly(keys.get(4), keys.get(3), keys.get(2), keys.get(1),
				keys.get(0));
		writeLater(keys.get(1), keys.get(4));
		Page page = Page.first(2);
		assertThat(listed(owner, page)).containsExactly(keys.get(1), keys.get(4));
		assertThat(listed(owner, page.next())).containsExactly(keys.get(3), keys.get(2));
		assertThat(listed(owner, page.next().next())).containsExactly(keys.get(0));
		assertThat(listed(owner, page.next().next().next())).isEmpty();
		assertThat(listed(owner, Page.first(0))).isEmpty();
	}

	@Test
	void listedHeadersAreTheOnesThatAreOpened() {
		SessionKey key = key();
		threadOf(key, 2);
		commit(Commit.any(key)
			.header(HeaderChange.NONE.title("a title").tags(Set.of("one", "two")).attributes(Map.of("count", 3))));
		assertThat(store().list(key.owner(), Page.first(10))).containsExactly(header(key));
	}

	private List<SessionKey> listed(String owner, Page page) {
		return store().list(owner, page).stream().map(Session::key).toList();
	}

	/**
	 * Writes until the clock of the store has moved on from another session's last write.
	 */
	private void writeLater(SessionKey key, @Nullable SessionKey than) {
		await().pollDelay(Duration.ZERO).pollInterval(Duration.ofMillis(2)).until(() -> {
			store().add(key, batch("text"));
			return than == null || header(key).updatedAt().isAfter(header(than).updatedAt());
		});
	}

}
