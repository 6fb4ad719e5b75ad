package io.sessionkit.test;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.util.Set;

import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.api.parallel.ResourceAccessMode;
import org.junit.jupiter.api.parallel.ResourceLock;
import org.junit.jupiter.api.parallel.ResourceLocksProvider;

/**
 * Runs the tests of a class, one after another as ever, while those of other classes run.
 * For classes that wait: for a lease to end, for a process to start, for a server. Such a
 * class writes under keys of its own, or on a server of its own; it changes nothing that
 * a whole JVM or a whole server has, and neither counts it nor reads its log. One that
 * does is {@link org.junit.jupiter.api.parallel.Isolated} instead.
 */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@Execution(ExecutionMode.CONCURRENT)
@ResourceLock(providers = BesideOthers.InTurn.class)
public @interface BesideOthers {

	/**
	 * A lock of the class, which keeps its tests on one thread.
	 */
	final class InTurn implements ResourceLocksProvider {

		@Override
		public Set<Lock> provideForClass(Class<?> testClass) {
			return Set.of(new Lock(testClass.getName(), ResourceAccessMode.READ_WRITE));
		}

	}

}
