package io.sessionkit.test;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;

import io.sessionkit.store.SessionStoreContract;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.TestExecutionResult.Status;
import org.junit.platform.engine.support.descriptor.MethodSource;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.TestPlan;

/**
 * Puts the results of the store contract side by side, a column for each store, into
 * {@code target/store-contract.md}, and prints the sums.
 */
public final class ContractReport implements TestExecutionListener {

	private static final Path FILE = Path.of("target", "store-contract.md");

	private final Map<String, Map<String, String>> results = new ConcurrentHashMap<>();

	@Override
	public void executionFinished(TestIdentifier test, TestExecutionResult result) {
		String outcome = switch (result.getStatus()) {
			case SUCCESSFUL -> "passed";
			case ABORTED -> "not applicable";
			case FAILED -> "FAILED";
		};
		note(test, outcome, result.getStatus() == Status.FAILED);
	}

	@Override
	public void executionSkipped(TestIdentifier test, String reason) {
		note(test, "SKIPPED", true);
	}

	private void note(TestIdentifier test, String outcome, boolean bad) {
		test.getSource()
			.filter(MethodSource.class::isInstance)
			.map(MethodSource.class::cast)
			.filter((source) -> SessionStoreContract.class.isAssignableFrom(source.getJavaClass()))
			.filter((source) -> isOfContract(source))
			.ifPresent((source) -> this.results
				.computeIfAbsent(source.getMethodName(), (name) -> new ConcurrentHashMap<>())
				.merge(store(source.getJavaClass()), outcome, (one, other) -> bad ? other : one));
	}

	/**
	 * A store has tests of its own beside those of the contract.
	 */
	private static boolean isOfContract(MethodSource source) {
		return source.getJavaMethod().getDeclaringClass().isAssignableFrom(SessionStoreContract.class);
	}

	private static String store(Class<?> tests) {
		return tests.getSimpleName().replace("SessionStoreTests", "").replace("Tests", "");
	}

	@Override
	public void testPlanExecutionFinished(TestPlan plan) {
		if (!this.results.isEmpty()) {
			write();
		}
	}

	private void write() {
		List<String> stores = this.results.values()
			.stream()
			.flatMap((row) -> row.keySet().stream())
			.distinct()
			.sorted()
			.toList();
		List<String> lines = new ArrayList<>();
		lines.add("# The store contract");
		lines.add("");
		Map<String, Supplier<Object>> servers = Map.of("Postgres", PostgresServer::running, "MariaDb",
				MariaDbServer::running, "Redis", RedisServers::alone, "RedisCluster", RedisServers::cluster);
		for (String store : stores) {
			if (servers.containsKey(store)) {
				lines.add(store + ": " + servers.get(store).get() + ".");
				lines.add("");
			}
		}
		lines.add("| behaviour | " + String.join(" | ", stores) + " |");
		lines.add("|---|" + "---|".repeat(stores.size()));
		new TreeMap<>(this.results)
			.forEach((name,
					row) -> lines.add("| " + name + " | "
							+ String.join(" | ",
									stores.stream().map((store) -> row.getOrDefault(store, "NOT RUN")).toList())
							+ " |"));
		for (String store : stores) {
			Map<String, Long> sums = new TreeMap<>();
			this.results.values().forEach((row) -> sums.merge(row.getOrDefault(store, "NOT RUN"), 1L, Long::sum));
			System.out.println("Store contract on " + store + ": " + sums);
		}
		try {
			Files.createDirectories(FILE.getParent());
			Files.write(FILE, lines);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

}
