package io.sessionkit.autoconfigure.web;

import io.sessionkit.SessionException;
import reactor.core.publisher.Mono;

import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;
import org.springframework.http.ProblemDetail;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.RestControllerAdvice;
import org.springframework.web.server.ServerWebExchange;

/**
 * Answers requests that end in an exception of SessionKit with a {@link ProblemDetail},
 * in reactive applications. An advice of the application comes first.
 */
@RestControllerAdvice
@Order(Ordered.LOWEST_PRECEDENCE)
final class ReactiveProblemAdvice {

	private final UnknownUsers unknownUsers = new UnknownUsers();

	/**
	 * Answers a request, unless a part of its answer has been sent: nothing can be added
	 * to a stream that has failed after its first element.
	 */
	@ExceptionHandler
	Mono<ResponseEntity<ProblemDetail>> answer(SessionException ex, ServerWebExchange exchange) {
		if (exchange.getResponse().isCommitted()) {
			return Mono.error(ex);
		}
		return exchange.getPrincipal().hasElement().map((signedIn) -> {
			this.unknownUsers.endedWith(ex, signedIn);
			return SessionProblemAdvice.answerTo(ex);
		});
	}

}
