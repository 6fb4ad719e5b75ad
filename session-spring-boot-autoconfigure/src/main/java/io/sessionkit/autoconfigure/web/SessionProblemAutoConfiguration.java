package io.sessionkit.autoconfigure.web;

import io.sessionkit.autoconfigure.check.ConditionalOnSwitch;

import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication.Type;
import org.springframework.context.annotation.Bean;
import org.springframework.http.ProblemDetail;
import org.springframework.web.bind.annotation.RestControllerAdvice;

/**
 * Answers HTTP requests that end in an exception of SessionKit with a
 * {@link ProblemDetail}, if {@code sessionkit.problem-details} is on.
 */
@AutoConfiguration
@ConditionalOnWebApplication
@ConditionalOnClass({ ProblemDetail.class, RestControllerAdvice.class })
@ConditionalOnSwitch(value = "sessionkit.problem-details", byDefault = false)
public final class SessionProblemAutoConfiguration {

	@Bean("sessionKitProblemAdvice")
	@ConditionalOnWebApplication(type = Type.SERVLET)
	SessionProblemAdvice servletProblemAdvice() {
		return new SessionProblemAdvice();
	}

	@Bean("sessionKitProblemAdvice")
	@ConditionalOnWebApplication(type = Type.REACTIVE)
	ReactiveProblemAdvice reactiveProblemAdvice() {
		return new ReactiveProblemAdvice();
	}

}
