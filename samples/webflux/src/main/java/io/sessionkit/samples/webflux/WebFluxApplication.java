package io.sessionkit.samples.webflux;

import io.sessionkit.stream.TurnContinuation;

import org.springframework.ai.chat.client.ChatClient;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.annotation.Bean;
import org.springframework.http.HttpMethod;
import org.springframework.security.config.Customizer;
import org.springframework.security.config.web.server.ServerHttpSecurity;
import org.springframework.security.core.userdetails.MapReactiveUserDetailsService;
import org.springframework.security.core.userdetails.User;
import org.springframework.security.web.server.SecurityWebFilterChain;

/**
 * Two users with threads of their own, one who decides, and one who operates it.
 */
@SpringBootApplication
public class WebFluxApplication {

	public static void main(String[] arguments) {
		SpringApplication.run(WebFluxApplication.class, arguments);
	}

	/** The call that continues a turn when somebody has decided. */
	@Bean
	TurnContinuation continuation(ChatClient.Builder builder, OrderTools tools) {
		ChatClient chat = builder.defaultTools(tools).build();
		return (turn) -> chat.prompt();
	}

	/** Passwords for a demo: everybody may read them here. */
	@Bean
	MapReactiveUserDetailsService users() {
		return new MapReactiveUserDetailsService(User.withUsername("ada").password("{noop}ada").roles("USER").build(),
				User.withUsername("bob").password("{noop}bob").roles("USER").build(),
				User.withUsername("eve").password("{noop}eve").roles("LEAD").build(),
				User.withUsername("olga").password("{noop}olga").roles("OPERATOR").build());
	}

	/**
	 * Each request says who sends it, so there is no cookie that another site could use.
	 * A browser would send a password that it has kept, too: what changes something takes
	 * JSON, which the form of another site cannot send.
	 */
	@Bean
	SecurityWebFilterChain security(ServerHttpSecurity http) {
		return http
			.authorizeExchange((exchange) -> exchange.pathMatchers(HttpMethod.OPTIONS)
				.denyAll()
				.pathMatchers("/actuator/health")
				.permitAll()
				.pathMatchers("/actuator/**")
				.hasRole("OPERATOR")
				.anyExchange()
				.authenticated())
			.httpBasic(Customizer.withDefaults())
			.csrf(ServerHttpSecurity.CsrfSpec::disable)
			.build();
	}

}
