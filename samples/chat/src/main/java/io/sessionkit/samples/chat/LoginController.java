package io.sessionkit.samples.chat;

import java.util.List;

import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import org.jspecify.annotations.Nullable;

import org.springframework.context.annotation.Profile;
import org.springframework.http.HttpStatus;
import org.springframework.http.ProblemDetail;
import org.springframework.security.authentication.AuthenticationManager;
import org.springframework.security.authentication.UsernamePasswordAuthenticationToken;
import org.springframework.security.core.Authentication;
import org.springframework.security.core.AuthenticationException;
import org.springframework.security.core.context.SecurityContext;
import org.springframework.security.core.context.SecurityContextHolder;
import org.springframework.security.web.authentication.session.ChangeSessionIdAuthenticationStrategy;
import org.springframework.security.web.authentication.session.CompositeSessionAuthenticationStrategy;
import org.springframework.security.web.authentication.session.SessionAuthenticationStrategy;
import org.springframework.security.web.context.HttpSessionSecurityContextRepository;
import org.springframework.security.web.context.SecurityContextRepository;
import org.springframework.security.web.csrf.CsrfAuthenticationStrategy;
import org.springframework.security.web.csrf.CsrfTokenRepository;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.bind.annotation.RestController;

/**
 * Signs a user in, with JSON: a form of another site cannot send that. The session gets
 * another id and another token, so that nobody who knew the old ones is signed in too.
 */
@RestController
@Profile("users")
final class LoginController {

	private final AuthenticationManager authentication;

	private final SecurityContextRepository contexts = new HttpSessionSecurityContextRepository();

	private final SessionAuthenticationStrategy newSession;

	LoginController(AuthenticationManager authentication, CsrfTokenRepository csrfTokens) {
		this.authentication = authentication;
		this.newSession = new CompositeSessionAuthenticationStrategy(
				List.of(new ChangeSessionIdAuthenticationStrategy(), new CsrfAuthenticationStrategy(csrfTokens)));
	}

	@PostMapping("/api/login")
	@ResponseStatus(HttpStatus.NO_CONTENT)
	void login(@RequestBody Credentials credentials, HttpServletRequest request, HttpServletResponse response) {
		Authentication user = this.authentication.authenticate(credentials.token());
		this.newSession.onAuthentication(user, request, response);
		SecurityContext context = SecurityContextHolder.createEmptyContext();
		context.setAuthentication(user);
		SecurityContextHolder.setContext(context);
		this.contexts.saveContext(context, request, response);
	}

	@ExceptionHandler
	ProblemDetail refused(AuthenticationException ex) {
		return ProblemDetail.forStatusAndDetail(HttpStatus.UNAUTHORIZED,
				"There is no user with this name and password.");
	}

	record Credentials(@Nullable String name, @Nullable String password) {

		UsernamePasswordAuthenticationToken token() {
			return UsernamePasswordAuthenticationToken.unauthenticated(this.name, this.password);
		}

		/** Keeps the password out of logs. */
		@Override
		public String toString() {
			return "Credentials of " + this.name;
		}

	}

}
