package io.sessionkit.autoconfigure.store;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

import org.jspecify.annotations.Nullable;

import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/**
 * Reports a database driver that is missing from the classpath, which the connection pool
 * mentions in the middle of a stack trace only. Only the class name is taken from the
 * pool's message, since a URL in it may contain a password.
 */
final class MissingDriverFailureAnalyzer extends AbstractFailureAnalyzer<RuntimeException> {

	private static final Pattern MISSING = Pattern
		.compile("(?:Failed to load|Cannot load) driver class:? ([\\w.$]+).*|Failed to get driver instance .*");

	@Override
	protected @Nullable FailureAnalysis analyze(Throwable rootFailure, RuntimeException cause) {
		for (Throwable each = rootFailure; each != null; each = each.getCause()) {
			Matcher missing = MISSING.matcher(String.valueOf(each.getMessage()));
			if (each instanceof RuntimeException && missing.matches()) {
				return analysis(missing.group(1), rootFailure);
			}
		}
		return null;
	}

	private static FailureAnalysis analysis(@Nullable String driver, Throwable failure) {
		String name = (driver != null) ? " (class " + driver + ")" : "";
		return new FailureAnalysis("The driver of a database" + name + " is not on the classpath.",
				"Add the driver's dependency, for PostgreSQL 'org.postgresql:postgresql' with scope 'runtime', or correct"
						+ " the URL and the driver of the DataSource: 'spring.datasource.url' and"
						+ " 'spring.datasource.driver-class-name', unless it has properties of its own.",
				failure);
	}

}
