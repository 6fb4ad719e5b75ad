package io.sessionkit.approval;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Marks a tool whose calls need a person's consent. It is for methods with Spring AI's
 * {@code @Tool}.
 */
@Target(ElementType.METHOD)
@Retention(RetentionPolicy.RUNTIME)
@Documented
public @interface RequiresApproval {

	/**
	 * Says which calls need consent. This is a SpEL expression on the arguments. Each
	 * argument is a variable of its name, as in {@code #amount > 100} or {@code
	 * #city.contains('Oakland')}. A call may run without consent only if the expression
	 * is false. Consent is also needed if the expression fails (logged once for each
	 * tool), if its value is not a boolean, if an argument that it names is missing or
	 * null, and if the arguments do not fit the tool's input schema or differ from what
	 * the tool gets.
	 * <p>
	 * The expression sees the arguments as the tool gets them, as JSON: numbers,
	 * booleans, texts, lists and maps. So enum constants and dates are texts, and {@code
	 * #order.total} reads a property of an object. The expression can call the methods of
	 * texts, lists and maps. It cannot name types, beans or functions. An expression that
	 * can never be evaluated is refused before the model is called.
	 * @return the expression; empty if all calls need consent
	 */
	String condition() default "";

	/**
	 * Describes the call to the person who decides.
	 * @return the text; empty for none
	 */
	String description() default "";

}
