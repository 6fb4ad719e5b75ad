package io.sessionkit.autoconfigure;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

import org.springframework.context.annotation.Conditional;

/**
 * Matches unless a switch is off. If the switch is neither on nor off, which Spring
 * Boot's conditions would treat as off, or if a property is misspelt, the application
 * does not start.
 */
@Target({ ElementType.TYPE, ElementType.METHOD })
@Retention(RetentionPolicy.RUNTIME)
@Conditional(OnSwitchCondition.class)
@interface ConditionalOnSwitch {

	/**
	 * Returns the name of the property that is the switch.
	 * @return the name
	 */
	String value();

}
