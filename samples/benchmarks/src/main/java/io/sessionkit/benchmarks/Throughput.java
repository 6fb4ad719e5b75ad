package io.sessionkit.benchmarks;

import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/**
 * Runs whole turns of many callers at once, each on a session of its own with a full
 * window. All contenders have their turn in each of many short slices, a different one
 * first each time, so that what slows the machine for a while slows all of them, and no
 * median.
 */
final class Throughput {

	/** The slices before those that count. */
	private static final int WARM_UP = 2;

	private final List<Contender> contenders;

	private final Options options;

	Throughput(List<Contender> contenders, Options options) {
		this.contenders = contenders;
		this.options = options;
	}

	void run(Results results) {
		for (int callers : this.options.levels()) {
			Progress.say("throughput of " + callers + " callers");
			Map<Contender, List<Double>> rates = measure(callers);
			rates.forEach((contender, measured) -> results.throughput(contender.name(), callers, median(measured)));
		}
	}

	private Map<Contender, List<Double>> measure(int callers) {
		Map<Contender, List<Double>> rates = new LinkedHashMap<>();
		List<Contender> order = new ArrayList<>(this.contenders);
		ExecutorService pool = Executors.newFixedThreadPool(callers);
		try {
			for (int slice = 0; slice < WARM_UP + slices(); slice++) {
				for (Contender contender : order) {
					double rate = measure(contender, threads(contender, callers, slice), pool);
					if (slice >= WARM_UP) {
						rates.computeIfAbsent(contender, (unmeasured) -> new ArrayList<>()).add(rate);
					}
				}
				Collections.rotate(order, order.size() / 3 + 1);
			}
		}
		finally {
			pool.shutdown();
		}
		return rates;
	}

	private int slices() {
		return this.options.pace().rounds() / 2 + 1;
	}

	/**
	 * Makes the sessions of a slice: a contender without a window would get slower and
	 * slower on old ones.
	 */
	private static List<String> threads(Contender contender, int callers, int slice) {
		List<String> threads = new ArrayList<>();
		for (int caller = 0; caller < callers; caller++) {
			String thread = "p" + slice + "-" + callers + "-" + caller;
			contender.preload(thread, Contenders.WINDOW_MESSAGES);
			threads.add(thread);
		}
		return threads;
	}

	private double measure(Contender contender, List<String> threads, ExecutorService pool) {
		long start = System.nanoTime();
		long end = start + this.options.pace().throughputTime().toNanos();
		List<Callable<Long>> calls = new ArrayList<>();
		threads.forEach((thread) -> calls.add(() -> callUntil(contender, thread, end)));
		try {
			long turns = 0;
			for (Future<Long> done : pool.invokeAll(calls)) {
				turns += done.get();
			}
			return turns * 1e9 / (System.nanoTime() - start);
		}
		catch (InterruptedException | ExecutionException ex) {
			throw new IllegalStateException(ex);
		}
	}

	private static long callUntil(Contender contender, String thread, long end) {
		long turns = 0;
		while (System.nanoTime() < end) {
			contender.threads().turn(thread, Dialogue.question(turns++));
		}
		return turns;
	}

	private static double median(List<Double> values) {
		return values.stream().sorted().skip(values.size() / 2).findFirst().orElseThrow();
	}

}
