package io.sessionkit.benchmarks;

import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;

import org.jspecify.annotations.Nullable;

/**
 * Asks the servers what plain turns made them do. The turns are not timed. Each contender
 * has its turn in each round, and the median of the rounds counts, so that a process that
 * takes the processor away from a server for a moment changes nothing.
 */
final class ServerRace {

	/**
	 * The number of turns in a round: so many that what is written once after a
	 * checkpoint is small beside what each turn writes.
	 */
	private static final int TURNS = 300;

	private static final int LEAD_IN = 20;

	private static final String THREAD = "server";

	private final List<Contender> contenders;

	private final Options options;

	ServerRace(List<Contender> contenders, Options options) {
		this.contenders = contenders;
		this.options = options;
	}

	void run(Results results) {
		Map<String, List<ServerWork>> measured = new HashMap<>();
		for (Contender contender : this.contenders) {
			contender.preload(THREAD, Contenders.WINDOW_MESSAGES);
			contender.work(THREAD, LEAD_IN);
		}
		List<Contender> order = new ArrayList<>(this.contenders);
		for (int round = 0; round < this.options.pace().rounds(); round++) {
			Progress.say("work of the servers, round " + (round + 1) + " of " + this.options.pace().rounds());
			for (Contender contender : order) {
				measured.computeIfAbsent(contender.name(), (name) -> new ArrayList<>())
					.add(contender.work(THREAD, TURNS));
			}
			Collections.rotate(order, 1);
		}
		measured.forEach((name, rounds) -> results.work(name,
				new ServerWork(median(rounds, ServerWork::logBytes), median(rounds, ServerWork::micros))));
	}

	private static @Nullable Double median(List<ServerWork> rounds, Function<ServerWork, @Nullable Double> what) {
		List<Double> values = new ArrayList<>();
		rounds.stream().map(what).filter(Objects::nonNull).forEach(values::add);
		Collections.sort(values);
		return values.isEmpty() ? null : values.get((values.size() - 1) / 2);
	}

}
