package io.sessionkit;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.util.concurrent.TimeUnit;

/**
 * Limits the time that a run of a tool may take. It is for methods with Spring AI's
 * {@code @Tool}, in calls that pass the session advisor. A tool that takes longer is
 * interrupted, and the model is told that it was stopped and may have had its effect. The
 * time that the call waits for an approval does not count. A tool with a limit runs on a
 * thread of its own, so it takes no part in a transaction of the caller.
 * <p>
 * A limit that is configured for the name of the tool counts instead of this one, and
 * this one counts instead of the limit that is configured for all tools.
 */
@Target(ElementType.METHOD)
@Retention(RetentionPolicy.RUNTIME)
@Documented
public @interface ToolTimeout {

	/**
	 * Returns the limit. One that is not positive, or longer than a year, is refused: at
	 * start for the methods of beans, otherwise before the model is called.
	 * @return the number of units
	 */
	long value();

	/**
	 * Returns the unit of the limit.
	 * @return the unit; seconds unless it is set
	 */
	TimeUnit unit() default TimeUnit.SECONDS;

}
