package io.sessionkit.access;

import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.Set;

import io.sessionkit.SessionKey;
import org.jspecify.annotations.Nullable;

/**
 * Somebody on whose behalf the running code works: a user, or the server itself. Two
 * callers are equal if they have the same name and were granted the same.
 */
public final class Caller {

	private static final Caller SERVER = new Caller("", Set.of(), true);

	private final String name;

	private final Set<String> authorities;

	private final boolean anyOwner;

	private Caller(String name, Collection<String> authorities, boolean anyOwner) {
		this.name = name;
		this.authorities = Set.copyOf(authorities);
		this.anyOwner = anyOwner;
	}

	/**
	 * Creates a caller who reaches the sessions of one owner.
	 * @param name the name of the caller, under the rules of an owner
	 * @param authorities what the caller was granted
	 * @return the caller
	 * @throws io.sessionkit.InvalidSessionKeyException if no owner can have the name
	 */
	public static Caller of(String name, String... authorities) {
		return of(name, List.of(authorities), false);
	}

	/**
	 * Creates a caller.
	 * @param name the name of the caller, under the rules of an owner
	 * @param authorities what the caller was granted, such as the roles of Spring
	 * Security; a copy is taken
	 * @param anyOwner whether the caller may reach the sessions of all owners
	 * @return the caller
	 * @throws io.sessionkit.InvalidSessionKeyException if no owner can have the name
	 */
	public static Caller of(String name, Collection<String> authorities, boolean anyOwner) {
		SessionKey.checkOwner(name);
		return new Caller(name, authorities, anyOwner);
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

	/** Sessions without an owner have turns too, and these reach no others. */
	static Caller ownerOf(SessionKey key) {
		return new Caller(key.owner(), Set.of(), false);
	}

	/**
	 * Returns the name of the caller, which is the owner of the caller's sessions.
	 * @return the name; empty for the server, and in the turns of sessions without owner
	 */
	public String name() {
		return this.name;
	}

	/**
	 * Returns what the caller was granted, such as the roles of Spring Security.
	 * @return the authorities
	 */
	public Set<String> authorities() {
		return this.authorities;
	}

	/**
	 * Returns whether the caller may reach the sessions of all owners.
	 * @return true for the server, and for users who were granted it
	 */
	public boolean anyOwner() {
		return this.anyOwner;
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

	@Override
	public boolean equals(@Nullable Object other) {
		return other instanceof Caller caller && caller.name.equals(this.name)
				&& caller.authorities.equals(this.authorities) && caller.anyOwner == this.anyOwner;
	}

	@Override
	public int hashCode() {
		return Objects.hash(this.name, this.authorities, this.anyOwner);
	}

	/**
	 * Returns the caller without what was granted.
	 * @return the name, quoted
	 */
	@Override
	public String toString() {
		if (this.name.isEmpty()) {
			return this.anyOwner ? "the server" : "a caller without a name";
		}
		return "'" + this.name + "'";
	}

}
