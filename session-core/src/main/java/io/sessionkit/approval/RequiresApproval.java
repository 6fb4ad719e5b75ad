package io.sessionkit.approval;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Calls of this tool need a person's consent. For methods with Spring AI's {@code @Tool}.
 */
@Target(ElementType.METHOD)
@Retention(RetentionPolicy.RUNTIME)
@Documented
public @interface RequiresApproval {

	/**
	 * Which calls: a SpEL expression on the arguments, each a variable of its name, as in
	 * {@code #amount > 100}. Only where it is false the call may run without consent.
	 * Consent is needed where it cannot be evaluated, where it is no boolean, and where
	 * an argument that it names is missing or null.
	 * @return the expression; empty for all calls
	 */
	String condition() default "";

	/**
	 * What the person who decides is told.
	 * @return the text; empty for none
	 */
	String description() default "";

}
