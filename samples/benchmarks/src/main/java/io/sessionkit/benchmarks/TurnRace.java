package io.sessionkit.benchmarks;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.OptionalDouble;

/**
 * Runs whole turns, one after the other. Each contender has its turn in each round, and a
 * different one begins each time, so that a machine that is slow for a while is slow for
 * all.
 */
final class TurnRace {

	private static final int COUNTED = 22;

	private static final int COUNTED_OF_SLOW = 4;

	/** The median above which a turn counts as slow, in microseconds. */
	private static final double SLOW = 200_000;

	private final Options options;

	private final List<Cell> cells = new ArrayList<>();

	TurnRace(List<Contender> contenders, CannedChatModel model, Options options) {
		this.options = options;
		for (int size : options.sizes()) {
			contenders.forEach((contender) -> this.cells.add(new Cell(contender, size, model)));
		}
	}

	/**
	 * Measures times, and the space that the largest sessions take.
	 */
	void run(Results results) {
		preload(results);
		WarmUp.run(this.cells.stream().map(Cell::contender).distinct().toList(), this.options);
		int warmUp = Math.max(2, this.options.pace().rounds() / 6);
		List<Cell> order = new ArrayList<>(this.cells);
		for (int round = 0; round < warmUp + this.options.pace().rounds(); round++) {
			Progress.say("turns, round " + (round + 1) + " of " + (warmUp + this.options.pace().rounds()));
			for (Cell cell : order) {
				cell.play(round, this.options, round >= warmUp);
			}
			Collections.rotate(order, order.size() / 3 + 1);
		}
		this.cells.forEach((cell) -> results.time(cell.contender().name(), cell.size(), cell.result()));
	}

	private void preload(Results results) {
		int largest = Collections.max(this.options.sizes());
		for (Cell cell : this.cells) {
			Progress.say("writing a thread of " + cell.size() + " messages for " + cell.contender().name());
			OptionalDouble before = cell.contender().storedBytes();
			cell.preload();
			OptionalDouble after = cell.contender().storedBytes();
			if (cell.size() == largest && before.isPresent() && after.isPresent()) {
				results.bytesPerMessage(cell.contender().name(),
						(after.getAsDouble() - before.getAsDouble()) / largest);
			}
		}
		this.cells.stream().map(Cell::contender).distinct().forEach(Contender::settle);
		for (Cell cell : this.cells) {
			Progress.say("trying " + cell.contender().name() + " at " + cell.size() + " messages");
			cell.tryOut(this.options.pace().turnLimit());
		}
	}

	/**
	 * Counts the cost of a turn on the smallest and on the largest session that was run.
	 */
	void count(Results results) {
		for (Cell cell : this.cells) {
			String name = cell.contender().name();
			TurnTime time = results.times(name).getOrDefault(cell.size(), TurnTime.notRun("not measured"));
			boolean counted = cell.size() == smallest() || cell.size() == results.largest(name);
			if (counted && time.isRun() && !name.endsWith(Contenders.NO_FLUSH)) {
				Progress.say("counting " + name + " at " + cell.size() + " messages");
				int turns = (time.median() > SLOW) ? COUNTED_OF_SLOW : COUNTED;
				results.cost(name, cell.size(), cell.contender().count(cell.thread(), turns));
			}
		}
	}

	private int smallest() {
		return Collections.min(this.options.sizes());
	}

}
