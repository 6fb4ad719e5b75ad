package io.sessionkit.autoconfigure.web;

import io.sessionkit.SessionException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;
import org.springframework.http.HttpHeaders;
import org.springframework.http.MediaType;
import org.springframework.http.ProblemDetail;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.RestControllerAdvice;

/**
 * Answers requests that end in an exception of SessionKit with a {@link ProblemDetail},
 * in servlet applications. An advice of the application comes first.
 */
@RestControllerAdvice
@Order(Ordered.LOWEST_PRECEDENCE)
final class SessionProblemAdvice {

	private static final Log logger = LogFactory.getLog(SessionProblemAdvice.class);

	/** Seconds after which a request may be sent again. */
	private static final String SOON = "1";

	private final UnknownUsers unknownUsers = new UnknownUsers();

	/**
	 * Answers a request, unless a part of its answer has been sent: the problem would
	 * become the end of a stream that has failed, and its client would not notice.
	 */
	@ExceptionHandler
	ResponseEntity<ProblemDetail> answer(SessionException ex, HttpServletRequest request,
			HttpServletResponse response) {
		if (response.isCommitted()) {
			throw ex;
		}
		this.unknownUsers.endedWith(ex, request.getUserPrincipal() != null);
		return answerTo(ex);
	}

	static ResponseEntity<ProblemDetail> answerTo(SessionException ex) {
		SessionProblem problem = SessionProblem.of(ex);
		if (problem.status().is5xxServerError()) {
			log(problem, ex);
		}
		ProblemDetail detail = problem.detail(ex);
		// a client that asked for a stream of events is to get no event
		ResponseEntity.BodyBuilder response = ResponseEntity.status(detail.getStatus())
			.contentType(MediaType.APPLICATION_PROBLEM_JSON);
		if (problem.isRepeatable()) {
			response.header(HttpHeaders.RETRY_AFTER, SOON);
		}
		return response.body(detail);
	}

	private static void log(SessionProblem problem, SessionException ex) {
		// without the causes: texts of drivers may quote what was to be stored
		String text = "A request has ended with " + problem.status() + ": " + ex;
		if (problem.isOfShutdown()) {
			// each deployment has some
			logger.warn(text);
		}
		else {
			logger.error(text);
		}
	}

}
