package io.sessionkit.benchmarks;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.function.Function;

import io.sessionkit.benchmarks.Results.Micro;
import org.jspecify.annotations.Nullable;

/**
 * Compares the cost of a turn with its budget.
 */
final class Budgets {

	private static final List<String> STORES = List.of(Contenders.IN_MEMORY, Contenders.H2,
			Contenders.H2 + Contenders.OTHER, Contenders.H2 + Contenders.UNKNOWN, Contenders.POSTGRES,
			Contenders.POSTGRES + Contenders.NO_FLUSH, Contenders.POSTGRES + Contenders.NO_FLUSH + Contenders.OTHER,
			Contenders.POSTGRES + Contenders.NO_FLUSH + Contenders.UNKNOWN, Contenders.REDIS,
			Contenders.REDIS + Contenders.OTHER, Contenders.REDIS + Contenders.UNKNOWN);

	/** The stores whose round trips and bytes are counted on the wire. */
	private static final List<String> ON_SERVERS = List.of(Contenders.POSTGRES,
			Contenders.POSTGRES + Contenders.NO_FLUSH + Contenders.OTHER,
			Contenders.POSTGRES + Contenders.NO_FLUSH + Contenders.UNKNOWN, Contenders.REDIS,
			Contenders.REDIS + Contenders.OTHER, Contenders.REDIS + Contenders.UNKNOWN);

	/**
	 * Limits on a turn, as multiples of what the same statements by hand reach.
	 *
	 * @param time its time, divided by theirs
	 * @param throughput its turns per second with many callers, divided by theirs
	 */
	private record BesideByHand(double time, double throughput) {

		static BesideByHand of(String store) {
			boolean known = Contenders.isKnown(store);
			if (store.startsWith(Contenders.H2)) {
				return new BesideByHand(known ? 3 : 4.5, 0);
			}
			if (store.startsWith(Contenders.REDIS)) {
				return known ? new BesideByHand(1.25, 0.75) : new BesideByHand(1.6, 0.4);
			}
			return known ? new BesideByHand(1.3, 0.85) : new BesideByHand(1.6, 0.6);
		}

	}

	private final Results results;

	private final Options options;

	private final Table table = new Table("what", "where", "budget", "measured", "");

	Budgets(Results results, Options options) {
		this.results = results;
		this.options = options;
	}

	/**
	 * Returns the table, without what was not measured.
	 */
	Table table() {
		for (String store : ON_SERVERS) {
			most("round trips per plain turn", store, 2, worstRoundTrips(store));
		}
		most("round trips per plain turn (counted as calls)", Contenders.H2, 5, worstRoundTrips(Contenders.H2));
		for (String store : List.of(Contenders.H2 + Contenders.OTHER, Contenders.H2 + Contenders.UNKNOWN)) {
			most("round trips per plain turn (counted as calls)", store, 6, worstRoundTrips(store));
		}
		for (String store : List.of(Contenders.POSTGRES, Contenders.REDIS)) {
			most("bytes received per turn", store, 1_000, worst(store, TurnCost::received));
		}
		for (String store : ON_SERVERS) {
			most("KB allocated by the thread that calls, per turn", store, Contenders.isKnown(store) ? 75 : 120,
					worstAllocation(store));
		}
		costs(Contenders.POSTGRES).forEach((size, cost) -> {
			most("rows inserted per plain turn, " + Table.whole(size) + " messages", Contenders.POSTGRES, 1,
					number(cost.inserted()));
			most("rows updated per plain turn, " + Table.whole(size) + " messages", Contenders.POSTGRES, 1,
					number(cost.updated()));
			most("rows deleted per plain turn, " + Table.whole(size) + " messages", Contenders.POSTGRES, 0,
					number(cost.deleted()));
		});
		ON_SERVERS.forEach(this::flatBytes);
		STORES.forEach(this::serverWork);
		this.results.steps().forEach(this::steps);
		for (String store : STORES) {
			most("time at " + Table.whole(largest()) + " messages ÷ at " + Table.whole(smallest()), store, 1.2,
					this.results.median(store, largest()) / this.results.median(store, smallest()));
		}
		STORES.forEach(this::besideByHand);
		overhead();
		return this.table;
	}

	private void serverWork(String store) {
		if (store.startsWith(Contenders.POSTGRES)) {
			most("bytes of write-ahead log per plain turn ÷ by hand", store, 1.6, beside(store, ServerWork::logBytes));
		}
		most("server time per plain turn ÷ by hand", store, Contenders.isKnown(store) ? 0.7 : 1.3,
				beside(store, ServerWork::micros));
	}

	private double beside(String store, Function<ServerWork, @Nullable Double> what) {
		String byHand = this.results.byHand(store);
		return (byHand != null)
				? number(what.apply(this.results.work(store))) / number(what.apply(this.results.work(byHand)))
				: Double.NaN;
	}

	private void steps(String store, StepCosts costs) {
		most("round trips of a pause, beyond those of a plain turn", store, 1, costs.pause());
		most("round trips of a decision", store, 2, costs.decision());
		most("round trips of continuing with one approved call, beyond those of a plain turn", store, 4,
				costs.resume());
		most("round trips of a summary, beyond those of a plain turn", store, 3, costs.summary());
		most("round trips of a tool round with durability=step", store, 3, costs.round());
		most("bytes of log per round with durability=step, rounds 32 to 39 ÷ rounds 3 to 10", store, 1.5,
				costs.lateBytes() / costs.earlyBytes());
	}

	private void besideByHand(String store) {
		String byHand = this.results.byHand(store);
		if (byHand == null) {
			return;
		}
		BesideByHand budget = BesideByHand.of(store);
		for (int size : this.options.sizes()) {
			most("time ÷ the same two statements by hand, " + Table.whole(size) + " messages", store, budget.time(),
					this.results.median(store, size) / this.results.median(byHand, size));
		}
		int callers = Collections.max(this.options.levels());
		if (budget.throughput() > 0) {
			least("throughput at " + callers + " threads ÷ by hand", store, budget.throughput(),
					rate(store, callers) / rate(byHand, callers));
		}
	}

	private void flatBytes(String store) {
		List<Double> bytes = new ArrayList<>();
		costs(store).values().forEach((cost) -> bytes.add(number(cost.received())));
		if (bytes.size() > 1) {
			most("bytes received per turn, largest thread ÷ smallest", store, 1.05,
					bytes.get(bytes.size() - 1) / bytes.get(0));
		}
	}

	private void overhead() {
		for (String length : List.of("200", "1000")) {
			OptionalDouble with = micro("callWithSession " + length);
			OptionalDouble without = micro("callWithout " + length);
			if (with.isPresent() && without.isPresent()) {
				most("whole advisor overhead, 40-message view of " + length + " characters, µs", Contenders.IN_MEMORY,
						30, with.getAsDouble() - without.getAsDouble());
			}
		}
	}

	private OptionalDouble micro(String name) {
		Micro micro = this.results.micros().get(name);
		return (micro != null) ? OptionalDouble.of(micro.median()) : OptionalDouble.empty();
	}

	private double worstRoundTrips(String contender) {
		return worst(contender, TurnCost::roundTrips);
	}

	private double worstAllocation(String contender) {
		return this.results.times(contender)
			.values()
			.stream()
			.mapToDouble((time) -> time.allocated() / TurnTime.KB)
			.max()
			.orElse(Double.NaN);
	}

	private double worst(String contender, Function<TurnCost, @Nullable Double> what) {
		return costs(contender).values()
			.stream()
			.mapToDouble((cost) -> number(what.apply(cost)))
			.max()
			.orElse(Double.NaN);
	}

	private Map<Integer, TurnCost> costs(String contender) {
		return this.results.costs(contender);
	}

	private double rate(String contender, int callers) {
		return number(this.results.throughputs(contender).get(callers));
	}

	private static double number(@Nullable Double value) {
		return (value != null) ? value : Double.NaN;
	}

	private void most(String what, String where, double budget, double measured) {
		row(what, where, "≤ " + Table.count(budget), measured, measured <= budget);
	}

	private void least(String what, String where, double budget, double measured) {
		row(what, where, "≥ " + Table.count(budget), measured, measured >= budget);
	}

	private void row(String what, String where, String budget, double measured, boolean met) {
		if (Double.isFinite(measured)) {
			this.table.row(what, where, budget, Table.count(measured), met ? "met" : "**missed**");
		}
	}

	private int smallest() {
		return Collections.min(this.options.sizes());
	}

	private int largest() {
		return Collections.max(this.options.sizes());
	}

}
