package io.sessionkit.store;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;

import io.sessionkit.Session;
import io.sessionkit.SessionKey;
import io.sessionkit.TurnOpenException;
import io.sessionkit.TurnStatus;
import io.sessionkit.store.CommitResult.Outcome;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * A turn that waits follows the head. Nobody else moves the head meanwhile, so that it
 * can become history when it goes on.
 */
abstract class OpenTurnContract extends SettingsContract {

	@Test
	void onlyTheOpenTurnMovesTheHeadWhileItWaits() {
		SessionKey key = key();
		threadOf(key, 2);
		commit(Commit.on(header(key)).turn(turn(TurnStatus.AWAITING_APPROVAL, 2, "q3", "call")));
		Session waiting = header(key);
		for (Commit refused : List.of(Commit.any(key).turn(completed("q4", "a4")),
				Commit.on(waiting).turn(completed("q4", "a4")),
				Commit.any(key).turn(completed("q4")).delete(Set.of(7L)),
				Commit.any(key).turn(completed("q4", "a4")).header(HeaderChange.NONE.title("t")),
				Commit.any(key).header(HeaderChange.NONE.head(Session.MAIN, 1)),
				Commit.on(waiting).header(HeaderChange.NONE.head("other", 0)),
				Commit.on(waiting).delete(Set.of(3L, 4L)), Commit.any(key).delete(Set.of(1L, 3L, 4L)),
				Commit.any(key).turn(turn(TurnStatus.AWAITING_APPROVAL, 2, "q4")),
				Commit.any(key).turn(turn(TurnStatus.INCOMPLETE, 2, "q4")))) {
			assertThatExceptionOfType(TurnOpenException.class).isThrownBy(() -> store().commit(refused))
				.withMessageContaining(key.toString())
				.satisfies((ex) -> assertThat(ex.turn()).isEqualTo(3));
		}
		assertThatExceptionOfType(TurnOpenException.class).isThrownBy(() -> store().add(key, batch("q4", "a4")));
		assertThat(header(key)).isEqualTo(waiting);
		assertThat(log(key)).containsExactly("q1", "a1", "q2", "a2");
		assertThat(store().turns(key, Tail.ALL)).hasSize(3);
	}

	@Test
	void whatLeavesTheHeadWhereItIsIsAcceptedWhileATurnWaits() {
		SessionKey key = key();
		threadOf(key, 2);
		TurnWrite open = turn(TurnStatus.AWAITING_APPROVAL, 2, "q3", "call");
		commit(Commit.on(header(key)).turn(open));
		commit(Commit.any(key).header(HeaderChange.NONE.title("title").tags(Set.of("tag"))));
		commit(Commit.on(header(key)).header(HeaderChange.NONE.attributes(Map.of("a", 1))));
		commit(Commit.on(header(key)).header(HeaderChange.NONE.head(Session.MAIN, 2)));
		commit(Commit.any(key).turn(turn(TurnStatus.FAILED, 2, "q4")));
		commit(Commit.any(key).records(List.of(RecordWrite.create("note", "n", "p"))));
		commit(Commit.any(key).delete(Set.of(1L, 2L, 4L)));
		assertThat(header(key).openTurn()).isEqualTo(3);
		commit(Commit.on(header(key)).turn(next(open, TurnStatus.COMPLETED, "a3")));
		assertThat(header(key).head()).isEqualTo(3);
		assertThat(log(key)).containsExactly("q2", "q3", "call", "a3");
	}

	@Test
	void headThatIsMovedAndFallsBackInTheSameCommitIsMoved() {
		SessionKey key = key();
		threadOf(key, 2);
		commit(Commit.any(key).header(HeaderChange.NONE.head(Session.MAIN, 1)));
		commit(Commit.on(header(key)).turn(turn(TurnStatus.AWAITING_APPROVAL, 1, "q3", "call")));
		Session waiting = header(key);
		Commit refused = Commit.any(key).header(HeaderChange.NONE.head(Session.MAIN, 2)).delete(Set.of(3L, 4L));
		assertThatExceptionOfType(TurnOpenException.class).isThrownBy(() -> store().commit(refused));
		assertThat(header(key)).isEqualTo(waiting);
		assertThat(store().items(key, 2)).hasSize(2);
	}

	/**
	 * A move to where the head is looks for the summary there anew. Whether the head is
	 * left empty depends on the one that is found.
	 */
	@Test
	void headThatALostSummaryKeptIsNotEmptiedWhileATurnWaits() {
		SessionKey key = key();
		threadOf(key, 1);
		commit(Commit.on(header(key)).turn(turn(TurnStatus.AWAITING_APPROVAL, 1, "q2", "call")));
		commit(Commit.any(key).header(HeaderChange.NONE.summary(1, "never written")));
		Session waiting = header(key);
		HeaderChange same = HeaderChange.NONE.head(Session.MAIN, 1);
		assertThatExceptionOfType(TurnOpenException.class)
			.isThrownBy(() -> store().commit(Commit.any(key).header(same).delete(Set.of(1L, 2L))));
		assertThat(header(key)).isEqualTo(waiting);
		commit(Commit.any(key)
			.header(HeaderChange.NONE.summary(1, "s"))
			.records(List.of(RecordWrite.create(SessionStore.SUMMARY, "s", "text"))));
		RecordWrite gone = new RecordWrite(SessionStore.SUMMARY, "s", RecordWrite.ANY, null, null);
		assertThatExceptionOfType(TurnOpenException.class).isThrownBy(
				() -> store().commit(Commit.any(key).header(same).records(List.of(gone)).delete(Set.of(1L, 2L))));
		commit(Commit.any(key).header(HeaderChange.NONE.summary(0, "")));
		assertThatExceptionOfType(TurnOpenException.class)
			.isThrownBy(() -> store().commit(Commit.any(key).delete(Set.of(1L, 2L))));
		commit(Commit.any(key).header(same).delete(Set.of(1L, 2L)));
		assertThat(header(key).head()).isEqualTo(1);
		assertThat(header(key).summaryTurn()).isEqualTo(1);
	}

	@Test
	void commitThatEndsTheOpenTurnMayMoveTheHead() {
		SessionKey key = key();
		threadOf(key, 2);
		TurnWrite open = turn(TurnStatus.AWAITING_APPROVAL, 2, "q3", "call");
		commit(Commit.on(header(key)).turn(open));
		CommitResult result = store().commit(Commit.on(header(key))
			.turn(next(open, TurnStatus.CANCELLED))
			.header(HeaderChange.NONE.head(Session.MAIN, 1)));
		assertThat(result.outcome()).isEqualTo(Outcome.COMMITTED);
		assertThat(header(key).openTurn()).isZero();
		assertThat(header(key).head()).isEqualTo(1);
		commit(Commit.on(header(key)).turn(completed("q4", "a4")));
		assertThat(log(key)).containsExactly("q1", "a1", "q4", "a4");
	}

	@Test
	void turnIsReadWithItsItemsAndRecordsOfItsSession() {
		SessionKey key = key();
		threadOf(key, 2);
		TurnWrite open = turn(TurnStatus.INCOMPLETE, 2, "q3", "call");
		commit(Commit.on(header(key)).turn(open).records(List.of(RecordWrite.create("one", "b", "1b"))));
		commit(Commit.on(header(key)).turn(next(open, TurnStatus.INCOMPLETE, "result")));
		store().put(key, RecordWrite.create("one", "a", "1a"));
		store().put(key, RecordWrite.create("two", "a", "2a"));
		store().put(key, RecordWrite.create("three", "a", "3a"));
		assertTurn(key, 3, Set.of("one", "two"));
		assertTurn(key, 3, Set.of("none", "three"));
		assertTurn(key, 3, Set.of());
		assertTurn(key, 1, Set.of("one"));
		TurnView view = store().turn(key, 3, Set.of("one", "two")).orElseThrow();
		assertThat(texts(view.items())).containsExactly("q3", "call", "result");
		assertThat(view.records("one")).extracting(SessionRecord::payload).containsExactly("1a", "1b");
		assertThat(view.records("two")).extracting(SessionRecord::payload).containsExactly("2a");
	}

	private void assertTurn(SessionKey key, long number, Set<String> kinds) {
		TurnView view = store().turn(key, number, kinds).orElseThrow();
		assertThat(view.turn()).isEqualTo(store().turns(key, new Tail(number + 1, 1)).get(0));
		assertThat(view.items()).isEqualTo(store().items(key, number));
		assertThat(view.records()).containsExactlyInAnyOrderElementsOf(
				kinds.stream().flatMap((kind) -> store().records(key, kind).stream()).toList());
	}

	/**
	 * A change between two turns belongs to the first of them.
	 */
	@Test
	void turnIsReadWithTheAttributesThatWereInForceThen() {
		SessionKey key = key();
		threadOf(key, 1);
		assertThat(attributes(key, 1)).isEmpty();
		commit(Commit.on(header(key)).header(HeaderChange.NONE.attributes(Map.of("step", "between"))));
		assertThat(attributes(key, 1)).isEqualTo(Map.of("step", "between"));
		commit(Commit.on(header(key)).turn(turn(TurnStatus.COMPLETED, 1, "q2", "a2")));
		commit(Commit.on(header(key))
			.turn(turn(TurnStatus.COMPLETED, 2, "q3", "a3"))
			.header(HeaderChange.NONE.attributes(Map.of("step", "third", "more", List.of(1, 2)))));
		commit(Commit.on(header(key)).turn(turn(TurnStatus.FAILED, 3, "q4")));
		commit(Commit.on(header(key)).turn(turn(TurnStatus.COMPLETED, 3, "q5", "a5")));
		for (SessionStore store : List.of(store(), another())) {
			assertThat(attributes(store, key, 1)).isEqualTo(Map.of("step", "between"));
			assertThat(attributes(store, key, 2)).isEqualTo(Map.of("step", "between"));
			assertThat(attributes(store, key, 3)).isEqualTo(Map.of("step", "third", "more", List.of(1, 2)));
			assertThat(attributes(store, key, 4)).isEmpty();
			assertThat(attributes(store, key, 5)).isEqualTo(header(key).attributes()).hasSize(2);
		}
		assertThat(store().turn(key, 3, Set.of("a", "b", "c", "d", "e", "f", "g", "h", "i", "j"))
			.orElseThrow()
			.attributes()).hasSize(2);
	}

	private Map<String, Object> attributes(SessionKey key, long number) {
		return attributes(store(), key, number);
	}

	private static Map<String, Object> attributes(SessionStore store, SessionKey key, long number) {
		return store.turn(key, number, Set.of()).orElseThrow().attributes();
	}

	@Test
	void turnThatIsNotThereIsNotRead() {
		SessionKey key = key();
		assertThat(store().turn(key, 1, Set.of("one"))).isEmpty();
		threadOf(key, 2);
		store().put(key, RecordWrite.create("one", "a", "1a"));
		assertThat(store().turn(key, 0, Set.of("one"))).isEmpty();
		assertThat(store().turn(key, 3, Set.of("one"))).isEmpty();
		store().erase(key);
		assertThat(store().turn(key, 1, Set.of("one"))).isEmpty();
	}

	@Test
	void recordThatHasExpiredIsNotReadWithATurn() {
		SessionKey key = key();
		threadOf(key, 1);
		store().put(key, RecordWrite.create("one", "stays", "text"));
		store().put(key, RecordWrite.create("one", "goes", "text").timeToLive(Duration.ofMillis(1)));
		await().untilAsserted(() -> assertThat(store().turn(key, 1, Set.of("one")).orElseThrow().records("one"))
			.extracting(SessionRecord::id)
			.containsExactly("stays"));
	}

}
