package io.sessionkit.autoconfigure.store;

import io.sessionkit.autoconfigure.StoreProperties.StoreType;

import org.springframework.boot.autoconfigure.condition.ConditionMessage;
import org.springframework.boot.autoconfigure.condition.ConditionOutcome;
import org.springframework.boot.autoconfigure.condition.SpringBootCondition;
import org.springframework.context.annotation.ConditionContext;
import org.springframework.context.annotation.ConfigurationCondition;
import org.springframework.core.type.AnnotatedTypeMetadata;

/**
 * Compares the store type of {@link ConditionalOnStoreType} with the {@link StoreChoice}.
 */
final class OnStoreTypeCondition extends SpringBootCondition implements ConfigurationCondition {

	@Override
	public ConfigurationPhase getConfigurationPhase() {
		return ConfigurationPhase.REGISTER_BEAN;
	}

	@Override
	public ConditionOutcome getMatchOutcome(ConditionContext context, AnnotatedTypeMetadata metadata) {
		StoreType wanted = metadata.getAnnotations()
			.get(ConditionalOnStoreType.class)
			.getEnum("value", StoreType.class);
		StoreType chosen = StoreChoice.of(context).type();
		ConditionMessage.Builder message = ConditionMessage.forCondition(ConditionalOnStoreType.class, wanted);
		return new ConditionOutcome(chosen == wanted, message.because("the store is " + chosen));
	}

}
