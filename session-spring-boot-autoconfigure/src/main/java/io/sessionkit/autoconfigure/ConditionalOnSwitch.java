package io.sessionkit.autoconfigure;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

import org.springframework.context.annotation.Conditional;

/**
 * Matches unless a switch is off. Fails the start if it is neither on nor off, which
 * Spring Boot's conditions would take for off, and if a property is misspelt.
 */
@Target({ ElementType.TYPE, ElementType.METHOD })
@Retention(RetentionPolicy.RUNTIME)
@Conditional(OnSwitchCondition.class)
@interface ConditionalOnSwitch {

	/**
	 * The name of the property.
	 * @return the name
	 */
	String value();

}
