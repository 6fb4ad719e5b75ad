package io.sessionkit.samples.chat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

import javax.tools.DiagnosticCollector;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileObject;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;

import org.springframework.boot.SpringApplicationAotProcessor;
import org.springframework.context.aot.AbstractAotProcessor.Settings;

/**
 * The application as ahead-of-time processing leaves it, by the processor that the Maven
 * plugin of Spring Boot runs.
 */
final class ProcessedApplication {

	private final Path classes;

	private final Path resources;

	private ProcessedApplication(Path classes, Path resources) {
		this.classes = classes;
		this.resources = resources;
	}

	/**
	 * Processes the application.
	 * @param folder an empty folder for what comes out
	 * @param arguments those that are fixed by it
	 */
	static ProcessedApplication of(Path folder, String... arguments) throws IOException {
		Path sources = folder.resolve("sources");
		ProcessedApplication processed = new ProcessedApplication(folder.resolve("classes"),
				folder.resolve("resources"));
		Settings settings = Settings.builder()
			.sourceOutput(sources)
			.resourceOutput(processed.resources)
			.classOutput(processed.classes)
			.groupId("io.sessionkit")
			.artifactId("sample-chat")
			.build();
		synchronized (RunningChat.ONE_AT_A_TIME) {
			new SpringApplicationAotProcessor(ChatApplication.class, settings, arguments).process();
		}
		compile(sources, processed.classes);
		return processed;
	}

	private static void compile(Path sources, Path classes) throws IOException {
		List<Path> files;
		try (Stream<Path> all = Files.walk(sources)) {
			files = all.filter((file) -> file.toString().endsWith(".java")).toList();
		}
		JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
		DiagnosticCollector<JavaFileObject> problems = new DiagnosticCollector<>();
		try (StandardJavaFileManager manager = compiler.getStandardFileManager(null, null, null)) {
			List<String> options = List.of("-proc:none", "-d", classes.toString(), "-cp",
					System.getProperty("java.class.path"));
			boolean compiled = compiler
				.getTask(null, manager, problems, options, null, manager.getJavaFileObjectsFromPaths(files))
				.call();
			if (!compiled) {
				throw new AssertionError(new ArrayList<>(problems.getDiagnostics()));
			}
		}
	}

	ChatProcess start(Path output, String... arguments) throws IOException {
		return ChatProcess.start(output, List.of("-Dspring.aot.enabled=true"), List.of(this.classes, this.resources),
				arguments);
	}

}
