package io.sessionkit.samples.chat;

import io.sessionkit.CommitFailedException;
import io.sessionkit.InvalidSessionKeyException;
import io.sessionkit.SessionConflictException;
import io.sessionkit.SessionException;
import io.sessionkit.SessionNotFoundException;
import io.sessionkit.SessionPausedException;
import io.sessionkit.SessionRefusedException;
import io.sessionkit.TurnInProgressException;
import io.sessionkit.UnstorableMessageException;
import io.sessionkit.approval.DecisionRefusedException;
import io.sessionkit.approval.ResumeRefusedException;
import org.jspecify.annotations.Nullable;

import org.springframework.core.NestedExceptionUtils;
import org.springframework.http.HttpStatus;
import org.springframework.http.ProblemDetail;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.RestControllerAdvice;

/**
 * Turns exceptions into problems that a person can read.
 */
@RestControllerAdvice
final class Problems {

	@ExceptionHandler
	ProblemDetail session(SessionException ex) {
		return of(ex);
	}

	/**
	 * Returns the problem to show for an exception. Texts of SessionKit can be shown as
	 * they are, since they never quote messages. Only its texts about replies that could
	 * not be stored are meant for developers and are reworded for the page. Texts of a
	 * model provider may contain anything, so only the kind of exception is shown.
	 */
	static ProblemDetail of(Throwable ex) {
		if (ex instanceof SessionConflictException) {
			return problem(HttpStatus.CONFLICT, "CONFLICT",
					"Another window was faster, so this answer was not stored. Ask again to go on from there.");
		}
		if (ex instanceof SessionPausedException) {
			return problem(HttpStatus.CONFLICT, "WAITS",
					"A tool call of this thread waits for a decision. Approve or reject it first, then send your message.");
		}
		if (ex instanceof TurnInProgressException) {
			return problem(HttpStatus.CONFLICT, "RUNS",
					"Another window goes on with this turn at the moment. Its answer appears here when it is there.");
		}
		if (ex instanceof DecisionRefusedException refusal) {
			return of(refusal);
		}
		if (ex instanceof CommitFailedException) {
			return problem(HttpStatus.SERVICE_UNAVAILABLE, "UNSTORED",
					"The answer could not be stored, or the database did not say so. Reload the page to see what the thread holds.");
		}
		if (ex instanceof SessionException) {
			return problem(status(ex), (ex instanceof SessionRefusedException) ? "REFUSED" : "SESSION",
					ex.getMessage());
		}
		ProblemDetail problem = problem(HttpStatus.BAD_GATEWAY, "MODEL",
				"The model could not answer. Try again; if it goes on, the log of the application says why.");
		problem.setProperty("cause", NestedExceptionUtils.getMostSpecificCause(ex).getClass().getSimpleName());
		return problem;
	}

	/**
	 * @param kind what the page does about it depends on this
	 */
	private static ProblemDetail problem(HttpStatus status, String kind, @Nullable String detail) {
		ProblemDetail problem = ProblemDetail.forStatus(status);
		problem.setDetail(detail);
		problem.setProperty("kind", kind);
		return problem;
	}

	private static ProblemDetail of(DecisionRefusedException ex) {
		ProblemDetail problem = ProblemDetail.forStatusAndDetail(HttpStatus.CONFLICT, ex.getMessage());
		problem.setProperty("call", ex.status());
		problem.setProperty("decidedBy", ex.decidedBy());
		return problem;
	}

	private static HttpStatus status(Throwable ex) {
		if (ex instanceof InvalidSessionKeyException || ex instanceof UnstorableMessageException) {
			return HttpStatus.BAD_REQUEST;
		}
		if (ex instanceof ResumeRefusedException) {
			return HttpStatus.CONFLICT;
		}
		return (ex instanceof SessionNotFoundException) ? HttpStatus.NOT_FOUND : HttpStatus.SERVICE_UNAVAILABLE;
	}

}
