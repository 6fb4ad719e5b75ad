package io.sessionkit.samples.chat;

import java.util.List;

import jakarta.servlet.http.HttpServletRequest;
import org.jspecify.annotations.Nullable;

import org.springframework.security.web.csrf.CsrfToken;

/**
 * Somebody who has sent a request. Without the profile "users" it has no name, and
 * whoever it is may do everything.
 *
 * @param name the name of the user who is signed in; null for none
 * @param decides whether this one decides on tool calls
 */
record Visitor(@Nullable String name, boolean decides) {

	static Visitor of(HttpServletRequest request) {
		String name = request.getRemoteUser();
		boolean hasUsers = name != null || csrfToken(request) != null;
		return new Visitor(name, !hasUsers || request.isUserInRole(Users.APPROVER));
	}

	/**
	 * Returns the token that requests which change something have to carry.
	 * @return the token; null if there are no users
	 */
	static @Nullable CsrfToken csrfToken(HttpServletRequest request) {
		return (CsrfToken) request.getAttribute(CsrfToken.class.getName());
	}

	/**
	 * Returns the owners of the threads on whose calls this visitor decides: the visitor,
	 * and the other users of a team. An application asks its directory.
	 */
	List<String> decidesFor() {
		if (this.name == null) {
			return List.of("");
		}
		return this.decides ? Users.NAMES : List.of(this.name);
	}

	boolean is(String owner) {
		return owner.isEmpty() || owner.equals(this.name);
	}

}
