package io.sessionkit.autoconfigure;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

import io.sessionkit.autoconfigure.StoreProperties.StoreType;

import org.springframework.context.annotation.Conditional;

/**
 * Matches if the application gets a store of this type. Fails the start if it cannot get
 * any.
 */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@Conditional(OnStoreTypeCondition.class)
@interface ConditionalOnStoreType {

	/**
	 * The type that is chosen or named.
	 * @return the type
	 */
	StoreType value();

}
