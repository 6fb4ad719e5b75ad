package io.sessionkit.store;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.stream.Stream;

import io.sessionkit.Session;
import io.sessionkit.SessionKey;
import io.sessionkit.Turn;
import io.sessionkit.TurnOpenException;
import io.sessionkit.TurnStatus;
import io.sessionkit.ViewTotals;
import io.sessionkit.store.CommitResult.Outcome;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * The contract for reading along a path, turns that are written together, and turns of
 * branches that are not active.
 */
abstract class PathContract extends HistoryContract {

	private static final String LEFT = "left";

	@Test
	void pathOfAnAbsentSessionIsAbsent() {
		assertThat(store().path(key(), PathQuery.to(Point.HEAD))).isEmpty();
		assertThat(store().path(key(), PathQuery.to(Point.at(3)))).isEmpty();
	}

	@Test
	void pathToTheHeadIsWhatOpenReads() {
		SessionKey key = key();
		tree(key);
		commit(Commit.on(header(key)).header(HeaderChange.NONE.title("title").attributes(Map.of("step", 1))));
		for (Window window : List.of(Window.ALL, Window.HEADER, Window.turns(1), Window.items(3))) {
			PathView path = path(key, PathQuery.to(Point.HEAD).window(window));
			assertThat(path.session()).isEqualTo(header(key));
			assertThat(path.view()).isEqualTo(store().open(key, window).orElseThrow());
			assertThat(path.turns()).isEmpty();
			assertThat(path.records()).isEmpty();
		}
	}

	@Test
	void pathReadsTheSessionAsIfATurnWereItsHead() {
		SessionKey key = key();
		tree(key);
		Session header = header(key);
		for (long turn = 0; turn <= 6; turn++) {
			PathView seen = path(key, PathQuery.to(Point.at(turn)).window(Window.ALL).turns(Tail.ALL));
			assertThat(seen.session()).isEqualTo(header);
			Session before = header(key);
			commit(Commit.on(before).header(HeaderChange.NONE.head(before.branch(), turn)));
			SessionView moved = store().open(key, Window.ALL).orElseThrow();
			assertThat(seen.view().items()).isEqualTo(moved.items());
			assertThat(seen.view().summary()).isEqualTo(moved.summary());
			Session as = seen.view().session();
			assertThat(as.position()).isEqualTo(moved.session().position());
			assertThat(as.attributes()).isEqualTo(moved.session().attributes());
			assertThat(as.version()).isEqualTo(header.version());
			assertThat(numbers(seen.turns())).isEqualTo(pathNumbers(key, turn));
			commit(Commit.on(header(key)).header(HeaderChange.NONE.head(header.branch(), header.head())));
			header = header(key);
		}
	}

	@Test
	void pathEndsAtTheTurnThatATurnFollows() {
		SessionKey key = key();
		tree(key);
		commit(Commit.any(key).turn(turn(TurnStatus.FAILED, 2, "q7")));
		assertThat(path(key, PathQuery.to(Point.before(1))).view().session().head()).isZero();
		assertThat(path(key, PathQuery.to(Point.before(5))).view().session().head()).isEqualTo(2);
		assertThat(path(key, PathQuery.to(Point.before(4))).view().session().head()).isEqualTo(3);
		assertThat(path(key, PathQuery.to(Point.before(7))).view().session().head()).isEqualTo(2);
	}

	@Test
	void pathIsReadInWindows() {
		SessionKey key = key();
		tree(key);
		PathQuery query = PathQuery.to(Point.at(4));
		assertThat(texts(path(key, query.window(Window.turns(2))).view().items())).containsExactly("q3", "a3", "q4",
				"a4");
		assertThat(texts(path(key, query.window(Window.items(5))).view().items())).containsExactly("q3", "a3", "q4",
				"a4");
		assertThat(path(key, query.window(Window.items(1))).view().items()).isEmpty();
	}

	@Test
	void turnsOfAPathAreReadBackwards() {
		SessionKey key = key();
		tree(key);
		assertThat(turns(key, Point.HEAD, Tail.ALL)).containsExactly(1L, 2L, 5L, 6L);
		assertThat(turns(key, Point.HEAD, Tail.newest(0))).isEmpty();
		assertThat(turns(key, Point.HEAD, Tail.newest(3))).containsExactly(2L, 5L, 6L);
		assertThat(turns(key, Point.HEAD, new Tail(6, 2))).containsExactly(2L, 5L);
		assertThat(turns(key, Point.HEAD, new Tail(5, 2))).containsExactly(1L, 2L);
		assertThat(turns(key, Point.HEAD, new Tail(3, 1))).containsExactly(2L);
		assertThat(turns(key, Point.at(4), Tail.ALL)).containsExactly(1L, 2L, 3L, 4L);
		assertThat(turns(key, Point.at(0), Tail.ALL)).isEmpty();
		assertThat(path(key, PathQuery.to(Point.at(4)).turns(Tail.newest(1))).turns())
			.isEqualTo(store().turns(key, new Tail(5, 1)));
	}

	@Test
	void recordsAreReadWithAPath() {
		SessionKey key = key();
		tree(key);
		store().put(key, RecordWrite.create(LEFT, "b", "2"));
		store().put(key, RecordWrite.create(LEFT, "a", "1"));
		store().put(key, RecordWrite.create("other", "a", "3"));
		PathView path = path(key, PathQuery.to(Point.at(2)).records(LEFT, "none"));
		assertThat(path.records()).isEqualTo(store().records(key, LEFT));
		assertThat(path.records(LEFT)).extracting(SessionRecord::id).containsExactly("a", "b");
		assertThat(path.records("other")).isEmpty();
	}

	@Test
	void noPathEndsAtATurnThatIsNoHistory() {
		SessionKey key = key();
		threadOf(key, 1);
		commit(Commit.any(key).turn(turn(TurnStatus.FAILED, 1, "q2")));
		for (Point point : List.of(Point.at(2), Point.at(3), Point.before(3), Point.before(0))) {
			assertThatExceptionOfType(ChangeRefusedException.class)
				.isThrownBy(() -> store().path(key, PathQuery.to(point)))
				.withMessageContaining(key.toString())
				.withMessageContaining(String.valueOf(point.turn()));
		}
	}

	@Test
	void pathIsOfOneMoment() throws Exception {
		SessionKey key = key();
		threadOf(key, 3);
		Callable<Boolean> moves = () -> {
			for (int i = 0; i < 40; i++) {
				int to = i % 3 + 1;
				store().commit(Commit.any(key).header(HeaderChange.NONE.head("b" + to, to)));
			}
			return true;
		};
		Callable<Boolean> reads = () -> {
			for (int i = 0; i < 40; i++) {
				PathView path = path(key, PathQuery.to(Point.HEAD).window(Window.ALL).turns(Tail.ALL));
				long head = path.session().head();
				assertThat(path.session().branch()).isIn("b" + head, Session.MAIN);
				assertThat(path.view().session()).isEqualTo(path.session());
				assertThat(path.view().items()).hasSize((int) head * 2);
				assertThat(path.turns()).hasSize((int) head);
			}
			return true;
		};
		assertThat(race(List.of(moves, reads))).containsOnly(true);
	}

	@Test
	void turnsAreWrittenTogether() {
		SessionKey key = key();
		threadOf(key, 1);
		Session base = header(key);
		List<TurnWrite> turns = List.of(completed("q2", "a2").attributes(Map.of("step", 2)), completed("q3", "a3"),
				completed("q4", "a4", "q5").attributes(Map.of("step", 4)));
		CommitResult result = commit(Commit.on(base).turns(turns));
		assertThat(result).isEqualTo(new CommitResult(Outcome.COMMITTED, header(key).version(), 4, 7));
		assertThat(log(key)).containsExactly("q1", "a1", "q2", "a2", "q3", "a3", "q4", "a4", "q5");
		assertThat(header(key).totals()).isEqualTo(new ViewTotals(4, 9, tokens(9)));
		assertThat(store().turns(key, Tail.ALL)).extracting(Turn::parent).containsExactly(0L, 1L, 2L, 3L);
		assertThat(header(key).attributes()).isEqualTo(Map.of("step", 4));
		move(key, Session.MAIN, 3);
		assertThat(header(key).attributes()).isEqualTo(Map.of("step", 2));
		assertThat(store().commit(Commit.on(base).turns(turns)).outcome()).isEqualTo(Outcome.REPEATED);
		assertThat(store().turns(key, Tail.ALL)).hasSize(4);
	}

	@Test
	void turnsCreateASession() {
		SessionKey key = key();
		commit(Commit.first(key).turns(List.of(completed("q1", "a1"), completed("q2", "a2"))));
		assertThat(log(key)).containsExactly("q1", "a1", "q2", "a2");
		assertThat(store().commit(Commit.first(key).turns(List.of(completed("q"), completed("q")))).outcome())
			.isEqualTo(Outcome.CONFLICT);
		assertThat(log(key)).hasSize(4);
	}

	@Test
	void turnsFollowTheTurnThatTheHeadMovesTo() {
		SessionKey key = key();
		threadOf(key, 3);
		commit(Commit.on(header(key))
			.header(HeaderChange.NONE.head("other", 1).attributes(Map.of("end", true)))
			.turns(List.of(completed("q4", "a4"), completed("q5", "a5"))));
		assertThat(log(key)).containsExactly("q1", "a1", "q4", "a4", "q5", "a5");
		assertThat(header(key).branch()).isEqualTo("other");
		assertThat(header(key).attributes()).isEqualTo(Map.of("end", true));
		assertThat(path(key, PathQuery.to(Point.at(4))).view().session().attributes()).isEmpty();
	}

	@Test
	void turnsAreRefusedWhileOneIsOpen() {
		SessionKey key = key();
		threadOf(key, 1);
		commit(Commit.any(key).turn(turn(TurnStatus.AWAITING_APPROVAL, 1, "q2")));
		assertThatExceptionOfType(TurnOpenException.class)
			.isThrownBy(() -> store().commit(Commit.any(key).turns(List.of(completed("q3"), completed("q4")))));
		assertThat(store().turns(key, Tail.ALL)).hasSize(2);
	}

	@Test
	void turnBesideTheHistoryMovesNothing() {
		SessionKey key = key();
		threadOf(key, 3);
		commit(Commit.on(header(key)).header(HeaderChange.NONE.attributes(Map.of("main", true))));
		Session before = header(key);
		CommitResult result = commit(Commit.any(key).turn(beside(1, "q4", "a4").attributes(Map.of("side", true))));
		assertThat(result.turn()).isEqualTo(4);
		assertThat(result.version()).isEqualTo(before.version());
		assertThat(header(key).head()).isEqualTo(3);
		assertThat(header(key).branch()).isEqualTo(Session.MAIN);
		assertThat(header(key).totals()).isEqualTo(before.totals());
		assertThat(header(key).attributes()).isEqualTo(Map.of("main", true));
		assertThat(log(key)).containsExactly("q1", "a1", "q2", "a2", "q3", "a3");
		assertThat(store().turns(key, Tail.newest(1))).singleElement().satisfies((turn) -> {
			assertThat(turn.status()).isEqualTo(TurnStatus.COMPLETED);
			assertThat(turn.parent()).isEqualTo(1);
			assertThat(turn.branch()).isEqualTo("side");
		});
		PathView side = path(key, PathQuery.to(Point.at(4)).window(Window.ALL));
		assertThat(texts(side.view().items())).containsExactly("q1", "a1", "q4", "a4");
		assertThat(side.view().session().attributes()).isEqualTo(Map.of("side", true));
		commit(Commit.any(key).turn(beside(4, "q5", "a5")));
		move(key, "side", 5);
		assertThat(log(key)).containsExactly("q1", "a1", "q4", "a4", "q5", "a5");
		assertThat(header(key).attributes()).isEqualTo(Map.of("side", true));
		commit(Commit.on(header(key)).turn(completed("q6", "a6")));
		assertThat(turns(key, Point.HEAD, Tail.ALL)).containsExactly(1L, 4L, 5L, 6L);
	}

	@Test
	void turnBesideTheHistoryIsWrittenInParts() {
		SessionKey key = key();
		threadOf(key, 2);
		TurnWrite open = turn(TurnStatus.AWAITING_APPROVAL, 1, "q3");
		commit(Commit.any(key).turn(open));
		assertThat(header(key).openTurn()).isEqualTo(3);
		commit(Commit.any(key).turn(next(open, TurnStatus.COMPLETED, "a3").asBeside()));
		assertThat(header(key).openTurn()).isZero();
		assertThat(header(key).head()).isEqualTo(2);
		assertThat(header(key).totals()).isEqualTo(new ViewTotals(2, 4, tokens(4)));
		assertThat(turns(key, Point.at(3), Tail.ALL)).containsExactly(1L, 3L);
	}

	@Test
	void turnBesideTheHistoryIsWrittenWhileAnotherOneIsOpen() {
		SessionKey key = key();
		threadOf(key, 2);
		commit(Commit.any(key).turn(turn(TurnStatus.AWAITING_APPROVAL, 2, "q3")));
		commit(Commit.any(key).turn(beside(1, "q4", "a4")));
		assertThat(header(key).openTurn()).isEqualTo(3);
		assertThat(header(key).head()).isEqualTo(2);
	}

	@Test
	void turnBesideTheHistoryIsOneOfARace() throws Exception {
		SessionKey key = key();
		threadOf(key, 1);
		store().put(key, RecordWrite.create(LEFT, "side", "1"));
		long revision = store().records(key, LEFT).get(0).revision();
		List<CommitResult> results = race(4,
				() -> store().commit(Commit.any(key)
					.turn(beside(1, "q", "a"))
					.records(List.of(new RecordWrite(LEFT, "side", revision, "2", null)))));
		assertThat(count(results, Outcome.COMMITTED)).isEqualTo(1);
		assertThat(count(results, Outcome.CONFLICT)).isEqualTo(3);
		assertThat(store().turns(key, Tail.ALL)).hasSize(2);
	}

	@Test
	void turnThatNamesItsNumberGetsNoOther() {
		SessionKey key = key();
		threadOf(key, 1);
		TurnWrite write = beside(1, "q", "a");
		for (long number : List.of(1L, 3L)) {
			assertThat(store().commit(Commit.any(key).turn(numbered(write, number))).outcome())
				.isEqualTo(Outcome.CONFLICT);
		}
		assertThat(commit(Commit.on(header(key)).turn(numbered(write, 2))).turn()).isEqualTo(2);
		assertThat(store().commit(Commit.any(key).turn(numbered(write, 2))).outcome()).isEqualTo(Outcome.REPEATED);
	}

	@Test
	void pathTellsWhatFollowsItsEnd() {
		SessionKey key = key();
		tree(key);
		assertThat(next(key, Point.HEAD)).isZero();
		assertThat(next(key, Point.at(0))).isEqualTo(1);
		assertThat(next(key, Point.at(1))).isEqualTo(2);
		assertThat(next(key, Point.at(2))).isEqualTo(5);
		assertThat(next(key, Point.before(6))).isEqualTo(6);
		assertThat(next(key, Point.before(4))).isZero();
		assertThat(next(key, Point.before(3))).isEqualTo(5);
		assertThat(next(key, Point.at(4))).isZero();
		assertThat(next(key, Point.at(6))).isZero();
	}

	private long next(SessionKey key, Point end) {
		return path(key, PathQuery.to(end)).next();
	}

	private static TurnWrite numbered(TurnWrite write, long number) {
		Turn.Place place = write.turn().place();
		return new TurnWrite(write.turn().stored(new Turn.Place(number, place.parent(), place.branch(), 0, 0)), 0,
				write.items())
			.asBeside();
	}

	@Test
	void turnBesideTheHistoryBeginsASession() {
		SessionKey key = key();
		commit(Commit.any(key).turn(beside(0, "q1", "a1")));
		assertThat(header(key).head()).isZero();
		assertThat(log(key)).isEmpty();
		move(key, "side", 1);
		assertThat(log(key)).containsExactly("q1", "a1");
	}

	/** 1-2-3-4 and 2-5-6, which is the head; a summary of 1 and 2, and one of 5. */
	private void tree(SessionKey key) {
		threadOf(key, 2);
		commit(Commit.on(header(key))
			.turn(completed("q3", "a3"))
			.header(HeaderChange.NONE.attributes(Map.of("at", 3))));
		commit(Commit.on(header(key)).turn(completed("q4", "a4")));
		summarize(header(key), 2, "two");
		move(key, "other", 2);
		commit(Commit.on(header(key))
			.turn(completed("q5", "a5"))
			.header(HeaderChange.NONE.attributes(Map.of("at", 5))));
		commit(Commit.on(header(key)).turn(completed("q6", "a6")));
		summarize(header(key), 5, "five");
	}

	private PathView path(SessionKey key, PathQuery query) {
		return store().path(key, query).orElseThrow();
	}

	private List<Long> turns(SessionKey key, Point end, Tail tail) {
		return numbers(path(key, PathQuery.to(end).turns(tail)).turns());
	}

	private static List<Long> numbers(List<Turn> turns) {
		return turns.stream().map(Turn::number).toList();
	}

	private List<Long> pathNumbers(SessionKey key, long end) {
		Optional<Turn> turn = store().turns(key, Tail.ALL).stream().filter((each) -> each.number() == end).findFirst();
		if (turn.isEmpty()) {
			return List.of();
		}
		return Stream.concat(pathNumbers(key, turn.get().parent()).stream(), Stream.of(end)).toList();
	}

	private static TurnWrite beside(long parent, String... texts) {
		Turn turn = Turn.builder(UUID.randomUUID().toString(), AT)
			.after(parent, "side")
			.status(TurnStatus.COMPLETED, AT.plusSeconds(1))
			.build();
		return new TurnWrite(turn, 0, items(texts)).asBeside();
	}

}
