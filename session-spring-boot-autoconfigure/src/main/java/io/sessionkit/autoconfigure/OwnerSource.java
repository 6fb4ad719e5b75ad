package io.sessionkit.autoconfigure;

/**
 * Where the owner of a session comes from that is named without one.
 */
public enum OwnerSource {

	/** The user of Spring Security. */
	PRINCIPAL,

	/** Sessions have no owner, unless a call names one. */
	NONE

}
