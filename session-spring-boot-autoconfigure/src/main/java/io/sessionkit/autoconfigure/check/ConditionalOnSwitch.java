package io.sessionkit.autoconfigure.check;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

import org.springframework.context.annotation.Conditional;

/**
 * Matches if a switch is on. If the switch is neither on nor off, which Spring Boot's
 * conditions would treat as off, or if a property is misspelt, the application does not
 * start.
 */
@Target({ ElementType.TYPE, ElementType.METHOD })
@Retention(RetentionPolicy.RUNTIME)
@Conditional(OnSwitchCondition.class)
public @interface ConditionalOnSwitch {

	/**
	 * Returns the name of the property that is the switch.
	 * @return the name
	 */
	String value();

	/**
	 * Returns whether the switch is on where the property is not set.
	 * @return true unless it says otherwise
	 */
	boolean byDefault() default true;

}
