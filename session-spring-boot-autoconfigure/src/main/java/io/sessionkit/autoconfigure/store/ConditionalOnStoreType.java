package io.sessionkit.autoconfigure.store;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

import io.sessionkit.autoconfigure.StoreProperties.StoreType;

import org.springframework.context.annotation.Conditional;

/**
 * Matches if the application gets a store of this type. If the application cannot get any
 * store, it does not start.
 */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@Conditional(OnStoreTypeCondition.class)
@interface ConditionalOnStoreType {

	/**
	 * Returns the store type that must be chosen or named.
	 * @return the type
	 */
	StoreType value();

}
