package io.sessionkit.benchmarks;

import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

import org.jspecify.annotations.Nullable;

/**
 * The results by contender, in the order in which they take part. Not safe for use by
 * many threads.
 */
final class Results {

	private final Map<String, @Nullable String> byHand = new LinkedHashMap<>();

	private final Map<String, Map<Integer, TurnTime>> times = new LinkedHashMap<>();

	private final Map<String, Map<Integer, TurnCost>> costs = new LinkedHashMap<>();

	private final Map<String, Map<Integer, Double>> throughputs = new LinkedHashMap<>();

	private final Map<String, Double> bytesPerMessage = new LinkedHashMap<>();

	private final Map<String, ServerWork> works = new LinkedHashMap<>();

	private final Map<String, StepCosts> steps = new LinkedHashMap<>();

	private final Map<String, Micro> micros = new LinkedHashMap<>();

	/**
	 * The result of a microbenchmark.
	 *
	 * @param median half of the calls take no longer, in microseconds
	 * @param p95 19 of 20 calls take no longer
	 */
	record Micro(double median, double p95) {
	}

	void contender(String name, @Nullable String byHand) {
		this.byHand.put(name, byHand);
	}

	void time(String contender, int size, TurnTime time) {
		this.times.computeIfAbsent(contender, (name) -> new TreeMap<>()).put(size, time);
	}

	void cost(String contender, int size, TurnCost cost) {
		this.costs.computeIfAbsent(contender, (name) -> new TreeMap<>()).put(size, cost);
	}

	void throughput(String contender, int callers, double turnsPerSecond) {
		this.throughputs.computeIfAbsent(contender, (name) -> new TreeMap<>()).put(callers, turnsPerSecond);
	}

	void bytesPerMessage(String contender, double bytes) {
		this.bytesPerMessage.put(contender, bytes);
	}

	void work(String contender, ServerWork work) {
		this.works.put(contender, work);
	}

	void steps(String store, StepCosts costs) {
		this.steps.put(store, costs);
	}

	void micro(String benchmark, Micro micro) {
		this.micros.put(benchmark, micro);
	}

	Set<String> contenders() {
		return new LinkedHashSet<>(this.byHand.keySet());
	}

	@Nullable String byHand(String contender) {
		return this.byHand.get(contender);
	}

	Map<Integer, TurnTime> times(String contender) {
		return this.times.getOrDefault(contender, Map.of());
	}

	Map<Integer, TurnCost> costs(String contender) {
		return this.costs.getOrDefault(contender, Map.of());
	}

	Map<Integer, Double> throughputs(String contender) {
		return this.throughputs.getOrDefault(contender, Map.of());
	}

	@Nullable Double bytesPerMessage(String contender) {
		return this.bytesPerMessage.get(contender);
	}

	/**
	 * Returns what a contender made its server do; nothing known if that was not
	 * measured.
	 */
	ServerWork work(String contender) {
		return this.works.getOrDefault(contender, ServerWork.UNKNOWN);
	}

	/**
	 * Returns the costs of the steps of a turn by store.
	 */
	Map<String, StepCosts> steps() {
		return this.steps;
	}

	Map<String, Micro> micros() {
		return this.micros;
	}

	/**
	 * Returns the size of the largest session on which a contender was measured; 0 for
	 * none.
	 */
	int largest(String contender) {
		return times(contender).entrySet()
			.stream()
			.filter((entry) -> entry.getValue().isRun())
			.mapToInt(Map.Entry::getKey)
			.max()
			.orElse(0);
	}

	/**
	 * Returns the median of a contender at a size, in microseconds; not a number if there
	 * is none.
	 */
	double median(String contender, int size) {
		TurnTime time = times(contender).get(size);
		return (time != null) ? time.median() : Double.NaN;
	}

}
