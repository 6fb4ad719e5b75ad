package io.sessionkit.benchmarks;

import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;

/**
 * The options of a run: what it measures, and for how long.
 *
 * @param parts the parts to measure
 * @param sizes the numbers of messages in the sessions, smallest first
 * @param levels the numbers of threads that call at once
 * @param pace how often and how long it measures
 * @param fsync whether PostgreSQL waits for the disk
 * @param output the folder to write to
 */
record Options(Set<Part> parts, List<Integer> sizes, List<Integer> levels, Pace pace, boolean fsync, Path output) {

	private static final String USAGE = """
			Options:
			  --quick            a run of a few minutes, to see that all works
			  --output=FOLDER    where performance.md and performance.svg go (samples/benchmarks/target/performance)
			  --parts=A,B        of turns, throughput, server, steps, micro (all)
			  --sizes=A,B        messages in a thread, even numbers (10,1000,10000,100000; quick: 10,1000,10000)
			  --rounds=N         how often each contender has its turn (20; quick: 4)
			  --turn-limit=SECONDS   a contender whose turn takes longer is not run at that size (5; quick: 2)
			  --fsync=on|off     whether PostgreSQL waits for the disk (on)""";

	/** The parts that can be measured. */
	enum Part {

		/** Whole turns, one after the other. */
		TURNS,

		/** Whole turns of many callers. */
		THROUGHPUT,

		/** The work of the servers for plain turns. */
		SERVER,

		/** Turns that pause, continue, are summarized or are stored in steps. */
		STEPS,

		/** Codec and in-memory path. */
		MICRO

	}

	/**
	 * The repetitions and times of a run.
	 *
	 * @param warmUp how long each contender runs before anything is measured
	 * @param rounds how often each contender has its turn; half as often with many
	 * callers
	 * @param blockTurns how many turns it then measures, at most
	 * @param blockTime how long it takes for them, at most
	 * @param turnLimit the limit for one turn; a contender that takes longer is not run
	 * @param throughputTime how long a slice of a throughput is
	 * @param quickMicro whether the microbenchmarks are short
	 */
	record Pace(Duration warmUp, int rounds, int blockTurns, Duration blockTime, Duration turnLimit,
			Duration throughputTime, boolean quickMicro) {
	}

	static Options full() {
		Pace pace = new Pace(Duration.ofSeconds(10), 20, 10, Duration.ofMillis(250), Duration.ofSeconds(5),
				Duration.ofMillis(400), false);
		return new Options(EnumSet.allOf(Part.class), List.of(10, 1_000, 10_000, 100_000), List.of(1, 4, 16), pace,
				true, Path.of("samples", "benchmarks", "target", "performance"));
	}

	static Options quick() {
		Options full = full();
		Pace pace = new Pace(Duration.ofSeconds(1), 4, full.pace().blockTurns(), full.pace().blockTime(),
				Duration.ofSeconds(2), Duration.ofMillis(100), true);
		return full.sizes(List.of(10, 1_000, 10_000)).pace(pace);
	}

	/**
	 * Parses the options of a command line.
	 * @param arguments the command line
	 * @return the options
	 * @throws IllegalArgumentException if it has an unknown option; the message lists the
	 * known ones
	 */
	static Options parse(String... arguments) {
		Options options = Arrays.asList(arguments).contains("--quick") ? quick() : full();
		for (String argument : arguments) {
			if (!"--quick".equals(argument)) {
				options = options.with(argument);
			}
		}
		return options;
	}

	private Options with(String argument) {
		int split = argument.indexOf('=');
		String name = (split < 0) ? argument : argument.substring(0, split);
		String value = argument.substring(split + 1);
		try {
			return switch (name) {
				case "--output" -> output(Path.of(value));
				case "--parts" -> parts(parts(value));
				case "--sizes" -> sizes(Arrays.stream(value.split(",")).map(Integer::valueOf).sorted().toList());
				case "--rounds" -> rounds(Integer.parseInt(value));
				case "--turn-limit" -> turnLimit(Duration.ofSeconds(Long.parseLong(value)));
				case "--fsync" -> fsync(isOn(value));
				default -> throw new IllegalArgumentException("There is no option " + name + ".");
			};
		}
		catch (IllegalArgumentException ex) {
			throw new IllegalArgumentException(argument + " was not understood.\n" + USAGE, ex);
		}
	}

	private static Set<Part> parts(String value) {
		Set<Part> parts = EnumSet.noneOf(Part.class);
		for (String part : value.split(",")) {
			parts.add(Part.valueOf(part.toUpperCase(Locale.ROOT)));
		}
		return parts;
	}

	private static boolean isOn(String value) {
		if (!"on".equals(value) && !"off".equals(value)) {
			throw new IllegalArgumentException("on or off, not " + value);
		}
		return "on".equals(value);
	}

	private Options output(Path output) {
		return new Options(this.parts, this.sizes, this.levels, this.pace, this.fsync, output);
	}

	private Options parts(Set<Part> parts) {
		return new Options(parts, this.sizes, this.levels, this.pace, this.fsync, this.output);
	}

	private Options sizes(List<Integer> sizes) {
		return new Options(this.parts, sizes, this.levels, this.pace, this.fsync, this.output);
	}

	private Options fsync(boolean fsync) {
		return new Options(this.parts, this.sizes, this.levels, this.pace, fsync, this.output);
	}

	private Options pace(Pace pace) {
		return new Options(this.parts, this.sizes, this.levels, pace, this.fsync, this.output);
	}

	private Options rounds(int rounds) {
		return pace(new Pace(this.pace.warmUp(), rounds, this.pace.blockTurns(), this.pace.blockTime(),
				this.pace.turnLimit(), this.pace.throughputTime(), this.pace.quickMicro()));
	}

	Options turnLimit(Duration turnLimit) {
		return pace(new Pace(this.pace.warmUp(), this.pace.rounds(), this.pace.blockTurns(), this.pace.blockTime(),
				turnLimit, this.pace.throughputTime(), this.pace.quickMicro()));
	}

}
