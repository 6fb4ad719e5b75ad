package io.sessionkit.autoconfigure.advisor;

import io.sessionkit.autoconfigure.TitleProperties;
import io.sessionkit.autoconfigure.TitleSource;

import org.springframework.boot.autoconfigure.condition.ConditionMessage;
import org.springframework.boot.autoconfigure.condition.ConditionOutcome;
import org.springframework.boot.autoconfigure.condition.SpringBootCondition;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.context.annotation.ConditionContext;
import org.springframework.core.type.AnnotatedTypeMetadata;

/**
 * Matches if SessionKit makes the titles of sessions. It reads the property through the
 * binder, in any way of writing.
 */
final class OnTitlesCondition extends SpringBootCondition {

	@Override
	public ConditionOutcome getMatchOutcome(ConditionContext context, AnnotatedTypeMetadata metadata) {
		TitleSource by = Binder.get(context.getEnvironment())
			.bind(TitleProperties.BY, TitleSource.class)
			.orElse(TitleSource.NONE);
		return new ConditionOutcome(by != TitleSource.NONE,
				ConditionMessage.forCondition("titles").because(TitleProperties.BY + " is " + by));
	}

}
