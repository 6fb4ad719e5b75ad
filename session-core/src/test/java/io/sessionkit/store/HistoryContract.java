package io.sessionkit.store;

import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicBoolean;

import io.sessionkit.Session;
import io.sessionkit.SessionItem;
import io.sessionkit.SessionKey;
import io.sessionkit.Turn;
import io.sessionkit.TurnStatus;
import io.sessionkit.ViewTotals;
import io.sessionkit.store.CommitResult.Outcome;
import org.junit.jupiter.api.Test;

import org.springframework.ai.chat.messages.Message;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/**
 * The contract for reading a history: windows, pages, summaries, branches and the state
 * that goes with them.
 */
abstract class HistoryContract extends OpenTurnContract {

	/** A kind of records that no store knows. */
	private static final String BRANCH = "branch";

	@Test
	void windowOfTurnsTakesTheNewest() {
		SessionKey key = key();
		threadOf(key, 4);
		assertThat(view(key, Window.turns(2))).containsExactly("q3", "a3", "q4", "a4");
		assertThat(view(key, Window.turns(100))).hasSize(8);
		assertThat(view(key, Window.ALL)).hasSize(8);
	}

	@Test
	void windowOfItemsIsCutAtWholeTurns() {
		SessionKey key = key();
		commit(Commit.any(key).turn(completed("1", "2")));
		commit(Commit.any(key).turn(completed("3", "4", "5")));
		commit(Commit.any(key).turn(completed("6", "7")));
		assertThat(view(key, Window.items(1))).isEmpty();
		assertThat(view(key, Window.items(2))).containsExactly("6", "7");
		assertThat(view(key, Window.items(4))).containsExactly("6", "7");
		assertThat(view(key, Window.items(5))).containsExactly("3", "4", "5", "6", "7");
		assertThat(view(key, Window.items(6))).hasSize(5);
		assertThat(view(key, Window.items(7))).hasSize(7);
	}

	@Test
	void turnThatDoesNotFitKeepsOlderOnesOut() {
		SessionKey key = key();
		store().add(key, batch("small"));
		commit(Commit.any(key).turn(completed("1", "2", "3", "4")));
		store().add(key, batch("newest"));
		assertThat(view(key, Window.items(3))).containsExactly("newest");
	}

	/**
	 * A store may keep long texts, and those of later parts, apart from the others.
	 */
	@Test
	void longTextsStayInTheirPlace() {
		SessionKey key = key();
		String one = "1".repeat(20_000);
		String two = "2".repeat(50_000);
		commit(Commit.any(key).turn(completed("q", one, "a")));
		TurnWrite first = SessionStoreFixture.turn(TurnStatus.INCOMPLETE, 1, "q2", two);
		commit(Commit.on(header(key)).turn(first));
		commit(Commit.any(key).turn(SessionStoreFixture.next(first, TurnStatus.COMPLETED, "r2", one, "a2")));
		store().add(key, batch("q3", two));
		String[] all = { "q", one, "a", "q2", two, "r2", one, "a2", "q3", two };
		assertThat(view(key, Window.ALL)).containsExactly(all);
		assertThat(log(key)).containsExactly(all);
		assertThat(view(key, Window.turns(2))).containsExactly(Arrays.copyOfRange(all, 3, 10));
		assertThat(view(key, Window.items(6))).containsExactly("q3", two);
		assertThat(view(key, Window.items(7))).containsExactly(Arrays.copyOfRange(all, 3, 10));
		assertThat(texts(store().items(key, 2))).containsExactly("q2", two, "r2", one, "a2");
		assertThat(texts(store().items(key, new Tail(8, 3)))).containsExactly(two, "r2", one);
		assertThat(texts(store().items(key, new Tail(7, 2)))).containsExactly(two, "r2");
		commit(Commit.on(header(key)).delete(Set.of(2L, 3L, 4L, 7L, 8L)));
		assertThat(view(key, Window.ALL)).containsExactly("q", two, "r2", "q3", two);
		assertThat(log(key)).containsExactly("q", two, "r2", "q3", two);
		assertThat(view(key, Window.items(4))).containsExactly(two, "r2", "q3", two);
		assertThat(store().pop(key).map(Message::getText)).contains(two);
	}

	@Test
	void everyPageOfALogIsFound() {
		SessionKey key = key();
		for (int i = 0; i < 150; i++) {
			if (i % 7 == 3) {
				commit(Commit.any(key).turn(SessionStoreFixture.turn(TurnStatus.FAILED, i, "lost")));
			}
			else {
				store().add(key, batch(Collections.nCopies(1 + i % 3, "text").toArray(String[]::new)));
			}
		}
		List<SessionItem> all = store().items(key, Tail.ALL);
		for (int before = 1; before <= header(key).items() + 2; before += 13) {
			long end = before;
			List<SessionItem> older = all.stream().filter((item) -> item.sequence() < end).toList();
			assertThat(store().items(key, new Tail(end, 4)))
				.isEqualTo(older.subList(Math.max(0, older.size() - 4), older.size()));
		}
	}

	/** The number of items that are left does not say where their turn ends. */
	@Test
	void pageIsWholeThatEndsInATurnWithDeletedItems() {
		SessionKey key = key();
		store().add(key, batch("1"));
		commit(Commit.any(key).turn(completed("2", "3", "4", "5")));
		commit(Commit.on(header(key)).delete(Set.of(3L)));
		assertThat(texts(store().items(key, new Tail(5, 3)))).containsExactly("1", "2", "4");
		assertThat(texts(store().items(key, new Tail(5, 2)))).containsExactly("2", "4");
		assertThat(texts(store().items(key, new Tail(4, 3)))).containsExactly("1", "2");
		assertThat(texts(store().items(key, new Tail(3, 3)))).containsExactly("1", "2");
	}

	@Test
	void smallerOfBothLimitsCounts() {
		SessionKey key = key();
		threadOf(key, 4);
		assertThat(view(key, Window.turns(3).and(Window.items(4)))).containsExactly("q3", "a3", "q4", "a4");
		assertThat(view(key, Window.turns(1).and(Window.items(7)))).containsExactly("q4", "a4");
	}

	@Test
	void emptyWindowReadsTheHeaderAlone() {
		SessionKey key = key();
		threadOf(key, 2);
		for (Window window : List.of(Window.HEADER, Window.turns(0), Window.items(0))) {
			SessionView view = store().open(key, window).orElseThrow();
			assertThat(view.items()).isEmpty();
			assertThat(view.session().totals()).isEqualTo(new ViewTotals(2, 4, tokens(4)));
		}
	}

	@Test
	void headerAndItemsAreOfOneMoment() throws Exception {
		SessionKey key = key();
		threadOf(key, 1);
		AtomicBoolean writing = new AtomicBoolean(true);
		Callable<Boolean> writer = () -> {
			try {
				for (int i = 0; i < 40; i++) {
					store().add(key, batch("1", "2", "3"));
					store().pop(key);
				}
				return true;
			}
			finally {
				writing.set(false);
			}
		};
		Callable<Boolean> reader = () -> {
			while (writing.get()) {
				SessionView view = store().open(key, Window.ALL).orElseThrow();
				List<SessionItem> items = view.items();
				assertThat(items).hasSize((int) view.session().totals().items());
				assertThat(items.get(items.size() - 1).turn()).isEqualTo(view.session().head());
			}
			return true;
		};
		assertThat(race(List.of(writer, reader, reader))).containsOnly(true);
	}

	@Test
	void logIsReadBackwardsInPages() {
		SessionKey key = key();
		threadOf(key, 4);
		List<List<String>> pages = new ArrayList<>();
		Tail tail = Tail.newest(3);
		List<SessionItem> page = store().items(key, tail);
		while (!page.isEmpty() && pages.size() < 10) {
			pages.add(texts(page));
			tail = tail.before(page.get(0).sequence());
			page = store().items(key, tail);
		}
		assertThat(pages).containsExactly(List.of("a3", "q4", "a4"), List.of("q2", "a2", "q3"), List.of("q1", "a1"));
	}

	@Test
	void pageDoesNotMoveWhenSomethingIsAppended() {
		SessionKey key = key();
		threadOf(key, 3);
		Tail second = Tail.newest(2).before(5);
		assertThat(texts(store().items(key, second))).containsExactly("q2", "a2");
		threadOf(key, 2);
		assertThat(texts(store().items(key, second))).containsExactly("q2", "a2");
		assertThat(store().items(key, Tail.newest(2).before(1))).isEmpty();
		assertThat(store().items(key, Tail.newest(0))).isEmpty();
	}

	@Test
	void turnsAreReadBackwardsInPages() {
		SessionKey key = key();
		threadOf(key, 2);
		commit(Commit.any(key).turn(turn(TurnStatus.FAILED, 2, "failed")));
		threadOf(key, 2);
		Tail tail = Tail.newest(2);
		assertThat(store().turns(key, tail)).extracting(Turn::number).containsExactly(4L, 5L);
		assertThat(store().turns(key, tail.before(4))).extracting(Turn::number).containsExactly(2L, 3L);
		assertThat(store().turns(key, tail.before(2))).extracting(Turn::number).containsExactly(1L);
		assertThat(store().turns(key, tail.before(1))).isEmpty();
		assertThat(store().turns(key, Tail.newest(0))).isEmpty();
		assertThat(store().turns(key, Tail.ALL)).hasSize(5);
	}

	@Test
	void itemsOfATurnThatIsNotThereAreNone() {
		SessionKey key = key();
		threadOf(key, 1);
		assertThat(store().items(key, 0)).isEmpty();
		assertThat(store().items(key, 2)).isEmpty();
		assertThat(texts(store().items(key, 1))).containsExactly("q1", "a1");
	}

	@Test
	void viewStartsAfterTheSummaryAndTheLogKeepsAll() {
		SessionKey key = key();
		Session base = threadOf(key, 4);
		summarize(base, 2, "summary");
		SessionView view = store().open(key, Window.ALL).orElseThrow();
		assertThat(texts(view.items())).containsExactly("q3", "a3", "q4", "a4");
		assertThat(summary(view).payload()).isEqualTo("text of summary");
		assertThat(summary(view).id()).isEqualTo("summary");
		assertThat(view.session().summaryTurn()).isEqualTo(2);
		assertThat(view.session().summaryId()).isEqualTo("summary");
		assertThat(view.session().totals()).isEqualTo(new ViewTotals(2, 4, tokens(4)));
		assertThat(view.session().version()).isGreaterThan(base.version());
		assertThat(log(key)).hasSize(8);
		assertThat(view(key, Window.turns(1))).containsExactly("q4", "a4");
		assertThat(store().open(key, Window.turns(1)).orElseThrow().summary()).isEqualTo(view.summary());
	}

	@Test
	void turnsAfterASummaryExtendTheView() {
		SessionKey key = key();
		summarize(threadOf(key, 2), 2, "summary");
		assertThat(view(key, Window.ALL)).isEmpty();
		assertThat(header(key).totals()).isEqualTo(ViewTotals.NONE);
		commit(Commit.on(header(key)).turn(completed("q3", "a3")));
		assertThat(view(key, Window.ALL)).containsExactly("q3", "a3");
		assertThat(header(key).totals()).isEqualTo(new ViewTotals(1, 2, tokens(2)));
		assertThat(header(key).summaryTurn()).isEqualTo(2);
	}

	@Test
	void laterSummaryReplacesTheEarlierOne() {
		SessionKey key = key();
		summarize(threadOf(key, 4), 1, "first");
		summarize(header(key), 3, "second");
		assertThat(view(key, Window.ALL)).containsExactly("q4", "a4");
		assertThat(summary(store().open(key, Window.ALL).orElseThrow()).payload()).isEqualTo("text of second");
		assertThat(header(key).totals()).isEqualTo(new ViewTotals(1, 2, tokens(2)));
	}

	@Test
	void summaryIsTakenAway() {
		SessionKey key = key();
		summarize(threadOf(key, 3), 2, "summary");
		commit(Commit.on(header(key)).header(HeaderChange.NONE.summary(0, "")));
		SessionView view = store().open(key, Window.ALL).orElseThrow();
		assertThat(view.summary()).isNull();
		assertThat(view.session().summaryTurn()).isZero();
		assertThat(view.session().summaryId()).isNull();
		assertThat(view.items()).hasSize(6);
		assertThat(view.session().totals()).isEqualTo(new ViewTotals(3, 6, tokens(6)));
	}

	@Test
	void summaryComesInTheSameCommitAsATurn() {
		SessionKey key = key();
		Session base = threadOf(key, 3);
		commit(Commit.on(base)
			.turn(completed("q4", "a4"))
			.header(HeaderChange.NONE.summary(2, "summary"))
			.records(List.of(RecordWrite.create(SessionStore.SUMMARY, "summary", "text of summary"))));
		SessionView view = store().open(key, Window.ALL).orElseThrow();
		assertThat(texts(view.items())).containsExactly("q3", "a3", "q4", "a4");
		assertThat(summary(view).payload()).isEqualTo("text of summary");
		assertThat(view.session().totals()).isEqualTo(new ViewTotals(2, 4, tokens(4)));
	}

	@Test
	void summaryOffThePathOfTheHeadIsRefused() {
		SessionKey key = key();
		threadOf(key, 2);
		commit(Commit.any(key).turn(turn(TurnStatus.FAILED, 2, "q3")));
		move(key, "other", 1);
		commit(Commit.on(header(key)).turn(completed("q4", "a4")));
		Session before = header(key);
		for (long turn : List.of(2L, 3L, 5L, -1L)) {
			assertThatIllegalArgumentException()
				.isThrownBy(() -> store()
					.commit(Commit.on(before).header(HeaderChange.NONE.title("title").summary(turn, "summary"))))
				.withMessageContaining(key.toString())
				.withMessageContaining(String.valueOf(turn));
		}
		assertThat(header(key)).isEqualTo(before);
	}

	@Test
	void summaryIsOnThePathOfTheHeadThatIsMovedTo() {
		SessionKey key = key();
		threadOf(key, 2);
		move(key, "other", 1);
		commit(Commit.on(header(key)).turn(completed("q3", "a3")));
		Session before = header(key);
		HeaderChange back = HeaderChange.NONE.head(Session.MAIN, 2);
		assertThatIllegalArgumentException()
			.isThrownBy(() -> store().commit(Commit.on(before).header(back.summary(3, "summary"))));
		assertThat(header(key)).isEqualTo(before);
		commit(Commit.on(before).header(back.summary(2, "summary")));
		assertThat(header(key).summaryTurn()).isEqualTo(2);
		assertThat(log(key)).containsExactly("q1", "a1", "q2", "a2");
	}

	@Test
	void summaryStaysInForceAfterAMoveBackToATurnThatItEndsBefore() {
		SessionKey key = key();
		summarize(threadOf(key, 20), 17, "summary");
		move(key, Session.MAIN, 19);
		assertThat(header(key).summaryTurn()).isEqualTo(17);
		assertThat(header(key).summaryId()).isEqualTo("summary");
		assertThat(summary(store().open(key, Window.ALL).orElseThrow()).payload()).isEqualTo("text of summary");
		assertThat(view(key, Window.ALL)).containsExactly("q18", "a18", "q19", "a19");
		assertThat(header(key).totals()).isEqualTo(new ViewTotals(2, 4, tokens(4)));
	}

	@Test
	void summaryIsNotInForceAtATurnThatItCovers() {
		SessionKey key = key();
		summarize(threadOf(key, 3), 2, "summary");
		commit(Commit.on(header(key)).turn(completed("q4", "a4")));
		move(key, Session.MAIN, 1);
		assertThat(header(key).summaryTurn()).isZero();
		assertThat(store().open(key, Window.ALL).orElseThrow().summary()).isNull();
		assertThat(view(key, Window.ALL)).containsExactly("q1", "a1");
		assertThat(header(key).totals()).isEqualTo(new ViewTotals(1, 2, tokens(2)));
		move(key, Session.MAIN, 2);
		assertThat(header(key).summaryId()).isEqualTo("summary");
		assertThat(view(key, Window.ALL)).isEmpty();
		move(key, Session.MAIN, 4);
		assertThat(header(key).summaryTurn()).isEqualTo(2);
		assertThat(view(key, Window.ALL)).containsExactly("q3", "a3", "q4", "a4");
	}

	@Test
	void moveFindsTheNewestSummaryOfItsPath() {
		SessionKey key = key();
		threadOf(key, 4);
		summarize(header(key), 1, "first");
		summarize(header(key), 3, "second");
		move(key, "other", 2);
		assertThat(header(key).summaryId()).isEqualTo("first");
		commit(Commit.on(header(key)).turn(completed("q5", "a5")));
		summarize(header(key), 5, "third");
		move(key, Session.MAIN, 4);
		assertThat(header(key).summaryId()).isEqualTo("second");
		assertThat(view(key, Window.ALL)).containsExactly("q4", "a4");
		move(key, "other", 5);
		assertThat(header(key).summaryId()).isEqualTo("third");
		move(key, "another", 2);
		assertThat(header(key).summaryId()).isEqualTo("first");
	}

	@Test
	void moveFindsNoSummaryThatWasDeleted() {
		SessionKey key = key();
		threadOf(key, 4);
		summarize(header(key), 1, "first");
		summarize(header(key), 2, "second");
		commit(Commit.on(header(key))
			.header(HeaderChange.NONE.head(Session.MAIN, 3))
			.records(List.of(new RecordWrite(SessionStore.SUMMARY, "second", RecordWrite.ANY, null, null))));
		assertThat(header(key).summaryId()).isEqualTo("first");
		assertThat(store().put(key, RecordWrite.create(SessionStore.SUMMARY, "second", "another one"))).isTrue();
		move(key, Session.MAIN, 4);
		assertThat(header(key).summaryId()).isEqualTo("first");
		assertThat(view(key, Window.ALL)).containsExactly("q2", "a2", "q3", "a3", "q4", "a4");
	}

	@Test
	void summaryThatWasNamedLastStandsForItsTurn() {
		SessionKey key = key();
		threadOf(key, 3);
		summarize(header(key), 2, "first");
		summarize(header(key), 2, "second");
		move(key, Session.MAIN, 1);
		move(key, Session.MAIN, 3);
		assertThat(header(key).summaryId()).isEqualTo("second");
	}

	@Test
	void itemsBeforeTheSummaryLeaveTheLogOnly() {
		SessionKey key = key();
		summarize(threadOf(key, 3), 2, "summary");
		commit(Commit.any(key).delete(Set.of(1L, 2L)));
		assertThat(log(key)).containsExactly("q2", "a2", "q3", "a3");
		assertThat(header(key).totals()).isEqualTo(new ViewTotals(1, 2, tokens(2)));
	}

	@Test
	void undoAndRedoMoveTheHead() {
		SessionKey key = key();
		Session base = threadOf(key, 3);
		commit(Commit.on(base).header(HeaderChange.NONE.head(Session.MAIN, 1)));
		Session undone = header(key);
		assertThat(undone.head()).isEqualTo(1);
		assertThat(undone.turns()).isEqualTo(3);
		assertThat(undone.version()).isGreaterThan(base.version());
		assertThat(undone.totals()).isEqualTo(new ViewTotals(1, 2, tokens(2)));
		assertThat(log(key)).containsExactly("q1", "a1");
		assertThat(view(key, Window.ALL)).containsExactly("q1", "a1");
		assertThat(store().turns(key, Tail.ALL)).hasSize(3);
		move(key, Session.MAIN, 3);
		assertThat(log(key)).containsExactly("q1", "a1", "q2", "a2", "q3", "a3");
		assertThat(header(key).totals()).isEqualTo(base.totals());
	}

	@Test
	void headMovesToTheBeginning() {
		SessionKey key = key();
		threadOf(key, 2);
		commit(Commit.any(key).header(HeaderChange.NONE.attributes(Map.of("step", 2))));
		move(key, Session.MAIN, 0);
		Session session = header(key);
		assertThat(session.head()).isZero();
		assertThat(session.attributes()).isEmpty();
		assertThat(session.totals()).isEqualTo(ViewTotals.NONE);
		assertThat(log(key)).isEmpty();
		commit(Commit.on(session).turn(completed("q3")));
		assertThat(log(key)).containsExactly("q3");
		assertThat(store().turns(key, Tail.newest(1))).extracting(Turn::parent).containsExactly(0L);
	}

	@Test
	void turnAfterUndoLeavesTheUndoneOnesBesideTheHistory() {
		SessionKey key = key();
		threadOf(key, 3);
		move(key, Session.MAIN, 1);
		commit(Commit.on(header(key)).turn(completed("q4", "a4")));
		assertThat(log(key)).containsExactly("q1", "a1", "q4", "a4");
		assertThat(view(key, Window.turns(1))).containsExactly("q4", "a4");
		assertThat(store().turns(key, Tail.ALL)).extracting(Turn::parent).containsExactly(0L, 1L, 2L, 1L);
		assertThat(texts(store().items(key, 3))).containsExactly("q3", "a3");
		move(key, Session.MAIN, 3);
		assertThat(log(key)).containsExactly("q1", "a1", "q2", "a2", "q3", "a3");
	}

	@Test
	void moveAndTurnAreOneChange() {
		SessionKey key = key();
		Session base = threadOf(key, 2);
		CommitResult result = commit(
				Commit.on(base).header(HeaderChange.NONE.head("retry", 1)).turn(completed("q2 again", "a2 again")));
		assertThat(result.version()).isGreaterThan(base.version());
		assertThat(log(key)).containsExactly("q1", "a1", "q2 again", "a2 again");
		assertThat(header(key).branch()).isEqualTo("retry");
		assertThat(store().turns(key, Tail.newest(1))).singleElement().satisfies((turn) -> {
			assertThat(turn.parent()).isEqualTo(1);
			assertThat(turn.branch()).isEqualTo("retry");
		});
	}

	@Test
	void branchesDoNotSeeEachOther() {
		SessionKey key = key();
		Session main = threadOf(key, 2);
		commit(Commit.on(main)
			.header(HeaderChange.NONE.head("idea", 1))
			.records(List.of(RecordWrite.put(BRANCH, Session.MAIN, "2"))));
		store().add(key, batch("idea", "good"));
		Session idea = header(key);
		assertThat(idea.branch()).isEqualTo("idea");
		assertThat(log(key)).containsExactly("q1", "a1", "idea", "good");
		assertThat(store().turns(key, Tail.newest(1))).extracting(Turn::branch).containsExactly("idea");
		assertThat(store().records(key, BRANCH)).extracting(SessionRecord::payload).containsExactly("2");
		commit(Commit.on(idea)
			.header(HeaderChange.NONE.head(Session.MAIN, 2))
			.records(List.of(RecordWrite.put(BRANCH, "idea", Long.toString(idea.head())),
					new RecordWrite(BRANCH, Session.MAIN, RecordWrite.ANY, null, null))));
		commit(Commit.on(header(key)).turn(completed("q3", "a3")));
		assertThat(header(key).branch()).isEqualTo(Session.MAIN);
		assertThat(log(key)).containsExactly("q1", "a1", "q2", "a2", "q3", "a3");
		assertThat(store().records(key, BRANCH)).extracting(SessionRecord::id).containsExactly("idea");
		move(key, "idea", 3);
		assertThat(log(key)).containsExactly("q1", "a1", "idea", "good");
	}

	@Test
	void headCannotMoveToATurnThatIsNotThere() {
		SessionKey key = key();
		Session before = threadOf(key, 1);
		Commit wrong = Commit.on(before).header(HeaderChange.NONE.title("t").head(Session.MAIN, 7));
		assertThatIllegalArgumentException().isThrownBy(() -> store().commit(wrong)).withMessageContaining("7");
		assertThatIllegalArgumentException().isThrownBy(() -> store().commit(wrong.turn(completed("q2"))));
		assertThat(header(key)).isEqualTo(before);
		assertThat(log(key)).containsExactly("q1", "a1");
	}

	@Test
	void headCannotMoveToATurnThatIsNotCompleted() {
		SessionKey key = key();
		threadOf(key, 1);
		commit(Commit.any(key).turn(turn(TurnStatus.FAILED, 1, "q2")));
		commit(Commit.any(key).turn(turn(TurnStatus.AWAITING_APPROVAL, 1, "q3")));
		Session before = header(key);
		for (long number : List.of(2L, 3L)) {
			assertThatIllegalArgumentException()
				.isThrownBy(() -> store().commit(Commit.on(before).header(HeaderChange.NONE.head("b", number))));
		}
		assertThat(header(key)).isEqualTo(before);
	}

	@Test
	void attributesComeWithTheHead() {
		SessionKey key = key();
		Session base = threadOf(key, 1);
		assertThat(base.attributes()).isEmpty();
		commit(Commit.on(base).turn(completed("q2")).header(HeaderChange.NONE.attributes(Map.of("step", 2))));
		commit(Commit.any(key).turn(completed("q3")));
		assertThat(header(key).attributes()).isEqualTo(Map.of("step", 2));
		commit(Commit.any(key).turn(completed("q4")).header(HeaderChange.NONE.attributes(Map.of("step", 4, "x", "y"))));
		assertThat(header(key).attributes()).isEqualTo(Map.of("step", 4, "x", "y"));
		move(key, Session.MAIN, 3);
		assertThat(header(key).attributes()).isEqualTo(Map.of("step", 2));
		move(key, Session.MAIN, 1);
		assertThat(header(key).attributes()).isEmpty();
		move(key, Session.MAIN, 4);
		assertThat(header(key).attributes()).isEqualTo(Map.of("step", 4, "x", "y"));
	}

	@Test
	void attributesChangedWithoutATurnBelongToTheHead() {
		SessionKey key = key();
		Session base = threadOf(key, 2);
		commit(Commit.on(base).header(HeaderChange.NONE.attributes(Map.of("step", 2))));
		assertThat(header(key).attributes()).isEqualTo(Map.of("step", 2));
		assertThat(header(key).version()).isGreaterThan(base.version());
		move(key, Session.MAIN, 1);
		assertThat(header(key).attributes()).isEmpty();
		move(key, Session.MAIN, 2);
		assertThat(header(key).attributes()).isEqualTo(Map.of("step", 2));
	}

	@Test
	void attributesAreEmptied() {
		SessionKey key = key();
		threadOf(key, 1);
		commit(Commit.any(key).header(HeaderChange.NONE.attributes(Map.of("step", 1))));
		commit(Commit.any(key).turn(completed("q2")).header(HeaderChange.NONE.attributes(Map.of())));
		assertThat(header(key).attributes()).isEmpty();
	}

	@Test
	void attributesKeepTheirTypes() {
		SessionKey key = key();
		Map<String, Object> attributes = new HashMap<>();
		attributes.put("text", "Ä\u0000\"");
		attributes.put("int", 1);
		attributes.put("long", 1L << 40);
		attributes.put("double", 0.1);
		attributes.put("flag", true);
		attributes.put("instant", Instant.parse("2026-01-02T03:04:05.123456789Z"));
		attributes.put("list", List.of("a", 1L, List.of()));
		attributes.put("map", Map.of("k", Map.of("n", 2)));
		threadOf(key, 1);
		commit(Commit.any(key).header(HeaderChange.NONE.attributes(attributes)));
		assertThat(header(key).attributes()).isEqualTo(attributes);
	}

	@Test
	void attributesAreHandedOutAsACopy() {
		SessionKey key = key();
		List<Object> list = new ArrayList<>(List.of("a"));
		byte[] bytes = { 1, 2 };
		threadOf(key, 1);
		commit(Commit.any(key).header(HeaderChange.NONE.attributes(Map.of("list", list, "bytes", bytes))));
		list.add("b");
		bytes[0] = 9;
		Map<String, Object> seen = header(key).attributes();
		assertThat(seen.get("list")).isEqualTo(List.of("a"));
		assertThat((byte[]) seen.get("bytes")).containsExactly(1, 2);
		Arrays.fill((byte[]) seen.get("bytes"), (byte) 7);
		assertThat((byte[]) header(key).attributes().get("bytes")).containsExactly(1, 2);
	}

	@Test
	void attributesOfASiblingAreNotNeeded() {
		SessionKey key = key();
		threadOf(key, 1);
		commit(Commit.any(key).header(HeaderChange.NONE.attributes(Map.of("step", 1))));
		commit(Commit.any(key).turn(turn(TurnStatus.FAILED, 1, "q2")));
		commit(Commit.any(key).turn(completed("q3")));
		assertThat(header(key).attributes()).isEqualTo(Map.of("step", 1));
	}

	@Test
	void deepBranchesKeepTheirOwnPaths() {
		SessionKey key = key();
		threadOf(key, 2);
		List<String> expected = new ArrayList<>(List.of("q1", "a1"));
		long head = 1;
		for (int i = 0; i < 20; i++) {
			commit(Commit.any(key).header(HeaderChange.NONE.head(Session.MAIN, head)));
			head = commit(Commit.any(key).turn(completed("fork " + i))).turn();
			expected.add("fork " + i);
			commit(Commit.any(key).turn(completed("left behind " + i)));
		}
		commit(Commit.any(key).header(HeaderChange.NONE.head(Session.MAIN, head)));
		assertThat(log(key)).isEqualTo(expected);
		assertThat(view(key, Window.turns(5))).containsExactly("fork 15", "fork 16", "fork 17", "fork 18", "fork 19");
		assertThat(header(key).totals().items()).isEqualTo(expected.size());
		assertThat(texts(store().items(key, Tail.newest(21)))).isEqualTo(expected.subList(1, 22));
	}

	void move(SessionKey key, String branch, long turn) {
		assertThat(store().commit(Commit.on(header(key)).header(HeaderChange.NONE.head(branch, turn))).outcome())
			.isEqualTo(Outcome.COMMITTED);
	}

	private static SessionRecord summary(SessionView view) {
		return Objects.requireNonNull(view.summary());
	}

	void summarize(Session base, long turn, String id) {
		commit(Commit.on(base)
			.header(HeaderChange.NONE.summary(turn, id))
			.records(List.of(RecordWrite.create(SessionStore.SUMMARY, id, "text of " + id))));
	}

}
