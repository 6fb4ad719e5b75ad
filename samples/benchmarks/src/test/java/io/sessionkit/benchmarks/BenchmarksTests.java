package io.sessionkit.benchmarks;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.Objects;

import io.sessionkit.benchmarks.Options.Part;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import org.springframework.ai.chat.messages.Message;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * The harness on tiny threads: what can be counted exactly is what it counts.
 */
class BenchmarksTests {

	private final CannedChatModel model = new CannedChatModel();

	private final Results results = new Results();

	@TempDir
	Path folder;

	@Test
	void countsTheCallsOfATurnAndSendsAFullWindow() {
		Benchmarks.measure(Contenders.inProcess(this.model), this.model, options(Part.TURNS), this.results);
		assertThat(this.results.costs(Contenders.IN_MEMORY).get(60)).isEqualTo(TurnCost.ofRoundTrips(0));
		assertThat(this.results.costs(Contenders.H2).get(60)).isEqualTo(TurnCost.ofRoundTrips(4));
		assertThat(this.results.costs(Contenders.H2_BY_HAND).get(60)).isEqualTo(TurnCost.ofRoundTrips(4));
		for (String contender : this.results.contenders()) {
			assertThat(this.results.times(contender)).containsOnlyKeys(10, 60).allSatisfy((size, time) -> {
				assertThat(time.sent()).as("%s at %d", contender, size).isEqualTo(Contenders.WINDOW_MESSAGES + 1);
				assertThat(time.samples()).isPositive();
				assertThat(time.median()).isPositive().isLessThanOrEqualTo(time.p95());
			});
		}
	}

	@Test
	void countsRoundTripsAndRowsOnPostgres() {
		try (PostgresLab lab = PostgresLab.start(false)) {
			assertThat(cost(Contenders.sessionKit(lab, true, this.model), 2, 1, 1, 0).received())
				.isLessThanOrEqualTo(600);
			assertThat(cost(Contenders.sessionKitInTwoProcesses(lab, this.model), 2, 1, 1, 0).received())
				.isBetween(2.0 * Dialogue.LENGTH, 2_000.0);
			for (TurnCost reading : List.of(cost(Contenders.forgetfulSessionKit(lab, this.model), 2, 1, 1, 0),
					cost(Contenders.chatMemory(lab, this.model), 9, 79, 0, 79))) {
				assertThat(reading.received()).isGreaterThan(Contenders.WINDOW_MESSAGES * Dialogue.LENGTH);
			}
		}
	}

	@Test
	void countsRoundTripsAndBytesOnRedis() {
		for (Contender contender : Contenders.onRedis(this.model)) {
			contender.preload("thread", 60);
			assertThat(contender.storedBytes().orElseThrow()).isGreaterThan(60 * Dialogue.LENGTH);
			TurnCost cost = contender.count("thread", 3);
			contender.close();
			assertThat(cost.roundTrips()).as(contender.name()).isEqualTo(2);
			if (contender.name().equals(Contenders.REDIS)) {
				assertThat(cost.received()).isLessThanOrEqualTo(500);
			}
			else if (contender.name().endsWith(Contenders.OTHER)) {
				assertThat(cost.received()).isBetween(2.0 * Dialogue.LENGTH, 2_000.0);
			}
			else {
				assertThat(cost.received()).isGreaterThan(Contenders.WINDOW_MESSAGES * Dialogue.LENGTH);
			}
			assertThat(cost.sent()).isPositive();
		}
	}

	@Test
	void asksTheServersWhatPlainTurnsMadeThemDo() {
		try (PostgresLab lab = PostgresLab.quiet()) {
			Benchmarks.measureServers(lab, options(Part.SERVER), this.results);
		}
		for (String contender : this.results.contenders()) {
			ServerWork work = this.results.work(contender);
			assertThat(work.logBytes()).as(contender).isBetween(2.0 * Dialogue.LENGTH, 10.0 * Dialogue.LENGTH);
			if (contender.contains("Redis")) {
				assertThat(work.micros()).as(contender).isPositive();
			}
		}
		for (String store : List.of(Contenders.POSTGRES + Contenders.NO_FLUSH,
				Contenders.POSTGRES + Contenders.NO_FLUSH + Contenders.OTHER,
				Contenders.POSTGRES + Contenders.NO_FLUSH + Contenders.UNKNOWN)) {
			assertThat(logBytes(store) / logBytes(Contenders.POSTGRES_BY_HAND + Contenders.NO_FLUSH)).as(store)
				.isBetween(1.0, 1.6);
		}
		new Report(this.results, options(Part.SERVER), "", "", "idle").write();
		assertThat(this.folder.resolve("performance.md")).content()
			.contains(
					"| bytes of write-ahead log per plain turn ÷ by hand | SessionKit PostgreSQL, no flush | ≤ 1.60 |",
					"| server time per plain turn ÷ by hand | SessionKit Redis | ≤ 0.70 |",
					"| server time per plain turn ÷ by hand | SessionKit Redis, another process wrote last | ≤ 1.30 |",
					"| by hand Redis |");
	}

	private double logBytes(String contender) {
		return Objects.requireNonNull(this.results.work(contender).logBytes());
	}

	@Test
	void countsWhatTheStepsOfATurnCost() {
		try (PostgresLab lab = PostgresLab.quiet()) {
			Benchmarks.measureServers(lab, options(Part.STEPS), this.results);
		}
		assertThat(this.results.steps()).containsOnlyKeys(Contenders.REDIS, Contenders.POSTGRES)
			.allSatisfy((store, costs) -> {
				assertThat(costs.pause()).as("pause on %s", store).isEqualTo(1);
				assertThat(costs.decision()).as("decision on %s", store).isEqualTo(2);
				assertThat(costs.resume()).as("continuing on %s", store).isEqualTo(4);
				assertThat(costs.summary()).as("summary on %s", store).isEqualTo(3);
				assertThat(costs.round()).as("round on %s", store).isEqualTo(3);
				assertThat(costs.earlyBytes()).as(store).isGreaterThan(Dialogue.LENGTH);
				assertThat(costs.lateBytes()).as(store).isGreaterThan(Dialogue.LENGTH);
			});
		new Report(this.results, options(Part.STEPS), "", "", "idle").write();
		assertThat(this.folder.resolve("performance.md")).content()
			.contains("| round trips of a decision | SessionKit PostgreSQL | ≤ 2 |",
					"| round trips of a tool round with durability=step | SessionKit Redis | ≤ 3 |");
	}

	private static TurnCost cost(Contender contender, double roundTrips, double inserted, double updated,
			double deleted) {
		contender.preload("thread", 60);
		TurnCost cost = contender.count("thread", 3);
		contender.close();
		assertThat(cost.roundTrips()).as(contender.name()).isEqualTo(roundTrips);
		assertThat(List.of(cost.inserted(), cost.updated(), cost.deleted())).as(contender.name())
			.containsExactly(inserted, updated, deleted);
		assertThat(cost.sent()).isPositive();
		return cost;
	}

	@Test
	void aContenderThatTakesTooLongIsNamedAndNotRun() {
		Contender slow = new MemoryContender("slow", new SlowThreads());
		Options none = options(Part.TURNS).turnLimit(Duration.ZERO);
		Benchmarks.measure(List.of(slow), this.model, none, this.results);
		assertThat(this.results.times("slow").get(60).notRun()).startsWith("not run: more than 0 s per turn");
		new Report(this.results, none, "", "", "idle").write();
		assertThat(this.folder.resolve("performance.md")).content().contains("| slow | not run: more than 0 s");
	}

	@Test
	void measuresManyCallersAtOnce() {
		Benchmarks.measure(Contenders.inProcess(this.model), this.model, options(Part.THROUGHPUT), this.results);
		for (String contender : this.results.contenders()) {
			assertThat(this.results.throughputs(contender)).containsOnlyKeys(1, 4)
				.allSatisfy((callers, rate) -> assertThat(rate).isPositive());
		}
	}

	@Test
	void writesTableAndChartAndKeepsWhatPeopleWrote() throws IOException {
		Options options = options(Part.TURNS);
		Path page = this.folder.resolve("performance.md");
		Files.writeString(page, "# Ours\n" + Report.START + "\nold\n" + Report.END + "\nmore of ours\n");
		Benchmarks.measure(Contenders.inProcess(this.model), this.model, options, this.results);
		new Report(this.results, options, "a server", "--quick", "idle").write();
		assertThat(page).content()
			.startsWith("# Ours\n" + Report.START)
			.endsWith(Report.END + "\nmore of ours\n")
			.contains("a server", "idle", "### Budgets", "| SessionKit H2 | 10 | 4 |")
			.doesNotContain("old");
		assertThat(this.folder.resolve("performance.svg")).content()
			.contains("prefers-color-scheme: dark", ">by hand H2</text>")
			.doesNotContain("NaN");
	}

	@Test
	void refusesAPageWithoutItsMarkers() {
		assertThatIllegalStateException().isThrownBy(() -> Report.filled("# Ours\n", "numbers"))
			.withMessageContaining(Report.START);
	}

	@Test
	void saysWhatCanBeAskedFor() {
		assertThatIllegalArgumentException().isThrownBy(() -> Options.parse("--size=10"))
			.withMessageContaining("--size=10")
			.withMessageContaining("--sizes=");
		assertThatIllegalArgumentException().isThrownBy(() -> Options.parse("--fsync=no"));
	}

	private Options options(Part part) {
		Options.Pace pace = new Options.Pace(Duration.ofMillis(50), 1, 5, Duration.ofMillis(50), Duration.ofSeconds(10),
				Duration.ofMillis(100), true);
		return new Options(EnumSet.of(part), List.of(10, 60), List.of(1, 4), pace, false, this.folder);
	}

	/** Takes longer than nothing. */
	private static final class SlowThreads implements Threads {

		@Override
		public void preload(String thread, int messages) {
			// has none
		}

		@Override
		public void turn(String thread, Message question) {
			// the limit of the test is 0
		}

	}

}
