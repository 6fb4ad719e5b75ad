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
 * has its turn in each round. Of the bytes the median round counts, and of the time the
 * shortest: the work is the same in each, so what another round took longer was taken by
 * other processes.
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
		int warmUp = this.options.pace().rounds() / 2;
		int rounds = warmUp + this.options.pace().rounds();
		for (int round = 0; round < rounds; round++) {
			Progress.say("work of the servers, round " + (round + 1) + " of " + rounds);
			for (Contender contender : order) {
				ServerWork work = contender.work(THREAD, TURNS);
				if (round >= warmUp) {
					measured.computeIfAbsent(contender.name(), (name) -> new ArrayList<>()).add(work);
				}
			}
			Collections.rotate(order, 1);
		}
		measured.forEach((name, works) -> results.work(name, of(works)));
	}

	private static ServerWork of(List<ServerWork> rounds) {
		List<Double> logBytes = sorted(rounds, ServerWork::logBytes);
		List<Double> micros = sorted(rounds, ServerWork::micros);
		return new ServerWork(logBytes.isEmpty() ? null : logBytes.get((logBytes.size() - 1) / 2),
				micros.isEmpty() ? null : micros.get(0));
	}

	private static List<Double> sorted(List<ServerWork> rounds, Function<ServerWork, @Nullable Double> what) {
		List<Double> values = new ArrayList<>();
		rounds.stream().map(what).filter(Objects::nonNull).forEach(values::add);
		Collections.sort(values);
		return values;
	}

}
