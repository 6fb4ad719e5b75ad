package io.sessionkit.benchmarks;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/**
 * Runs whole turns of many callers at once, each on a session of its own with a full
 * window.
 */
final class Throughput {

	private static final int ROUNDS = 3;

	/** The measured time divided by this is the warm-up before it. */
	private static final int WARM_UP = 8;

	private final List<Contender> contenders;

	private final Options options;

	/** The turns per second by contender and callers, one for each round. */
	private final Map<String, Map<Integer, double[]>> measured = new HashMap<>();

	Throughput(List<Contender> contenders, Options options) {
		this.contenders = contenders;
		this.options = options;
	}

	void run(Results results) {
		for (int round = 0; round < ROUNDS; round++) {
			Progress.say("throughput, round " + (round + 1) + " of " + ROUNDS);
			for (int callers : this.options.levels()) {
				for (Contender contender : this.contenders) {
					this.measured.computeIfAbsent(contender.name(), (name) -> new HashMap<>())
						.computeIfAbsent(callers, (level) -> new double[ROUNDS])[round] = measure(contender, callers,
								round);
				}
			}
		}
		this.measured.forEach((name, levels) -> levels.forEach((callers, rates) -> {
			Arrays.sort(rates);
			results.throughput(name, callers, rates[ROUNDS / 2]);
		}));
	}

	private double measure(Contender contender, int callers, int round) {
		List<String> threads = new ArrayList<>();
		for (int caller = 0; caller < callers; caller++) {
			threads.add("p" + round + "-" + callers + "-" + caller);
			contender.preload(threads.get(caller), Contenders.WINDOW_MESSAGES);
		}
		call(contender, threads, this.options.pace().throughputTime().dividedBy(WARM_UP));
		long start = System.nanoTime();
		long turns = call(contender, threads, this.options.pace().throughputTime());
		return turns * 1e9 / (System.nanoTime() - start);
	}

	private static long call(Contender contender, List<String> threads, Duration time) {
		ExecutorService callers = Executors.newFixedThreadPool(threads.size());
		try {
			long end = System.nanoTime() + time.toNanos();
			List<Callable<Long>> calls = new ArrayList<>();
			threads.forEach((thread) -> calls.add(() -> callUntil(contender, thread, end)));
			long turns = 0;
			for (Future<Long> done : callers.invokeAll(calls)) {
				turns += done.get();
			}
			return turns;
		}
		catch (InterruptedException | ExecutionException ex) {
			throw new IllegalStateException(ex);
		}
		finally {
			callers.shutdown();
		}
	}

	private static long callUntil(Contender contender, String thread, long end) {
		long turns = 0;
		while (System.nanoTime() < end) {
			contender.threads().turn(thread, Dialogue.question(turns++));
		}
		return turns;
	}

}
