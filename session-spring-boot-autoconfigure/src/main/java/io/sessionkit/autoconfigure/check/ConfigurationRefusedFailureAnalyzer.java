package io.sessionkit.autoconfigure.check;

import io.sessionkit.autoconfigure.ConfigurationRefusedException;

import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.core.annotation.Order;

/**
 * Reports a {@link ConfigurationRefusedException}. It runs before Spring Boot's
 * analyzers, which would report the binding exception around it.
 */
@Order(0)
final class ConfigurationRefusedFailureAnalyzer extends AbstractFailureAnalyzer<ConfigurationRefusedException> {

	@Override
	protected FailureAnalysis analyze(Throwable rootFailure, ConfigurationRefusedException cause) {
		return new FailureAnalysis(cause.description(), cause.action(), rootFailure);
	}

}
