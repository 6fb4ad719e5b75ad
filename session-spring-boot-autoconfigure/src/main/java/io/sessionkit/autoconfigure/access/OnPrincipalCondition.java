package io.sessionkit.autoconfigure.access;

import io.sessionkit.autoconfigure.ConfigurationRefusedException;
import io.sessionkit.autoconfigure.OwnerSource;
import io.sessionkit.autoconfigure.SessionKitProperties;

import org.springframework.boot.autoconfigure.condition.ConditionMessage;
import org.springframework.boot.autoconfigure.condition.ConditionOutcome;
import org.springframework.boot.autoconfigure.condition.SpringBootCondition;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.context.annotation.ConditionContext;
import org.springframework.core.env.Environment;
import org.springframework.core.type.AnnotatedTypeMetadata;

/**
 * Matches unless the application says that sessions do not belong to the users of Spring
 * Security. A blank value says nothing, and is refused rather than guessed.
 */
final class OnPrincipalCondition extends SpringBootCondition {

	@Override
	public ConditionOutcome getMatchOutcome(ConditionContext context, AnnotatedTypeMetadata metadata) {
		Environment environment = context.getEnvironment();
		String written = Binder.get(environment).bind(SessionKitProperties.OWNER, String.class).orElse(null);
		if (written != null && written.isBlank()) {
			throw ConfigurationRefusedException.of(SessionKitProperties.OWNER, written,
					"Write principal or none, or leave it out.");
		}
		OwnerSource owner = Binder.get(environment)
			.bind(SessionKitProperties.OWNER, OwnerSource.class)
			.orElse(OwnerSource.PRINCIPAL);
		return new ConditionOutcome(owner == OwnerSource.PRINCIPAL,
				ConditionMessage.forCondition("owner").because(SessionKitProperties.OWNER + " is " + owner));
	}

}
