package io.sessionkit.autoconfigure;

import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.core.annotation.Order;

/**
 * Reports a {@link ConfigurationRefusedException}. Comes before the analyzers of Spring
 * Boot, which would report the binding around it.
 */
@Order(0)
final class ConfigurationRefusedFailureAnalyzer extends AbstractFailureAnalyzer<ConfigurationRefusedException> {

	@Override
	protected FailureAnalysis analyze(Throwable rootFailure, ConfigurationRefusedException cause) {
		return new FailureAnalysis(cause.description(), cause.action(), rootFailure);
	}

}
