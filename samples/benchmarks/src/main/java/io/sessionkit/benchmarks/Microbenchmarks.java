package io.sessionkit.benchmarks;

import java.util.Collection;
import java.util.TreeMap;

import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.runner.options.TimeValue;
import org.openjdk.jmh.runner.options.VerboseMode;
import org.openjdk.jmh.util.Statistics;

/**
 * Runs the JMH benchmarks, each in a process of its own.
 */
final class Microbenchmarks {

	/**
	 * The warm-up of a whole call, in seconds. It consists of many methods: on two cores
	 * the second compiler has finished them after ten seconds.
	 */
	private static final int WARM_UP_OF_A_CALL = 12;

	private Microbenchmarks() {
	}

	static void run(Options options, Results results) {
		Progress.say("microbenchmarks");
		run(CodecBenchmark.class, 5, options, results);
		run(InMemoryBenchmark.class, WARM_UP_OF_A_CALL, options, results);
	}

	private static void run(Class<?> benchmark, int warmUp, Options options, Results results) {
		TimeValue time = options.pace().quickMicro() ? TimeValue.milliseconds(300) : TimeValue.seconds(1);
		OptionsBuilder jmh = new OptionsBuilder();
		jmh.include(benchmark.getName())
			.forks(1)
			.warmupIterations(options.pace().quickMicro() ? 2 : warmUp)
			.warmupTime(time)
			.measurementIterations(options.pace().quickMicro() ? 2 : 3)
			.measurementTime(time)
			.verbosity(VerboseMode.SILENT);
		try {
			note(new Runner(jmh.build()).run(), results);
		}
		catch (RunnerException ex) {
			throw new IllegalStateException(ex);
		}
	}

	private static void note(Collection<RunResult> runs, Results results) {
		for (RunResult run : runs) {
			StringBuilder name = new StringBuilder(run.getPrimaryResult().getLabel());
			parameters(run).forEach((parameter, value) -> name.append(' ').append(value));
			Statistics calls = run.getPrimaryResult().getStatistics();
			results.micro(name.toString(), new Results.Micro(calls.getPercentile(50), calls.getPercentile(95)));
		}
	}

	private static TreeMap<String, String> parameters(RunResult run) {
		TreeMap<String, String> parameters = new TreeMap<>();
		run.getParams().getParamsKeys().forEach((key) -> parameters.put(key, run.getParams().getParam(key)));
		return parameters;
	}

}
