package io.sessionkit.conversation;

import java.io.File;
import java.io.IOException;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.sessionkit.SessionKey;
import io.sessionkit.advisor.SessionAdvisor;
import io.sessionkit.advisor.SessionAdvisorTests;
import io.sessionkit.store.SessionStore;
import io.sessionkit.test.ScriptedChatModel;

import org.springframework.ai.chat.client.ChatClient;

/**
 * The classes of the libraries as an {@link OtherProcess} loads them, read and checked
 * once for all of them. It is a file of the build, which the JVM ignores where it does
 * not fit.
 */
final class SharedClasses {

	private static final String JAVA = Path.of(System.getProperty("java.home"), "bin", "java").toString();

	private static final String COLLECTOR = "-XX:+UseSerialGC";

	private static final long PATIENCE_SECONDS = 120;

	private SharedClasses() {
	}

	/**
	 * Starts a command with the classes of this JVM, those in jars before the others: no
	 * file has what is in directories.
	 * @param main what it runs
	 */
	static List<String> command(Class<?> main) {
		return command(Archive.FILE.stream().map((file) -> "-XX:SharedArchiveFile=" + file).toList(), main);
	}

	private static List<String> command(List<String> options, Class<?> main) {
		List<String> command = new ArrayList<>(List.of(JAVA, "-XX:TieredStopAtLevel=1", COLLECTOR));
		command.addAll(options);
		command.addAll(List.of("-cp", paths(true) + File.pathSeparator + paths(false), main.getName()));
		return command;
	}

	private static String paths(boolean jars) {
		return Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator))
			.filter((path) -> path.endsWith(".jar") == jars)
			.collect(Collectors.joining(File.pathSeparator));
	}

	/**
	 * What is loaded is what a turn loads, on two servers.
	 * @param words both stores
	 */
	public static void main(String[] words) {
		int half = words.length / 2;
		List<String> both = List.of(words);
		Stream.of(both.subList(0, half), both.subList(half, words.length)).map(SharedStore::new).forEach((shared) -> {
			try (SharedStore.Connected connected = shared.connect()) {
				take(connected.store());
			}
		});
		System.exit(0);
	}

	private static void take(SessionStore store) {
		try (Conversations conversations = Conversations.of(store)) {
			ScriptedChatModel model = new ScriptedChatModel().calls(SessionAdvisorTests.call("c", "t", "x")).says("a");
			ChatClient.builder(model)
				.defaultAdvisors(SessionAdvisor.builder(conversations).approvals(Approvals.of(conversations)).build())
				.defaultTools(SessionAdvisorTests.echo("t"))
				.build()
				.prompt()
				.user("q")
				.advisors(SessionAdvisor.session(SessionKey.of("shared classes")))
				.call()
				.content();
		}
	}

	/** Made on first use, once in a JVM of the tests. */
	private static final class Archive {

		/** None in modules that start few processes, and where it cannot be made. */
		static final List<Path> FILE = isOfThisModule() ? made() : List.of();

		private static boolean isOfThisModule() {
			try {
				URI place = SharedClasses.class.getProtectionDomain().getCodeSource().getLocation().toURI();
				return Path.of(place).equals(Path.of("target", "test-classes").toAbsolutePath());
			}
			catch (URISyntaxException ex) {
				throw new IllegalStateException(ex);
			}
		}

		private static List<Path> made() {
			try {
				String name = Integer.toHexString((paths(true) + System.getProperty("java.vm.version")).hashCode());
				Path directory = Files.createDirectories(Path.of("target", "classes-of-processes")).toAbsolutePath();
				Path file = directory.resolve(name + ".jsa");
				if (!Files.exists(file)) {
					make(Files.createTempDirectory(directory, "new"), file);
				}
				return Files.exists(file) ? List.of(file) : List.of();
			}
			catch (InterruptedException ex) {
				throw new IllegalStateException(ex);
			}
			catch (IOException | RuntimeException ex) {
				return List.of();
			}
		}

		private static void make(Path directory, Path file) throws IOException, InterruptedException {
			Path loaded = directory.resolve("loaded");
			List<String> listing = command(List.of("-XX:DumpLoadedClassList=" + loaded), SharedClasses.class);
			listing.addAll(SharedStore.inPostgres().words());
			listing.addAll(SharedStore.inRedis().words());
			Path dumped = directory.resolve("dumped");
			List<String> dumping = List.of(JAVA, "-Xshare:dump", COLLECTOR, "-XX:SharedClassListFile=" + loaded,
					"-XX:SharedArchiveFile=" + dumped, "-cp", paths(true));
			if (succeeds(listing) && succeeds(dumping)) {
				Files.move(dumped, file, StandardCopyOption.ATOMIC_MOVE);
			}
		}

		private static boolean succeeds(List<String> command) throws IOException, InterruptedException {
			Process process = new ProcessBuilder(command).redirectErrorStream(true)
				.redirectOutput(ProcessBuilder.Redirect.DISCARD)
				.start();
			if (process.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
				return process.exitValue() == 0;
			}
			process.destroyForcibly();
			return false;
		}

	}

}
