package io.sessionkit.store;

import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;

import io.sessionkit.Round;
import io.sessionkit.Session;
import io.sessionkit.SessionItem;
import io.sessionkit.SessionKey;
import io.sessionkit.Snapshot;
import io.sessionkit.TokenUsage;
import io.sessionkit.Turn;
import io.sessionkit.TurnOpenException;
import io.sessionkit.TurnStatus;
import io.sessionkit.Verdict;
import io.sessionkit.ViewTotals;
import io.sessionkit.codec.UnstorableMessageException;
import io.sessionkit.store.CommitResult.Outcome;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.ai.chat.messages.UserMessage;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/**
 * The rules of {@link SessionStore#commit}: what is accepted, refused and repeated.
 */
abstract class CommitContract extends ProtocolContract {

	@Test
	void firstCommitCreatesASession() {
		SessionKey key = key();
		CommitResult result = store().commit(Commit.first(key).turn(completed("q1", "a1")));
		assertThat(result).isEqualTo(new CommitResult(Outcome.COMMITTED, 1, 1, 1));
		Session session = header(key);
		assertThat(session.key()).isEqualTo(key);
		assertThat(session.version()).isEqualTo(1);
		assertThat(session.turns()).isEqualTo(1);
		assertThat(session.items()).isEqualTo(2);
		assertThat(session.branch()).isEqualTo(Session.MAIN);
		assertThat(session.head()).isEqualTo(1);
		assertThat(session.openTurn()).isZero();
		assertThat(session.summaryTurn()).isZero();
		assertThat(session.summaryId()).isNull();
		assertThat(session.totals()).isEqualTo(new ViewTotals(1, 2, tokens(2)));
		assertThat(session.title()).isNull();
		assertThat(session.tags()).isEmpty();
		assertThat(session.attributes()).isEmpty();
		assertThat(session.createdAt()).isEqualTo(session.updatedAt());
	}

	@Test
	void firstCommitOfASessionThatIsThereConflicts() {
		SessionKey key = key();
		Session before = threadOf(key, 1);
		CommitResult result = store().commit(Commit.first(key).turn(completed("q", "a")));
		assertThat(result).isEqualTo(new CommitResult(Outcome.CONFLICT, 1, 0, 0));
		assertThat(header(key)).isEqualTo(before);
		assertThat(log(key)).containsExactly("q1", "a1");
	}

	@Test
	void commitOnTheOpenedSessionFollowsTheHead() {
		SessionKey key = key();
		Session base = threadOf(key, 1);
		CommitResult result = store().commit(Commit.on(base).turn(completed("q2", "a2")));
		assertThat(result).isEqualTo(new CommitResult(Outcome.COMMITTED, header(key).version(), 2, 3));
		Session session = header(key);
		assertThat(session.head()).isEqualTo(2);
		assertThat(session.totals()).isEqualTo(new ViewTotals(2, 4, tokens(4)));
		assertThat(session.createdAt()).isEqualTo(base.createdAt());
		assertThat(store().turns(key, Tail.ALL)).extracting(Turn::parent).containsExactly(0L, 1L);
	}

	@Test
	void staleCommitChangesNothing() {
		SessionKey key = key();
		Session base = threadOf(key, 1);
		commit(Commit.on(base).turn(completed("q2", "a2")));
		Session before = header(key);
		CommitResult result = store().commit(Commit.on(base)
			.turn(completed("late", "late"))
			.header(HeaderChange.NONE.title("late"))
			.delete(Set.of(1L))
			.records(List.of(RecordWrite.put("note", "1", "late"))));
		assertThat(result).isEqualTo(new CommitResult(Outcome.CONFLICT, header(key).version(), 0, 0));
		assertThat(header(key)).isEqualTo(before);
		assertThat(log(key)).containsExactly("q1", "a1", "q2", "a2");
		assertThat(store().turns(key, Tail.ALL)).hasSize(2);
		assertThat(store().records(key, "note")).isEmpty();
	}

	@Test
	void commitOnASessionThatIsGoneConflicts() {
		SessionKey key = key();
		Session base = threadOf(key, 1);
		store().clear(key);
		CommitResult result = store().commit(Commit.on(base).turn(completed("q", "a")));
		assertThat(result).isEqualTo(new CommitResult(Outcome.CONFLICT, 0, 0, 0));
		assertThat(store().find(key)).isEmpty();
	}

	@Test
	void commitOnAnEarlierSessionOfTheSameKeyConflicts() {
		SessionKey key = key();
		Session base = threadOf(key, 1);
		store().clear(key);
		threadOf(key, 1);
		assertThat(header(key).version()).isEqualTo(base.version());
		assertThat(store().commit(Commit.on(base).turn(completed("q", "a"))).outcome()).isEqualTo(Outcome.CONFLICT);
		assertThat(log(key)).containsExactly("q1", "a1");
	}

	/**
	 * In a row, so that a clock with ticks does not move between two of them.
	 */
	@Test
	void eachSessionOfAKeyHasAnIncarnationOfItsOwn() {
		SessionKey key = key();
		Set<String> incarnations = new HashSet<>();
		List<Session> bases = new ArrayList<>();
		for (int i = 0; i < 20; i++) {
			store().erase(key);
			commit(Commit.first(key).turn(completed("q", "a")));
			bases.add(header(key));
			assertThat(incarnations.add(header(key).incarnation())).isTrue();
		}
		Session last = bases.remove(bases.size() - 1);
		for (Session base : bases) {
			assertThat(store().commit(Commit.on(base).turn(completed("late"))).outcome()).isEqualTo(Outcome.CONFLICT);
			assertThat(store().commit(Commit.on(base).header(HeaderChange.NONE.title("late"))).outcome())
				.isEqualTo(Outcome.CONFLICT);
		}
		assertThat(header(key)).isEqualTo(last);
	}

	@Test
	void incarnationStaysWhateverIsWritten() {
		SessionKey key = key();
		String incarnation = threadOf(key, 1).incarnation();
		assertThat(incarnation).isNotBlank();
		commit(Commit.on(header(key)).turn(completed("q2", "a2")));
		commit(Commit.any(key).turn(turn(TurnStatus.FAILED, 2, "q3")));
		commit(Commit.any(key).header(HeaderChange.NONE.title("title").attributes(Map.of("a", 1)).head("other", 1)));
		commit(Commit.any(key).delete(Set.of(1L)));
		assertThat(header(key).incarnation()).isEqualTo(incarnation);
		assertThat(store().list(key.owner(), Page.first(1))).extracting(Session::incarnation)
			.containsExactly(incarnation);
	}

	/**
	 * The version and all times are the same then; only the incarnation tells.
	 */
	@Test
	void commitOnAnEarlierSessionConflictsThoughTheClockStandsStill() {
		SessionStore still = storeOn(Clock.fixed(AT, ZoneOffset.UTC));
		SessionKey key = key();
		still.add(key, batch("q1", "a1"));
		Session base = still.find(key).orElseThrow();
		still.erase(key);
		still.add(key, batch("q1", "a1"));
		Session successor = still.find(key).orElseThrow();
		assertThat(successor.version()).isEqualTo(base.version());
		assertThat(still.commit(Commit.on(base).turn(completed("late"))).outcome()).isEqualTo(Outcome.CONFLICT);
		assertThat(still.find(key)).contains(successor);
	}

	@Test
	void turnForAnAbsentSessionCreatesItWhateverIsExpected() {
		SessionKey key = key();
		assertThat(store().commit(Commit.any(key).turn(completed("q", "a"))))
			.isEqualTo(new CommitResult(Outcome.COMMITTED, 1, 1, 1));
	}

	@Test
	void changeWithoutATurnDoesNotCreateASession() {
		SessionKey key = key();
		CommitResult result = store().commit(Commit.any(key)
			.header(HeaderChange.NONE.title("title"))
			.records(List.of(RecordWrite.put("note", "1", "text"))));
		assertThat(result).isEqualTo(new CommitResult(Outcome.CONFLICT, 0, 0, 0));
		assertThat(store().find(key)).isEmpty();
	}

	@Test
	void firstTurnTakesOverWhatWasWrittenBeforeIt() {
		SessionKey key = key();
		commit(Commit.first(key)
			.header(HeaderChange.NONE.title("title")
				.tags(Set.of("tag"))
				.attributes(Map.of("name", "Ada"))
				.timeToLive(Duration.ofHours(1)))
			.records(List.of(RecordWrite.create("note", "1", "text"))));
		SessionView opened = store().open(key, Window.ALL).orElseThrow();
		assertThat(opened.items()).isEmpty();
		assertThat(opened.session().attributes()).containsEntry("name", "Ada");
		assertThat(opened.session().totals()).isEqualTo(ViewTotals.NONE);
		commit(Commit.on(opened.session()).turn(turn(TurnStatus.FAILED, 0, "q")));
		assertThat(header(key).attributes()).containsEntry("name", "Ada");
		commit(Commit.on(header(key)).turn(completed("q1", "a1")));
		Session session = header(key);
		assertThat(session.head()).isEqualTo(2);
		assertThat(session.title()).isEqualTo("title");
		assertThat(session.tags()).containsExactly("tag");
		assertThat(session.timeToLive()).isEqualTo(Duration.ofHours(1));
		assertThat(session.attributes()).containsEntry("name", "Ada");
		commit(Commit.on(session)
			.turn(completed("q2", "a2"))
			.header(HeaderChange.NONE.attributes(Map.of("name", "Bob"))));
		commit(Commit.any(key).header(HeaderChange.NONE.head("other", 2)));
		assertThat(header(key).attributes()).containsEntry("name", "Ada");
		assertThat(store().records(key, "note")).hasSize(1);
	}

	@Test
	void firstTurnThatComesWithAChangeTakesOverTheAttributesToo() {
		SessionKey key = key();
		commit(Commit.first(key).header(HeaderChange.NONE.attributes(Map.of("name", "Ada"))));
		commit(Commit.on(header(key))
			.turn(completed("q1", "a1"))
			.header(HeaderChange.NONE.title("title"))
			.records(List.of(RecordWrite.create("note", "1", "text"))));
		assertThat(header(key).head()).isEqualTo(1);
		assertThat(header(key).totals()).isEqualTo(new ViewTotals(1, 2, tokens(2)));
		assertThat(header(key).attributes()).containsEntry("name", "Ada");
		commit(Commit.any(key).header(HeaderChange.NONE.head(Session.MAIN, 0)));
		assertThat(header(key).attributes()).isEmpty();
		commit(Commit.any(key).header(HeaderChange.NONE.head(Session.MAIN, 1)));
		assertThat(header(key).attributes()).containsEntry("name", "Ada");
	}

	@Test
	void fieldThatIsGivenIsAChangeEvenWithTheValueThatItHas() {
		SessionKey key = key();
		commit(Commit.first(key).header(HeaderChange.NONE.title("title")));
		CommitResult again = commit(Commit.on(header(key)).header(HeaderChange.NONE.title("title")));
		assertThat(again).isEqualTo(new CommitResult(Outcome.COMMITTED, header(key).version(), 0, 0));
		assertThat(header(key).title()).isEqualTo("title");
	}

	@Test
	void commitThatGivesNothingChangesNothing() {
		SessionKey key = key();
		commit(Commit.first(key).header(HeaderChange.NONE.title("title")));
		Session before = header(key);
		CommitResult empty = commit(Commit.on(before));
		assertThat(empty).isEqualTo(new CommitResult(Outcome.COMMITTED, 1, 0, 0));
		assertThat(header(key)).isEqualTo(before);
	}

	@Test
	void changeWithoutATurnCreatesASessionThatMustBeAbsent() {
		SessionKey key = key();
		CommitResult result = store().commit(Commit.first(key).header(HeaderChange.NONE.title("title")));
		assertThat(result).isEqualTo(new CommitResult(Outcome.COMMITTED, 1, 0, 0));
		Session session = header(key);
		assertThat(session.title()).isEqualTo("title");
		assertThat(session.head()).isZero();
		commit(Commit.on(session).turn(completed("q1", "a1")));
		assertThat(header(key).version()).isGreaterThan(1);
		assertThat(log(key)).containsExactly("q1", "a1");
	}

	@Test
	void repeatedCommitChangesNothing() {
		SessionKey key = key();
		Commit first = Commit.first(key).turn(completed("q1", "a1"));
		commit(first);
		Session before = header(key);
		CommitResult repeated = store().commit(first);
		assertThat(repeated.outcome()).isEqualTo(Outcome.REPEATED);
		assertThat(repeated.isStored()).isTrue();
		assertThat(repeated.turn()).isEqualTo(1);
		assertThat(repeated.version()).isEqualTo(1);
		assertThat(header(key)).isEqualTo(before);
		assertThat(log(key)).containsExactly("q1", "a1");
	}

	@Test
	void commitIsRepeatedAlsoAfterOtherWrites() {
		SessionKey key = key();
		Session base = threadOf(key, 1);
		Commit second = Commit.on(base)
			.turn(completed("q2", "a2"))
			.header(HeaderChange.NONE.title("second").attributes(Map.of("turn", 2)))
			.records(List.of(RecordWrite.create("note", "1", "second")));
		commit(second);
		commit(Commit.any(key).turn(completed("q3", "a3")).header(HeaderChange.NONE.title("third")));
		Session before = header(key);
		CommitResult repeated = store().commit(second);
		assertThat(repeated.outcome()).isEqualTo(Outcome.REPEATED);
		assertThat(repeated.turn()).isEqualTo(2);
		assertThat(header(key)).isEqualTo(before);
		assertThat(log(key)).hasSize(6);
	}

	@Test
	void turnIsRepeatedAlsoOnWhatWasOpenedAfterIt() {
		SessionKey key = key();
		Session base = threadOf(key, 1);
		TurnWrite second = completed("q2", "a2");
		commit(Commit.on(base).turn(second));
		assertThat(store().commit(Commit.on(header(key)).turn(second)).outcome()).isEqualTo(Outcome.REPEATED);
		commit(Commit.on(header(key)).turn(completed("q3", "a3")));
		CommitResult repeated = store().commit(Commit.on(header(key)).turn(second));
		assertThat(repeated).isEqualTo(new CommitResult(Outcome.REPEATED, header(key).version(), 2, 0));
		assertThat(log(key)).hasSize(6);
		commit(Commit.on(header(key)).turn(completed("q4", "a4")));
		assertThat(header(key).turns()).isEqualTo(4);
	}

	/**
	 * A store may look for a turn where its id says that it is. It may be elsewhere.
	 */
	@ParameterizedTest
	@ValueSource(strings = { "2-x", "1-x", "3-x", "4-x", "02-x", "+2-x", "-2-x", "2", "2-", "-", "x-2", "0-x",
			"999999999999999-x", "9223372036854775807-x", "99999999999999999999-x", "\u0662-x" })
	void turnIsRepeatedWhateverItsIdIsLike(String id) {
		SessionKey key = key();
		Session base = threadOf(key, 1);
		TurnWrite second = new TurnWrite(Turn.builder(id, AT).status(TurnStatus.COMPLETED, AT).build(), 0,
				SessionStoreFixture.items("q2", "a2"));
		commit(Commit.on(base).turn(second));
		for (int i = 2; i < 5; i++) {
			for (Commit again : List.of(Commit.on(header(key)), Commit.on(base), Commit.any(key))) {
				assertThat(store().commit(again.turn(second)))
					.isEqualTo(new CommitResult(Outcome.REPEATED, header(key).version(), 2, 0));
				assertThat(store().commit(again.turn(second).header(HeaderChange.NONE.title("t"))).outcome())
					.isEqualTo(Outcome.REPEATED);
			}
			commit(Commit.on(header(key)).turn(completed("q", "a")));
		}
		assertThat(header(key).turns()).isEqualTo(5);
		assertThat(store().turns(key, Tail.ALL).get(1).id()).isEqualTo(id);
	}

	/** Some databases compare texts as if spaces at their end were missing. */
	@Test
	void turnIdsAreExact() {
		SessionKey key = key();
		List<String> ids = List.of("2-x", "2-x ", "x", "x ", "X", "2 ", "2", "x  ", " x", "\u00e1", "a\u0301",
				"x".repeat(63) + " ");
		for (String id : ids) {
			TurnWrite turn = new TurnWrite(Turn.builder(id, AT).build(), 0, SessionStoreFixture.items("q"));
			Optional<Session> there = store().find(key);
			long number = there.map(Session::turns).orElse(0L) + 1;
			Commit plain = there.map(Commit::on).orElseGet(() -> Commit.any(key)).turn(turn);
			Commit written = switch ((int) (number % 3)) {
				case 0 -> Commit.any(key).turn(turn);
				case 1 -> plain;
				default -> plain.records(List.of(RecordWrite.create("note", id, "text")));
			};
			CommitResult result = commit(written);
			assertThat(result.turn()).as("'%s'", id).isEqualTo(number);
			for (Commit again : List.of(Commit.any(key), Commit.on(header(key)))) {
				assertThat(store().commit(again.turn(turn)))
					.isEqualTo(new CommitResult(Outcome.REPEATED, result.version(), number, 0));
			}
		}
		assertThat(store().turns(key, Tail.ALL)).extracting(Turn::id).isEqualTo(ids);
		assertThat(log(key)).hasSize(ids.size());
	}

	@Test
	void turnsOfTheSameIdInTwoSessionsAreTwoTurns() {
		for (String id : List.of("1-x", "x")) {
			TurnWrite turn = new TurnWrite(Turn.builder(id, AT).status(TurnStatus.COMPLETED, AT).build(), 0, List.of());
			commit(Commit.first(key()).turn(turn));
			SessionKey other = key();
			commit(Commit.first(other).turn(turn));
			assertThat(store().turns(other, Tail.ALL)).hasSize(1);
		}
	}

	@Test
	void siblingIsRepeatedToo() {
		SessionKey key = key();
		threadOf(key, 1);
		Commit failed = Commit.any(key).turn(turn(TurnStatus.FAILED, 1, "q2"));
		commit(failed);
		commit(Commit.any(key).turn(completed("q3")));
		assertThat(store().commit(failed).outcome()).isEqualTo(Outcome.REPEATED);
		assertThat(store().turns(key, Tail.ALL)).hasSize(3);
	}

	@Test
	void laterPartIsRepeatedToo() {
		SessionKey key = key();
		threadOf(key, 1);
		TurnWrite asked = turn(TurnStatus.AWAITING_APPROVAL, 1, "q2", "call");
		TurnWrite answered = next(asked, TurnStatus.COMPLETED, "result", "a2");
		commit(Commit.any(key).turn(asked));
		Commit second = Commit.on(header(key)).turn(answered);
		commit(second);
		commit(Commit.any(key).turn(completed("q3", "a3")));
		Session before = header(key);
		assertThat(store().commit(Commit.any(key).turn(asked)).outcome()).isEqualTo(Outcome.REPEATED);
		assertThat(store().commit(second).outcome()).isEqualTo(Outcome.REPEATED);
		assertThat(store().commit(second).turn()).isEqualTo(2);
		assertThat(header(key)).isEqualTo(before);
		assertThat(log(key)).containsExactly("q1", "a1", "q2", "call", "result", "a2", "q3", "a3");
	}

	/**
	 * A caller that retries conflicts must not be told that it asked for something wrong.
	 */
	@Test
	void conflictCountsBeforeWhateverElseIsWrong() {
		SessionKey key = key();
		threadOf(key, 2);
		Session stale = header(key);
		commit(Commit.any(key).records(List.of(RecordWrite.create("note", "1", "text"))));
		Commit records = Commit.any(key).records(List.of(RecordWrite.create("note", "1", "other")));
		HeaderChange move = HeaderChange.NONE.head(Session.MAIN, 7);
		HeaderChange summary = HeaderChange.NONE.summary(7, "1");
		TurnWrite part = next(turn(TurnStatus.AWAITING_APPROVAL, 2, "q", "call"), TurnStatus.COMPLETED, "a");
		for (Commit conflict : List.of(records, Commit.on(stale))) {
			for (Commit wrong : List.of(conflict.header(move), conflict.header(summary), conflict.turn(part))) {
				assertThat(store().commit(wrong).outcome()).isEqualTo(Outcome.CONFLICT);
			}
		}
		commit(Commit.any(key).turn(turn(TurnStatus.AWAITING_APPROVAL, 2, "q3", "call")));
		assertThat(store().commit(records.turn(completed("q4"))).outcome()).isEqualTo(Outcome.CONFLICT);
		Commit first = Commit.first(key()).records(List.of(new RecordWrite("note", "1", 7, "text", null)));
		assertThat(store().commit(first.header(move)).outcome()).isEqualTo(Outcome.CONFLICT);
		assertThat(log(key)).containsExactly("q1", "a1", "q2", "a2");
	}

	@Test
	void whatIsNoMoveIsRefusedBeforeTheTurnThatIsOpenIsLookedAt() {
		SessionKey key = key();
		threadOf(key, 2);
		commit(Commit.any(key).turn(turn(TurnStatus.AWAITING_APPROVAL, 2, "q3", "call")));
		for (HeaderChange wrong : List.of(HeaderChange.NONE.head(Session.MAIN, 3),
				HeaderChange.NONE.head(Session.MAIN, 9), HeaderChange.NONE.head(Session.MAIN, 1).summary(2, "1"))) {
			assertThatIllegalArgumentException().isThrownBy(() -> store().commit(Commit.any(key).header(wrong)));
		}
		assertThatExceptionOfType(TurnOpenException.class)
			.isThrownBy(() -> store().commit(Commit.any(key).header(HeaderChange.NONE.head(Session.MAIN, 1))));
	}

	@Test
	void sameTurnIdInAnotherSessionIsAnotherTurn() {
		TurnWrite turn = completed("q", "a");
		SessionKey one = key();
		SessionKey other = key();
		assertThat(store().commit(Commit.first(one).turn(turn)).outcome()).isEqualTo(Outcome.COMMITTED);
		assertThat(store().commit(Commit.first(other).turn(turn)).outcome()).isEqualTo(Outcome.COMMITTED);
	}

	@Test
	void turnIdIsFreeAgainAfterClear() {
		SessionKey key = key();
		TurnWrite turn = completed("q", "a");
		commit(Commit.any(key).turn(turn));
		store().clear(key);
		assertThat(store().commit(Commit.any(key).turn(turn)).outcome()).isEqualTo(Outcome.COMMITTED);
		assertThat(log(key)).containsExactly("q", "a");
	}

	@Test
	void concurrentRepetitionsAreStoredOnce() throws Exception {
		SessionKey key = key();
		Session base = threadOf(key, 1);
		Commit commit = Commit.on(base).turn(completed("q2", "a2"));
		List<CommitResult> results = race(8, () -> store().commit(commit));
		assertThat(count(results, Outcome.COMMITTED)).isEqualTo(1);
		assertThat(count(results, Outcome.REPEATED)).isEqualTo(7);
		assertThat(log(key)).containsExactly("q1", "a1", "q2", "a2");
	}

	/**
	 * A turn may end in two ways at once, as when an answer comes while its call is
	 * cancelled.
	 */
	@ParameterizedTest
	@ValueSource(strings = { "%d-%s", "%2$s" })
	void turnThatIsWrittenInSeveralWaysAtOnceIsStoredOnce(String form) throws Exception {
		SessionKey key = key();
		threadOf(key, 1);
		for (int round = 0; round < 8; round++) {
			Session base = header(key);
			String id = form.formatted(base.turns() + 1, name("turn"));
			Turn completed = Turn.builder(id, AT).status(TurnStatus.COMPLETED, AT).build();
			Turn cancelled = Turn.builder(id, AT)
				.after(base.head(), Session.MAIN)
				.status(TurnStatus.CANCELLED, AT)
				.build();
			TurnWrite answer = new TurnWrite(completed, 0, SessionStoreFixture.items("q", "a"));
			TurnWrite none = new TurnWrite(cancelled, 0, SessionStoreFixture.items("q"));
			List<Commit> ways = List.of(Commit.on(base).turn(answer), Commit.any(key).turn(none),
					Commit.any(key).turn(answer), Commit.on(base).turn(none));
			AtomicInteger next = new AtomicInteger(round);
			List<CommitResult> results = race(8, () -> store().commit(ways.get(next.getAndIncrement() % 4)));
			assertThat(count(results, Outcome.COMMITTED)).isEqualTo(1);
			assertThat(count(results, Outcome.REPEATED)).isEqualTo(7);
			assertThat(header(key).turns()).isEqualTo(base.turns() + 1);
		}
	}

	@Test
	void ofRacingCommitsExactlyOneWinsPerVersion() throws Exception {
		SessionKey key = key();
		threadOf(key, 1);
		for (int round = 0; round < 5; round++) {
			Session base = header(key);
			List<CommitResult> results = race(8, () -> store().commit(Commit.on(base).turn(completed("q", "a"))));
			assertThat(count(results, Outcome.COMMITTED)).isEqualTo(1);
			assertThat(count(results, Outcome.CONFLICT)).isEqualTo(7);
			assertThat(header(key).version()).isGreaterThan(base.version());
			assertThat(header(key).turns()).isEqualTo(base.turns() + 1);
		}
		assertThat(log(key)).hasSize(2 + 5 * 2);
	}

	@Test
	void ofRacingFirstCommitsExactlyOneWins() throws Exception {
		SessionKey key = key();
		List<CommitResult> results = race(8, () -> store().commit(Commit.first(key).turn(completed("q", "a"))));
		assertThat(count(results, Outcome.COMMITTED)).isEqualTo(1);
		assertThat(count(results, Outcome.CONFLICT)).isEqualTo(7);
		assertThat(log(key)).containsExactly("q", "a");
	}

	@Test
	void orderIsTheSequenceWhateverTheClocksSaid() {
		SessionKey key = key();
		for (int i = 0; i < 5; i++) {
			Instant earlierEachTime = AT.minusSeconds(i);
			TurnWrite turn = completed();
			commit(Commit.any(key)
				.turn(new TurnWrite(turn.turn(), 0, List.of(new NewItem(new UserMessage("q" + i), earlierEachTime, 1),
						new NewItem(new UserMessage("r" + i), AT, 1)))));
		}
		assertThat(log(key)).containsExactly("q0", "r0", "q1", "r1", "q2", "r2", "q3", "r3", "q4", "r4");
		assertThat(store().items(key, Tail.ALL)).extracting(SessionItem::sequence)
			.containsExactly(1L, 2L, 3L, 4L, 5L, 6L, 7L, 8L, 9L, 10L);
		assertThat(store().items(key, 3)).extracting(SessionItem::at).containsExactly(AT.minusSeconds(2), AT);
	}

	@Test
	void itemKeepsItsTimeAndTokens() {
		SessionKey key = key();
		TurnWrite turn = completed();
		commit(Commit.any(key)
			.turn(new TurnWrite(turn.turn(), 0, List.of(new NewItem(new UserMessage("q"), AT.plusMillis(1), 42)))));
		assertThat(store().items(key, Tail.ALL))
			.containsExactly(new SessionItem(1, 1, AT.plusMillis(1), 42, new UserMessage("q")));
		assertThat(header(key).totals().tokens()).isEqualTo(42);
	}

	@Test
	void siblingsAreNotHistory() {
		SessionKey key = key();
		Session before = threadOf(key, 1);
		for (TurnStatus status : List.of(TurnStatus.FAILED, TurnStatus.CANCELLED, TurnStatus.REFUSED)) {
			CommitResult result = commit(Commit.any(key).turn(turn(status, 1, status.name())));
			assertThat(result.version()).isEqualTo(before.version());
		}
		Session session = header(key);
		assertThat(session.version()).isEqualTo(before.version());
		assertThat(session.head()).isEqualTo(1);
		assertThat(session.totals()).isEqualTo(before.totals());
		assertThat(session.openTurn()).isZero();
		assertThat(session.turns()).isEqualTo(4);
		assertThat(session.items()).isEqualTo(5);
		assertThat(log(key)).containsExactly("q1", "a1");
		assertThat(view(key, Window.ALL)).containsExactly("q1", "a1");
		assertThat(store().turns(key, Tail.ALL)).extracting(Turn::status)
			.containsExactly(TurnStatus.COMPLETED, TurnStatus.FAILED, TurnStatus.CANCELLED, TurnStatus.REFUSED);
		assertThat(store().turns(key, Tail.ALL)).extracting(Turn::parent).containsExactly(0L, 1L, 1L, 1L);
		assertThat(texts(store().items(key, 3))).containsExactly("CANCELLED");
	}

	@Test
	void siblingLeavesTheOpenedVersionValid() {
		SessionKey key = key();
		Session base = threadOf(key, 1);
		commit(Commit.any(key).turn(turn(TurnStatus.FAILED, 1, "failed")));
		commit(Commit.on(base).turn(completed("q2", "a2")));
		assertThat(log(key)).containsExactly("q1", "a1", "q2", "a2");
		assertThat(store().turns(key, Tail.ALL)).extracting(Turn::parent).containsExactly(0L, 1L, 1L);
		assertThat(header(key).head()).isEqualTo(3);
	}

	@Test
	void siblingCreatesASessionWithoutHistory() {
		SessionKey key = key();
		assertThat(store().commit(Commit.any(key).turn(turn(TurnStatus.FAILED, 0, "q1"))))
			.isEqualTo(new CommitResult(Outcome.COMMITTED, 1, 1, 1));
		Session session = header(key);
		assertThat(session.version()).isEqualTo(1);
		assertThat(session.head()).isZero();
		assertThat(session.totals()).isEqualTo(ViewTotals.NONE);
		assertThat(log(key)).isEmpty();
		commit(Commit.on(session).turn(completed("q1", "a1")));
		assertThat(log(key)).containsExactly("q1", "a1");
		assertThat(store().turns(key, Tail.ALL)).extracting(Turn::parent).containsExactly(0L, 0L);
	}

	@Test
	void openTurnWaitsBesideTheHistory() {
		SessionKey key = key();
		Session before = threadOf(key, 1);
		commit(Commit.on(before).turn(turn(TurnStatus.AWAITING_APPROVAL, 1, "q2", "call")));
		Session session = header(key);
		assertThat(session.openTurn()).isEqualTo(2);
		assertThat(session.version()).isEqualTo(before.version());
		assertThat(session.head()).isEqualTo(1);
		assertThat(log(key)).containsExactly("q1", "a1");
		assertThat(texts(store().items(key, 2))).containsExactly("q2", "call");
	}

	@Test
	void laterPartsContinueAnOpenTurnAndCompleteIt() {
		SessionKey key = key();
		threadOf(key, 1);
		TurnWrite first = turn(TurnStatus.AWAITING_APPROVAL, 1, "q2", "call");
		TurnWrite second = next(first, TurnStatus.AWAITING_APPROVAL, "result", "call again");
		TurnWrite third = next(second, TurnStatus.COMPLETED, "result again", "a2");
		commit(Commit.on(header(key)).turn(first));
		CommitResult continued = commit(Commit.on(header(key)).turn(second));
		assertThat(continued).isEqualTo(new CommitResult(Outcome.COMMITTED, 1, 2, 5));
		assertThat(header(key).openTurn()).isEqualTo(2);
		CommitResult completed = commit(Commit.on(header(key)).turn(third));
		assertThat(completed).isEqualTo(new CommitResult(Outcome.COMMITTED, header(key).version(), 2, 7));
		Session session = header(key);
		assertThat(session.openTurn()).isZero();
		assertThat(session.head()).isEqualTo(2);
		assertThat(session.totals()).isEqualTo(new ViewTotals(2, 8, tokens(8)));
		assertThat(log(key)).containsExactly("q1", "a1", "q2", "call", "result", "call again", "result again", "a2");
		assertThat(store().turns(key, Tail.newest(1))).singleElement().satisfies((turn) -> {
			assertThat(turn.status()).isEqualTo(TurnStatus.COMPLETED);
			assertThat(turn.parent()).isEqualTo(1);
			assertThat(turn.items()).isEqualTo(6);
			assertThat(turn.tokens()).isEqualTo(tokens(6));
			assertThat(turn.endedAt()).isEqualTo(third.turn().endedAt());
		});
	}

	@Test
	void openTurnOfANewSessionIsCompleted() {
		SessionKey key = key();
		TurnWrite first = turn(TurnStatus.AWAITING_APPROVAL, 0, "q1", "call");
		commit(Commit.first(key).turn(first));
		assertThat(header(key).openTurn()).isEqualTo(1);
		commit(Commit.on(header(key)).turn(next(first, TurnStatus.COMPLETED, "result", "a1")));
		assertThat(log(key)).containsExactly("q1", "call", "result", "a1");
		assertThat(header(key).head()).isEqualTo(1);
	}

	@Test
	void openTurnCanEndWithoutBecomingHistory() {
		SessionKey key = key();
		threadOf(key, 1);
		TurnWrite first = turn(TurnStatus.AWAITING_APPROVAL, 1, "q2", "call");
		commit(Commit.any(key).turn(first));
		commit(Commit.any(key).turn(next(first, TurnStatus.CANCELLED)));
		assertThat(header(key).openTurn()).isZero();
		assertThat(header(key).version()).isEqualTo(1);
		assertThat(log(key)).containsExactly("q1", "a1");
		assertThat(store().turns(key, Tail.newest(1))).singleElement().satisfies((turn) -> {
			assertThat(turn.status()).isEqualTo(TurnStatus.CANCELLED);
			assertThat(turn.items()).isEqualTo(2);
		});
	}

	@Test
	void partThatSkipsAheadIsRefused() {
		SessionKey key = key();
		Session before = threadOf(key, 1);
		TurnWrite first = turn(TurnStatus.AWAITING_APPROVAL, 1, "q2");
		TurnWrite second = next(first, TurnStatus.AWAITING_APPROVAL, "r2");
		assertThatIllegalArgumentException().isThrownBy(() -> store().commit(Commit.any(key).turn(second)))
			.withMessageContaining(first.turn().id());
		assertThat(header(key)).isEqualTo(before);
		commit(Commit.any(key).turn(first));
		TurnWrite third = next(second, TurnStatus.COMPLETED, "a2");
		assertThatIllegalArgumentException().isThrownBy(() -> store().commit(Commit.any(key).turn(third)));
		assertThat(texts(store().items(key, 2))).containsExactly("q2");
	}

	@Test
	void newPartOfATurnThatHasEndedConflicts() {
		SessionKey key = key();
		threadOf(key, 1);
		TurnWrite first = turn(TurnStatus.AWAITING_APPROVAL, 1, "q2");
		commit(Commit.any(key).turn(first));
		commit(Commit.any(key).turn(next(first, TurnStatus.CANCELLED)));
		Session before = header(key);
		TurnWrite late = next(next(first, TurnStatus.CANCELLED), TurnStatus.COMPLETED, "late");
		assertThat(store().commit(Commit.any(key).turn(late)).outcome()).isEqualTo(Outcome.CONFLICT);
		assertThat(header(key)).isEqualTo(before);
		assertThat(texts(store().items(key, 2))).containsExactly("q2");
	}

	@Test
	void laterPartForASessionThatIsGoneConflicts() {
		SessionKey key = key();
		TurnWrite first = turn(TurnStatus.AWAITING_APPROVAL, 0, "q1");
		commit(Commit.first(key).turn(first));
		store().erase(key);
		CommitResult result = store().commit(Commit.any(key).turn(next(first, TurnStatus.COMPLETED, "a1")));
		assertThat(result).isEqualTo(new CommitResult(Outcome.CONFLICT, 0, 0, 0));
		assertThat(store().find(key)).isEmpty();
	}

	@Test
	void turnComesBackEqual() {
		SessionKey key = key();
		List<Round> rounds = List.of(new Round("gpt", new TokenUsage(10, 20, 3, 4)), new Round(null, TokenUsage.NONE),
				new Round("Modèle \"x\"", new TokenUsage(1L << 40, 0, 0, 0)));
		Turn turn = Turn.builder(name("turn"), AT)
			.status(TurnStatus.COMPLETED, AT.plusMillis(1))
			.agent("Agent Ä")
			.model("Modèle \"x\"")
			.rounds(rounds)
			.tools(Map.of("weather", "digest 1", "wind", "digest 2"))
			.build();
		commit(Commit.first(key).turn(new TurnWrite(turn, 0, items("q1", "a1"))));
		Turn failed = Turn.builder(name("turn"), AT)
			.after(1, Session.MAIN)
			.status(TurnStatus.FAILED, AT)
			.failure("java.io.IOException")
			.build();
		commit(Commit.any(key).turn(new TurnWrite(failed, 0, items("q2"))));
		assertThat(store().turns(key, Tail.ALL)).containsExactly(
				turn.stored(new Turn.Place(1, 0, Session.MAIN, 2, tokens(2))),
				failed.stored(new Turn.Place(2, 1, Session.MAIN, 1, tokens(1))));
	}

	@Test
	void laterPartReplacesStatusEndRoundsAndFailure() {
		SessionKey key = key();
		Round round = new Round("gpt", new TokenUsage(1, 2, 0, 0));
		Turn open = Turn.builder(name("turn"), AT)
			.status(TurnStatus.AWAITING_APPROVAL, null)
			.agent("agent")
			.model("gpt")
			.rounds(List.of(round))
			.tools(Map.of("tool", "digest"))
			.build();
		commit(Commit.first(key).turn(new TurnWrite(open, 0, items("q1"))));
		assertThat(store().turns(key, Tail.ALL))
			.containsExactly(open.stored(new Turn.Place(1, 0, Session.MAIN, 1, tokens(1))));
		Turn failed = Turn.builder(open.id(), AT)
			.status(TurnStatus.FAILED, AT.plusSeconds(9))
			.agent("agent")
			.model("gpt")
			.rounds(List.of(round, round))
			.tools(Map.of("tool", "digest"))
			.failure("java.io.IOException")
			.build();
		commit(Commit.any(key).turn(new TurnWrite(failed, 1, items("a1"))));
		assertThat(store().turns(key, Tail.ALL))
			.containsExactly(failed.stored(new Turn.Place(1, 0, Session.MAIN, 2, tokens(2))));
	}

	@Test
	void laterPartReplacesTheModelAndKeepsAgentStartAndTools() {
		SessionKey key = key();
		Turn open = Turn.builder(name("turn"), AT)
			.status(TurnStatus.AWAITING_APPROVAL, null)
			.agent("first agent")
			.model("first")
			.tools(Map.of("tool", "first digest"))
			.build();
		commit(Commit.first(key).turn(new TurnWrite(open, 0, items("q1"))));
		Turn later = Turn.builder(open.id(), AT.plusSeconds(5))
			.after(0, "other")
			.status(TurnStatus.COMPLETED, AT.plusSeconds(9))
			.agent("later agent")
			.model("later")
			.tools(Map.of("other tool", "digest"))
			.build();
		commit(Commit.any(key).turn(new TurnWrite(later, 1, items("a1"))));
		assertThat(store().turns(key, Tail.ALL)).containsExactly(Turn.builder(open.id(), AT)
			.place(new Turn.Place(1, 0, Session.MAIN, 2, tokens(2)))
			.status(TurnStatus.COMPLETED, AT.plusSeconds(9))
			.agent("first agent")
			.model("later")
			.tools(Map.of("tool", "first digest"))
			.build());
	}

	@Test
	void verdictsComeBackEqualAndALaterPartReplacesThem() {
		SessionKey key = key();
		Verdict replaced = new Verdict("Rédacteur \"x\"", Verdict.Phase.BEFORE_TURN, Verdict.Kind.REPLACED, null);
		Verdict refused = new Verdict("guard", Verdict.Phase.BEFORE_SAVE, Verdict.Kind.REFUSED, "no 🐪, never\u0000");
		Turn open = judged(name("turn"), TurnStatus.AWAITING_APPROVAL, List.of(replaced));
		commit(Commit.first(key).turn(new TurnWrite(open, 0, items("q1"))));
		assertThat(store().turns(key, Tail.ALL).get(0).verdicts()).containsExactly(replaced);
		Turn completed = judged(open.id(), TurnStatus.COMPLETED, List.of(replaced, refused));
		commit(Commit.any(key).turn(new TurnWrite(completed, 1, items("a1"))));
		Turn none = judged(name("turn"), TurnStatus.COMPLETED, List.of());
		commit(Commit.any(key).turn(new TurnWrite(none, 0, items("q2"))));
		assertThat(store().turns(key, Tail.ALL)).extracting(Turn::verdicts)
			.containsExactly(List.of(replaced, refused), List.of());
	}

	@Test
	void snapshotComesBackEqualAndALaterPartKeepsIt() {
		SessionKey key = key();
		Snapshot snapshot = new Snapshot("0a1b", "Be brief, né \u0000",
				List.of(new Snapshot.Summary("c 1"), new Snapshot.Items(1, 7, 1, 3),
						new Snapshot.Pruned(9, 4, "[cleared: 3 results]"), new Snapshot.Pruned(10, 4, ""),
						new Snapshot.Verbatim(2), new Snapshot.Items(11, 11, 5, 5)));
		Turn open = shown(name("turn"), TurnStatus.AWAITING_APPROVAL, snapshot);
		commit(Commit.first(key).turn(new TurnWrite(open, 0, items("q1"))));
		assertThat(store().turns(key, Tail.ALL).get(0).snapshot()).isEqualTo(snapshot);
		Turn completed = shown(open.id(), TurnStatus.COMPLETED, null);
		commit(Commit.any(key).turn(new TurnWrite(completed, 1, items("a1"))));
		Turn nothing = shown(name("turn"), TurnStatus.COMPLETED, new Snapshot(null, null, List.of()));
		commit(Commit.any(key).turn(new TurnWrite(nothing, 0, items("q2"))));
		Turn none = shown(name("turn"), TurnStatus.FAILED, null);
		commit(Commit.any(key).turn(new TurnWrite(none, 0, items("q3"))));
		assertThat(store().turns(key, Tail.ALL)).extracting(Turn::snapshot)
			.containsExactly(snapshot, new Snapshot(null, null, List.of()), null);
	}

	@Test
	void parametersComeBackEqualAndALaterPartKeepsThem() {
		SessionKey key = key();
		Map<String, Object> parameters = Map.of("context", "né \u0000", "pages", List.of(1, 2L), "more",
				Map.of("at", AT, "sure", true));
		Turn open = given(name("turn"), TurnStatus.AWAITING_APPROVAL, parameters);
		commit(Commit.first(key).turn(new TurnWrite(open, 0, items("q1"))));
		Turn completed = given(open.id(), TurnStatus.COMPLETED, Map.of("context", "other"));
		commit(Commit.any(key).turn(new TurnWrite(completed, 1, items("a1"))));
		commit(Commit.any(key)
			.turn(new TurnWrite(given(name("turn"), TurnStatus.COMPLETED, Map.of()), 0, items("q2"))));
		assertThat(store().turns(key, Tail.ALL)).extracting(Turn::parameters).containsExactly(parameters, Map.of());
	}

	private static Turn given(String id, TurnStatus status, Map<String, Object> parameters) {
		return Turn.builder(id, AT).status(status, status.isOpen() ? null : AT).parameters(parameters).build();
	}

	private static Turn shown(String id, TurnStatus status, @Nullable Snapshot snapshot) {
		return Turn.builder(id, AT).status(status, status.isOpen() ? null : AT).snapshot(snapshot).build();
	}

	@Test
	void refusedTurnWithoutItemsIsKeptBesideTheHistory() {
		SessionKey key = key();
		Verdict refused = new Verdict("guard", Verdict.Phase.BEFORE_TURN, Verdict.Kind.REFUSED, "no");
		commit(Commit.any(key)
			.turn(new TurnWrite(judged(name("turn"), TurnStatus.REFUSED, List.of(refused)), 0, List.of())));
		assertThat(log(key)).isEmpty();
		commit(Commit.any(key).turn(completed("q", "a")));
		commit(Commit.any(key)
			.turn(new TurnWrite(judged(name("turn"), TurnStatus.REFUSED, List.of(refused)), 0, List.of())));
		commit(Commit.any(key).turn(completed("q2", "a2")));
		assertThat(log(key)).containsExactly("q", "a", "q2", "a2");
		assertThat(view(key, Window.ALL)).containsExactly("q", "a", "q2", "a2");
		assertThat(store().items(key, 3)).isEmpty();
		assertThat(store().turns(key, Tail.ALL)).extracting(Turn::status)
			.containsExactly(TurnStatus.REFUSED, TurnStatus.COMPLETED, TurnStatus.REFUSED, TurnStatus.COMPLETED);
		assertThat(store().turns(key, Tail.ALL).get(2).verdicts()).containsExactly(refused);
	}

	private static Turn judged(String id, TurnStatus status, List<Verdict> verdicts) {
		return Turn.builder(id, AT).status(status, status.isOpen() ? null : AT).verdicts(verdicts).build();
	}

	@Test
	void titleIsChangedAndTakenAway() {
		SessionKey key = key();
		Session before = threadOf(key, 1);
		commit(Commit.on(before).header(HeaderChange.NONE.title("Reise nach Ägypten 🐪")));
		assertThat(header(key).title()).isEqualTo("Reise nach Ägypten 🐪");
		assertThat(header(key).version()).isGreaterThan(before.version());
		commit(Commit.any(key).header(HeaderChange.NONE.tags(Set.of("x"))));
		assertThat(header(key).title()).isEqualTo("Reise nach Ägypten 🐪");
		commit(Commit.any(key).header(HeaderChange.NONE.title("")));
		assertThat(header(key).title()).isNull();
	}

	/** Text that no database can keep is refused by every store. */
	@Test
	void titleThatIsNoUnicodeIsRefused() {
		SessionKey key = key();
		Session before = threadOf(key, 1);
		String half = "\uD83D";
		for (HeaderChange change : List.of(HeaderChange.NONE.title(half), HeaderChange.NONE.tags(Set.of(half)))) {
			assertThatExceptionOfType(UnstorableMessageException.class)
				.isThrownBy(() -> store().commit(Commit.on(header(key)).header(change)));
		}
		for (Turn.Builder turn : List.of(Turn.builder("agent", AT).agent(half),
				Turn.builder("parameter", AT).parameters(Map.of("name", half)),
				Turn.builder("failure", AT).status(TurnStatus.FAILED, AT).failure(half), Turn.builder("verdict", AT)
					.verdicts(List.of(new Verdict("hook", Verdict.Phase.BEFORE_TURN, Verdict.Kind.REFUSED, half))))) {
			assertThatExceptionOfType(UnstorableMessageException.class)
				.isThrownBy(() -> store().commit(Commit.any(key).turn(new TurnWrite(turn.build(), 0, List.of()))));
		}
		assertThat(header(key)).isEqualTo(before);
	}

	@Test
	void parametersBelongToTheStoreOnceTheyAreWritten() {
		SessionKey key = key();
		List<String> mine = new ArrayList<>(List.of("before"));
		commit(Commit.any(key)
			.turn(new TurnWrite(Turn.builder("p", AT).parameters(Map.of("list", mine)).build(), 0, List.of())));
		mine.add("after");
		assertThat(store().turns(key, Tail.ALL).get(0).parameters()).isEqualTo(Map.of("list", List.of("before")));
	}

	@Test
	void tagsAreReplacedAsAWhole() {
		SessionKey key = key();
		threadOf(key, 1);
		commit(Commit.any(key).header(HeaderChange.NONE.tags(Set.of("a", "b, c", "\"d\""))));
		assertThat(header(key).tags()).containsExactlyInAnyOrder("a", "b, c", "\"d\"");
		commit(Commit.any(key).turn(completed("q2")));
		assertThat(header(key).tags()).hasSize(3);
		commit(Commit.any(key).header(HeaderChange.NONE.tags(Set.of())));
		assertThat(header(key).tags()).isEmpty();
	}

	@Test
	void deletedItemsLeaveLogViewAndTotals() {
		SessionKey key = key();
		Session base = threadOf(key, 3);
		commit(Commit.on(base).delete(Set.of(2L, 3L)));
		assertThat(log(key)).containsExactly("q1", "a2", "q3", "a3");
		assertThat(view(key, Window.ALL)).containsExactly("q1", "a2", "q3", "a3");
		assertThat(header(key).totals()).isEqualTo(new ViewTotals(3, 4, tokens(4)));
		assertThat(header(key).version()).isGreaterThan(base.version());
		assertThat(store().turns(key, Tail.ALL)).extracting(Turn::items).containsExactly(1, 1, 2);
		assertThat(store().turns(key, Tail.ALL)).extracting(Turn::tokens)
			.containsExactly(tokens(1), tokens(1), tokens(2));
	}

	@Test
	void deletingItemsThatAreNotThereIsIgnored() {
		SessionKey key = key();
		threadOf(key, 2);
		commit(Commit.any(key).delete(Set.of(2L)));
		assertThat(store().commit(Commit.any(key).delete(Set.of(2L, 77L, -1L))).isStored()).isTrue();
		assertThat(log(key)).containsExactly("q1", "q2", "a2");
		assertThat(header(key).totals()).isEqualTo(new ViewTotals(2, 3, tokens(3)));
		assertThat(store().commit(Commit.any(key).delete(Set.of(2L, 1L))).isStored()).isTrue();
		assertThat(log(key)).containsExactly("q2", "a2");
	}

	@Test
	void headThatLostItsLastItemMovesToTheNewestTurnThatHasOne() {
		SessionKey key = key();
		Session base = threadOf(key, 3);
		commit(Commit.on(base).delete(Set.of(3L, 4L)));
		assertThat(header(key).head()).isEqualTo(3);
		commit(Commit.any(key).delete(Set.of(5L, 6L)));
		Session session = header(key);
		assertThat(session.head()).isEqualTo(1);
		assertThat(session.totals()).isEqualTo(new ViewTotals(1, 2, tokens(2)));
		assertThat(log(key)).containsExactly("q1", "a1");
		commit(Commit.on(session).turn(completed("q4")));
		assertThat(store().turns(key, Tail.newest(1))).extracting(Turn::parent).containsExactly(1L);
	}

	/** A session whose summary covers its first two turns. */
	private void summarized(SessionKey key, int turns) {
		commit(Commit.on(threadOf(key, turns))
			.header(HeaderChange.NONE.summary(2, "s"))
			.records(List.of(RecordWrite.create(SessionStore.SUMMARY, "s", "text"))));
	}

	@Test
	void headThatLostItsLastItemStaysBehindTheSummaryInForce() {
		SessionKey key = key();
		summarized(key, 3);
		commit(Commit.any(key).delete(Set.of(3L, 4L)));
		commit(Commit.any(key).delete(Set.of(5L, 6L)));
		assertThat(header(key).head()).isEqualTo(2);
		assertThat(header(key).summaryTurn()).isEqualTo(2);
		assertThat(header(key).totals()).isEqualTo(ViewTotals.NONE);
		commit(Commit.any(key).header(HeaderChange.NONE.head(Session.MAIN, 1)));
		commit(Commit.any(key).delete(Set.of(1L, 2L)));
		assertThat(header(key).head()).isZero();
	}

	@Test
	void headWithWhichTheSummaryInForceEndsStaysWithoutItems() {
		SessionKey key = key();
		summarized(key, 2);
		commit(Commit.any(key).delete(Set.of(3L, 4L)));
		assertThat(header(key).head()).isEqualTo(2);
		assertThat(header(key).summaryTurn()).isEqualTo(2);
		commit(Commit.on(header(key)).turn(turn(TurnStatus.AWAITING_APPROVAL, 2, "q3", "call")));
		commit(Commit.any(key).delete(Set.of(1L, 2L)));
		assertThat(header(key).head()).isEqualTo(2);
	}

	@Test
	void headThatHadNoItemStaysWhenOthersAreDeleted() {
		SessionKey key = key();
		Session base = threadOf(key, 3);
		commit(Commit.on(base).delete(Set.of(3L, 4L)));
		commit(Commit.any(key).header(HeaderChange.NONE.head(Session.MAIN, 2)));
		commit(Commit.any(key).delete(Set.of(5L, 6L)));
		assertThat(header(key).head()).isEqualTo(2);
		commit(Commit.on(header(key)).turn(turn(TurnStatus.AWAITING_APPROVAL, 2, "q4", "call")));
		commit(Commit.any(key).delete(Set.of(1L)));
		assertThat(header(key).head()).isEqualTo(2);
		assertThat(header(key).totals()).isEqualTo(new ViewTotals(1, 1, tokens(1)));
	}

	@Test
	void itemsOfSiblingsCanBeDeleted() {
		SessionKey key = key();
		threadOf(key, 1);
		commit(Commit.any(key).turn(turn(TurnStatus.FAILED, 1, "q2", "a2")));
		commit(Commit.any(key).delete(Set.of(3L)));
		assertThat(texts(store().items(key, 2))).containsExactly("a2");
		assertThat(header(key).totals()).isEqualTo(new ViewTotals(1, 2, tokens(2)));
	}

}
