package io.sessionkit.store;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;

import io.sessionkit.Session;
import io.sessionkit.SessionItem;
import io.sessionkit.SessionKey;
import io.sessionkit.Turn;
import io.sessionkit.TurnOpenException;
import io.sessionkit.TurnStatus;
import io.sessionkit.store.ModelStore.Base;
import io.sessionkit.store.ModelStore.Expected;
import org.jspecify.annotations.Nullable;

import org.springframework.ai.chat.messages.Message;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * The changes of a {@link RandomProgram}: each is made to the store and to the model, and
 * both must say the same of it.
 */
final class RandomWrites {

	private static final int MOST_KNOWN = 12;

	private static final List<TurnStatus> BESIDE = Arrays.stream(TurnStatus.values())
		.filter((status) -> status != TurnStatus.COMPLETED)
		.toList();

	private final SessionStore store;

	private final ModelStore model;

	private final Random random;

	private final RandomContent content;

	private final List<String> steps;

	/** Commits that were made before, accepted or not, the newest of each key. */
	private final Map<SessionKey, Deque<Planned>> before;

	RandomWrites(SessionStore store, ModelStore model, Random random, List<String> steps,
			Map<SessionKey, Deque<Planned>> before) {
		this.before = before;
		this.store = store;
		this.model = model;
		this.random = random;
		this.content = new RandomContent(random);
		this.steps = steps;
	}

	/**
	 * A commit and what the model knows its base by.
	 */
	record Planned(Commit commit, @Nullable Base base) {
	}

	void write(SessionKey key) {
		ModelSession session = this.model.find(key);
		int dice = this.random.nextInt(1_000);
		if (session == null || session.turns.isEmpty()) {
			begin(key, dice);
		}
		else if (dice < 620) {
			commit(change(session, base(session), dice));
		}
		else if (dice < 700) {
			commit(this.content.oneOf(new ArrayList<>(this.before.get(key))));
		}
		else if (dice < 760) {
			commit(stale(session));
		}
		else if (dice < 780) {
			commit(new Planned(Commit.first(key).turn(this.content.turn(TurnStatus.COMPLETED, 0, 1)), null));
		}
		else if (dice < 900) {
			put(key);
		}
		else if (dice < 940) {
			pop(key, session);
		}
		else if (dice < 965) {
			add(key, session);
		}
		else if (dice < 995) {
			erase(key);
		}
		else {
			expire(session);
			clean();
		}
	}

	/**
	 * Deletes expired sessions, and checks that nothing else goes.
	 */
	private void clean() {
		int limit = this.random.nextInt(3);
		this.steps.add("delete " + limit + " expired");
		assertThat(this.store.deleteExpired(limit)).isBetween(0, limit);
	}

	/**
	 * Makes one of the changes that fit a session that is absent, or has no turn.
	 */
	private void begin(SessionKey key, int dice) {
		Commit commit = this.random.nextBoolean() ? Commit.first(key) : Commit.any(key);
		TurnStatus status = (dice % 3 == 0) ? this.content.oneOf(BESIDE) : TurnStatus.COMPLETED;
		TurnWrite write = this.content.turn(status, this.random.nextInt(2), 1 + this.random.nextInt(3));
		if (dice < 100) {
			put(key);
		}
		else if (dice < 200) {
			commit(new Planned(commit.header(this.content.header()), null));
		}
		else if (dice < 300 && this.before.containsKey(key)) {
			commit(this.content.oneOf(new ArrayList<>(this.before.get(key))));
		}
		else if (dice < 350) {
			commit(new Planned(commit.turn(this.content.part(write, 1, status, 1)), null));
		}
		else {
			Commit whole = commit.turn(write);
			whole = (dice % 2 == 0) ? whole.header(this.content.header()) : whole;
			commit(new Planned((dice % 5 == 0) ? whole.records(records(key)) : whole, null));
		}
	}

	private Planned base(ModelSession session) {
		Session header = session.seen;
		return (header == null || this.random.nextInt(3) == 0) ? new Planned(Commit.any(session.key), null)
				: new Planned(Commit.on(header), new Base(session, session.version));
	}

	/**
	 * A commit that has one thing to say, or several.
	 */
	private Planned change(ModelSession session, Planned on, int dice) {
		Commit commit = on.commit();
		if (dice < 40) {
			commit = turns(session, commit);
		}
		else if (dice < 80) {
			commit = commit.turn(ofABranch(session));
		}
		else if (dice < 200) {
			commit = commit.turn(this.content.turn(TurnStatus.COMPLETED, 0, 1 + this.random.nextInt(4)));
		}
		else if (dice < 270) {
			commit = commit.turn(beside(session));
		}
		else if (dice < 350) {
			commit = commit.turn(part(session));
		}
		else if (dice < 400) {
			commit = commit.header(move(session, HeaderChange.NONE));
		}
		else if (dice < 430) {
			commit = commit.delete(sequences(session));
		}
		else if (dice < 440) {
			commit = commit.oldest(oldest(session));
		}
		else if (dice < 490) {
			commit = summary(session, commit);
		}
		else if (dice < 540) {
			commit = commit.header(this.content.header());
		}
		else if (dice < 560) {
			commit = commit.records(records(session.key));
		}
		else {
			commit = several(session, commit);
		}
		return new Planned(commit, on.base());
	}

	private Commit several(ModelSession session, Commit on) {
		Commit commit = on;
		if (this.random.nextInt(3) > 0) {
			boolean completed = this.random.nextInt(3) > 0;
			commit = commit.turn(this.random.nextInt(3) == 0 ? part(session) : completed
					? this.content.turn(TurnStatus.COMPLETED, 0, 1 + this.random.nextInt(3)) : beside(session));
		}
		if (this.random.nextBoolean()) {
			commit = commit.header(this.content.header());
		}
		if (this.random.nextInt(4) == 0) {
			commit = commit.header(move(session, commit.header()));
		}
		int more = this.random.nextInt(4);
		if (more == 0) {
			commit = commit.delete(sequences(session));
		}
		// a summary of what goes in the same moment is not among what a store promises
		if (more == 1) {
			commit = summary(session, commit);
		}
		return (this.random.nextInt(3) == 0) ? commit.records(records(session.key)) : commit;
	}

	/** Some turns, each behind the one before. */
	private Commit turns(ModelSession session, Commit on) {
		List<TurnWrite> turns = new ArrayList<>();
		for (int i = 1 + this.random.nextInt(4); i > 0; i--) {
			turns.add(withAttributes(this.content.turn(TurnStatus.COMPLETED, 0, 1 + this.random.nextInt(3))));
		}
		Commit commit = on.turns(turns);
		return (this.random.nextInt(3) == 0) ? commit.header(move(session, commit.header())) : commit;
	}

	/** A completed turn that does not become the head. */
	private TurnWrite ofABranch(ModelSession session) {
		List<ModelTurn> completed = session.turns.stream().filter(ModelTurn::isCompleted).toList();
		long parent = (completed.isEmpty() || this.random.nextInt(4) == 0) ? 0 : this.content.oneOf(completed).number();
		TurnWrite write = this.content.turn(TurnStatus.COMPLETED, parent, this.random.nextInt(4));
		return withAttributes((this.random.nextInt(3) == 0) ? numbered(write, session) : write).asBeside();
	}

	/** Names the number that the turn is to get, which now and then is not that one. */
	private TurnWrite numbered(TurnWrite write, ModelSession session) {
		Turn.Place place = write.turn().place();
		long number = session.turns.size() + 1L + ((this.random.nextInt(4) == 0) ? 1 : 0);
		return new TurnWrite(write.turn().stored(new Turn.Place(number, place.parent(), place.branch(), 0, 0)),
				write.part(), write.items());
	}

	private TurnWrite withAttributes(TurnWrite turn) {
		return (this.random.nextInt(3) > 0) ? turn : turn.attributes(Map.of("turn", this.steps.size()));
	}

	private TurnWrite beside(ModelSession session) {
		long any = this.random.nextInt(session.turns.size() + 3);
		ModelTurn turn = session.find(any);
		// one that is not there counts as the beginning; only what is completed is
		// followed
		long parent = (this.random.nextInt(3) == 0 && (turn == null || turn.isCompleted())) ? any : session.head;
		return this.content.turn(this.content.oneOf(BESIDE), parent, this.random.nextInt(4));
	}

	/**
	 * A part that follows, and now and then one that does not.
	 */
	private TurnWrite part(ModelSession session) {
		List<ModelTurn> open = session.turns.stream().filter((turn) -> turn.status().isOpen()).toList();
		ModelTurn turn = this.content.oneOf((open.isEmpty() || this.random.nextInt(8) == 0) ? session.turns : open);
		TurnStatus status = this.content
			.oneOf(List.of(TurnStatus.COMPLETED, TurnStatus.AWAITING_APPROVAL, TurnStatus.CANCELLED));
		int part = (this.random.nextInt(10) == 0) ? this.random.nextInt(turn.parts + 3) : turn.parts;
		return this.content.part(turn.newest, part, status, this.random.nextInt(3));
	}

	private HeaderChange move(ModelSession session, HeaderChange with) {
		String branch = this.random.nextBoolean() ? session.branch : "branch " + this.random.nextInt(3);
		return with.head(branch, this.random.nextInt(session.turns.size() + 2));
	}

	private Set<Long> sequences(ModelSession session) {
		Set<Long> sequences = new HashSet<>();
		for (int i = this.random.nextInt(4); i > 0; i--) {
			sequences.add((long) this.random.nextInt((int) session.items + 3));
		}
		ModelTurn any = this.content.oneOf(session.turns);
		any.items.forEach((item) -> sequences.add(item.sequence()));
		return sequences;
	}

	private Oldest oldest(ModelSession session) {
		long from = session.turns.stream().takeWhile((turn) -> turn.items.isEmpty()).count() + 1;
		return new Oldest(from, from + 1 + this.random.nextInt(session.turns.size()));
	}

	private Commit summary(ModelSession session, Commit commit) {
		List<ModelTurn> path = session.path(session.head);
		boolean anywhere = path.isEmpty() || this.random.nextInt(6) == 0;
		long turn = anywhere ? this.random.nextInt(session.turns.size() + 2) : this.content.oneOf(path).number();
		String id = "summary " + this.steps.size();
		Commit covering = commit.header(commit.header().summary(turn, id));
		return (this.random.nextInt(5) == 0) ? covering
				: covering.records(List.of(RecordWrite.create(SessionStore.SUMMARY, id, "text of " + id)));
	}

	/**
	 * A commit on a version that has passed, or on an earlier session of the key.
	 */
	private Planned stale(ModelSession session) {
		List<Planned> known = this.before.get(session.key).stream().filter((one) -> one.base() != null).toList();
		Planned on = known.isEmpty() ? base(session) : this.content.oneOf(known);
		Session base = on.commit().base();
		return (base == null) ? on : change(session, new Planned(Commit.on(base), on.base()), this.random.nextInt(620));
	}

	private List<RecordWrite> records(SessionKey key) {
		RecordWrite one = record(key);
		RecordWrite other = record(key);
		boolean same = one.kind().equals(other.kind()) && one.id().equals(other.id());
		return (same || this.random.nextBoolean()) ? List.of(one) : List.of(one, other);
	}

	private RecordWrite record(SessionKey key) {
		String kind = this.content.oneOf(RandomContent.KINDS);
		String id = this.content.recordId();
		ModelSession session = this.model.find(key);
		ModelSession.ModelRecord there = (session != null) ? session.record(kind, id) : null;
		return this.content.record(kind, id, (there != null) ? there.revision() : 0);
	}

	// the same to both

	private void commit(Planned planned) {
		Commit commit = planned.commit();
		if (followsWhatIsNoHistory(commit) || repeatsEarlierTurns(commit) || coversWhatIsGone(commit)) {
			return;
		}
		Expected expected = this.model.commit(commit, planned.base());
		this.steps.add(commit.key().id() + ": " + line(commit) + " -> " + expected);
		remember(planned);
		CommitResult answer = answer(commit, expected);
		if (answer != null) {
			ModelSession session = this.model.find(commit.key());
			if (session != null) {
				session.checkVersion(answer.version());
			}
			assertThat(answer).isEqualTo(withVersion(expected.result(), (session != null) ? answer.version() : 0));
		}
	}

	private static @Nullable CommitResult withVersion(@Nullable CommitResult result, long version) {
		return (result != null) ? new CommitResult(result.outcome(), version, result.turn(), result.firstItem()) : null;
	}

	/** Returns whether it would cover a turn that was deleted as one of the oldest. */
	private boolean coversWhatIsGone(Commit commit) {
		ModelSession session = this.model.find(commit.key());
		HeaderChange.Summary summary = commit.header().summary();
		return session != null && summary != null && summary.turn() > 0 && summary.turn() < session.first;
	}

	/**
	 * Returns whether it repeats turns, but not the last, by which a store would know.
	 */
	private boolean repeatsEarlierTurns(Commit commit) {
		ModelSession session = this.model.find(commit.key());
		return session != null && commit.earlier().stream().anyMatch((turn) -> session.find(turn.turn().id()) != null)
				&& session.find(commit.turn().turn().id()) == null;
	}

	/**
	 * A commit that is made again on a later session of its key may name a parent there
	 * that no turn can have.
	 */
	private boolean followsWhatIsNoHistory(Commit commit) {
		ModelSession session = this.model.find(commit.key());
		TurnWrite write = commit.turn();
		ModelTurn parent = (session != null && write != null) ? session.find(write.turn().parent()) : null;
		return parent != null && !parent.isCompleted()
				&& (write.turn().status() != TurnStatus.COMPLETED || write.beside())
				&& session.find(write.turn().id()) == null;
	}

	/**
	 * Returns the answer of the store; null if it refuses the commit and may do so.
	 */
	private @Nullable CommitResult answer(Commit commit, Expected expected) {
		try {
			return this.store.commit(commit);
		}
		catch (IllegalArgumentException ex) {
			if (expected.invalid()) {
				return null;
			}
			throw ex;
		}
		catch (TurnOpenException ex) {
			if (expected.paused()) {
				return null;
			}
			throw ex;
		}
	}

	private static String line(Commit commit) {
		TurnWrite write = commit.turn();
		Session base = commit.base();
		return commit.expect() + ((base != null) ? " " + base.version() : "")
				+ (commit.earlier().isEmpty() ? "" : ", " + commit.earlier().size() + " turns and")
				+ ((write != null && write.beside()) ? ", beside" : "")
				+ ((write != null) ? ", '" + write.turn().id() + "' part " + write.part() + " " + write.turn().status()
						+ " after " + write.turn().parent() + " with " + write.items().size() : "")
				+ (commit.header().equals(HeaderChange.NONE) ? "" : ", " + commit.header())
				+ (commit.delete().isEmpty() ? "" : ", delete " + commit.delete())
				+ ((commit.oldest() != null) ? ", " + commit.oldest() : "")
				+ (commit.records().isEmpty() ? "" : ", " + commit.records());
	}

	private void remember(Planned planned) {
		Deque<Planned> known = this.before.computeIfAbsent(planned.commit().key(), (key) -> new ArrayDeque<>());
		known.add(planned);
		if (known.size() > MOST_KNOWN) {
			known.remove();
		}
	}

	private void put(SessionKey key) {
		RecordWrite record = record(key);
		boolean expected = this.model.put(key, record);
		this.steps.add(key.id() + ": put " + record + " -> " + expected);
		assertThat(this.store.put(key, record)).isEqualTo(expected);
	}

	private void pop(SessionKey key, ModelSession session) {
		List<SessionItem> newest = session.log(Tail.newest(1));
		this.steps.add(key.id() + ": pop " + newest + " while turn " + session.openTurn + " is open");
		if (session.openTurn != 0) {
			assertThatExceptionOfType(TurnOpenException.class).isThrownBy(() -> this.store.pop(key));
			return;
		}
		Optional<Message> popped = this.store.pop(key);
		assertThat(popped).isEqualTo(newest.stream().map(SessionItem::message).findFirst());
		HeaderChange kept = HeaderChange.NONE.attributes(session.position.attributes());
		newest.forEach((item) -> this.model.commit(Commit.any(key).delete(Set.of(item.sequence())).header(kept), null));
	}

	private void add(SessionKey key, ModelSession session) {
		if (session.openTurn != 0) {
			assertThatExceptionOfType(TurnOpenException.class)
				.isThrownBy(() -> this.store.add(key, this.content.messages(1)));
		}
		else {
			List<Message> messages = this.content.messages(this.random.nextInt(4));
			this.steps.add(key.id() + ": add " + messages.size());
			this.store.add(key, messages);
			if (!messages.isEmpty()) {
				learn(key, session);
			}
		}
	}

	/** The store has chosen the ids of the turns and their times. */
	private void learn(SessionKey key, ModelSession session) {
		long before = session.turns.size();
		List<TurnWrite> writes = this.store.turns(key, Tail.ALL)
			.stream()
			.filter((turn) -> turn.number() > before)
			.map((turn) -> new TurnWrite(turn.stored(Turn.builder("t", turn.startedAt()).build().place()), 0,
					this.store.items(key, turn.number())
						.stream()
						.map((item) -> new NewItem(item.message(), item.at(), item.tokens()))
						.toList()))
			.toList();
		this.model.commit(Commit.any(key).turns(writes), null);
	}

	private void erase(SessionKey key) {
		this.steps.add(key.id() + ": erase");
		boolean erased = this.store.erase(key);
		assertThat(erased).isEqualTo(this.model.erase(key));
	}

	private void expire(ModelSession session) {
		this.steps.add(session.key.id() + ": expire");
		Commit commit = Commit.any(session.key).header(HeaderChange.NONE.timeToLive(Duration.ofMillis(1)));
		assertThat(this.store.commit(commit).isStored()).isTrue();
		await().pollInterval(Duration.ofMillis(1)).until(() -> this.store.find(session.key).isEmpty());
		this.model.erase(session.key);
	}

}
