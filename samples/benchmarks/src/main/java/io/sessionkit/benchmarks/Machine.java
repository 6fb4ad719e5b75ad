package io.sessionkit.benchmarks;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Objects;
import java.util.Properties;

import com.sun.management.OperatingSystemMXBean;

/**
 * The machine and the software that were measured with.
 */
final class Machine {

	private static final Path CPU = Path.of("/proc/cpuinfo");

	/** The load that the command itself may have caused, as a share of the processors. */
	private static final double QUIET = 0.75;

	private Machine() {
	}

	static String describe() {
		OperatingSystemMXBean system = ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class);
		return String.format(Locale.ROOT, "%d cores%s, %.0f GB memory, %s %s (%s)", system.getAvailableProcessors(),
				cpu(), system.getTotalMemorySize() / 1e9, system.getName(), system.getVersion(), system.getArch());
	}

	/**
	 * Returns how busy the machine was before the run. The times of a busy machine are
	 * not reliable.
	 */
	static String load() {
		OperatingSystemMXBean system = ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class);
		double load = system.getSystemLoadAverage();
		boolean busy = load > system.getAvailableProcessors() * QUIET;
		return String.format(Locale.ROOT, "Load before the run: %.1f%s", load,
				busy ? ". **The machine was busy with other work: only what is counted can be relied on**" : "");
	}

	static String jvm() {
		return System.getProperty("java.vm.name") + " " + System.getProperty("java.runtime.version") + ", heap "
				+ (Runtime.getRuntime().maxMemory() >> 20) + " MB";
	}

	static String versions() {
		Properties versions = new Properties();
		try (InputStream file = Objects.requireNonNull(Machine.class.getResourceAsStream("/versions.properties"))) {
			versions.load(file);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		return "SessionKit " + versions.get("sessionkit") + ", Spring AI " + versions.get("spring-ai")
				+ ", spring-ai-model-chat-memory-repository-jdbc " + versions.get("chat-memory-jdbc")
				+ ", spring-ai-session-jdbc " + versions.get("spring-ai-session-jdbc") + ", H2 "
				+ org.h2.engine.Constants.VERSION + ", PostgreSQL driver "
				+ org.postgresql.util.DriverInfo.DRIVER_VERSION + ", JMH " + versions.get("jmh");
	}

	private static String cpu() {
		if (!Files.isReadable(CPU)) {
			return "";
		}
		try {
			return Files.readAllLines(CPU)
				.stream()
				.filter((line) -> line.startsWith("model name"))
				.findFirst()
				.map((line) -> " of " + line.substring(line.indexOf(':') + 1).trim())
				.orElse("");
		}
		catch (IOException ex) {
			return "";
		}
	}

}
