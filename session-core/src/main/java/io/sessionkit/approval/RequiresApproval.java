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
	 * Says which calls need consent: a SpEL expression on the arguments, each a variable
	 * of its name, as in {@code #amount > 100} or {@code #city.contains('Oakland')}. Only
	 * where it is false the call may run without consent. Consent is needed where the
	 * expression fails (logged once for each tool), where it is no boolean, where an
	 * argument that it names is missing or null, and where the arguments do not fit the
	 * tool's input schema or say something else than the tool gets.
	 * <p>
	 * It sees what the tool gets, as JSON: numbers, booleans, texts, lists and maps. So
	 * constants of an enum and dates are texts, and {@code #order.total} reads an
	 * object's property. It can call the methods of texts, lists and maps; it cannot name
	 * types, beans or functions. An expression that can never be evaluated is refused
	 * before the model is called.
	 * @return the expression; empty for all calls
	 */
	String condition() default "";

	/**
	 * What the person who decides is told.
	 * @return the text; empty for none
	 */
	String description() default "";

}
