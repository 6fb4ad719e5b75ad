package io.sessionkit.store;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.sessionkit.Session;
import io.sessionkit.SessionItem;
import io.sessionkit.SessionKey;
import io.sessionkit.SessionSettings;
import io.sessionkit.TurnStatus;
import io.sessionkit.ViewTotals;
import io.sessionkit.store.CommitResult.Outcome;
import io.sessionkit.store.ModelTurn.ModelItem;
import io.sessionkit.store.ModelTurn.Position;
import org.jspecify.annotations.Nullable;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A model of a session after any number of changes, in the most naive way: everything is
 * computed anew from a list of turns.
 */
final class ModelSession {

	final SessionKey key;

	final List<ModelTurn> turns = new ArrayList<>();

	/** By kind, then by id. */
	final Map<String, Map<String, ModelRecord>> records = new TreeMap<>();

	/** The number of changes. */
	long version;

	long items;

	/** The first turn that was not deleted as one of the oldest. */
	long first = 1;

	String branch = Session.MAIN;

	long head;

	Position position = Position.BEGINNING;

	long openTurn;

	@Nullable String title;

	Set<String> tags = Set.of();

	SessionSettings settings = SessionSettings.NONE;

	@Nullable Duration timeToLive;

	/** The place of its newest write among all writes of the store. */
	long writtenAt;

	/** The header as the store handed it out last. */
	@Nullable Session seen;

	/** True if it was written since, so that the times of the header move. */
	boolean touched;

	/**
	 * The version as the store answered it last, and how many changes there were then.
	 */
	private long answered;

	private long changesThen;

	ModelSession(SessionKey key) {
		this.key = key;
	}

	/**
	 * Checks a version that the store answers: it rises with each change, and stays
	 * between changes.
	 */
	void checkVersion(long version) {
		if (this.version == this.changesThen) {
			assertThat(version).as("version").isEqualTo(this.answered);
		}
		else {
			assertThat(version).as("version").isGreaterThan(this.answered);
		}
		this.answered = version;
		this.changesThen = this.version;
	}

	/**
	 * A record and the place of its newest write among all writes of the store.
	 */
	static final class ModelRecord {

		final RecordWrite write;

		final long revision;

		final long writtenAt;

		/** The last turn that it covers, if it is a summary that the header has named. */
		long covers;

		ModelRecord(RecordWrite write, long revision, long writtenAt, long covers) {
			this.write = write;
			this.revision = revision;
			this.writtenAt = writtenAt;
			this.covers = covers;
		}

		RecordWrite write() {
			return this.write;
		}

		long revision() {
			return this.revision;
		}

		long writtenAt() {
			return this.writtenAt;
		}

	}

	@Nullable ModelTurn find(String id) {
		return this.turns.stream().filter((turn) -> turn.turn().id().equals(id)).findFirst().orElse(null);
	}

	@Nullable ModelTurn find(long number) {
		return (number > 0 && number <= this.turns.size()) ? this.turns.get((int) number - 1) : null;
	}

	// changes

	/** Returns whether a new turn gets the number that it has, if it has one. */
	boolean isNext(@Nullable TurnWrite write) {
		return write == null || write.turn().number() == 0 || find(write.turn().id()) != null
				|| write.turn().number() == this.turns.size() + 1;
	}

	/**
	 * Returns whether the commit would break a rule, if the session is as it expects.
	 */
	boolean isInvalid(Commit commit) {
		HeaderChange.Head to = commit.header().head();
		HeaderChange.Summary summary = commit.header().summary();
		ModelTurn target = (to != null) ? find(to.turn()) : null;
		boolean leavesOut = commit.turn() != null && commit.turn().part() != parts(commit.turn());
		boolean movesAstray = to != null && to.turn() != 0 && (target == null || !target.isCompleted());
		boolean coversAstray = summary != null && summary.turn() != 0
				&& path((to != null) ? to.turn() : this.head).stream()
					.noneMatch((turn) -> turn.number() == summary.turn());
		Oldest oldest = commit.oldest();
		boolean takesTooMuch = oldest != null
				&& (oldest.before() > this.head || (this.openTurn > 0 && this.openTurn < oldest.before()));
		return leavesOut || movesAstray || coversAstray || takesTooMuch;
	}

	/**
	 * Returns whether the commit would leave an open turn behind: it stays open, and the
	 * head goes elsewhere or another turn is the open one.
	 */
	boolean strandsOpenTurn(Commit commit) {
		TurnWrite write = commit.turn();
		boolean continues = write != null && find(write.turn().id()) != null
				&& find(write.turn().id()).number() == this.openTurn;
		if (this.openTurn == 0 || (continues && !write.turn().status().isOpen())) {
			return false;
		}
		boolean begins = write != null && !continues && (write.turn().status().isOpen() || becomesHead(write));
		boolean moves = commit.header().head() != null && commit.header().head().turn() != this.head;
		return begins || moves || emptiesHead(commit);
	}

	private static boolean becomesHead(TurnWrite write) {
		return write.turn().status() == TurnStatus.COMPLETED && !write.beside();
	}

	private boolean emptiesHead(Commit commit) {
		ModelTurn newest = find(this.head);
		Set<String> gone = commit.records()
			.stream()
			.filter((record) -> record.kind().equals(SessionStore.SUMMARY) && record.payload() == null)
			.map(RecordWrite::id)
			.collect(Collectors.toSet());
		// a move looks for the summary anew
		long summary = (commit.header().head() != null) ? positionOf(this.head, gone).summary()
				: this.position.summary();
		return newest != null && newest.number() != summary && !newest.items.isEmpty()
				&& newest.items.stream().allMatch((item) -> commit.delete().contains(item.sequence()));
	}

	private int parts(TurnWrite write) {
		ModelTurn there = find(write.turn().id());
		return (there != null) ? there.parts : 0;
	}

	/**
	 * Makes a change that is allowed.
	 */
	CommitResult apply(Commit commit, long stamp) {
		HeaderChange change = commit.header();
		commit.records().forEach((record) -> write(record, stamp));
		if (change.head() != null) {
			this.branch = change.head().branch();
			moveTo(change.head().turn());
		}
		commit.earlier().forEach(this::add);
		TurnWrite write = commit.turn();
		long first = (write != null && !write.items().isEmpty()) ? this.items + 1 : 0;
		ModelTurn turn = (write != null) ? add(write) : null;
		boolean deleted = delete(commit.delete()) || commit.oldest() != null;
		if (commit.oldest() != null) {
			this.first = Math.max(this.first, commit.oldest().before());
			this.turns.stream()
				.filter((each) -> each.number() >= commit.oldest().from() && each.number() < commit.oldest().before())
				.forEach(ModelTurn::clear);
		}
		changeAtHead(change);
		change(change);
		boolean raises = deleted || !change.equals(HeaderChange.NONE) || !commit.records().isEmpty()
				|| (write != null && becomesHead(write)) || this.version == 0;
		this.version += raises ? 1 : 0;
		this.touched |= raises || turn != null;
		this.writtenAt = (raises || turn != null) ? stamp : this.writtenAt;
		return new CommitResult(Outcome.COMMITTED, this.version, (turn != null) ? turn.number() : 0, first);
	}

	private ModelTurn add(TurnWrite write) {
		ModelTurn turn = find(write.turn().id());
		if (turn == null) {
			turn = begin(write);
			this.turns.add(turn);
		}
		turn.add(write, this.items + 1);
		this.items += write.items().size();
		if (turn.status().isOpen()) {
			this.openTurn = turn.number();
		}
		else if (this.openTurn == turn.number()) {
			this.openTurn = 0;
		}
		if (turn.isCompleted()) {
			boolean follows = turn.parent() == this.head;
			Map<String, Object> before = (follows && !write.beside()) ? this.position.attributes()
					: attributesOf(turn.parent());
			turn.attributes = (write.attributes() != null) ? write.attributes() : before;
			if (write.beside()) {
				return turn;
			}
			Position position = this.position;
			moveTo(turn.number());
			if (follows) {
				this.position = new Position(turn.attributes, position.summary(), position.summaryId());
			}
		}
		return turn;
	}

	private ModelTurn begin(TurnWrite write) {
		long number = this.turns.size() + 1;
		if (becomesHead(write)) {
			return new ModelTurn(write, number, this.head, this.branch);
		}
		long parent = write.turn().parent();
		return new ModelTurn(write, number, (find(parent) != null) ? parent : 0, write.turn().branch());
	}

	private void moveTo(long number) {
		this.head = number;
		this.position = positionOf(number);
	}

	Position positionOf(long number) {
		return positionOf(number, Set.of());
	}

	private Position positionOf(long number, Set<String> gone) {
		List<Long> path = path(number).stream().map(ModelTurn::number).toList();
		Position position = new Position(attributesOf(number), 0, null);
		for (Map.Entry<String, ModelRecord> summary : this.records.getOrDefault(SessionStore.SUMMARY, Map.of())
			.entrySet()) {
			long covers = summary.getValue().covers;
			if (covers > position.summary() && path.contains(covers) && !gone.contains(summary.getKey())) {
				position = new Position(position.attributes(), covers, summary.getKey());
			}
		}
		return position;
	}

	private Map<String, Object> attributesOf(long number) {
		ModelTurn turn = find(number);
		return (turn != null) ? turn.attributes : Map.of();
	}

	private boolean delete(Set<Long> sequences) {
		boolean deleted = false;
		ModelTurn newest = find(this.head);
		boolean empty = newest == null || newest.items.isEmpty();
		for (ModelTurn turn : this.turns) {
			deleted |= turn.items.removeIf((item) -> sequences.contains(item.sequence()));
		}
		if (!empty && newest.items.isEmpty() && newest.number() != this.position.summary()) {
			List<ModelTurn> left = path(newest.parent()).stream()
				.filter((turn) -> !turn.items.isEmpty() || turn.number() == this.position.summary())
				.toList();
			moveTo(left.isEmpty() ? 0 : left.get(left.size() - 1).number());
		}
		return deleted;
	}

	private void changeAtHead(HeaderChange change) {
		Map<String, Object> attributes = (change.attributes() != null) ? change.attributes()
				: this.position.attributes();
		HeaderChange.Summary to = change.summary();
		long summary = (to != null) ? to.turn() : this.position.summary();
		String id = (to != null) ? ((to.turn() > 0) ? to.id() : null) : this.position.summaryId();
		this.position = new Position(attributes, summary, id);
		ModelTurn turn = find(this.head);
		if (turn != null) {
			turn.attributes = attributes;
		}
		if (to != null && to.turn() > 0) {
			this.records.getOrDefault(SessionStore.SUMMARY, Map.of()).forEach((each, record) -> {
				record.covers = each.equals(to.id()) ? to.turn() : (record.covers == to.turn()) ? 0 : record.covers;
			});
		}
	}

	private void change(HeaderChange change) {
		if (change.title() != null) {
			this.title = change.title().isEmpty() ? null : change.title();
		}
		if (change.tags() != null) {
			this.tags = change.tags();
		}
		if (change.settings() != null) {
			this.settings = change.settings();
		}
		if (change.timeToLive() != null) {
			this.timeToLive = change.timeToLive().isZero() ? null : change.timeToLive();
		}
	}

	boolean isAsExpected(RecordWrite write) {
		ModelRecord there = record(write.kind(), write.id());
		return write.expected() == RecordWrite.ANY || write.expected() == ((there != null) ? there.revision() : 0);
	}

	void write(RecordWrite write, long stamp) {
		ModelRecord there = record(write.kind(), write.id());
		Map<String, ModelRecord> ofKind = this.records.computeIfAbsent(write.kind(), (kind) -> new TreeMap<>());
		if (write.payload() == null) {
			ofKind.remove(write.id());
		}
		else {
			ofKind.put(write.id(), new ModelRecord(write, (there != null) ? there.revision() + 1 : write.first(), stamp,
					(there != null) ? there.covers : 0));
		}
	}

	// reads

	@Nullable ModelRecord record(String kind, @Nullable String id) {
		return (id != null) ? this.records.getOrDefault(kind, Map.of()).get(id) : null;
	}

	/**
	 * The turns from the beginning to a head.
	 */
	List<ModelTurn> path(long head) {
		List<ModelTurn> path = new ArrayList<>();
		for (ModelTurn turn = find(head); turn != null; turn = find(turn.parent())) {
			path.add(0, turn);
		}
		return path;
	}

	private List<ModelTurn> view(long end, Position at) {
		return path(end).stream().filter((turn) -> turn.number() > at.summary() && !turn.items.isEmpty()).toList();
	}

	ViewTotals totals() {
		return totals(this.head, this.position);
	}

	ViewTotals totals(long end, Position at) {
		ViewTotals totals = ViewTotals.NONE;
		for (ModelTurn turn : view(end, at)) {
			totals = totals.plusTurn(turn.items.size(), turn.tokens());
		}
		return totals;
	}

	List<SessionItem> view(Window window) {
		return view(this.head, this.position, window);
	}

	List<SessionItem> view(long end, Position at, Window window) {
		List<ModelTurn> view = view(end, at);
		List<SessionItem> best = List.of();
		for (int from = view.size(); from >= Math.max(0, (long) view.size() - window.turns()); from--) {
			List<SessionItem> candidate = items(view.subList(from, view.size())).toList();
			if (candidate.size() > window.items()) {
				break;
			}
			best = candidate;
		}
		return best;
	}

	List<SessionItem> log(Tail tail) {
		List<SessionItem> log = items(path(this.head)).filter((item) -> item.sequence() < tail.before()).toList();
		return log.subList(Math.max(0, log.size() - tail.limit()), log.size());
	}

	List<SessionItem> items(long number) {
		ModelTurn turn = find(number);
		return (turn != null) ? items(List.of(turn)).toList() : List.of();
	}

	static Stream<SessionItem> items(List<ModelTurn> turns) {
		return turns.stream().flatMap((turn) -> turn.items.stream()).map(ModelItem::stored);
	}

}
