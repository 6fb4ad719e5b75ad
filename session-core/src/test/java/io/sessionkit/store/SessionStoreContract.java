package io.sessionkit.store;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;

import io.sessionkit.Session;
import io.sessionkit.SessionItem;
import io.sessionkit.SessionKey;
import io.sessionkit.Turn;
import io.sessionkit.TurnStatus;
import io.sessionkit.codec.UnreadablePayloadException;
import io.sessionkit.codec.UnstorableMessageException;
import io.sessionkit.conversation.Conversation;
import io.sessionkit.conversation.Conversations;
import io.sessionkit.store.CommitResult.Outcome;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Assumptions;
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
import static org.awaitility.Awaitility.await;

/**
 * The contract of every {@link SessionStore}. Whoever writes one extends this class,
 * returns the store, and runs it. Every test uses keys of its own, so that all can share
 * one store, also one that others use; nothing is assumed of the store's clock but that
 * it goes on.
 */
public abstract class SessionStoreContract extends DeletedTurnsContract {

	private static final int OPERATIONS_OF_A_HISTORY = 100;

	/**
	 * The store under test: with a codec that keeps what {@code MessageCodec} promises,
	 * and without a time to live.
	 * @return the same or an equal store each time within a test
	 */
	@Override
	protected abstract SessionStore store();

	/**
	 * Makes a stored item unreadable, where the test can reach under the store.
	 * @param key the session
	 * @param sequence the item
	 * @return whether it was done
	 */
	protected boolean corrupt(SessionKey key, long sequence) {
		return false;
	}

	/**
	 * Closes the store and opens it again, as the next process does: with nothing that
	 * the first one has in memory. If only one may be open, {@link #store()} returns this
	 * one from now on.
	 * @return the store that was opened; null if its sessions end with the process
	 */
	protected @Nullable SessionStore restarted() {
		return null;
	}

	/**
	 * Returns the number of random programs of 100 operations to compare with the model,
	 * unless {@code -Dsessionkit.histories} says so.
	 * @return the number
	 */
	protected int histories() {
		return 200;
	}

	@Test
	void randomHistoriesEqualTheModel() {
		long seed = Long.getLong("sessionkit.seed", System.nanoTime());
		int histories = Integer.getInteger("sessionkit.histories", histories());
		for (int i = 0; i < histories; i++) {
			new RandomProgram(List.of(store(), another()), seed + i, OPERATIONS_OF_A_HISTORY).run();
		}
	}

	@Test
	void sessionsSurviveARestart() {
		SessionKey key = key();
		threadOf(key, 2);
		commit(Commit.any(key).turn(turn(TurnStatus.AWAITING_APPROVAL, 1, "q3")));
		commit(Commit.on(header(key))
			.header(HeaderChange.NONE.title("title").attributes(Map.of("a", 1L)))
			.records(List.of(RecordWrite.create("note", "1", "with a commit"))));
		store().put(key, RecordWrite.create("note", "2", "alone"));
		SessionKey erased = key();
		threadOf(erased, 1);
		store().erase(erased);
		Session before = header(key);
		List<Turn> turns = store().turns(key, Tail.ALL);
		SessionStore restarted = restarted();
		if (restarted == null) {
			Assumptions.abort("Not applicable: sessions of this store end with the process.");
			return;
		}
		assertThat(restarted.find(key)).contains(before);
		assertThat(restarted.turns(key, Tail.ALL)).isEqualTo(turns);
		assertThat(texts(restarted.items(key, Tail.ALL))).containsExactly("q1", "a1", "q2", "a2");
		assertThat(texts(restarted.items(key, 3))).containsExactly("q3");
		assertThat(restarted.records(key, "note")).extracting(SessionRecord::payload)
			.containsExactlyInAnyOrder("with a commit", "alone");
		assertThat(restarted.list(key.owner(), Page.first(10))).extracting(Session::key).contains(key);
		assertThat(restarted.find(erased)).isEmpty();
		assertThat(restarted.commit(Commit.on(before).header(HeaderChange.NONE.title("new"))).outcome())
			.isEqualTo(Outcome.COMMITTED);
	}

	@Test
	void refusedChangeChangesNothing() {
		SessionKey key = key();
		threadOf(key, 2);
		commit(Commit.any(key).turn(turn(TurnStatus.FAILED, 2, "q3")));
		store().put(key, RecordWrite.create("note", "1", "there"));
		Session before = header(key);
		Commit all = Commit.on(before)
			.turn(completed("q4", "a4"))
			.delete(Set.of(1L))
			.records(List.of(RecordWrite.put("note", "1", "changed"), RecordWrite.create("note", "2", "new")));
		HeaderChange change = HeaderChange.NONE.title("title").attributes(Map.of("a", 1));
		assertThatIllegalArgumentException().isThrownBy(() -> store().commit(all.header(change.head("other", 3))));
		assertThatIllegalArgumentException().isThrownBy(() -> store().commit(all.header(change.summary(3, "1"))));
		assertThatExceptionOfType(UnstorableMessageException.class)
			.isThrownBy(() -> store().commit(all.header(change.attributes(Map.of("a", new Object())))));
		assertThat(header(key)).isEqualTo(before);
		assertThat(log(key)).containsExactly("q1", "a1", "q2", "a2");
		assertThat(store().turns(key, Tail.ALL)).hasSize(3);
		assertThat(store().records(key, "note")).extracting(SessionRecord::payload).containsExactly("there");
	}

	/**
	 * Whoever expects any session does not lose to others, whatever he writes.
	 */
	@Test
	void writersWhoExpectAnySessionNeverConflict() throws Exception {
		SessionKey key = key();
		threadOf(key, 4);
		AtomicInteger writers = new AtomicInteger();
		List<CommitResult> results = race(8, () -> {
			int writer = writers.incrementAndGet();
			CommitResult result = null;
			for (int i = 0; i < 5; i++) {
				result = commit(switch (writer % 4) {
					case 0 -> Commit.any(key).turn(completed("q", "a"));
					case 1 -> Commit.any(key).header(HeaderChange.NONE.attributes(Map.of("by", writer)));
					case 2 -> Commit.any(key).records(List.of(RecordWrite.put("note", "1", "by " + writer)));
					default ->
						Commit.any(key).turn(completed("q", "a")).header(HeaderChange.NONE.title("by " + writer));
				});
			}
			return Objects.requireNonNull(result);
		});
		assertThat(count(results, Outcome.COMMITTED)).isEqualTo(8);
		assertThat(header(key).turns()).isEqualTo(4 + 20);
	}

	@Test
	void unreadableItemIsNotQuoted() {
		SessionKey key = key();
		store().add(key, batch("confidential question"));
		if (!corrupt(key, 1)) {
			Assumptions.abort("Not applicable: nothing can get under this store to corrupt an item.");
		}
		assertThatExceptionOfType(UnreadablePayloadException.class).isThrownBy(() -> store().messages(key))
			.satisfies((ex) -> {
				for (Throwable each = ex; each != null; each = each.getCause()) {
					assertThat(each.toString()).doesNotContain("confidential");
				}
			});
		assertThat(header(key).items()).isEqualTo(1);
	}

	@Test
	void nullExpirySurvives() {
		SessionKey key = key();
		threadOf(key, 1);
		assertThat(header(key).timeToLive()).isNull();
		assertThat(header(key).expiresAt()).isNull();
		threadOf(key, 1);
		commit(Commit.any(key).header(HeaderChange.NONE.title("title")));
		assertThat(header(key).timeToLive()).isNull();
		assertThat(header(key).expiresAt()).isNull();
	}

	@Test
	void timeToLiveCountsFromTheLastWrite() {
		SessionKey key = key();
		threadOf(key, 1);
		commit(Commit.any(key).header(HeaderChange.NONE.timeToLive(Duration.ofHours(1))));
		Session first = header(key);
		assertThat(first.timeToLive()).isEqualTo(Duration.ofHours(1));
		assertThat(first.expiresAt()).isEqualTo(first.updatedAt().plus(Duration.ofHours(1)));
		await().until(() -> {
			threadOf(key, 1);
			return expiresAt(header(key)).isAfter(first.expiresAt());
		});
		Session later = header(key);
		assertThat(later.timeToLive()).isEqualTo(Duration.ofHours(1));
		assertThat(later.expiresAt()).isEqualTo(later.updatedAt().plus(Duration.ofHours(1)));
	}

	private static Instant expiresAt(Session session) {
		return Objects.requireNonNull(session.expiresAt());
	}

	@Test
	void openTurnIsAWriteToo() {
		SessionKey key = key();
		threadOf(key, 1);
		commit(Commit.any(key).header(HeaderChange.NONE.timeToLive(Duration.ofHours(1))));
		Session first = header(key);
		await().until(() -> {
			commit(Commit.any(key).turn(turn(TurnStatus.AWAITING_APPROVAL, 1, "q2")));
			return expiresAt(header(key)).isAfter(first.expiresAt());
		});
	}

	@Test
	void readsAndRecordsDoNotProlongTheLife() {
		SessionKey key = key();
		threadOf(key, 1);
		commit(Commit.any(key).header(HeaderChange.NONE.timeToLive(Duration.ofHours(1))));
		Session before = header(key);
		Instant start = Instant.now();
		await().until(() -> Instant.now().isAfter(start.plusMillis(2)));
		store().open(key, Window.ALL);
		store().messages(key);
		store().put(key, RecordWrite.put("note", "1", "text"));
		assertThat(header(key)).isEqualTo(before);
	}

	@Test
	void zeroTakesTheTimeToLiveAway() {
		SessionKey key = key();
		threadOf(key, 1);
		commit(Commit.any(key).header(HeaderChange.NONE.timeToLive(Duration.ofHours(1))));
		commit(Commit.any(key).header(HeaderChange.NONE.timeToLive(Duration.ZERO)));
		assertThat(header(key).timeToLive()).isNull();
		assertThat(header(key).expiresAt()).isNull();
	}

	@Test
	void expiredSessionReadsAsAbsentEverywhere() {
		SessionKey key = key();
		expired(key);
		assertThat(store().open(key, Window.ALL)).isEmpty();
		assertThat(store().items(key, Tail.ALL)).isEmpty();
		assertThat(store().items(key, 1)).isEmpty();
		assertThat(store().messages(key)).isEmpty();
		assertThat(store().messages(key, 5)).isEmpty();
		assertThat(store().turns(key, Tail.ALL)).isEmpty();
		assertThat(store().list(key.owner(), Page.first(10))).isEmpty();
		assertThat(store().records(key, "note")).isEmpty();
		assertThat(store().records(key.owner(), "note", Page.first(10))).isEmpty();
		assertThat(store().pop(key)).isEmpty();
		assertThat(store().put(key, RecordWrite.put("note", "2", "text"))).isFalse();
		assertThat(store().commit(Commit.any(key).header(HeaderChange.NONE.title("title"))))
			.isEqualTo(new CommitResult(Outcome.CONFLICT, 0, 0, 0));
	}

	@Test
	void nextCallAfterExpiryStartsEmpty() {
		SessionKey key = key();
		expired(key);
		store().add(key, batch("new"));
		assertStartedAnew(key);
	}

	@Test
	void firstCommitAfterExpiryStartsEmpty() {
		SessionKey key = key();
		expired(key);
		assertThat(store().commit(Commit.first(key).turn(completed("new"))))
			.isEqualTo(new CommitResult(Outcome.COMMITTED, 1, 1, 1));
		assertStartedAnew(key);
	}

	@Test
	void commitOnAnExpiredSessionConflicts() {
		SessionKey key = key();
		Session base = expired(key);
		assertThat(store().commit(Commit.on(base).turn(completed("late"))))
			.isEqualTo(new CommitResult(Outcome.CONFLICT, 0, 0, 0));
		assertThat(store().find(key)).isEmpty();
		store().add(key, batch("new"));
		assertThat(store().commit(Commit.on(base).turn(completed("late"))).outcome()).isEqualTo(Outcome.CONFLICT);
		assertThat(log(key)).containsExactly("new");
	}

	@Test
	void erasureOfAnExpiredSessionFindsNone() {
		SessionKey key = key();
		expired(key);
		assertThat(store().erase(key)).isFalse();
		expired(key);
		assertThat(store().clear(key)).isFalse();
		store().add(key, batch("new"));
		assertStartedAnew(key);
		assertThat(store().erase(key)).isTrue();
	}

	private Session expired(SessionKey key) {
		threadOf(key, 2);
		store().put(key, RecordWrite.create("note", "1", "text"));
		commit(Commit.any(key).header(HeaderChange.NONE.title("old").tags(Set.of("old"))));
		Session last = header(key);
		commit(Commit.on(last).header(HeaderChange.NONE.timeToLive(Duration.ofMillis(1))));
		await().until(() -> store().find(key).isEmpty());
		return last;
	}

	private void assertStartedAnew(SessionKey key) {
		Session session = header(key);
		assertThat(log(key)).containsExactly("new");
		assertThat(store().turns(key, Tail.ALL)).hasSize(1);
		assertThat(store().records(key, "note")).isEmpty();
		assertThat(session.version()).isEqualTo(1);
		assertThat(session.turns()).isEqualTo(1);
		assertThat(session.title()).isNull();
		assertThat(session.tags()).isEmpty();
		assertThat(session.timeToLive()).isNull();
		assertThat(session.expiresAt()).isNull();
	}

	@Test
	void idsAreExact() {
		String owner = name("owner");
		List<SessionKey> keys = List
			.of("a", "A", "\u00e1", "a\u0301", "a ", " a", "a'", "a''", "\"a\"", "{a}", "a}", "a:b", "a%", "a_", "a\\",
					"😀", "😁", "ß", "ss", "é".repeat(255), "x".repeat(255), "x".repeat(254))
			.stream()
			.map((id) -> SessionKey.of(owner, id))
			.toList();
		assertAreDifferentSessions(keys);
		assertThat(store().list(owner, Page.first(100))).extracting(Session::key)
			.containsExactlyInAnyOrderElementsOf(keys);
	}

	@Test
	void ownersAreExact() {
		String stem = name("o");
		List<SessionKey> keys = List
			.of(stem + "a", stem + "A", stem + "\u00e1", stem + "a\u0301", stem + "a ", stem + "'", stem + "{}",
					stem + ":", stem + "😀", stem + "x".repeat(255 - stem.length()))
			.stream()
			.map((owner) -> SessionKey.of(owner, "thread"))
			.toList();
		assertAreDifferentSessions(keys);
		for (SessionKey key : keys) {
			assertThat(store().list(key.owner(), Page.first(100))).extracting(Session::key).containsExactly(key);
		}
	}

	@Test
	void ownerAndIdAreNotConfused() {
		String one = name("x");
		String other = name("y");
		List<SessionKey> keys = List.of(SessionKey.of(one, other), SessionKey.of(other, one), SessionKey.of(one, one),
				SessionKey.of(one), SessionKey.of(other), SessionKey.of(one + ":" + other, one),
				SessionKey.of(one, other + ":" + one));
		assertAreDifferentSessions(keys);
		assertThat(store().list(one, Page.first(100))).extracting(Session::key)
			.containsExactlyInAnyOrder(keys.get(0), keys.get(2), keys.get(6));
		assertThat(store().list("", Page.first(100_000))).extracting(Session::key)
			.contains(keys.get(3), keys.get(4))
			.doesNotContain(keys.get(0), keys.get(1), keys.get(2));
	}

	private void assertAreDifferentSessions(List<SessionKey> keys) {
		for (int i = 0; i < keys.size(); i++) {
			assertThat(store().commit(Commit.first(keys.get(i)).turn(completed("text " + i))).outcome())
				.as("%s", keys.get(i))
				.isEqualTo(Outcome.COMMITTED);
			store().put(keys.get(i), RecordWrite.create("note", "1", "note " + i));
		}
		for (int i = 0; i < keys.size(); i++) {
			assertThat(header(keys.get(i)).key()).isEqualTo(keys.get(i));
			assertThat(log(keys.get(i))).as("%s", keys.get(i)).containsExactly("text " + i);
			assertThat(store().records(keys.get(i), "note")).extracting(SessionRecord::payload)
				.containsExactly("note " + i);
		}
	}

	@Test
	void largeTextComesBack() {
		SessionKey key = key();
		String text = "0123456789abcdé\n".repeat(1 << 16);
		store().add(key, List.<Message>of(new UserMessage(text), new AssistantMessage("fine")));
		assertThat(text.getBytes(StandardCharsets.UTF_8).length).isGreaterThan(1_000_000);
		assertThat(store().messages(key, 2).get(0).getText()).isEqualTo(text);
	}

	@Test
	void unusualTextComesBack() {
		SessionKey key = key();
		List<Message> messages = List.of(new UserMessage("a\u0000b\u0000"), new AssistantMessage(""),
				new AssistantMessage((String) null), new UserMessage("  \t\r\n "),
				new AssistantMessage("😀\u2028\u0007"), new UserMessage("'; drop table x; --"),
				new UserMessage("\\u0000 \\ \" {} :x ? $1 %s"));
		store().add(key, messages);
		assertThat(store().messages(key)).isEqualTo(messages);
	}

	@Test
	void metadataComesBackEqual() {
		SessionKey key = key();
		Map<String, Object> metadata = new HashMap<>();
		metadata.put("null", null);
		metadata.put("int", 1);
		metadata.put("long", 1L);
		metadata.put("double", 1.0);
		metadata.put("flag", true);
		metadata.put("instant", Instant.parse("2026-01-02T03:04:05.000000006Z"));
		metadata.put("list", new ArrayList<>(List.<Object>of("a", 1, 1L, true)));
		metadata.put("map", new HashMap<>(Map.of("k", new ArrayList<>(List.of(1L)))));
		Message message = UserMessage.builder().text("text").metadata(metadata).build();
		store().add(key, List.of(message));
		assertThat(store().messages(key)).containsExactly(message);
	}

	@Test
	void whatIsHandedOutIsACopy() {
		SessionKey key = key();
		store().add(key, messagesWithMetadata());
		List<List<SessionItem>> reads = List.of(store().items(key, Tail.ALL), store().items(key, 1),
				store().open(key, Window.ALL).orElseThrow().items());
		for (List<SessionItem> read : reads) {
			read.forEach((item) -> spoil(item.message()));
		}
		store().messages(key).forEach(SessionStoreContract::spoil);
		assertAreAsWritten(store().messages(key));
		assertAreAsWritten(
				store().open(key, Window.ALL).orElseThrow().items().stream().map(SessionItem::message).toList());
	}

	@Test
	void whatIsPassedInIsCopied() {
		SessionKey key = key();
		List<Message> messages = messagesWithMetadata();
		store().add(key, messages);
		messages.forEach(SessionStoreContract::spoil);
		messages.clear();
		assertAreAsWritten(store().messages(key));
	}

	private static void assertAreAsWritten(List<Message> messages) {
		assertThat(messages).usingRecursiveComparison().isEqualTo(messagesWithMetadata());
	}

	/**
	 * Messages that hold what a reader could change, deep down or only at the surface.
	 */
	private static List<Message> messagesWithMetadata() {
		List<ToolCall> calls = new ArrayList<>(List.of(new ToolCall("1", "function", "name", "{}")));
		List<ToolResponse> responses = new ArrayList<>(List.of(new ToolResponse("1", "name", "data")));
		List<Message> messages = new ArrayList<>();
		for (Map<String, Object> metadata : List.of(deepMetadata(),
				new HashMap<String, Object>(Map.of("plain", "value")))) {
			messages.add(UserMessage.builder().text("u").metadata(metadata).build());
			messages.add(AssistantMessage.builder().content("a").properties(metadata).toolCalls(calls).build());
			messages.add(ToolResponseMessage.builder().responses(responses).metadata(metadata).build());
			messages.add(SystemMessage.builder().text("s").metadata(metadata).build());
		}
		return messages;
	}

	private static Map<String, Object> deepMetadata() {
		Map<String, Object> metadata = new HashMap<>();
		metadata.put("plain", "value");
		metadata.put("bytes", new byte[] { 1, 2, 3 });
		metadata.put("list", new ArrayList<>(List.of("a")));
		metadata.put("map", new HashMap<>(Map.of("k", "v")));
		return metadata;
	}

	@SuppressWarnings("unchecked")
	private static void spoil(Message message) {
		Map<String, Object> metadata = message.getMetadata();
		((byte[]) metadata.getOrDefault("bytes", new byte[1]))[0] = 9;
		spoil(() -> ((List<Object>) metadata.getOrDefault("list", List.of())).add("spoilt"));
		spoil(() -> ((Map<String, Object>) metadata.getOrDefault("map", Map.of())).put("spoilt", "spoilt"));
		spoil(() -> metadata.put("plain", "spoilt"));
		spoil(() -> metadata.remove("bytes"));
		if (message instanceof AssistantMessage assistant) {
			spoil(() -> assistant.getToolCalls().clear());
		}
		if (message instanceof ToolResponseMessage tools) {
			spoil(() -> tools.getResponses().clear());
		}
	}

	private static void spoil(Runnable change) {
		try {
			change.run();
		}
		catch (UnsupportedOperationException ex) {
			// an immutable object need not be a copy
		}
	}

	@Test
	void unreadableItemIsAnErrorThatNamesIt() {
		SessionKey key = key();
		SessionKey neighbour = SessionKey.of(key.owner(), "neighbour");
		threadOf(key, 3);
		threadOf(neighbour, 1);
		if (!corrupt(key, 4)) {
			Assumptions.abort("Not applicable: nothing can get under this store to corrupt an item.");
		}
		assertThatExceptionOfType(UnreadablePayloadException.class).isThrownBy(() -> store().messages(key))
			.withMessageContaining(key.toString())
			.withMessageContaining("4");
		assertThatExceptionOfType(UnreadablePayloadException.class).isThrownBy(() -> store().open(key, Window.ALL))
			.withMessageContaining(key.toString())
			.withMessageContaining("4");
		assertThat(view(key, Window.turns(1))).containsExactly("q3", "a3");
		assertThat(header(key).totals().items()).isEqualTo(6);
		assertThat(store().turns(key, Tail.ALL)).hasSize(3);
		assertThat(log(neighbour)).containsExactly("q1", "a1");
	}

	/**
	 * A conversation reads a message before it deletes it, so this is the way out. What
	 * is left of the turn can be deleted as usual then.
	 */
	@Test
	void unreadableItemIsDeletedByItsSequence() {
		SessionKey key = key();
		threadOf(key, 3);
		if (!corrupt(key, 4)) {
			Assumptions.abort("Not applicable: nothing can get under this store to corrupt an item.");
		}
		Conversation conversation = Conversations.of(store()).get(key);
		assertThatExceptionOfType(UnreadablePayloadException.class).isThrownBy(() -> conversation.delete(Set.of(4L)));
		commit(Commit.on(header(key)).delete(Set.of(4L)));
		assertThat(log(key)).containsExactly("q1", "a1", "q2", "q3", "a3");
		assertThat(header(key).totals().items()).isEqualTo(5);
		assertThat(conversation.delete(2)).isEqualTo(1);
		assertThat(view(key, Window.ALL)).containsExactly("q1", "a1", "q3", "a3");
		commit(Commit.any(key).turn(completed("q4", "a4")));
		assertThat(log(key)).endsWith("q4", "a4");
	}

	@Test
	void resetStepsOverAnUnreadableItem() {
		SessionKey key = key();
		threadOf(key, 3);
		if (!corrupt(key, 4)) {
			Assumptions.abort("Not applicable: nothing can get under this store to corrupt an item.");
		}
		Conversations.of(store()).get(key).reset();
		commit(Commit.any(key).turn(completed("q4", "a4")));
		assertThat(view(key, Window.ALL)).containsExactly("q4", "a4");
		assertThatExceptionOfType(UnreadablePayloadException.class).isThrownBy(() -> store().messages(key));
	}

	@Test
	void unreadableNewestItemIsDeletedByItsSequence() {
		SessionKey key = key();
		threadOf(key, 2);
		if (!corrupt(key, 4)) {
			Assumptions.abort("Not applicable: nothing can get under this store to corrupt an item.");
		}
		assertThatExceptionOfType(UnreadablePayloadException.class).isThrownBy(() -> store().pop(key));
		commit(Commit.on(header(key)).delete(Set.of(4L)));
		assertThat(store().pop(key)).map(Message::getText).hasValue("q2");
		assertThat(log(key)).containsExactly("q1", "a1");
	}

}
