package io.sessionkit.autoconfigure.check;

import io.sessionkit.autoconfigure.SessionKitProperties;

import org.springframework.boot.autoconfigure.condition.ConditionMessage;
import org.springframework.boot.autoconfigure.condition.ConditionOutcome;
import org.springframework.boot.autoconfigure.condition.SpringBootCondition;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.context.annotation.ConditionContext;
import org.springframework.core.annotation.MergedAnnotation;
import org.springframework.core.env.Environment;
import org.springframework.core.type.AnnotatedTypeMetadata;

/**
 * Reads the switch of {@link ConditionalOnSwitch} through the binder, so that {@code on}
 * and {@code yes} count as true.
 */
final class OnSwitchCondition extends SpringBootCondition {

	@Override
	public ConditionOutcome getMatchOutcome(ConditionContext context, AnnotatedTypeMetadata metadata) {
		MergedAnnotation<ConditionalOnSwitch> annotation = metadata.getAnnotations().get(ConditionalOnSwitch.class);
		String name = annotation.getString("value");
		Environment environment = context.getEnvironment();
		ConfigurationCheck.run(environment);
		boolean on = isOn(environment, name, annotation.getBoolean("byDefault"));
		if (on && SessionKitProperties.ENABLED.equals(name)) {
			SpringAiCheck.run(context.getClassLoader());
		}
		return new ConditionOutcome(on,
				ConditionMessage.forCondition(ConditionalOnSwitch.class, name).because(on ? "it is on" : "it is off"));
	}

	static boolean isOn(Environment environment, String name) {
		return isOn(environment, name, true);
	}

	private static boolean isOn(Environment environment, String name, boolean byDefault) {
		return Binder.get(environment).bind(name, Boolean.class).orElse(byDefault);
	}

}
