package io.sessionkit.store;

import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.function.Function;
import java.util.function.ToLongFunction;

import io.sessionkit.Session;
import io.sessionkit.SessionKey;
import io.sessionkit.store.ModelSession.ModelRecord;
import org.jspecify.annotations.Nullable;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Reads a store in every way that there is, and compares what it says with the model.
 */
final class StoreComparison {

	private static final Page ALL = Page.first(1_000);

	private final SessionStore store;

	private final ModelStore model;

	private final Random random;

	/** Those that were seen. */
	private final Set<String> incarnations;

	StoreComparison(SessionStore store, ModelStore model, Random random, Set<String> incarnations) {
		this.incarnations = incarnations;
		this.store = store;
		this.model = model;
		this.random = random;
	}

	// one session

	/**
	 * Header, view and summary, in a window.
	 */
	void compareView(SessionKey key, Window window) {
		Optional<SessionView> view = this.store.open(key, window);
		ModelSession expected = this.model.find(key);
		assertThat(view.isPresent()).as("%s is there", key).isEqualTo(expected != null);
		if (expected != null) {
			compareHeader(view.get().session(), expected);
			assertThat(view.get().items()).as("view of %s in %s", key, window).isEqualTo(expected.view(window));
			compareSummary(view.get().summary(), expected);
		}
	}

	private void compareHeader(Session session, ModelSession expected) {
		expected.checkVersion(session.version());
		Session same = new Session(expected.key, session.incarnation(), session.version(),
				new Session.Position(expected.turns.size(), expected.items, expected.branch, expected.head,
						expected.openTurn, expected.position.summary(), expected.position.summaryId(),
						expected.totals()),
				new Session.Details(expected.title, expected.tags, expected.position.attributes(), expected.timeToLive,
						expected.settings),
				new Session.Times(session.createdAt(), session.updatedAt(),
						end(session.updatedAt(), expected.timeToLive)));
		assertThat(session).as("header").isEqualTo(same);
		Session before = expected.seen;
		if (before != null && !expected.touched) {
			assertThat(session).as("header that nobody wrote").isEqualTo(before);
		}
		else if (before == null) {
			assertThat(this.incarnations.add(session.incarnation())).as("incarnation is a new one").isTrue();
		}
		else {
			assertThat(session.incarnation()).as("incarnation").isEqualTo(before.incarnation());
			assertThat(session.createdAt()).as("time of creation").isEqualTo(before.createdAt());
			assertThat(session.updatedAt()).as("time of writing").isAfterOrEqualTo(before.updatedAt());
		}
		expected.seen = session;
		expected.touched = false;
	}

	private static @Nullable Instant end(Instant from, @Nullable Duration life) {
		return (life != null) ? from.plus(life) : null;
	}

	private void compareSummary(@Nullable SessionRecord summary, ModelSession expected) {
		ModelRecord record = expected.record(SessionStore.SUMMARY, expected.position.summaryId());
		assertThat(summary != null).as("summary is there").isEqualTo(record != null);
		if (summary != null) {
			compareRecord(summary, record);
		}
	}

	void comparePath(SessionKey key, PathQuery query) {
		ModelSession expected = this.model.find(key);
		if (expected == null) {
			assertThat(this.store.path(key, query)).isEmpty();
			return;
		}
		ModelTurn turn = expected.find(query.end().turn());
		boolean isHead = query.end().equals(Point.HEAD);
		boolean toTurn = query.end().kind() == Point.Kind.TURN;
		if (!isHead && (turn == null || (toTurn && !turn.isCompleted())) && !(toTurn && query.end().turn() == 0)) {
			assertThatExceptionOfType(ChangeRefusedException.class).isThrownBy(() -> this.store.path(key, query));
			return;
		}
		long end = isHead ? expected.head : (turn == null) ? 0 : toTurn ? turn.number() : turn.parent();
		ModelTurn.Position at = isHead ? expected.position : expected.positionOf(end);
		PathView path = this.store.path(key, query).orElseThrow();
		compareHeader(path.session(), expected);
		Session as = path.view().session();
		assertThat(as).as("header at %s", query.end())
			.isEqualTo(path.session().at(end, expected.totals(end, at), at.summary(), at.summaryId(), at.attributes()));
		assertThat(path.view().items()).as("items at %s", query).isEqualTo(expected.view(end, at, query.window()));
		ModelRecord record = expected.record(SessionStore.SUMMARY, at.summaryId());
		SessionRecord summary = path.view().summary();
		assertThat(summary != null).as("summary at %s", query.end()).isEqualTo(record != null);
		if (summary != null) {
			compareRecord(summary, record);
		}
		List<ModelTurn> turns = expected.path(end)
			.stream()
			.filter((each) -> each.number() < query.turns().before())
			.toList();
		// a path may end behind the oldest turns, which were deleted, or before them
		assertThat(path.turns().stream().filter((each) -> each.number() >= expected.first)).as("turns at %s", query)
			.isEqualTo(turns.subList(Math.max(0, turns.size() - query.turns().limit()), turns.size())
				.stream()
				.filter((each) -> each.number() >= expected.first)
				.map(ModelTurn::turn)
				.toList());
		for (String kind : query.kinds()) {
			assertThat(path.records(kind)).as("records of %s", query).isEqualTo(this.store.records(key, kind));
		}
	}

	void compareLog(SessionKey key, Tail tail) {
		ModelSession expected = this.model.find(key);
		assertThat(this.store.items(key, tail)).as("log of %s, %s", key, tail)
			.isEqualTo((expected != null) ? expected.log(tail) : List.of());
	}

	void compareItems(SessionKey key, long turn) {
		ModelSession expected = this.model.find(key);
		assertThat(this.store.items(key, turn)).as("items of turn %s of %s", turn, key)
			.isEqualTo((expected != null) ? expected.items(turn) : List.of());
	}

	void compareTurns(SessionKey key, Tail tail) {
		ModelSession expected = this.model.find(key);
		List<ModelTurn> turns = (expected != null)
				? expected.turns.stream().filter((turn) -> turn.number() < tail.before()).toList() : List.of();
		assertThat(this.store.turns(key, tail)).as("turns of %s, %s", key, tail)
			.isEqualTo(turns.subList(Math.max(0, turns.size() - tail.limit()), turns.size())
				.stream()
				.map(ModelTurn::turn)
				.toList());
	}

	void compareRecords(SessionKey key, String kind) {
		ModelSession expected = this.model.find(key);
		Map<String, ModelRecord> there = (expected != null) ? expected.records.getOrDefault(kind, Map.of()) : Map.of();
		List<SessionRecord> records = this.store.records(key, kind);
		assertThat(records).as("records '%s' of %s", kind, key)
			.extracting(SessionRecord::id)
			.containsExactlyInAnyOrderElementsOf(there.keySet());
		assertThat(records).extracting(SessionRecord::id).isSorted();
		for (SessionRecord record : records) {
			assertThat(record.key()).isEqualTo(key);
			compareRecord(record, there.get(record.id()));
		}
	}

	private static void compareRecord(SessionRecord record, ModelRecord expected) {
		SessionRecord same = new SessionRecord(record.key(), expected.write().kind(), expected.write().id(),
				expected.revision(), expected.write().payload(), record.writtenAt(),
				end(record.writtenAt(), expected.write().timeToLive()));
		assertThat(record).as("record").isEqualTo(same);
	}

	// an owner

	void compareList(String owner) {
		List<ModelSession> expected = this.model.list(owner);
		List<Session> all = this.store.list(owner, ALL);
		assertThat(all).extracting(Session::key)
			.as("sessions of %s", owner)
			.containsExactlyInAnyOrderElementsOf(expected.stream().map((session) -> session.key).toList());
		all.forEach((session) -> compareHeader(session, this.model.find(session.key())));
		assertLastWrittenFirst(all, Session::updatedAt, (session) -> this.model.find(session.key()).writtenAt);
		Page page = page(all.size());
		assertThat(this.store.list(owner, page)).as("%s of %s", page, owner).isEqualTo(on(page, all));
	}

	void compareRecords(String owner, String kind) {
		List<SessionRecord> all = this.store.records(owner, kind, ALL);
		assertThat(all).hasSize(this.model.list(owner)
			.stream()
			.mapToInt((session) -> session.records.getOrDefault(kind, Map.of()).size())
			.sum());
		for (SessionRecord record : all) {
			assertThat(this.model.find(record)).as("%s", record).isPresent();
			compareRecord(record, this.model.find(record).orElseThrow());
		}
		assertLastWrittenFirst(all, SessionRecord::writtenAt,
				(record) -> this.model.find(record).orElseThrow().writtenAt());
		Page page = page(all.size());
		assertThat(this.store.records(owner, kind, page)).as("%s of records '%s' of %s", page, kind, owner)
			.isEqualTo(on(page, all));
	}

	/**
	 * Sessions that were written in the same millisecond may come in any order: some
	 * clocks tell no more.
	 */
	private static <T> void assertLastWrittenFirst(List<T> list, Function<T, Instant> time, ToLongFunction<T> stamp) {
		assertThat(list.stream().map(time).toList()).as("times, newest first")
			.isSortedAccordingTo(Comparator.reverseOrder());
		for (int i = 1; i < list.size(); i++) {
			T newer = list.get(i - 1);
			T older = list.get(i);
			if (time.apply(newer).toEpochMilli() != time.apply(older).toEpochMilli()) {
				assertThat(stamp.applyAsLong(newer)).as("%s was written after %s", newer, older)
					.isGreaterThan(stamp.applyAsLong(older));
			}
		}
	}

	private Page page(int size) {
		return new Page(this.random.nextInt(size + 2), this.random.nextInt(size + 2));
	}

	private static <T> List<T> on(Page page, List<T> all) {
		return all.stream().skip(page.offset()).limit(page.limit()).toList();
	}

}
