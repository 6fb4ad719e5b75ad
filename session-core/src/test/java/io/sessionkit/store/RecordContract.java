package io.sessionkit.store;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;

import io.sessionkit.Session;
import io.sessionkit.SessionKey;
import io.sessionkit.store.CommitResult.Outcome;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

/**
 * Records: created, replaced, deleted and listed, each by itself or with a commit.
 */
abstract class RecordContract extends PathContract {

	private static final String KIND = "note";

	@Test
	void recordIsCreatedOnce() {
		SessionKey key = key();
		Session before = threadOf(key, 1);
		assertThat(store().put(key, RecordWrite.create(KIND, "1", "first"))).isTrue();
		assertThat(store().put(key, RecordWrite.create(KIND, "1", "second"))).isFalse();
		assertThat(store().records(key, KIND)).singleElement().satisfies((record) -> {
			assertThat(record.key()).isEqualTo(key);
			assertThat(record.kind()).isEqualTo(KIND);
			assertThat(record.id()).isEqualTo("1");
			assertThat(record.revision()).isPositive();
			assertThat(record.payload()).isEqualTo("first");
			assertThat(record.writtenAt()).isAfterOrEqualTo(before.createdAt());
			assertThat(record.expiresAt()).isNull();
		});
		assertThat(header(key)).isEqualTo(before);
	}

	@Test
	void recordIsReplacedIfNobodyElseDid() {
		SessionKey key = key();
		threadOf(key, 1);
		store().put(key, RecordWrite.create(KIND, "1", "first"));
		SessionRecord seen = store().records(key, KIND).get(0);
		assertThat(store().put(key, RecordWrite.replace(seen, "second"))).isTrue();
		assertThat(store().put(key, RecordWrite.replace(seen, "third"))).isFalse();
		assertThat(only(key).payload()).isEqualTo("second");
		assertThat(only(key).revision()).isEqualTo(seen.revision() + 1);
	}

	@Test
	void recordBeginsWithTheRevisionOfTheWriteThatCreatesIt() {
		SessionKey key = key();
		RecordWrite first = RecordWrite.create(KIND, "1", "text");
		commit(Commit.first(key).turn(completed("q1")).records(List.of(first)));
		assertThat(only(key).revision()).isEqualTo(first.first()).isEqualTo(first.next());
		RecordWrite second = RecordWrite.replace(only(key), "changed");
		store().put(key, second);
		assertThat(only(key).revision()).isEqualTo(second.next()).isNotEqualTo(second.first());
		store().put(key, new RecordWrite(KIND, "1", RecordWrite.ANY, null, null));
		RecordWrite again = RecordWrite.put(KIND, "1", "text");
		store().put(key, again);
		assertThat(only(key).revision()).isEqualTo(again.first());
		RecordWrite largest = new RecordWrite(KIND, "largest", 0, "text", null, (1L << 52) - 1);
		store().put(key, largest);
		store().put(key, new RecordWrite(KIND, "largest", largest.first(), "changed", null));
		assertThat(store().records(key, KIND)).extracting(SessionRecord::revision)
			.containsExactly(again.first(), 1L << 52);
	}

	@Test
	void recordThatWasCreatedAnewIsNotTheOneThatWasRead() {
		SessionKey key = key();
		threadOf(key, 1);
		store().put(key, RecordWrite.create(KIND, "1", "first"));
		SessionRecord seen = only(key);
		store().put(key, new RecordWrite(KIND, "1", seen.revision(), null, null));
		store().put(key, RecordWrite.create(KIND, "1", "second").timeToLive(Duration.ofMillis(1)));
		await().until(() -> store().records(key, KIND).isEmpty());
		store().put(key, RecordWrite.create(KIND, "1", "third"));
		assertLeftAlone(key, seen, "third");
	}

	@Test
	void recordOfAnEarlierSessionIsNotWrittenToItsSuccessor() {
		SessionKey key = key();
		threadOf(key, 1);
		store().put(key, RecordWrite.create(KIND, "1", "first"));
		SessionRecord seen = only(key);
		store().erase(key);
		threadOf(key, 1);
		store().put(key, RecordWrite.create(KIND, "1", "of the successor"));
		assertLeftAlone(key, seen, "of the successor");
	}

	private void assertLeftAlone(SessionKey key, SessionRecord seen, String payload) {
		assertThat(store().put(key, RecordWrite.replace(seen, "late"))).isFalse();
		assertThat(store().put(key, new RecordWrite(KIND, "1", seen.revision(), null, null))).isFalse();
		assertThat(store().commit(Commit.any(key).records(List.of(RecordWrite.replace(seen, "late")))).outcome())
			.isEqualTo(Outcome.CONFLICT);
		assertThat(only(key).payload()).isEqualTo(payload);
	}

	@Test
	void recordThatIsAbsentIsNotReplaced() {
		SessionKey key = key();
		threadOf(key, 1);
		assertThat(store().put(key, new RecordWrite(KIND, "1", 1, "text", null))).isFalse();
		assertThat(store().records(key, KIND)).isEmpty();
	}

	@Test
	void recordIsPutWhateverIsThere() {
		SessionKey key = key();
		threadOf(key, 1);
		assertThat(store().put(key, RecordWrite.put(KIND, "1", "first"))).isTrue();
		long first = only(key).revision();
		assertThat(store().put(key, RecordWrite.put(KIND, "1", "second"))).isTrue();
		assertThat(only(key).payload()).isEqualTo("second");
		assertThat(only(key).revision()).isEqualTo(first + 1);
	}

	@Test
	void recordIsDeleted() {
		SessionKey key = key();
		threadOf(key, 1);
		store().put(key, RecordWrite.create(KIND, "1", "first"));
		long there = only(key).revision();
		assertThat(store().put(key, new RecordWrite(KIND, "1", there + 6, null, null))).isFalse();
		assertThat(store().put(key, new RecordWrite(KIND, "1", there, null, null))).isTrue();
		assertThat(store().records(key, KIND)).isEmpty();
		assertThat(store().put(key, new RecordWrite(KIND, "1", there, null, null))).isFalse();
		assertThat(store().put(key, new RecordWrite(KIND, "1", RecordWrite.ANY, null, null))).isTrue();
		assertThat(store().put(key, RecordWrite.create(KIND, "1", "again"))).isTrue();
		assertThat(only(key).payload()).isEqualTo("again");
	}

	@Test
	void absentSessionTakesNoRecord() {
		SessionKey key = key();
		assertThat(store().put(key, RecordWrite.put(KIND, "1", "text"))).isFalse();
		assertThat(store().find(key)).isEmpty();
		assertThat(store().records(key, KIND)).isEmpty();
		threadOf(key, 1);
		assertThat(store().records(key, KIND)).isEmpty();
	}

	@Test
	void recordsOfAKindAreSortedById() {
		SessionKey key = key();
		threadOf(key, 1);
		for (String id : List.of("b", "c", "a")) {
			store().put(key, RecordWrite.create(KIND, id, "text " + id));
		}
		store().put(key, RecordWrite.create("other", "a", "other text"));
		assertThat(store().records(key, KIND)).extracting(SessionRecord::id).containsExactly("a", "b", "c");
		assertThat(store().records(key, "other")).extracting(SessionRecord::payload).containsExactly("other text");
	}

	@Test
	void namesOfRecordsAreExact() {
		SessionKey key = key();
		threadOf(key, 1);
		for (String id : List.of("a", "A", "a ", "\u00e1", "a\u0301", "😀", "{a}", "x".repeat(64))) {
			assertThat(store().put(key, RecordWrite.create(KIND, id, id))).as(id).isTrue();
		}
		assertThat(store().put(key, RecordWrite.create("Note", "a", "text"))).isTrue();
		assertThat(store().records(key, KIND)).hasSize(8)
			.allMatch((record) -> record.payload().equals(record.id()))
			.allMatch((record) -> store().record(key, KIND, record.id()).orElseThrow().equals(record));
		assertThat(store().record(key, "Note", "a").orElseThrow().payload()).isEqualTo("text");
	}

	@Test
	void recordIsReadByItsId() {
		SessionKey key = key();
		assertThat(store().record(key, KIND, "a")).isEmpty();
		threadOf(key, 1);
		store().put(key, RecordWrite.create(KIND, "a", "text"));
		assertThat(store().record(key, KIND, "a")).contains(only(key));
		assertThat(store().record(key, KIND, "b")).isEmpty();
		assertThat(store().record(key, "other", "a")).isEmpty();
		store().erase(key);
		assertThat(store().record(key, KIND, "a")).isEmpty();
	}

	@Test
	void recordExpiresByItself() {
		SessionKey key = key();
		threadOf(key, 1);
		store().put(key, RecordWrite.create(KIND, "stays", "text").timeToLive(Duration.ofHours(1)));
		store().put(key, RecordWrite.create(KIND, "goes", "text").timeToLive(Duration.ofMillis(1)));
		await().untilAsserted(
				() -> assertThat(store().records(key, KIND)).extracting(SessionRecord::id).containsExactly("stays"));
		assertThat(store().records(key.owner(), KIND, Page.first(10))).extracting(SessionRecord::id)
			.containsExactly("stays");
		assertThat(store().record(key, KIND, "goes")).isEmpty();
		assertThat(store().records(key, KIND).get(0).expiresAt())
			.isEqualTo(store().records(key, KIND).get(0).writtenAt().plus(Duration.ofHours(1)));
	}

	@Test
	void expiredRecordReadsAsAbsentForWritersToo() {
		SessionKey key = key();
		threadOf(key, 1);
		RecordWrite write = RecordWrite.create(KIND, "1", "text").timeToLive(Duration.ofMillis(1));
		store().put(key, write);
		await().until(() -> store().records(key, KIND).isEmpty());
		assertThat(store().put(key, new RecordWrite(KIND, "1", write.first(), "late", null))).isFalse();
		RecordWrite created = RecordWrite.create(KIND, "1", "new");
		assertThat(store().put(key, created)).isTrue();
		assertThat(only(key).payload()).isEqualTo("new");
		assertThat(only(key).expiresAt()).isNull();
		assertThat(only(key).revision()).isEqualTo(created.first());
		store().put(key, RecordWrite.replace(only(key), "new").timeToLive(Duration.ofMillis(1)));
		await().until(() -> store().records(key, KIND).isEmpty());
		RecordWrite put = RecordWrite.put(KIND, "1", "newer");
		assertThat(store().put(key, put)).isTrue();
		assertThat(only(key).revision()).isEqualTo(put.first());
	}

	@Test
	void replacedRecordLosesItsOwnLife() {
		SessionKey key = key();
		threadOf(key, 1);
		store().put(key, RecordWrite.create(KIND, "1", "text").timeToLive(Duration.ofHours(1)));
		store().put(key, RecordWrite.replace(only(key), "for good"));
		assertThat(only(key).expiresAt()).isNull();
	}

	@Test
	void ofRacingCreationsExactlyOneWins() throws Exception {
		SessionKey key = key();
		Set<Long> revisions = new HashSet<>();
		threadOf(key, 1);
		for (int round = 0; round < 10; round++) {
			String id = "claim " + round;
			Set<Long> first = ConcurrentHashMap.newKeySet();
			List<Boolean> written = race(8, () -> {
				RecordWrite write = RecordWrite.create(KIND, id, "mine");
				boolean stored = store().put(key, write);
				if (stored) {
					first.add(write.first());
				}
				return stored;
			});
			assertThat(written).containsOnlyOnce(true);
			revisions.addAll(first);
		}
		assertThat(store().records(key, KIND)).hasSize(10)
			.extracting(SessionRecord::revision)
			.containsExactlyInAnyOrderElementsOf(revisions);
	}

	/**
	 * A lease that is renewed beside other writes must not count as lost.
	 */
	@Test
	void writesOfOtherRecordsAndTurnsDoNotMakeAPutFail() throws Exception {
		SessionKey key = key();
		threadOf(key, 1);
		List<Callable<Boolean>> all = new ArrayList<>();
		for (int i = 0; i < 6; i++) {
			String id = "lease " + i;
			store().put(key, RecordWrite.create(KIND, id, "0"));
			all.add(() -> renewed(key, id));
		}
		for (int i = 0; i < 2; i++) {
			all.add(() -> {
				for (int turn = 0; turn < 10; turn++) {
					commit(Commit.any(key).turn(completed("q", "a")));
				}
				return true;
			});
		}
		assertThat(race(all)).containsOnly(true);
		assertThat(store().records(key, KIND)).extracting(SessionRecord::payload).hasSize(6).containsOnly("20");
		assertThat(log(key)).hasSize(42);
	}

	private boolean renewed(SessionKey key, String id) {
		boolean all = true;
		for (int i = 1; i <= 20; i++) {
			SessionRecord seen = store().record(key, KIND, id).orElseThrow();
			all = store().put(key, RecordWrite.replace(seen, String.valueOf(i))) && all;
		}
		return all;
	}

	@Test
	void ofRacingReplacementsExactlyOneWins() throws Exception {
		SessionKey key = key();
		threadOf(key, 1);
		store().put(key, RecordWrite.create(KIND, "claim", "free"));
		for (int round = 0; round < 20; round++) {
			SessionRecord seen = only(key);
			List<Boolean> written = race(8, () -> store().put(key, RecordWrite.replace(seen, "taken")));
			assertThat(written).containsOnlyOnce(true);
			assertThat(only(key).revision()).isEqualTo(seen.revision() + 1);
		}
	}

	@Test
	void recordsOfAnOwnerAreListedLastWrittenFirst() {
		String owner = name("owner");
		SessionKey one = SessionKey.of(owner, "one");
		SessionKey two = SessionKey.of(owner, "two");
		SessionKey other = key();
		threadOf(one, 1);
		threadOf(two, 1);
		threadOf(other, 1);
		store().put(one, RecordWrite.put(KIND, "a", "text"));
		store().put(other, RecordWrite.put(KIND, "z", "text"));
		putLater(two, "b", only(one));
		putLater(one, "c", store().records(two, KIND).get(0));
		assertThat(listed(owner, Page.first(10))).containsExactly("c", "b", "a");
		Page page = Page.first(2);
		assertThat(listed(owner, page)).containsExactly("c", "b");
		assertThat(listed(owner, page.next())).containsExactly("a");
		assertThat(listed(owner, page.next().next())).isEmpty();
		assertThat(store().records(owner, "other", Page.first(10))).isEmpty();
		store().clear(one);
		assertThat(listed(owner, Page.first(10))).containsExactly("b");
	}

	/**
	 * Returns whether the store lists records of all owners.
	 */
	protected boolean listsRecordsOfAllOwners() {
		return true;
	}

	@Test
	void recordsOfAllOwnersAreListedOldestFirst() {
		if (!listsRecordsOfAllOwners()) {
			assertThatThrownBy(() -> store().oldestRecords("approval", null, 10))
				.isInstanceOf(UnsupportedOperationException.class)
				.hasMessageContaining("Implement SessionStore.oldestRecords");
			return;
		}
		SessionKey plain = key();
		SessionKey strange = SessionKey.of(name("a{b}:c' \" % \\ 😀"), "x{y} / ä:1");
		SessionKey nobodys = SessionKey.of(name("thread"));
		SessionKey gone = key();
		List<SessionKey> all = List.of(plain, strange, nobodys, gone);
		all.forEach((key) -> threadOf(key, 1));
		shared(plain, "c", "first");
		shared(strange, "b", "second");
		commit(Commit.any(nobodys).records(List.of(RecordWrite.create("approval", "a", "third"))));
		shared(gone, "z", "erased");
		store().put(plain, RecordWrite.create("notice", "n", "notice"));
		store().put(plain, RecordWrite.create("approval", "short", "expires").timeToLive(Duration.ofMillis(1)));
		store().erase(gone);
		await().untilAsserted(() -> assertThat(shared(all)).extracting(SessionRecord::payload)
			.containsExactly("first", "second", "third"));
		assertThat(shared(all)).extracting(SessionRecord::key).containsExactly(plain, strange, nobodys);
		assertThat(shared(all).get(1)).isEqualTo(store().record(strange, "approval", "b").orElseThrow());
		SessionRecord first = shared(all).get(0);
		commit(Commit.any(plain)
			.records(List.of(new RecordWrite("approval", "c", RecordWrite.ANY, null, null),
					RecordWrite.put("ledger", "c", "over"))));
		assertThat(store().put(plain, RecordWrite.replace(first, "late"))).isFalse();
		putLater(strange, "b", shared(all).get(1), "approval");
		assertThat(shared(all)).extracting(SessionRecord::id).containsExactly("a", "b");
		threadOf(gone, 1);
		assertThat(shared(all)).hasSize(2);
		all.forEach((key) -> store().erase(key));
		assertThat(shared(all)).isEmpty();
		assertThatThrownBy(() -> store().oldestRecords(KIND, null, 1)).isInstanceOf(IllegalArgumentException.class);
		assertThatThrownBy(() -> store().oldestRecords("approval", null, 0))
			.isInstanceOf(IllegalArgumentException.class);
		assertThatThrownBy(() -> store().oldestRecords("approval", "x", 1))
			.isInstanceOf(IllegalArgumentException.class);
	}

	@Test
	void pagesOfRecordsOfAllOwnersHaveEachRecordOnceWhileOthersWrite() {
		if (!listsRecordsOfAllOwners()) {
			return;
		}
		SessionKey one = key();
		SessionKey two = key();
		threadOf(one, 1);
		threadOf(two, 1);
		// written at one moment, so that the ids decide
		for (SessionKey key : List.of(one, two)) {
			commit(Commit.any(key)
				.records(List.of("3", "1", "2", "5", "4")
					.stream()
					.map((id) -> RecordWrite.create("approval", id, id))
					.toList()));
		}
		List<SessionRecord> seen = new ArrayList<>();
		String next = null;
		do {
			RecordPage page = store().oldestRecords("approval", next, 2);
			assertThat(page.records()).hasSizeLessThanOrEqualTo(2);
			seen.addAll(page.records().stream().filter((record) -> List.of(one, two).contains(record.key())).toList());
			for (SessionRecord record : page.records()) {
				if (List.of(one, two).contains(record.key()) && !record.id().equals("4")) {
					store().put(record.key(), new RecordWrite("approval", record.id(), record.revision(), null, null));
				}
			}
			next = page.next();
		}
		while (next != null);
		assertThat(seen).extracting(SessionRecord::key, SessionRecord::id).doesNotHaveDuplicates().hasSize(10);
		assertThat(shared(List.of(one, two))).extracting(SessionRecord::id).containsExactly("4", "4");
		store().erase(one);
		store().erase(two);
	}

	private void shared(SessionKey key, String id, String payload) {
		assertThat(store().put(key, RecordWrite.create("approval", id, payload))).isTrue();
	}

	private List<SessionRecord> shared(List<SessionKey> keys) {
		List<SessionRecord> all = new ArrayList<>();
		String next = null;
		do {
			RecordPage page = store().oldestRecords("approval", next, 100);
			all.addAll(page.records());
			next = page.next();
		}
		while (next != null);
		return all.stream().filter((record) -> keys.contains(record.key())).toList();
	}

	@Test
	void recordsAreWrittenWithACommit() {
		SessionKey key = key();
		commit(Commit.first(key)
			.turn(completed("q1"))
			.records(List.of(RecordWrite.create(KIND, "1", "first"), RecordWrite.create(KIND, "2", "second"))));
		assertThat(store().records(key, KIND)).extracting(SessionRecord::payload).containsExactly("first", "second");
		SessionRecord first = store().records(key, KIND).get(0);
		SessionRecord second = store().records(key, KIND).get(1);
		commit(Commit.any(key)
			.records(List.of(RecordWrite.replace(first, "changed"),
					new RecordWrite(KIND, "2", second.revision(), null, null))));
		assertThat(only(key).payload()).isEqualTo("changed");
		assertThat(header(key).version()).isGreaterThan(1);
	}

	/** A reader who compares them knows whether anybody has written since. */
	@Test
	void sessionAndRecordsOfACommitAreWrittenAtOneTime() {
		SessionKey key = key();
		commit(Commit.first(key)
			.turn(completed("q1"))
			.records(List.of(RecordWrite.create(KIND, "1", "first"), RecordWrite.create(KIND, "2", "second"))));
		assertThat(store().records(key, KIND)).extracting(SessionRecord::writtenAt)
			.containsOnly(header(key).updatedAt());
		commit(Commit.on(header(key)).turn(completed("q2")).records(List.of(RecordWrite.put(KIND, "2", "changed"))));
		assertThat(store().record(key, KIND, "2").orElseThrow().writtenAt()).isEqualTo(header(key).updatedAt());
	}

	@Test
	void recordThatIsNotAsExpectedMakesTheCommitAConflict() {
		SessionKey key = key();
		threadOf(key, 1);
		store().put(key, RecordWrite.create(KIND, "1", "there"));
		Session before = header(key);
		CommitResult result = store().commit(Commit.on(before)
			.turn(completed("q2"))
			.header(HeaderChange.NONE.title("title"))
			.records(List.of(RecordWrite.create(KIND, "0", "new"), RecordWrite.create(KIND, "1", "new"))));
		assertThat(result.outcome()).isEqualTo(Outcome.CONFLICT);
		assertThat(header(key)).isEqualTo(before);
		assertThat(log(key)).containsExactly("q1", "a1");
		assertThat(only(key).payload()).isEqualTo("there");
	}

	@Test
	void recordThatIsNotAsExpectedCreatesNoSession() {
		SessionKey key = key();
		CommitResult result = store().commit(
				Commit.first(key).turn(completed("q1")).records(List.of(new RecordWrite(KIND, "1", 3, "text", null))));
		assertThat(result.outcome()).isEqualTo(Outcome.CONFLICT);
		assertThat(store().find(key)).isEmpty();
	}

	@Test
	void ofRacingCommitsWithTheSameRecordOneWins() throws Exception {
		SessionKey key = key();
		threadOf(key, 1);
		List<CommitResult> results = race(8,
				() -> store().commit(Commit.any(key)
					.turn(completed("claimed"))
					.records(List.of(RecordWrite.create(KIND, "claim", "mine")))));
		assertThat(count(results, Outcome.COMMITTED)).isEqualTo(1);
		assertThat(count(results, Outcome.CONFLICT)).isEqualTo(7);
		assertThat(log(key)).containsExactly("q1", "a1", "claimed");
	}

	@Test
	void largePayloadsComeBack() {
		SessionKey key = key();
		threadOf(key, 1);
		String payload = "Ä\"{}😀".repeat(20_000);
		store().put(key, RecordWrite.create(KIND, "1", payload));
		assertThat(only(key).payload()).isEqualTo(payload);
	}

	private SessionRecord only(SessionKey key) {
		List<SessionRecord> records = store().records(key, KIND);
		assertThat(records).hasSize(1);
		return records.get(0);
	}

	private List<String> listed(String owner, Page page) {
		return store().records(owner, KIND, page).stream().map(SessionRecord::id).toList();
	}

	/**
	 * Writes until the clock of the store has moved on from another record.
	 */
	private void putLater(SessionKey key, String id, SessionRecord than) {
		putLater(key, id, than, KIND);
	}

	private void putLater(SessionKey key, String id, SessionRecord than, String kind) {
		await().pollDelay(Duration.ZERO).pollInterval(Duration.ofMillis(2)).until(() -> {
			store().put(key, RecordWrite.put(kind, id, "text"));
			return store().records(key, kind)
				.stream()
				.anyMatch((record) -> record.id().equals(id) && record.writtenAt().isAfter(than.writtenAt()));
		});
	}

}
