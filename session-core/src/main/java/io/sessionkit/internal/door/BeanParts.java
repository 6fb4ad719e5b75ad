package io.sessionkit.internal.door;

/**
 * Knows what the builder of an object was given. The auto-configuration refuses beans of
 * an application that would have no effect.
 */
@FunctionalInterface
public interface BeanParts {

	/**
	 * Returns whether the builder was given something: a hook, a policy or a resolver,
	 * for example.
	 */
	boolean has(Object part);

}
