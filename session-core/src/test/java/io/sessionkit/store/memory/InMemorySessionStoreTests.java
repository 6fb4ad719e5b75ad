package io.sessionkit.store.memory;

import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;

import io.sessionkit.Session;
import io.sessionkit.SessionKey;
import io.sessionkit.TurnStatus;
import io.sessionkit.ViewTotals;
import io.sessionkit.codec.JsonMessageCodec;
import io.sessionkit.codec.MessageCodec;
import io.sessionkit.codec.UnstorableMessageException;
import io.sessionkit.store.Commit;
import io.sessionkit.store.HeaderChange;
import io.sessionkit.store.Page;
import io.sessionkit.store.RecordWrite;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.SessionStoreContract;
import io.sessionkit.store.StoreOptions;
import io.sessionkit.store.Tail;
import io.sessionkit.store.TurnWrite;
import io.sessionkit.store.Window;
import org.junit.jupiter.api.Test;

import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.UserMessage;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

class InMemorySessionStoreTests extends SessionStoreContract {

	private static final MessageCodec CODEC = JsonMessageCodec.create();

	private static final SessionStore STORE = new InMemorySessionStore(StoreOptions.of(CODEC));

	@Override
	protected SessionStore store() {
		return STORE;
	}

	@Override
	protected SessionStore storeOn(Clock clock) {
		return new InMemorySessionStore(StoreOptions.of(CODEC).clock(clock));
	}

	@Override
	protected int histories() {
		return 300;
	}

	@Test
	void sessionThatWasNotWrittenForTheLongestTimeIsEvicted() {
		SessionStore small = new InMemorySessionStore(StoreOptions.of(CODEC), 3);
		List<SessionKey> keys = List.of(SessionKey.of("1"), SessionKey.of("2"), SessionKey.of("3"), SessionKey.of("4"),
				SessionKey.of("5"));
		keys.subList(0, 3).forEach((key) -> small.add(key, batch("text")));
		small.add(keys.get(0), batch("again"));
		small.messages(keys.get(1));
		small.add(keys.get(3), batch("text"));
		assertThat(listed(small)).containsExactly("4", "1", "3");
		assertThat(small.find(keys.get(1))).isEmpty();
		small.add(keys.get(4), batch("text"));
		assertThat(listed(small)).containsExactly("5", "4", "1");
		assertThat(small.messages(keys.get(0))).hasSize(2);
	}

	@Test
	void sessionWithAnOpenTurnIsEvictedLast() {
		SessionStore small = new InMemorySessionStore(StoreOptions.of(CODEC), 2);
		small.commit(Commit.first(SessionKey.of("open")).turn(turn(TurnStatus.AWAITING_APPROVAL, 0, "q")));
		for (String id : List.of("1", "2", "3")) {
			small.add(SessionKey.of(id), batch("text"));
			assertThat(listed(small)).containsExactly(id, "open");
		}
		small.commit(Commit.first(SessionKey.of("open too")).turn(turn(TurnStatus.AWAITING_APPROVAL, 0, "q")));
		assertThat(listed(small)).containsExactly("open too", "open");
		small.add(SessionKey.of("4"), batch("text"));
		assertThat(listed(small)).containsExactly("4", "open too");
	}

	@Test
	void sessionWhoseTurnHasEndedIsEvictedAsOthersAre() {
		SessionStore small = new InMemorySessionStore(StoreOptions.of(CODEC), 2);
		SessionKey key = SessionKey.of("open");
		TurnWrite open = turn(TurnStatus.AWAITING_APPROVAL, 0, "q");
		small.commit(Commit.first(key).turn(open));
		small.commit(Commit.any(key).turn(next(open, TurnStatus.COMPLETED, "a")));
		small.add(SessionKey.of("1"), batch("text"));
		small.add(SessionKey.of("2"), batch("text"));
		assertThat(listed(small)).containsExactly("2", "1");
	}

	@Test
	void boundHoldsWhileManyWrite() throws Exception {
		SessionStore small = new InMemorySessionStore(StoreOptions.of(CODEC), 10);
		AtomicInteger ids = new AtomicInteger();
		race(8, () -> {
			for (int i = 0; i < 200; i++) {
				small.add(SessionKey.of("" + ids.incrementAndGet()), batch("text"));
			}
			return true;
		});
		assertThat(listed(small)).hasSize(10);
	}

	@Test
	void expiredSessionsMakeRoom() {
		MovingClock clock = new MovingClock();
		SessionStore small = new InMemorySessionStore(
				StoreOptions.of(CODEC).clock(clock).timeToLive(Duration.ofMinutes(1)), 2);
		small.add(SessionKey.of("old"), batch("text"));
		clock.advance(Duration.ofMinutes(2));
		small.add(SessionKey.of("1"), batch("text"));
		small.add(SessionKey.of("2"), batch("text"));
		assertThat(listed(small)).containsExactly("2", "1");
	}

	@Test
	void expiredSessionsAndRecordsAreDeleted() {
		MovingClock clock = new MovingClock();
		SessionStore expiring = storeOn(clock);
		for (int i = 1; i <= 3; i++) {
			SessionKey key = SessionKey.of("" + i);
			expiring.commit(Commit.first(key)
				.turn(completed("text"))
				.header(HeaderChange.NONE.timeToLive(Duration.ofMinutes(i)))
				.records(List.of(RecordWrite.create("note", "1", "text").timeToLive(Duration.ofSeconds(90)))));
		}
		assertThat(expiring.deleteExpired(10)).isZero();
		clock.advance(Duration.ofSeconds(60));
		assertThat(expiring.deleteExpired(10)).isEqualTo(1);
		clock.advance(Duration.ofSeconds(30));
		assertThat(expiring.deleteExpired(1)).isEqualTo(1);
		assertThat(expiring.deleteExpired(10)).isEqualTo(1);
		assertThat(expiring.deleteExpired(10)).isZero();
		clock.advance(Duration.ofHours(1));
		assertThat(expiring.deleteExpired(10)).isEqualTo(2);
		assertThat(expiring.deleteExpired(10)).isZero();
	}

	@Test
	void itemThatIsEstimatedBelowZeroIsDeletedAsOthersAre() {
		SessionStore store = new InMemorySessionStore(StoreOptions.of(CODEC).tokens((message) -> -5));
		SessionKey key = SessionKey.of("1");
		store.add(key, batch("q1"));
		store.add(key, batch("q2"));
		Session before = store.find(key).orElseThrow();
		store.commit(Commit.on(before).delete(Set.of(2L)));
		Session after = store.find(key).orElseThrow();
		assertThat(store.messages(key)).hasSize(1);
		assertThat(after.version()).isGreaterThan(before.version());
		assertThat(after.head()).isEqualTo(1);
		assertThat(after.totals()).isEqualTo(new ViewTotals(1, 1, -5));
	}

	@Test
	void storeForNoSessionsIsRefused() {
		assertThatIllegalArgumentException().isThrownBy(() -> new InMemorySessionStore(StoreOptions.of(CODEC), 0))
			.withMessageContaining("0");
	}

	@Test
	void timeToLiveOfTheOptionsAppliesToNewSessions() {
		MovingClock clock = new MovingClock();
		SessionStore expiring = new InMemorySessionStore(
				StoreOptions.of(CODEC).clock(clock).timeToLive(Duration.ofMinutes(10)));
		SessionKey key = SessionKey.of("thread");
		expiring.add(key, batch("text"));
		assertThat(expiring.find(key).orElseThrow().expiresAt()).isEqualTo(clock.instant().plusSeconds(600));
		clock.advance(Duration.ofSeconds(599));
		assertThat(expiring.messages(key)).hasSize(1);
		expiring.add(key, batch("more"));
		clock.advance(Duration.ofSeconds(599));
		assertThat(expiring.messages(key)).hasSize(2);
		clock.advance(Duration.ofSeconds(1));
		assertThat(expiring.find(key)).isEmpty();
	}

	@Test
	void openReadsTheWindowAloneHoweverLongTheThreadIs() {
		CountingCodec codec = new CountingCodec(CODEC);
		SessionStore counted = new InMemorySessionStore(StoreOptions.of(codec));
		SessionKey key = SessionKey.of("thread");
		// bytes in the metadata make the store decode again for each copy
		Message message = UserMessage.builder().text("q").metadata(Map.of("bytes", new byte[] { 1 })).build();
		for (int length : List.of(30, 300, 3000)) {
			while (counted.find(key).map(Session::turns).orElse(0L) < length) {
				counted.add(key, List.of(message));
			}
			codec.decoded.set(0);
			assertThat(counted.open(key, Window.turns(20)).orElseThrow().items()).hasSize(20);
			assertThat(codec.decoded).hasValue(20);
		}
	}

	@Test
	void walkLeavesThePathAsSoonAsTheWindowIsFull() {
		TurnTree tree = new TurnTree();
		// the first turn is its own parent: who walks to the beginning never comes back
		tree.add("turn 1", new StoredTurn(completed().turn(), 1, 1, Session.MAIN));
		for (int i = 2; i <= 100; i++) {
			StoredTurn turn = new StoredTurn(completed().turn(), i, i - 1, Session.MAIN);
			StoredMessage message = StoredMessage.plain(new UserMessage("q"));
			turn.add(completed().turn(), List.of(new StoredItem(i, i, AT, 1, message)));
			tree.add("turn " + i, turn);
		}
		assertTimeoutPreemptively(Duration.ofSeconds(10), () -> {
			assertThat(tree.view(100, 0, Window.turns(20))).hasSize(20);
			assertThat(tree.view(100, 0, Window.items(20))).hasSize(20);
			assertThat(tree.log(100, Tail.newest(20))).hasSize(20);
		});
	}

	@Test
	void readingDoesNotDecodePlainMessagesAgain() {
		CountingCodec codec = new CountingCodec(CODEC);
		SessionStore counted = new InMemorySessionStore(StoreOptions.of(codec));
		SessionKey key = SessionKey.of("thread");
		counted.add(key, batch("q1", "a1"));
		assertThat(codec.decoded).hasValue(2);
		counted.messages(key);
		counted.open(key, Window.ALL);
		assertThat(codec.decoded).hasValue(2);
	}

	@Test
	void messageThatIsSurelyStoredIsEncodedOnlyForADocument() {
		CountingCodec codec = new CountingCodec(CODEC) {

			@Override
			public boolean surelyStores(Message message) {
				return CODEC.surelyStores(message);
			}

		};
		SessionKey key = SessionKey.of("thread");
		new InMemorySessionStore(StoreOptions.of(codec)).add(key, batch("q1", "a1"));
		assertThat(codec.encoded).hasValue(0);
		SessionDocument document = SessionDocument.fromText(key, null, AT, StoreOptions.of(codec))
			.commit(Commit.first(key).turn(completed("q1", "a1")))
			.document();
		assertThat(document.toText()).isEqualTo(document.toText());
		assertThat(codec.encoded).hasValue(2);
		assertThat(SessionDocument.fromText(key, document.toText(), AT, StoreOptions.of(codec)).items(Tail.ALL))
			.isEqualTo(document.items(Tail.ALL));
	}

	@Test
	void whatDoesNotComeBackEqualIsRefused() {
		MessageCodec forgetful = new CountingCodec(CODEC) {

			@Override
			public Message decode(SessionKey key, String payload) {
				return new UserMessage(super.decode(key, payload).getText());
			}

		};
		SessionStore strict = new InMemorySessionStore(StoreOptions.of(forgetful));
		SessionKey key = SessionKey.of("thread");
		strict.add(key, batch("fine"));
		Message rich = UserMessage.builder().text("secret").metadata(Map.of("lost", 1)).build();
		assertThatExceptionOfType(UnstorableMessageException.class).isThrownBy(() -> strict.add(key, List.of(rich)))
			.withMessageContaining(UserMessage.class.getName())
			.withMessageNotContaining("secret");
		assertThat(strict.messages(key)).hasSize(1);
	}

	private static List<String> listed(SessionStore store) {
		return store.list("", Page.first(100)).stream().map((session) -> session.key().id()).toList();
	}

	private static final class MovingClock extends Clock {

		private final AtomicReference<Instant> now = new AtomicReference<>(AT);

		void advance(Duration duration) {
			this.now.updateAndGet((instant) -> instant.plus(duration));
		}

		@Override
		public Instant instant() {
			return this.now.get();
		}

		@Override
		public ZoneId getZone() {
			return ZoneOffset.UTC;
		}

		@Override
		public Clock withZone(ZoneId zone) {
			return this;
		}

	}

	private static class CountingCodec implements MessageCodec {

		final AtomicInteger encoded = new AtomicInteger();

		final AtomicInteger decoded = new AtomicInteger();

		private final MessageCodec codec;

		CountingCodec(MessageCodec codec) {
			this.codec = codec;
		}

		@Override
		public String encode(SessionKey key, Message message) {
			this.encoded.incrementAndGet();
			return this.codec.encode(key, message);
		}

		@Override
		public Message decode(SessionKey key, String payload) {
			this.decoded.incrementAndGet();
			return this.codec.decode(key, payload);
		}

		@Override
		public String encodeValues(SessionKey key, Map<String, ?> values) {
			return this.codec.encodeValues(key, values);
		}

		@Override
		public Map<String, Object> decodeValues(SessionKey key, String payload) {
			return this.codec.decodeValues(key, payload);
		}

		@Override
		public Message storable(Message reply) {
			return this.codec.storable(reply);
		}

	}

}
