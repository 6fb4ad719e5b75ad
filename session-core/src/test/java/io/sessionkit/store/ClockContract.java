package io.sessionkit.store;

import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;

import io.sessionkit.Session;
import io.sessionkit.SessionKey;
import io.sessionkit.Turn;
import io.sessionkit.store.CommitResult.Outcome;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Clocks that stand still, go back, jump, or are finer than what is kept. Where a server
 * judges by a clock of its own, which no test can set, what is left of this is what its
 * clock does by itself.
 */
abstract class ClockContract extends InterruptContract {

	private final AtomicReference<Instant> now = new AtomicReference<>(AT);

	private SessionStore storeOnSetClock() {
		return storeOn(new SetClock(this.now));
	}

	@Test
	void timesAreKeptToTheMicrosecond() {
		this.now.set(Instant.parse("2026-02-03T04:05:06.123456789Z"));
		SessionStore store = storeOnSetClock();
		SessionKey key = key();
		store.commit(Commit.first(key)
			.turn(completed("q", "a"))
			.header(HeaderChange.NONE.timeToLive(Duration.ofHours(1).plusNanos(1_999)))
			.records(List.of(RecordWrite.create("note", "1", "text").timeToLive(Duration.ofHours(1).plusNanos(999)))));
		Session session = store.find(key).orElseThrow();
		SessionRecord record = store.records(key, "note").get(0);
		assertThat(session.timeToLive()).isEqualTo(Duration.ofHours(1).plusNanos(1_000));
		assertThat(List.of(session.createdAt(), session.updatedAt(), expiryOf(session), record.writtenAt(),
				expiryOf(record)))
			.allMatch((time) -> time.equals(time.truncatedTo(ChronoUnit.MICROS)));
		assertThat(expiryOf(session)).isEqualTo(session.updatedAt().plus(Duration.ofHours(1).plusNanos(1_000)));
	}

	@Test
	void lifeBeyondAllTimesIsKeptAsLongAsCanBe() {
		SessionStore store = storeOnSetClock();
		SessionKey key = key();
		Duration endless = Duration.ofSeconds(Long.MAX_VALUE);
		store.commit(Commit.first(key)
			.turn(completed("q", "a"))
			.header(HeaderChange.NONE.timeToLive(endless))
			.records(List.of(RecordWrite.create("note", "1", "text").timeToLive(endless))));
		store.add(key, batch("q", "a"));
		assertThat(expiryOf(store.find(key).orElseThrow())).isAfter(Instant.parse("+99999-01-01T00:00:00Z"));
		assertThat(store.deleteExpired(100)).isGreaterThanOrEqualTo(0);
		assertThat(store.messages(key)).hasSize(4);
		assertThat(store.records(key, "note")).hasSize(1);
	}

	@Test
	void orderIsTheSequenceThoughTheClockStandsStillAndGoesBack() {
		SessionStore store = storeOnSetClock();
		SessionKey key = key();
		for (int i = 1; i <= 4; i++) {
			store.add(key, batch("q" + i, "a" + i));
			store.put(key, RecordWrite.put("note", "1", "text " + i));
			this.now.updateAndGet((time) -> time.minus(Duration.ofHours(1)));
			store.add(key, batch("p" + i));
		}
		assertThat(texts(store.items(key, Tail.ALL))).containsExactly("q1", "a1", "p1", "q2", "a2", "p2", "q3", "a3",
				"p3", "q4", "a4", "p4");
		assertThat(texts(store.items(key, Tail.newest(2)))).containsExactly("a4", "p4");
		assertThat(store.turns(key, Tail.ALL)).extracting(Turn::number).containsExactly(1L, 2L, 3L, 4L, 5L, 6L, 7L, 8L);
		assertThat(store.records(key, "note")).extracting(SessionRecord::payload).containsExactly("text 4");
		Session session = store.find(key).orElseThrow();
		assertThat(session.turns()).isEqualTo(8);
		assertThat(store.commit(Commit.on(session).header(HeaderChange.NONE.attributes(Map.of("a", 1)))).outcome())
			.isEqualTo(Outcome.COMMITTED);
		assertThat(store.commit(Commit.on(session).turn(completed("late"))).outcome()).isEqualTo(Outcome.CONFLICT);
	}

	@Test
	void listsAreAsGoodAsTheClock() {
		SessionStore store = storeOnSetClock();
		if (store == store()) {
			Assumptions.abort("Not applicable: the server judges by a clock of its own.");
		}
		SessionKey first = key();
		SessionKey second = SessionKey.of(first.owner(), first.id() + "-2");
		store.commit(
				Commit.first(first).turn(completed("q", "a")).records(List.of(RecordWrite.create("note", "1", "x"))));
		this.now.set(AT.minus(Duration.ofHours(1)));
		store.commit(
				Commit.first(second).turn(completed("q", "a")).records(List.of(RecordWrite.create("note", "2", "x"))));
		assertThat(store.list(first.owner(), Page.first(10))).extracting(Session::key).containsExactly(first, second);
		assertThat(store.records(first.owner(), "note", Page.first(10))).extracting(SessionRecord::id)
			.containsExactly("1", "2");
		this.now.set(AT.minus(Duration.ofHours(2)));
		store.commit(Commit.any(first).header(HeaderChange.NONE.title("title").timeToLive(Duration.ofMinutes(5))));
		Session renamed = store.find(first).orElseThrow();
		assertThat(renamed.updatedAt()).isEqualTo(AT.minus(Duration.ofHours(2)));
		assertThat(renamed.expiresAt()).isEqualTo(renamed.updatedAt().plus(Duration.ofMinutes(5)));
		assertThat(store.list(first.owner(), Page.first(10))).extracting(Session::key).containsExactly(second, first);
	}

	@Test
	void clockThatJumpsAheadExpiresAtOnceAndOneThatGoesBackErasesNothing() {
		SessionStore store = storeOnSetClock();
		if (store == store()) {
			Assumptions.abort("Not applicable: the server judges by a clock of its own.");
		}
		SessionKey key = key();
		store.commit(Commit.first(key)
			.turn(completed("q1", "a1"))
			.header(HeaderChange.NONE.timeToLive(Duration.ofHours(1)))
			.records(List.of(RecordWrite.create("note", "1", "text").timeToLive(Duration.ofMinutes(1)))));
		Session base = store.find(key).orElseThrow();
		this.now.set(AT.minus(Duration.ofDays(400)));
		assertThat(store.messages(key)).hasSize(2);
		assertThat(store.deleteExpired(10)).isZero();
		this.now.set(AT.plus(Duration.ofMinutes(1)));
		assertThat(store.records(key, "note")).isEmpty();
		this.now.set(AT.plus(Duration.ofHours(1)));
		assertThat(store.find(key)).isEmpty();
		store.add(key, batch("new"));
		this.now.set(AT);
		assertThat(store.commit(Commit.on(base).turn(completed("late"))).outcome()).isEqualTo(Outcome.CONFLICT);
		assertThat(store.deleteExpired(10)).isZero();
		assertThat(texts(store.items(key, Tail.ALL))).containsExactly("new");
	}

	private static Instant expiryOf(Session session) {
		Instant expiresAt = session.expiresAt();
		assertThat(expiresAt).isNotNull();
		return (expiresAt != null) ? expiresAt : Instant.MAX;
	}

	private static Instant expiryOf(SessionRecord record) {
		Instant expiresAt = record.expiresAt();
		assertThat(expiresAt).isNotNull();
		return (expiresAt != null) ? expiresAt : Instant.MAX;
	}

	/**
	 * Says what it was set to.
	 */
	private static final class SetClock extends Clock {

		private final AtomicReference<Instant> now;

		SetClock(AtomicReference<Instant> now) {
			this.now = now;
		}

		@Override
		public ZoneOffset getZone() {
			return ZoneOffset.UTC;
		}

		@Override
		public Clock withZone(ZoneId other) {
			return this;
		}

		@Override
		public Instant instant() {
			return this.now.get();
		}

	}

}
