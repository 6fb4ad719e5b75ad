package io.sessionkit.store;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.IntStream;

import io.sessionkit.Session;
import io.sessionkit.SessionKey;
import io.sessionkit.TurnStatus;
import io.sessionkit.codec.UnreadablePayloadException;
import io.sessionkit.store.CommitResult.Outcome;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.awaitility.Awaitility.await;

/**
 * Expired sessions are deleted, and nothing else is.
 */
abstract class ExpiryContract extends RecordContract {

	private static final String KIND = "note";

	private static final int BATCH = 1000;

	private static final int TRIES = 20;

	private static final int REVIVALS = 25;

	private static final int REVIVED_ITEMS = 200;

	@Test
	void expiredSessionsLeaveNothingBehind() {
		SessionKey key = key();
		SessionKey neighbour = SessionKey.of(key.owner(), "neighbour");
		threadOf(neighbour, 1);
		long left = leftOf(neighbour);
		threadOf(key, 3);
		commit(Commit.any(key).turn(turn(TurnStatus.FAILED, 1, "q")));
		store().put(key, RecordWrite.create(KIND, "1", "text"));
		store().put(key, RecordWrite.create(KIND, "2", "text").timeToLive(Duration.ofHours(1)));
		if (left == -1) {
			Assumptions.abort("Not applicable: nothing can look under this store for what is left.");
		}
		assertThat(leftOf(key)).isPositive();
		expire(key);
		await().untilAsserted(() -> {
			deleteAllExpired();
			assertThat(leftOf(key)).isZero();
		});
		assertThat(leftOf(neighbour)).isEqualTo(left);
		assertThat(log(neighbour)).containsExactly("q1", "a1");
		assertThat(store().list(key.owner(), Page.first(10))).extracting(Session::key).containsExactly(neighbour);
	}

	@Test
	void whatLivesIsNotDeleted() {
		SessionKey stays = key();
		SessionKey lives = key();
		threadOf(stays, 2);
		threadOf(lives, 2);
		commit(Commit.any(lives).header(HeaderChange.NONE.timeToLive(Duration.ofHours(1))));
		store().put(stays, RecordWrite.create(KIND, "1", "text"));
		store().put(stays, RecordWrite.create(KIND, "2", "text").timeToLive(Duration.ofHours(1)));
		Session before = header(lives);
		deleteAllExpired();
		assertThat(header(lives)).isEqualTo(before);
		assertThat(log(lives)).containsExactly("q1", "a1", "q2", "a2");
		assertThat(log(stays)).containsExactly("q1", "a1", "q2", "a2");
		assertThat(store().records(stays, KIND)).hasSize(2);
	}

	@Test
	void sessionThatWasProlongedIsNotDeleted() {
		Duration life = Duration.ofMillis(300);
		Session brief = prolonged(life);
		SessionKey key = brief.key();
		Instant first = expiresAt(brief);
		await().until(() -> {
			store().put(key, RecordWrite.put(KIND, "clock", "text"));
			return store().records(key, KIND).get(0).writtenAt().isAfter(first.plus(life));
		});
		deleteAllExpired();
		assertThat(log(key)).containsExactly("q1", "a1");
		commit(Commit.any(key).header(HeaderChange.NONE.timeToLive(Duration.ZERO)));
		deleteAllExpired();
		assertThat(log(key)).containsExactly("q1", "a1");
	}

	/**
	 * Returns a session as it was before it was prolonged. One that was over by then, on
	 * a busy machine, is replaced by the next.
	 */
	private Session prolonged(Duration life) {
		for (int i = 0; i < TRIES; i++) {
			SessionKey key = key();
			threadOf(key, 1);
			commit(Commit.any(key).header(HeaderChange.NONE.timeToLive(life)));
			Optional<Session> brief = store().find(key);
			if (brief.isPresent() && isProlonged(brief.get())) {
				return brief.get();
			}
		}
		throw new AssertionError("No session could be prolonged.");
	}

	private boolean isProlonged(Session brief) {
		return store().commit(Commit.on(brief).header(HeaderChange.NONE.timeToLive(Duration.ofHours(1)))).isStored();
	}

	private static Instant expiresAt(Session session) {
		Instant expiresAt = session.expiresAt();
		assertThat(expiresAt).isNotNull();
		return (expiresAt != null) ? expiresAt : Instant.MAX;
	}

	@Test
	void successorOfAnExpiredSessionIsNotDeleted() {
		SessionKey key = key();
		threadOf(key, 1);
		expire(key);
		store().add(key, batch("new"));
		store().put(key, RecordWrite.create(KIND, "1", "text"));
		deleteAllExpired();
		assertThat(log(key)).containsExactly("new");
		assertThat(store().records(key, KIND)).hasSize(1);
	}

	@Test
	void expiredRecordOfALiveSessionMayBeCreatedAnewAfterItsDeletion() {
		SessionKey key = key();
		threadOf(key, 1);
		store().put(key, RecordWrite.create(KIND, "1", "first").timeToLive(Duration.ofMillis(1)));
		await().until(() -> store().records(key, KIND).isEmpty());
		deleteAllExpired();
		assertThat(store().put(key, RecordWrite.create(KIND, "1", "second"))).isTrue();
		deleteAllExpired();
		assertThat(store().records(key, KIND)).extracting(SessionRecord::payload).containsExactly("second");
	}

	@Test
	void noMoreAreDeletedThanTheLimitSays() {
		assertThat(store().deleteExpired(0)).isZero();
		for (int i = 0; i < 5; i++) {
			SessionKey key = key();
			threadOf(key, 1);
			expire(key);
		}
		assertThat(store().deleteExpired(2)).isLessThanOrEqualTo(2);
		assertThatIllegalArgumentException().isThrownBy(() -> store().deleteExpired(-1)).withMessageContaining("-1");
	}

	@Test
	void sessionThatCannotBeReadStaysAndDoesNotStopTheDeletionOfOthers() {
		SessionKey unreadable = key();
		SessionKey expired = key();
		threadOf(unreadable, 1);
		threadOf(expired, 1);
		if (!spoil(unreadable)) {
			Assumptions.abort("Not applicable: nothing can get under this store to spoil a session.");
		}
		expire(expired);
		boolean erased = false;
		try {
			await().untilAsserted(() -> {
				deleteAllExpired();
				assertThat(leftOf(expired)).isLessThanOrEqualTo(0);
			});
			assertThatExceptionOfType(UnreadablePayloadException.class).isThrownBy(() -> store().find(unreadable))
				.withMessageContaining(unreadable.toString());
		}
		finally {
			erased = store().erase(unreadable);
		}
		assertThat(erased).as("one that cannot be read").isTrue();
		if (leftOf(expired) == -1) {
			Assumptions.abort("Not seen: nothing can look under this store for what is left of the other session.");
		}
	}

	/**
	 * Two delete all the time while others write sessions that expire between two turns,
	 * or nearly.
	 */
	@Test
	void severalDeleteWhileOthersWrite() throws Exception {
		AtomicBoolean done = new AtomicBoolean();
		Callable<Boolean> deleting = () -> {
			while (!done.get()) {
				store().deleteExpired(10);
			}
			return true;
		};
		List<SessionKey> stay = List.of(key(), key());
		List<Callable<Boolean>> all = new ArrayList<>(List.of(deleting, deleting));
		for (SessionKey key : stay) {
			all.add(() -> {
				try {
					return writeBesideDeletions(key);
				}
				finally {
					done.set(true);
				}
			});
		}
		assertThat(race(all)).containsOnly(true);
		for (SessionKey key : stay) {
			assertThat(log(key)).hasSize(40);
		}
	}

	private boolean writeBesideDeletions(SessionKey stays) {
		SessionKey passing = key();
		for (int i = 0; i < 20; i++) {
			store().add(stays, batch("q" + i, "a" + i));
			// as long as what others are doing takes, more or less
			CommitResult result = store().commit(Commit.any(passing)
				.turn(completed("q", "a"))
				.header(HeaderChange.NONE.timeToLive(Duration.ofMillis(1 + i % 4))));
			assertThat(result.outcome()).isEqualTo(Outcome.COMMITTED);
			store().put(passing, RecordWrite.put(KIND, "1", "text"));
			List<String> log = log(passing);
			assertThat(log.size() % 2).isZero();
			assertThat(texts(store().items(passing, 1)).size()).isIn(0, 2);
		}
		return true;
	}

	/**
	 * A store that finds out that a session has expired, and deletes it by its key
	 * afterwards, deletes what was written in between. Large sessions give it time to do
	 * so.
	 */
	@Test
	void sessionThatIsWrittenAgainWhileTheExpiredOneIsDeletedStays() throws Exception {
		String[] many = IntStream.range(0, REVIVED_ITEMS).mapToObj((i) -> "text " + i).toArray(String[]::new);
		for (int i = 0; i < REVIVALS; i++) {
			SessionKey key = key();
			commit(Commit.any(key).turn(completed(many)).header(HeaderChange.NONE.timeToLive(Duration.ofMillis(1))));
			await().pollInterval(Duration.ofMillis(2)).until(() -> store().find(key).isEmpty());
			AtomicBoolean done = new AtomicBoolean();
			Callable<Boolean> deleting = () -> {
				do {
					store().deleteExpired(BATCH);
				}
				while (!done.get());
				return true;
			};
			Callable<Boolean> writing = () -> {
				try {
					return store().commit(Commit.any(key).turn(completed("q", "a"))).isStored();
				}
				finally {
					done.set(true);
				}
			};
			assertThat(race(List.of(deleting, deleting, writing))).containsOnly(true);
			assertThat(store().find(key)).as("written again").isPresent();
			assertThat(log(key)).containsExactly("q", "a");
		}
	}

	/**
	 * Lets a session expire, and waits until it has.
	 */
	void expire(SessionKey key) {
		commit(Commit.any(key).header(HeaderChange.NONE.timeToLive(Duration.ofMillis(1))));
		await().pollInterval(Duration.ofMillis(2)).until(() -> store().find(key).isEmpty());
	}

	void deleteAllExpired() {
		while (store().deleteExpired(BATCH) > 0) {
			continue;
		}
	}

}
