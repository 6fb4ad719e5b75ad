package io.sessionkit.benchmarks;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

import io.sessionkit.benchmarks.Options.Part;

/**
 * Measures all contenders and writes the tables and the chart.
 */
public final class Benchmarks {

	private Benchmarks() {
	}

	/**
	 * Runs the benchmarks.
	 * @param arguments see {@link Options}
	 */
	public static void main(String[] arguments) {
		Options options;
		try {
			options = Options.parse(arguments);
		}
		catch (IllegalArgumentException ex) {
			System.err.println(ex.getMessage());
			System.exit(1);
			return;
		}
		String load = Machine.load();
		Results results = new Results();
		if (options.parts().contains(Part.MICRO)) {
			Microbenchmarks.run(options, results);
		}
		String server = "";
		if (options.parts().contains(Part.TURNS) || options.parts().contains(Part.THROUGHPUT)) {
			CannedChatModel model = new CannedChatModel();
			try (PostgresLab lab = PostgresLab.start(options.fsync())) {
				List<Contender> contenders = new ArrayList<>(Contenders.inProcess(model));
				List<Contender> onRedis = Contenders.onRedis(model);
				contenders.addAll(onRedis);
				server = lab + "; " + onRedis.get(0);
				contenders.addAll(Contenders.onPostgres(lab, model));
				measure(contenders, model, options, results);
			}
		}
		if (options.parts().contains(Part.SERVER) || options.parts().contains(Part.STEPS)) {
			try (PostgresLab lab = PostgresLab.quiet()) {
				server = server.isEmpty() ? lab.toString() : server;
				measureServers(lab, options, results);
			}
		}
		Progress.say("writing to " + options.output());
		new Report(results, options, server, String.join(" ", arguments), load).write();
		Progress.say("done");
	}

	/**
	 * Measures what plain turns and the steps of turns make servers do.
	 * @param lab a server on which nothing else happens
	 */
	static void measureServers(PostgresLab lab, Options options, Results results) {
		if (options.parts().contains(Part.SERVER)) {
			List<Contender> contenders = Contenders.onServers(lab, new CannedChatModel());
			contenders.forEach((contender) -> results.contender(contender.name(), contender.byHand()));
			new ServerRace(contenders, options).run(results);
			contenders.forEach(Contender::close);
		}
		if (options.parts().contains(Part.STEPS)) {
			try (StepServer redis = new RedisStepServer(); StepServer postgres = new PostgresStepServer(lab)) {
				for (StepServer server : List.of(redis, postgres)) {
					Progress.say("counting the steps of a turn on " + server.name());
					results.steps(server.name(), Steps.of(server));
				}
			}
		}
	}

	/**
	 * Measures these contenders and closes them.
	 */
	static void measure(List<Contender> contenders, CannedChatModel model, Options options, Results results) {
		contenders.forEach((contender) -> results.contender(contender.name(), contender.byHand()));
		if (options.parts().contains(Part.TURNS)) {
			TurnRace race = new TurnRace(contenders, model, options);
			race.run(results);
			race.count(results);
		}
		if (options.parts().contains(Part.THROUGHPUT)) {
			if (!options.parts().contains(Part.TURNS)) {
				WarmUp.run(contenders, options);
			}
			new Throughput(contenders, options).run(results);
		}
		List<Contender> last = new ArrayList<>(contenders);
		Collections.reverse(last);
		last.forEach(Contender::close);
	}

}
