package io.sessionkit.store;

import java.util.List;
import java.util.Map;
import java.util.Set;

import io.sessionkit.Session;
import io.sessionkit.SessionItem;
import io.sessionkit.SessionKey;
import io.sessionkit.Turn;
import io.sessionkit.TurnStatus;
import io.sessionkit.ViewTotals;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/**
 * Turns without items count neither in totals nor in windows, and the oldest turns of a
 * session are deleted as a whole.
 */
abstract class DeletedTurnsContract extends ViewContract {

	private void move(SessionKey key, long turn) {
		commit(Commit.on(header(key)).header(HeaderChange.NONE.head(Session.MAIN, turn)));
	}

	private void deleteTurn(SessionKey key, long turn) {
		List<Long> sequences = store().items(key, turn).stream().map(SessionItem::sequence).toList();
		commit(Commit.on(header(key)).delete(Set.copyOf(sequences)));
	}

	private void deleteOldest(SessionKey key, long from, long before) {
		commit(Commit.on(header(key))
			.oldest(new Oldest(from, before))
			.records(List.of(RecordWrite.create("note", name("made"), "with it"),
					RecordWrite.put("note", "of the deletion", "before " + before))));
	}

	@Test
	void deletedTurnLeavesTotalsAndWindows() {
		SessionKey key = key();
		threadOf(key, 5);
		deleteTurn(key, 3);
		assertThat(header(key).totals()).isEqualTo(new ViewTotals(4, 8, tokens(8)));
		assertThat(view(key, Window.turns(3))).containsExactly("q2", "a2", "q4", "a4", "q5", "a5");
		assertThat(view(key, Window.turns(4))).hasSize(8);
		assertThat(view(key, new Window(3, 5))).containsExactly("q4", "a4", "q5", "a5");
		assertThat(view(key, new Window(3, 7))).hasSize(6);
		deleteTurn(key, 4);
		assertThat(view(key, Window.turns(2))).containsExactly("q2", "a2", "q5", "a5");
		commit(Commit.on(header(key)).turn(completed("q6", "a6")));
		assertThat(view(key, Window.turns(2))).containsExactly("q5", "a5", "q6", "a6");
		assertThat(view(key, Window.turns(3))).containsExactly("q2", "a2", "q5", "a5", "q6", "a6");
		assertThat(header(key).totals()).isEqualTo(new ViewTotals(4, 8, tokens(8)));
	}

	@Test
	void deletedTurnDoesNotCountWhereverTheHeadGoes() {
		SessionKey key = key();
		threadOf(key, 4);
		commit(Commit.on(header(key)).header(HeaderChange.NONE.head("other", 3)).turn(completed("q5", "a5")));
		deleteTurn(key, 2);
		assertThat(header(key).totals()).isEqualTo(new ViewTotals(3, 6, tokens(6)));
		assertThat(view(key, Window.turns(3))).containsExactly("q1", "a1", "q3", "a3", "q5", "a5");
		move(key, 4);
		assertThat(header(key).totals()).isEqualTo(new ViewTotals(3, 6, tokens(6)));
		assertThat(view(key, Window.turns(2))).containsExactly("q3", "a3", "q4", "a4");
		assertThat(view(key, Window.turns(3))).containsExactly("q1", "a1", "q3", "a3", "q4", "a4");
		move(key, 2);
		assertThat(header(key).totals()).isEqualTo(new ViewTotals(1, 2, tokens(2)));
		assertThat(view(key, Window.turns(1))).containsExactly("q1", "a1");
		commit(Commit.on(header(key)).turn(completed("q6", "a6")));
		assertThat(view(key, Window.turns(2))).containsExactly("q1", "a1", "q6", "a6");
		PathView path = store().path(key, PathQuery.to(Point.at(5)).window(Window.turns(2))).orElseThrow();
		assertThat(texts(path.view().items())).containsExactly("q3", "a3", "q5", "a5");
		assertThat(path.view().session().totals()).isEqualTo(new ViewTotals(3, 6, tokens(6)));
	}

	@Test
	void viewThatIsKnownForgetsADeletedTurn() {
		SessionKey key = key();
		threadOf(key, 4);
		SessionStore other = another();
		assertThat(texts(other.open(key, Window.turns(2)).orElseThrow().items())).hasSize(4);
		assertThat(view(key, Window.turns(2))).containsExactly("q3", "a3", "q4", "a4");
		deleteTurn(key, 3);
		assertThat(texts(other.open(key, Window.turns(2)).orElseThrow().items())).containsExactly("q2", "a2", "q4",
				"a4");
		assertThat(view(key, Window.turns(2))).containsExactly("q2", "a2", "q4", "a4");
		commit(Commit.on(header(key)).turn(completed("q5", "a5")));
		assertThat(view(key, Window.turns(2))).containsExactly("q4", "a4", "q5", "a5");
		assertThat(texts(other.open(key, Window.turns(3)).orElseThrow().items())).containsExactly("q2", "a2", "q4",
				"a4", "q5", "a5");
	}

	@Test
	void deletedTurnDoesNotCountAfterASummary() {
		SessionKey key = key();
		threadOf(key, 4);
		deleteTurn(key, 3);
		commit(Commit.on(header(key))
			.header(HeaderChange.NONE.summary(1, "s"))
			.records(List.of(RecordWrite.create(SessionStore.SUMMARY, "s", "text"))));
		assertThat(header(key).totals()).isEqualTo(new ViewTotals(2, 4, tokens(4)));
		move(key, 3);
		assertThat(header(key).totals()).isEqualTo(new ViewTotals(1, 2, tokens(2)));
	}

	@Test
	void oldestTurnsAreDeletedWhateverTheirStatusAndBranch() {
		SessionKey key = key();
		SessionKey neighbour = SessionKey.of(key.owner(), name("thread"));
		threadOf(neighbour, 3);
		threadOf(key, 2);
		commit(Commit.any(key).turn(turn(TurnStatus.FAILED, 2, "q3")));
		commit(Commit.on(header(key)).header(HeaderChange.NONE.head("other", 1)).turn(completed("q4", "a4")));
		move(key, 2);
		commit(Commit.on(header(key)).turn(completed("q5", "a5").attributes(Map.of("five", true))));
		commit(Commit.on(header(key)).turn(completed("q6", "a6")));
		Session before = header(key);
		deleteOldest(key, 1, 5);
		Session after = header(key);
		assertThat(log(key)).containsExactly("q5", "a5", "q6", "a6");
		PathView place = store().path(key, PathQuery.to(Point.before(5)).window(Window.ALL)).orElseThrow();
		assertThat(place.next()).isEqualTo(5);
		assertThat(place.view().session().head()).isEqualTo(2);
		assertThat(place.view().items()).isEmpty();
		assertThat(after.totals()).isEqualTo(new ViewTotals(2, 4, tokens(4)));
		assertThat(after.version()).isGreaterThan(before.version());
		assertThat(after.head()).isEqualTo(6);
		assertThat(after.attributes()).isEqualTo(Map.of("five", true));
		assertThat(store().turns(key, Tail.ALL)).extracting(Turn::items).containsExactly(0, 0, 0, 0, 2, 2);
		assertThat(store().turns(key, Tail.ALL)).extracting(Turn::number).containsExactly(1L, 2L, 3L, 4L, 5L, 6L);
		for (long number = 1; number < 5; number++) {
			assertThat(store().items(key, number)).isEmpty();
		}
		move(key, 4);
		assertThat(view(key, Window.ALL)).isEmpty();
		assertThat(header(key).totals()).isEqualTo(ViewTotals.NONE);
		move(key, 6);
		assertThat(view(key, Window.turns(2))).containsExactly("q5", "a5", "q6", "a6");
		assertThat(log(neighbour)).hasSize(6);
	}

	/**
	 * Whatever asks for a turn of the history finds none of those.
	 */
	@Test
	void pathEndsBehindTheOldestTurnsAndAtTheSummaryBeforeThem() {
		SessionKey key = key();
		threadOf(key, 8);
		deleteOldest(key, 1, 4);
		deleteOldest(key, 4, 6);
		assertThat(pathOf(key)).containsExactly(5L, 6L, 7L, 8L);
		assertThat(next(key, Point.before(4))).isZero();
		assertThat(next(key, Point.at(4))).isZero();
		assertThat(next(key, Point.at(5))).isEqualTo(6);
		assertThat(next(key, Point.at(0))).isEqualTo(5);
		SessionKey summarized = key();
		threadOf(summarized, 8);
		commit(Commit.on(header(summarized))
			.header(HeaderChange.NONE.summary(3, "s"))
			.records(List.of(RecordWrite.create(SessionStore.SUMMARY, "s", "text"))));
		deleteOldest(summarized, 1, 6);
		assertThat(pathOf(summarized)).endsWith(3L, 5L, 6L, 7L, 8L);
		assertThat(next(summarized, Point.at(3))).isEqualTo(5);
		assertThat(next(summarized, Point.at(4))).isZero();
	}

	private List<Long> pathOf(SessionKey key) {
		return another().path(key, PathQuery.to(Point.HEAD).turns(Tail.ALL))
			.orElseThrow()
			.turns()
			.stream()
			.map(Turn::number)
			.toList();
	}

	private long next(SessionKey key, Point end) {
		return another().path(key, PathQuery.to(end)).orElseThrow().next();
	}

	@Test
	void nothingOfWhatTheOldestTurnsHaveFixedStays() {
		SessionKey key = key();
		Turn first = Turn.builder("first", AT).agent("clerk").parameters(Map.of("secret", "4711")).build();
		commit(Commit.first(key).turn(new TurnWrite(first, 0, items("q1", "a1")).attributes(Map.of("one", 1))));
		commit(Commit.any(key).turn(completed("q2", "a2")));
		deleteOldest(key, 1, 2);
		assertThat(store().turns(key, Tail.ALL).get(0)).satisfies((turn) -> {
			assertThat(turn.id()).isEqualTo("first");
			assertThat(turn.status()).isEqualTo(TurnStatus.COMPLETED);
			assertThat(turn.parameters()).isEmpty();
			assertThat(turn.agent()).isNull();
		});
		move(key, 1);
		assertThat(header(key).attributes()).isEmpty();
		assertThat(store().commit(Commit.any(key).turn(new TurnWrite(first, 0, items("q1")))).outcome())
			.isEqualTo(CommitResult.Outcome.REPEATED);
	}

	@Test
	void summaryThatCoversTheOldestTurnsStaysInForce() {
		SessionKey key = key();
		threadOf(key, 3);
		commit(Commit.on(header(key))
			.header(HeaderChange.NONE.summary(2, "s"))
			.records(List.of(RecordWrite.create(SessionStore.SUMMARY, "s", "text"))));
		for (int i = 4; i <= 7; i++) {
			commit(Commit.any(key).turn(completed("q" + i, "a" + i)));
		}
		deleteOldest(key, 1, 5);
		assertSummary(key, 7, 3);
		commit(Commit.any(key).turn(completed("q8", "a8")));
		move(key, 7);
		assertSummary(key, 7, 3);
		move(key, 8);
		deleteOldest(key, 5, 7);
		assertSummary(key, 8, 2);
		move(key, 7);
		assertSummary(key, 7, 1);
		commit(Commit.any(key).turn(completed("q9", "a9")));
		commit(Commit.any(key).turn(turn(TurnStatus.FAILED, 9, "q10")));
		commit(Commit.any(key).turn(completed("q11", "a11")));
		commit(Commit.any(key).turn(completed("q12", "a12")));
		deleteOldest(key, 7, 8);
		assertSummary(key, 12, 3);
		deleteOldest(key, 8, 10);
		assertSummary(key, 12, 2);
		move(key, 11);
		assertSummary(key, 11, 1);
		move(key, 9);
		assertSummary(key, 9, 0);
		assertThat(view(key, Window.ALL)).isEmpty();
	}

	private void assertSummary(SessionKey key, long head, long turns) {
		SessionView view = store().open(key, Window.ALL).orElseThrow();
		assertThat(view.session().head()).isEqualTo(head);
		assertThat(view.session().summaryTurn()).isEqualTo(2);
		assertThat(view.summary()).isNotNull();
		assertThat(view.session().totals()).isEqualTo(new ViewTotals(turns, 2 * turns, tokens((int) (2 * turns))));
		assertThat(view.items()).hasSize((int) (2 * turns));
	}

	@Test
	void oldestTurnsEndBeforeTheHeadAndTheOpenTurn() {
		SessionKey key = key();
		threadOf(key, 3);
		assertThatIllegalArgumentException().isThrownBy(() -> deleteOldest(key, 1, 4))
			.withMessageContaining("before turn 4");
		commit(Commit.any(key).turn(turn(TurnStatus.AWAITING_APPROVAL, 3, "q4")));
		deleteOldest(key, 1, 3);
		assertThat(log(key)).containsExactly("q3", "a3");
		assertThat(header(key).openTurn()).isEqualTo(4);
		Session stale = header(key);
		commit(Commit.any(key).header(HeaderChange.NONE.title("moved")));
		assertThat(store().commit(Commit.on(stale).oldest(new Oldest(3, 4))).outcome())
			.isEqualTo(CommitResult.Outcome.CONFLICT);
		assertThat(store().commit(Commit.any(key())).isStored()).isFalse();
	}

	@Test
	void longTextsAndLaterPartsOfTheOldestTurnsAreDeleted() {
		SessionKey key = key();
		TurnWrite open = turn(TurnStatus.AWAITING_APPROVAL, 0, "x".repeat(20_000));
		commit(Commit.first(key).turn(open));
		commit(Commit.any(key).turn(next(open, TurnStatus.COMPLETED, "y".repeat(20_000))));
		commit(Commit.any(key).turn(completed("q2", "a2")));
		commit(Commit.any(key).turn(completed("q3", "z".repeat(20_000))));
		deleteOldest(key, 1, 3);
		assertThat(log(key)).hasSize(2);
		assertThat(store().items(key, 1)).isEmpty();
		assertThat(store().pop(key)).isPresent();
		assertThat(log(key)).containsExactly("q3");
	}

}
