package io.sessionkit.autoconfigure;

/**
 * The sources of the owner of a session that is named without one.
 */
public enum OwnerSource {

	/** The user of Spring Security. */
	PRINCIPAL,

	/** Sessions have no owner, unless a call names one. */
	NONE

}
