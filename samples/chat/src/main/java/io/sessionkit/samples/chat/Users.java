package io.sessionkit.samples.chat;

import java.io.IOException;
import java.util.EnumSet;
import java.util.List;

import jakarta.servlet.DispatcherType;
import jakarta.servlet.http.HttpServletResponse;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.boot.security.autoconfigure.web.servlet.SecurityFilterProperties;
import org.springframework.boot.web.servlet.DelegatingFilterProxyRegistrationBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Profile;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.http.ProblemDetail;
import org.springframework.security.authentication.AuthenticationManager;
import org.springframework.security.authentication.ProviderManager;
import org.springframework.security.authentication.dao.DaoAuthenticationProvider;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.config.annotation.web.configuration.EnableWebSecurity;
import org.springframework.security.config.annotation.web.configurers.RequestCacheConfigurer;
import org.springframework.security.core.context.SecurityContextHolder;
import org.springframework.security.core.userdetails.User;
import org.springframework.security.core.userdetails.UserDetails;
import org.springframework.security.provisioning.InMemoryUserDetailsManager;
import org.springframework.security.web.SecurityFilterChain;
import org.springframework.security.web.authentication.LoginUrlAuthenticationEntryPoint;
import org.springframework.security.web.authentication.logout.HttpStatusReturningLogoutSuccessHandler;
import org.springframework.security.web.context.AbstractSecurityWebApplicationInitializer;
import org.springframework.security.web.csrf.CsrfTokenRepository;
import org.springframework.security.web.csrf.HttpSessionCsrfTokenRepository;
import org.springframework.security.web.servlet.util.matcher.PathPatternRequestMatcher;
import org.springframework.security.web.util.matcher.AnyRequestMatcher;
import org.springframework.security.web.util.matcher.OrRequestMatcher;

/**
 * The users of the profile "users": two with threads of their own, and one who decides on
 * their calls. Without the profile nothing of Spring Security is there, and nobody signs
 * in.
 */
@Configuration(proxyBeanMethods = false)
@Profile("users")
@EnableWebSecurity
class Users {

	/** The role that decides, see {@code application-users.yml}. */
	static final String APPROVER = "APPROVER";

	static final List<String> NAMES = List.of("ada", "bob", "eve");

	private static final String LOGIN_PAGE = "/login.html";

	/** The resources that the login page needs. They hold no data of any user. */
	private static final String[] OPEN = { LOGIN_PAGE, "/js/**", "/webjars/**", "/*.css", "/*.svg", "/api/user",
			"/api/login" };

	/** Passwords for a demo: everybody may read them here. */
	@Bean
	AuthenticationManager authentication() {
		return new ProviderManager(new DaoAuthenticationProvider(
				new InMemoryUserDetailsManager(user("ada"), user("bob"), user("eve", APPROVER))));
	}

	private static UserDetails user(String name, String... roles) {
		return User.withUsername(name).password("{noop}" + name).roles(roles).build();
	}

	@Bean
	CsrfTokenRepository csrfTokens() {
		return new HttpSessionCsrfTokenRepository();
	}

	/** Boot's own configuration would do this; it is left out for those without users. */
	@Bean
	DelegatingFilterProxyRegistrationBean securityFilter() {
		DelegatingFilterProxyRegistrationBean filter = new DelegatingFilterProxyRegistrationBean(
				AbstractSecurityWebApplicationInitializer.DEFAULT_FILTER_NAME);
		filter.setOrder(SecurityFilterProperties.DEFAULT_FILTER_ORDER);
		filter.setDispatcherTypes(EnumSet.allOf(DispatcherType.class));
		return filter;
	}

	/**
	 * Everything that is not named needs a user, so that a new endpoint does too. What
	 * was begun for one is ended for them.
	 */
	@Bean
	SecurityFilterChain security(HttpSecurity http, CsrfTokenRepository csrfTokens, JsonMapper json) {
		PathPatternRequestMatcher.Builder paths = PathPatternRequestMatcher.withDefaults();
		return http
			.authorizeHttpRequests(
					(requests) -> requests.dispatcherTypeMatchers(DispatcherType.ASYNC, DispatcherType.ERROR)
						.permitAll()
						.requestMatchers(OPEN)
						.permitAll()
						.anyRequest()
						.authenticated())
			.csrf((csrf) -> csrf.csrfTokenRepository(csrfTokens))
			.requestCache(RequestCacheConfigurer::disable)
			.logout((logout) -> logout.logoutUrl("/api/logout")
				.logoutSuccessHandler(new HttpStatusReturningLogoutSuccessHandler(HttpStatus.NO_CONTENT)))
			.exceptionHandling((refused) -> refused
				.defaultAuthenticationEntryPointFor(new LoginUrlAuthenticationEntryPoint(LOGIN_PAGE),
						new OrRequestMatcher(paths.matcher("/"), paths.matcher("/index.html")))
				.defaultAuthenticationEntryPointFor((request, response, ex) -> signInFirst(response, json),
						AnyRequestMatcher.INSTANCE)
				.accessDeniedHandler((request, response, ex) -> {
					if (SecurityContextHolder.getContext().getAuthentication() == null) {
						signInFirst(response, json);
					}
					else {
						refuse(response, json, HttpStatus.FORBIDDEN, "STALE",
								"This page was opened for another login. Reload it.");
					}
				}))
			.build();
	}

	private static void signInFirst(HttpServletResponse response, JsonMapper json) throws IOException {
		refuse(response, json, HttpStatus.UNAUTHORIZED, "SIGNED_OUT", "Sign in first.");
	}

	private static void refuse(HttpServletResponse response, JsonMapper json, HttpStatus status, String kind,
			String detail) throws IOException {
		ProblemDetail problem = ProblemDetail.forStatusAndDetail(status, detail);
		problem.setProperty("kind", kind);
		response.setStatus(status.value());
		response.setContentType(MediaType.APPLICATION_PROBLEM_JSON_VALUE);
		json.writeValue(response.getOutputStream(), problem);
	}

}
