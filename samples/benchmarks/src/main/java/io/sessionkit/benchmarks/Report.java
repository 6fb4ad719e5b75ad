package io.sessionkit.benchmarks;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

import org.jspecify.annotations.Nullable;

/**
 * Writes the measured part of a page, and the chart beside it. The text around that part
 * stays.
 */
final class Report {

	static final String START = "<!-- measured: written by samples/benchmarks -->";

	static final String END = "<!-- end of measured -->";

	private static final String PAGE = "performance.md";

	private static final String CHART = "performance.svg";

	private static final String COMMAND = "mvn -q -Pbenchmarks -pl samples/benchmarks -am spring-boot:run";

	private final Results results;

	private final Options options;

	private final String server;

	private final String arguments;

	private final String load;

	private final StringBuilder text = new StringBuilder();

	/**
	 * Creates a report.
	 * @param results the results of the measurement
	 * @param options the options of the run
	 * @param server the database server; empty for none
	 * @param arguments the arguments of the command line
	 * @param load how busy the machine was before the run
	 */
	Report(Results results, Options options, String server, String arguments, String load) {
		this.results = results;
		this.options = options;
		this.server = server;
		this.arguments = arguments;
		this.load = load;
	}

	/**
	 * Writes both files into the folder of the options.
	 */
	void write() {
		Path page = this.options.output().resolve(PAGE);
		try {
			Files.createDirectories(this.options.output());
			String before = Files.exists(page) ? Files.readString(page) : START + "\n" + END + "\n";
			Files.writeString(page, filled(before, measured()));
			Files.writeString(this.options.output().resolve(CHART), new Chart(this.results, this.options).svg());
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	static String filled(String page, String measured) {
		int start = page.indexOf(START);
		int end = page.indexOf(END);
		if (start < 0 || end < start) {
			throw new IllegalStateException(
					"The page " + PAGE + " must have a line '" + START + "' and below it a line '" + END + "'.");
		}
		return page.substring(0, start + START.length()) + "\n\n" + measured + "\n" + page.substring(end);
	}

	private String measured() {
		conditions();
		section("Budgets", new Budgets(this.results, this.options).table());
		this.text.append("![Time per turn](").append(CHART).append(")\n\n");
		section("Time per turn: median (p95), in µs", times());
		section("Beside SessionKit on PostgreSQL: median time ÷ its median at the same size", besideUs());
		section("Mean time per turn, in µs (turns measured; messages sent)", means());
		section("What the thread that calls allocates in a turn, in KB (1,024 bytes)", allocations());
		section("What one turn costs the store", costs());
		section("What one plain turn makes the server do", works());
		section("What the steps of a turn cost: round trips, and bytes appended to the server's log", steps());
		section("Turns per second, each caller on a thread of its own", throughputs());
		section("Space", space());
		section("Codec and in-memory path, in µs", micros());
		return this.text.toString().stripTrailing() + "\n";
	}

	private void conditions() {
		String run = this.arguments.isEmpty() ? "" : " -Dspring-boot.run.arguments=\"" + this.arguments + "\"";
		this.text.append("- Machine: ")
			.append(Machine.describe())
			.append("\n- ")
			.append(this.load)
			.append("\n- JVM: ")
			.append(Machine.jvm());
		if (!this.server.isEmpty()) {
			this.text.append("\n- Server, on the same machine: ").append(this.server);
		}
		this.text.append("\n- Versions: ")
			.append(Machine.versions())
			.append("\n- Command: `")
			.append(COMMAND)
			.append(run)
			.append("`\n- ")
			.append(this.options.pace().rounds())
			.append(" rounds of at most ")
			.append(this.options.pace().blockTurns())
			.append(" turns; messages of ")
			.append(Dialogue.LENGTH)
			.append(" characters\n\n");
	}

	private void section(String title, Table table) {
		if (!table.isEmpty()) {
			this.text.append("### ").append(title).append("\n\n").append(table).append('\n');
		}
	}

	private Table times() {
		List<String> columns = columns();
		columns.add(ratioOfSizes());
		columns.add("÷ by hand, largest");
		Table table = new Table(columns);
		for (String contender : this.results.contenders()) {
			List<String> row = row(contender,
					(time) -> Table.whole(time.median()) + " (" + Table.whole(time.p95()) + ")");
			row.add(Table.fine(median(contender, largest()) / median(contender, smallest())));
			row.add(Table.fine(besideByHand(contender)));
			addTo(table, contender, row);
		}
		return table;
	}

	private double besideByHand(String contender) {
		String byHand = this.results.byHand(contender);
		return (byHand != null) ? median(contender, largest()) / median(byHand, largest()) : Double.NaN;
	}

	private Table besideUs() {
		Table table = new Table(columns());
		for (String contender : this.results.contenders()) {
			if (!contender.equals(Contenders.POSTGRES)) {
				List<String> row = new ArrayList<>(List.of(contender));
				this.options.sizes()
					.forEach(
							(size) -> row.add(Table.fine(median(contender, size) / median(Contenders.POSTGRES, size))));
				addTo(table, contender, row);
			}
		}
		return table;
	}

	private Table means() {
		Table table = new Table(columns());
		for (String contender : this.results.contenders()) {
			addTo(table, contender, row(contender, (time) -> Table.whole(time.mean()) + " ("
					+ Table.whole(time.samples()) + "; " + Table.whole(time.sent()) + ")"));
		}
		return table;
	}

	private Table allocations() {
		Table table = new Table(columns());
		for (String contender : this.results.contenders()) {
			addTo(table, contender, row(contender, (time) -> Table.fine(time.allocated() / TurnTime.KB)));
		}
		return table;
	}

	private Table costs() {
		Table table = new Table("contender", "messages in the thread", "round trips", "rows inserted", "updated",
				"deleted", "bytes sent", "received");
		for (String contender : this.results.contenders()) {
			this.results.costs(contender)
				.forEach((size, cost) -> table.row(contender, Table.whole(size), Table.count(cost.roundTrips()),
						Table.count(cost.inserted()), Table.count(cost.updated()), Table.count(cost.deleted()),
						Table.whole(cost.sent()), Table.whole(cost.received())));
		}
		return table;
	}

	private Table works() {
		Table table = new Table("contender", "bytes appended to its log", "÷ by hand", "time in its commands, µs",
				"÷ by hand");
		for (String contender : this.results.contenders()) {
			ServerWork work = this.results.work(contender);
			if (!work.equals(ServerWork.UNKNOWN)) {
				table.row(contender, Table.whole(work.logBytes()), besideByHand(contender, ServerWork::logBytes),
						fine(work.micros()), besideByHand(contender, ServerWork::micros));
			}
		}
		return table;
	}

	private String besideByHand(String contender, Function<ServerWork, @Nullable Double> what) {
		String byHand = this.results.byHand(contender);
		Double ours = what.apply(this.results.work(contender));
		Double theirs = (byHand != null) ? what.apply(this.results.work(byHand)) : null;
		return fine((ours != null && theirs != null) ? ours / theirs : null);
	}

	private static String fine(@Nullable Double value) {
		return Table.fine((value != null) ? value : Double.NaN);
	}

	private Table steps() {
		Table table = new Table("store", "a pause, beyond the plain turn's 2", "a decision, in all",
				"continuing with one approved call, beyond 2", "a summary before a turn, beyond 2",
				"a tool round with durability=step", "bytes of such a round, rounds 3 to 10", "rounds 32 to 39");
		this.results.steps()
			.forEach((store, costs) -> table.row(store, Table.count(costs.pause()), Table.count(costs.decision()),
					Table.count(costs.resume()), Table.count(costs.summary()), Table.count(costs.round()),
					Table.whole(costs.earlyBytes()), Table.whole(costs.lateBytes())));
		return table;
	}

	private Table throughputs() {
		List<String> columns = new ArrayList<>(List.of("contender"));
		this.options.levels().forEach((callers) -> columns.add((callers == 1) ? "1 caller" : callers + " callers"));
		columns.add("÷ by hand, most callers");
		Table table = new Table(columns);
		int most = this.options.levels().get(this.options.levels().size() - 1);
		for (String contender : this.results.contenders()) {
			Map<Integer, Double> rates = this.results.throughputs(contender);
			if (!rates.isEmpty()) {
				List<String> row = new ArrayList<>(List.of(contender));
				this.options.levels().forEach((callers) -> row.add(Table.whole(rates.get(callers))));
				String byHand = this.results.byHand(contender);
				row.add((byHand != null) ? Table.fine(rate(contender, most) / rate(byHand, most)) : "");
				table.row(row);
			}
		}
		return table;
	}

	private double rate(String contender, int callers) {
		return this.results.throughputs(contender).getOrDefault(callers, Double.NaN);
	}

	private Table space() {
		Table table = new Table("contender", "bytes per stored message, indexes and headers included");
		for (String contender : this.results.contenders()) {
			Double bytes = this.results.bytesPerMessage(contender);
			if (bytes != null && !contender.endsWith(Contenders.NO_FLUSH)) {
				table.row(contender, Table.whole(bytes));
			}
		}
		return table;
	}

	private Table micros() {
		Table table = new Table("benchmark", "median", "p95");
		this.results.micros()
			.forEach((name, micro) -> table.row(name, Table.fine(micro.median()), Table.fine(micro.p95())));
		return table;
	}

	/** Chooses the part of a time to show. */
	private interface Shown {

		String of(TurnTime time);

	}

	private List<String> row(String contender, Shown shown) {
		List<String> row = new ArrayList<>(List.of(contender));
		for (int size : this.options.sizes()) {
			TurnTime time = this.results.times(contender).get(size);
			row.add((time != null) ? shown(time, shown) : "");
		}
		return row;
	}

	private static String shown(TurnTime time, Shown shown) {
		@Nullable String notRun = time.notRun();
		return (notRun != null) ? notRun : shown.of(time);
	}

	private void addTo(Table table, String contender, List<String> row) {
		if (!this.results.times(contender).isEmpty()) {
			table.row(row);
		}
	}

	private List<String> columns() {
		List<String> columns = new ArrayList<>(List.of("contender"));
		this.options.sizes().forEach((size) -> columns.add(Table.whole(size)));
		return columns;
	}

	private String ratioOfSizes() {
		return Table.whole(largest()) + " ÷ " + Table.whole(smallest());
	}

	private double median(String contender, int size) {
		return this.results.median(contender, size);
	}

	private int smallest() {
		return this.options.sizes().get(0);
	}

	private int largest() {
		return this.options.sizes().get(this.options.sizes().size() - 1);
	}

}
