package io.sessionkit.conversation;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

import io.sessionkit.Session;
import io.sessionkit.SessionConflictException;
import io.sessionkit.SessionItem;
import io.sessionkit.SessionKey;
import io.sessionkit.SessionNotFoundException;
import io.sessionkit.Summary;
import io.sessionkit.Turn;
import io.sessionkit.codec.MessageCodec;
import io.sessionkit.internal.Attempts;
import io.sessionkit.internal.snapshot.KeptTexts;
import io.sessionkit.internal.snapshot.SnapshotReader;
import io.sessionkit.internal.snapshot.VerbatimMessages;
import io.sessionkit.internal.tree.ForkedFrom;
import io.sessionkit.internal.view.MemoryRecord;
import io.sessionkit.internal.view.Summaries;
import io.sessionkit.store.ChangeRefusedException;
import io.sessionkit.store.ChangeRefusedException.Reason;
import io.sessionkit.store.Commit;
import io.sessionkit.store.HeaderChange;
import io.sessionkit.store.NewItem;
import io.sessionkit.store.PathQuery;
import io.sessionkit.store.PathView;
import io.sessionkit.store.Point;
import io.sessionkit.store.RecordWrite;
import io.sessionkit.store.SessionRecord;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.Tail;
import io.sessionkit.store.TurnView;
import io.sessionkit.store.TurnWrite;

/**
 * Copies one path of a session to a session of its own. The turns are numbered anew, and
 * with them all that refers to them. Used once, by one thread.
 */
final class Fork {

	private final SessionStore store;

	private final SessionKey from;

	private final SessionKey to;

	private final List<TurnView> turns = new ArrayList<>();

	/** The new number of each turn. */
	private final Map<Long, Long> numbers = new HashMap<>();

	/** The new id of each turn. */
	private final Map<String, String> ids = new HashMap<>();

	private final ForkedItems items = new ForkedItems();

	private Fork(SessionStore store, SessionKey from, SessionKey to) {
		this.store = store;
		this.from = from;
		this.to = to;
	}

	/**
	 * Makes the copy.
	 * @param end the last turn to copy
	 * @throws SessionNotFoundException if there is no session to copy
	 * @throws ChangeRefusedException if the new session exists already or is the same, if
	 * no path ends there, or if effects of a turn were taken back
	 */
	static void make(SessionStore store, SessionKey from, SessionKey to, Point end) {
		if (!Attempts.FEW.until(() -> new Fork(store, from, to).made(end))) {
			throw new SessionConflictException(
					"Session " + from + " was not forked: others changed it each time that it was read. Try again.",
					null);
		}
	}

	/**
	 * Makes the copy, unless the session was changed while it was read.
	 */
	private boolean made(Point end) {
		PathQuery query = PathQuery.to(end)
			.turns(Tail.ALL)
			.records(SessionStore.SUMMARY, SnapshotReader.KIND, KeptTexts.KIND, RewoundTurns.KIND, MemoryRecord.KIND);
		PathView path = this.store.path(this.from, query)
			.orElseThrow(() -> new SessionNotFoundException(
					"There is no session " + this.from + " to fork, or it has expired."));
		checkEffects(path);
		path.turns().forEach((turn) -> this.items.addShown(turn.snapshot()));
		this.items.addKept(path.records(KeptTexts.KIND), codec());
		if (this.to.equals(this.from) || this.store.find(this.to).isPresent()) {
			throw exists();
		}
		for (long number : numbers(path)) {
			TurnView view = this.store.turn(this.from, number, Set.of()).orElse(null);
			if (view == null) {
				return false;
			}
			add(view);
		}
		if (!isUnchanged(path.session())) {
			return false;
		}
		write(path);
		return true;
	}

	/** Turns that are history of the active branch stay what they are in the copy. */
	private void checkEffects(PathView path) {
		List<SessionRecord> compensations = path.records(RewoundTurns.KIND);
		if (compensations.isEmpty() || path.view().session().head() == path.session().head()) {
			return;
		}
		Set<Long> active = this.store.path(this.from, PathQuery.to(Point.HEAD).turns(Tail.ALL))
			.stream()
			.flatMap((now) -> now.turns().stream())
			.map(Turn::number)
			.collect(Collectors.toSet());
		RewoundTurns.check(this.from, compensations, codec(),
				path.turns().stream().filter((turn) -> !active.contains(turn.number())).toList());
	}

	/**
	 * Returns the turns to copy. Those whose messages only snapshots show are among them,
	 * so that they can be deleted by their number in the copy too.
	 */
	private Set<Long> numbers(PathView path) {
		Set<Long> numbers = new TreeSet<>(this.items.keptTurns());
		path.turns().forEach((turn) -> numbers.add(turn.number()));
		return numbers;
	}

	private boolean isUnchanged(Session read) {
		return this.store.find(this.from)
			.filter((now) -> now.incarnation().equals(read.incarnation()) && now.version() == read.version())
			.isPresent();
	}

	private void add(TurnView turn) {
		this.turns.add(turn);
		long number = this.turns.size();
		this.numbers.put(turn.turn().number(), number);
		boolean sameNumber = turn.turn().number() == number;
		this.ids.put(turn.turn().id(), sameNumber ? turn.turn().id() : this.store.options().newTurnId(number));
		turn.items().forEach((item) -> this.items.add(item.sequence(), number));
	}

	/**
	 * Gives the last turn an id of its own. By it the store recognizes a commit that it
	 * is sent twice, which another fork to the same key must not be taken for.
	 */
	private void nameLast() {
		if (!this.turns.isEmpty()) {
			Turn last = this.turns.get(this.turns.size() - 1).turn();
			this.ids.put(last.id(), this.store.options().newTurnId(this.turns.size()));
		}
	}

	private void write(PathView path) {
		nameLast();
		this.items.placeWhatIsShown(this.numbers);
		List<Summary> summaries = path.records(SessionStore.SUMMARY)
			.stream()
			.map((record) -> Summaries.read(record, codec()))
			.filter((summary) -> this.numbers.containsKey(summary.turn()))
			.sorted(Summaries.BY_AGE)
			.map(this::copy)
			.toList();
		List<RecordWrite> records = new ArrayList<>();
		records.add(new ForkedFrom(this.from, path.view().session().head(), this.turns.size()).write(this.to, codec()));
		summaries.forEach((summary) -> records.add(Summaries.write(this.to, summary, codec())));
		path.records(SnapshotReader.KIND)
			.stream()
			.filter((record) -> this.ids.containsKey(record.id()))
			.forEach((record) -> records.add(copy(record)));
		records.addAll(this.items.kept(this.to, this.numbers, codec()));
		records.addAll(MemoryRecord.of(path.records(MemoryRecord.KIND), codec()).copy(this.to, codec()));
		Commit first = Commit.first(this.to).header(header(path)).records(records);
		if (!this.store.commit(this.turns.isEmpty() ? first : first.turns(writes())).isStored()) {
			throw exists();
		}
		summaries.forEach(this::name);
	}

	private ChangeRefusedException exists() {
		return new ChangeRefusedException("Session " + this.to + " exists already, so session " + this.from
				+ " was not forked to it. Choose another key, or erase it first.", Reason.SESSION_EXISTS);
	}

	private HeaderChange header(PathView path) {
		Session session = path.session();
		HeaderChange header = HeaderChange.NONE.tags(session.tags()).attributes(path.view().session().attributes());
		header = session.settings().isEmpty() ? header : header.settings(session.settings());
		header = (session.title() != null) ? header.title(session.title()) : header;
		return header.timeToLive((session.timeToLive() != null) ? session.timeToLive() : Duration.ZERO);
	}

	/**
	 * Names a summary as the start of the view, so that the store knows it; the newest
	 * comes last. If this is not done to the end, the view begins earlier.
	 */
	private void name(Summary summary) {
		Attempts.FEW.until(() -> {
			Session session = this.store.find(this.to).filter((now) -> now.turns() == this.turns.size()).orElse(null);
			return session == null || this.store
				.commit(Commit.on(session).header(HeaderChange.NONE.summary(summary.turn(), summary.id())))
				.isStored();
		});
	}

	private List<TurnWrite> writes() {
		return this.turns.stream().map(this::copy).toList();
	}

	private TurnWrite copy(TurnView view) {
		Turn turn = view.turn();
		Turn.Origin origin = new Turn.Origin(turn.startedAt(), turn.agent(), turn.tools(),
				this.items.copy(turn.snapshot()), turn.parameters());
		Turn copy = new Turn(this.ids.getOrDefault(turn.id(), turn.id()), new Turn.Place(0, 0, Session.MAIN, 0, 0),
				origin, turn.progress());
		return new TurnWrite(copy, 0,
				view.items().stream().map((item) -> new NewItem(item.message(), item.at(), item.tokens())).toList())
			.attributes(view.attributes());
	}

	private Summary copy(Summary summary) {
		List<SessionItem> pinned = new ArrayList<>();
		for (SessionItem item : summary.pinned()) {
			ForkedItems.Place place = this.items.find(item.sequence());
			if (place != null) {
				pinned.add(new SessionItem(place.sequence(), place.turn(), item.at(), item.tokens(), item.message()));
			}
		}
		return new Summary(summary.id(), this.numbers.getOrDefault(summary.turn(), 0L),
				this.numbers.getOrDefault(summary.since(), 0L), summary.covered(), summary.text(), pinned,
				summary.origin());
	}

	private RecordWrite copy(SessionRecord snapshot) {
		long head = this.numbers.getOrDefault(VerbatimMessages.head(snapshot, codec()), 0L);
		return RecordWrite.create(SnapshotReader.KIND, this.ids.getOrDefault(snapshot.id(), snapshot.id()),
				new VerbatimMessages(this.to, head, codec()).copy(snapshot));
	}

	private MessageCodec codec() {
		return this.store.options().codec();
	}

}
