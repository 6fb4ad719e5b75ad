package io.sessionkit.access;

import java.util.Set;

import io.sessionkit.SessionKey;

/**
 * Somebody on whose behalf the running code works: a user, or the server itself.
 *
 * @param name the name of the caller, which is the owner of the caller's sessions; empty
 * for none
 * @param authorities what the caller was granted, such as the roles of Spring Security
 * @param anyOwner whether the caller may reach the sessions of all owners
 */
public record Caller(String name, Set<String> authorities, boolean anyOwner) {

	private static final Caller SERVER = new Caller("", Set.of(), true);

	public Caller {
		if (!name.isEmpty()) {
			SessionKey.checkOwner(name);
		}
		authorities = Set.copyOf(authorities);
	}

	/**
	 * Creates a caller who reaches the sessions of one owner.
	 * @param name the name of the caller, under the rules of an owner
	 * @param authorities what the caller was granted
	 * @return the caller
	 * @throws io.sessionkit.InvalidSessionKeyException if no owner can have the name
	 */
	public static Caller of(String name, String... authorities) {
		SessionKey.checkOwner(name);
		return new Caller(name, Set.of(authorities), false);
	}

	/**
	 * Creates the caller of code that works for no user, such as a scheduled job. It
	 * reaches all sessions, names the owner of each in full, and decides in the name that
	 * its decisions say.
	 * @return the caller
	 */
	public static Caller server() {
		return SERVER;
	}

	/**
	 * Returns whether the caller may reach the sessions of an owner.
	 * @param owner the owner; empty for the sessions that have none
	 * @return true if they are the caller's own, or the caller reaches all
	 */
	public boolean reaches(String owner) {
		return this.anyOwner || owner.equals(this.name);
	}

	/**
	 * Returns whether the caller was granted one of some authorities.
	 * @param wanted the authorities
	 * @return true if at least one of them was granted
	 */
	public boolean hasAny(Set<String> wanted) {
		return wanted.stream().anyMatch(this.authorities::contains);
	}

	/**
	 * Returns the caller without what was granted.
	 * @return the name, quoted
	 */
	@Override
	public String toString() {
		return this.name.isEmpty() ? "the server" : "'" + this.name + "'";
	}

}
