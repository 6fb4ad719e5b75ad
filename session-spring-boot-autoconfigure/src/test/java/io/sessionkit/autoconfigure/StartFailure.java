package io.sessionkit.autoconfigure;

import java.util.Objects;
import java.util.concurrent.atomic.AtomicReference;

import org.jspecify.annotations.Nullable;

import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.diagnostics.FailureAnalyzer;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.core.env.Environment;
import org.springframework.core.io.support.SpringFactoriesLoader;
import org.springframework.core.io.support.SpringFactoriesLoader.ArgumentResolver;
import org.springframework.core.io.support.SpringFactoriesLoader.FailureHandler;
import org.springframework.mock.env.MockEnvironment;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The text that a person reads when the application does not start: the first analysis
 * among those of all analyzers, as in a real start.
 */
public final class StartFailure {

	private StartFailure() {
	}

	public static FailureAnalysis analysis(ApplicationContextRunner runner) {
		AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
		runner.run((context) -> {
			assertThat(context).hasFailed();
			failure.set(context.getStartupFailure());
		});
		return analysis(Objects.requireNonNull(failure.get()));
	}

	private static FailureAnalysis analysis(Throwable failure) {
		ArgumentResolver arguments = ArgumentResolver.of(Environment.class, new MockEnvironment());
		return SpringFactoriesLoader.forDefaultResourceLocation()
			.load(FailureAnalyzer.class, arguments, FailureHandler.handleMessage((message, cause) -> {
			}))
			.stream()
			.map((analyzer) -> analyzer.analyze(failure))
			.filter(Objects::nonNull)
			.findFirst()
			.orElseThrow(() -> new AssertionError("no analysis", failure));
	}

}
