package io.sessionkit.autoconfigure.access;

import org.springframework.security.core.Authentication;

/**
 * Names the owner of the sessions of each user of Spring Security, if that is not the
 * name with which the user signs in. A bean of this type counts for calls, streams and
 * work that is taken along to other threads; authorities stay as they are. It is asked
 * each time that sessions are reached, so it should be fast, and must be safe for use by
 * many threads.
 */
@FunctionalInterface
public interface PrincipalOwner {

	/**
	 * Returns the owner of the sessions of a user.
	 * @param user the user, who is signed in
	 * @return the owner, under the rules of {@link io.sessionkit.SessionKey}; another one
	 * for each user
	 */
	String owner(Authentication user);

}
