package io.sessionkit.compensation;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Names the tool that takes the effect of another tool back. It is for methods with
 * Spring AI's {@code @Tool}.
 * <p>
 * The compensating tool is called with those arguments of the original call that it has a
 * parameter for. A parameter with the name {@value #RESULT} gets the result of the
 * original call.
 */
@Target(ElementType.METHOD)
@Retention(RetentionPolicy.RUNTIME)
@Documented
public @interface CompensatedBy {

	/**
	 * The value for a tool whose calls have no effect that has to be taken back, for
	 * example because it only reads.
	 */
	String NOTHING = "";

	/**
	 * The name of the parameter of a compensating tool that gets the result of the
	 * original call. A text is passed on as it is, without the quotes that it has as
	 * JSON.
	 */
	String RESULT = "result";

	/**
	 * Names the compensating tool.
	 * @return its name, or {@link #NOTHING}
	 */
	String value();

}
