package io.sessionkit.store;

import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.UUID;

import io.sessionkit.SessionKey;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A random sequence of operations on a few sessions of two owners, made to a store and to
 * a model, which must agree after each of them. If there are several stores on the same
 * data, any of them is used for each operation. A failure names the seed and the steps.
 */
final class RandomProgram {

	private static final int STEPS_SHOWN = 40;

	private final List<SessionStore> stores;

	private final long seed;

	private final int operations;

	private final Random random;

	private final ModelStore model = new ModelStore();

	private final List<StoreComparison> comparisons = new ArrayList<>();

	private final List<RandomWrites> writes = new ArrayList<>();

	/** In which views are read most often. */
	private final Window usual;

	private final List<SessionKey> keys = new ArrayList<>();

	private final List<String> steps = new ArrayList<>();

	RandomProgram(List<SessionStore> stores, long seed, int operations) {
		this.stores = stores;
		this.seed = seed;
		this.operations = operations;
		this.random = new Random(seed);
		Set<String> incarnations = new HashSet<>();
		Map<SessionKey, Deque<RandomWrites.Planned>> before = new HashMap<>();
		for (SessionStore store : stores) {
			this.comparisons.add(new StoreComparison(store, this.model, this.random, incarnations));
			this.writes.add(new RandomWrites(store, this.model, this.random, this.steps, before));
		}
		this.usual = window();
		String owner = UUID.randomUUID().toString();
		for (String name : List.of("a", "A", "b")) {
			this.keys.add(SessionKey.of(owner, name));
		}
		this.keys.add(SessionKey.of(owner + " ", "a"));
	}

	void run() {
		try {
			for (int i = 0; i < this.operations; i += 2) {
				SessionKey key = this.keys.get(this.random.nextInt(this.keys.size()));
				if (this.random.nextInt(4) > 0) {
					one(this.writes).write(key);
					comparison().compareView(key, (this.random.nextInt(3) > 0) ? this.usual : window());
				}
				else {
					read(key);
					read(key);
				}
			}
			end();
		}
		catch (AssertionError | RuntimeException ex) {
			List<String> last = this.steps.subList(Math.max(0, this.steps.size() - STEPS_SHOWN), this.steps.size());
			throw new AssertionError("The program of seed " + this.seed + " went wrong in step " + this.steps.size()
					+ ": " + ex.getMessage() + "\nThe last steps were\n" + String.join("\n", last), ex);
		}
	}

	/**
	 * Leaves nothing, so that any number of programs can run.
	 */
	private void end() {
		for (SessionKey key : this.keys) {
			this.steps.add("all of " + key.id());
			comparison().compareView(key, Window.ALL);
			comparison().compareLog(key, Tail.ALL);
			comparison().compareTurns(key, Tail.ALL);
			RandomContent.KINDS.forEach((kind) -> comparison().compareRecords(key, kind));
		}
		for (SessionKey key : this.keys) {
			boolean erased = one(this.stores).erase(key);
			assertThat(erased).isEqualTo(this.model.erase(key));
			comparison().compareView(key, Window.HEADER);
			comparison().compareList(key.owner());
		}
	}

	private void read(SessionKey key) {
		ModelSession session = this.model.find(key);
		int turns = (session != null) ? session.turns.size() : 0;
		long items = (session != null) ? session.items : 0;
		int dice = this.random.nextInt(18);
		this.steps.add("read " + dice + " of " + key.id());
		switch (dice) {
			case 0, 1, 2 -> comparison().compareView(key, window());
			case 3, 4, 5 -> comparison().compareLog(key, tail(items));
			case 6, 7, 8 -> comparison().compareTurns(key, tail(turns));
			case 9, 10 -> comparison().compareItems(key, this.random.nextInt(turns + 2));
			case 11 -> comparison().compareRecords(key, kind());
			case 12 -> comparison().compareList(key.owner());
			case 13, 14, 15 -> comparison().comparePath(key,
					new PathQuery(point(turns), window(), tail(turns), new HashSet<>(List.of(kind(), kind()))));
			case 16 -> comparison().compareTurns(key, Tail.ALL);
			default -> comparison().compareRecords(key.owner(), kind());
		}
	}

	private StoreComparison comparison() {
		return one(this.comparisons);
	}

	private <T> T one(List<T> of) {
		return of.get(this.random.nextInt(of.size()));
	}

	private String kind() {
		return RandomContent.KINDS.get(this.random.nextInt(RandomContent.KINDS.size()));
	}

	private Window window() {
		return switch (this.random.nextInt(5)) {
			case 0 -> Window.ALL;
			case 1 -> Window.HEADER;
			case 2 -> Window.turns(this.random.nextInt(6));
			case 3 -> Window.items(this.random.nextInt(12));
			default -> new Window(this.random.nextInt(6), this.random.nextInt(12));
		};
	}

	private Point point(int turns) {
		long turn = this.random.nextInt(turns + 2);
		return switch (this.random.nextInt(3)) {
			case 0 -> Point.HEAD;
			case 1 -> Point.at(turn);
			default -> Point.before(turn);
		};
	}

	private Tail tail(long size) {
		return switch (this.random.nextInt(3)) {
			case 0 -> Tail.ALL;
			case 1 -> Tail.newest(this.random.nextInt(10));
			default -> new Tail(this.random.nextInt((int) size + 3), this.random.nextInt(10));
		};
	}

}
