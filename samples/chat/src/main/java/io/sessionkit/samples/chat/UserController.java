package io.sessionkit.samples.chat;

import jakarta.servlet.http.HttpServletRequest;
import org.jspecify.annotations.Nullable;

import org.springframework.security.web.csrf.CsrfToken;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

/**
 * Tells the page who is signed in, and what its requests have to carry.
 */
@RestController
final class UserController {

	@GetMapping("/api/user")
	UserView user(HttpServletRequest request) {
		CsrfToken token = Visitor.csrfToken(request);
		Visitor visitor = Visitor.of(request);
		return new UserView(visitor.name(), visitor.decides(),
				(token != null) ? new Csrf(token.getHeaderName(), token.getToken()) : null);
	}

	/**
	 * @param name the name of the user; null if nobody is signed in
	 * @param decides whether the user decides on tool calls
	 * @param csrf the header of requests that change something; null if there are no
	 * users
	 */
	record UserView(@Nullable String name, boolean decides, @Nullable Csrf csrf) {
	}

	record Csrf(String header, String token) {
	}

}
