package io.sessionkit.samples.chat;

import io.sessionkit.IdempotencyKeyException;
import io.sessionkit.InvalidSessionKeyException;
import io.sessionkit.SessionConflictException;
import io.sessionkit.SessionException;
import io.sessionkit.SessionNotFoundException;
import io.sessionkit.SessionPausedException;
import io.sessionkit.StreamNotFoundException;
import io.sessionkit.TurnInProgressException;
import io.sessionkit.access.CallerRequiredException;
import io.sessionkit.approval.DeciderRequiredException;
import io.sessionkit.approval.DecisionRefusedException;
import io.sessionkit.approval.ResumeRefusedException;
import io.sessionkit.codec.UnstorableMessageException;
import io.sessionkit.hook.HookFailedException;
import io.sessionkit.hook.SessionRefusedException;
import io.sessionkit.stream.CallEvent;
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
		if (ex instanceof DecisionRefusedException refusal) {
			return of(refusal);
		}
		ProblemDetail reworded = reworded(ex.getClass().getSimpleName());
		if (reworded != null) {
			return reworded;
		}
		if (ex instanceof IdempotencyKeyException) {
			return problem(HttpStatus.CONFLICT, Kind.REPEATED, ex.getMessage());
		}
		if (ex instanceof SessionException) {
			return problem(status(ex), kind(ex), ex.getMessage());
		}
		return ofModel(NestedExceptionUtils.getMostSpecificCause(ex).getClass().getSimpleName());
	}

	/**
	 * Returns the problem to show for a failure of which the events of a stream tell no
	 * more than the class.
	 */
	static ProblemDetail of(CallEvent.Failed event) {
		String failure = event.failure();
		ProblemDetail reworded = reworded(failure);
		if (reworded != null) {
			return reworded;
		}
		return switch (failure) {
			case "IdempotencyKeyException" ->
				problem(HttpStatus.CONFLICT, Kind.REPEATED, "This request was made before, and has no answer to give.");
			case "SessionRefusedException", "HookFailedException", "ResumeRefusedException" ->
				problem(HttpStatus.CONFLICT, Kind.REFUSED, "A rule of this chat does not allow it. The turn says why.");
			case "StoreUnavailableException", "UnstorableMessageException" ->
				problem(HttpStatus.SERVICE_UNAVAILABLE, Kind.UNSTORED, "The store could not keep it. Try again.");
			default -> ofModel(failure);
		};
	}

	/**
	 * Returns the problem whose text SessionKit has written for developers; null for
	 * others.
	 */
	private static @Nullable ProblemDetail reworded(String failure) {
		return switch (failure) {
			case "SessionConflictException" -> problem(HttpStatus.CONFLICT, Kind.CONFLICT,
					"Another window was faster. Ask again to go on from there.");
			case "SessionPausedException" -> problem(HttpStatus.CONFLICT, Kind.WAITS,
					"A tool call of this thread waits for a decision. Approve or reject it first, then send your message.");
			case "TurnInProgressException" -> problem(HttpStatus.CONFLICT, Kind.RUNS,
					"Another window is being answered at the moment. Its answer appears here when it is there.");
			case "CommitFailedException" -> problem(HttpStatus.SERVICE_UNAVAILABLE, Kind.UNSTORED,
					"The answer could not be stored, or the database did not say so. Reload the page to see what the thread holds.");
			default -> null;
		};
	}

	private static ProblemDetail ofModel(String cause) {
		ProblemDetail problem = problem(HttpStatus.BAD_GATEWAY, Kind.MODEL, "The model could not answer. Try again.");
		problem.setProperty("cause", cause);
		return problem;
	}

	/**
	 * Returns the problem of a call that ended without an answer and without an
	 * exception.
	 */
	static ProblemDetail noReply() {
		ProblemDetail problem = problem(HttpStatus.BAD_GATEWAY, Kind.MODEL, "The model gave no answer. Try again.");
		problem.setProperty("cause", "no reply");
		return problem;
	}

	@ExceptionHandler
	ProblemDetail arguments(ArgumentsRefusedException ex) {
		ProblemDetail problem = problem(HttpStatus.CONFLICT, Kind.REFUSED, ex.getMessage());
		problem.setProperty("faults", ex.faults());
		problem.setProperty("call", ex.status());
		return problem;
	}

	/**
	 * Returns the problem of a move in the thread, which asks nothing.
	 */
	static ProblemDetail ofMove(SessionException ex) {
		if (ex instanceof SessionConflictException) {
			return problem(HttpStatus.CONFLICT, Kind.CONFLICT, "Other windows kept writing here. Try again.");
		}
		if (ex instanceof SessionPausedException) {
			return problem(HttpStatus.CONFLICT, Kind.WAITS,
					"A tool call of this thread waits for a decision. Approve or reject it first.");
		}
		if (ex instanceof TurnInProgressException) {
			return problem(HttpStatus.CONFLICT, Kind.RUNS,
					"Another window works on this thread at the moment. Try again when it is done.");
		}
		return of(ex);
	}

	/**
	 * Returns the problem of a value that SessionKit refuses. Its texts can be shown.
	 */
	static ProblemDetail wrongValue(IllegalArgumentException ex) {
		return problem(HttpStatus.BAD_REQUEST, Kind.REFUSED, ex.getMessage());
	}

	/**
	 * Returns the problem of turns that cannot become history again. The text can be
	 * shown.
	 */
	static ProblemDetail taken(IllegalStateException ex) {
		return problem(HttpStatus.CONFLICT, Kind.REFUSED, ex.getMessage());
	}

	private static ProblemDetail problem(HttpStatus status, Kind kind, @Nullable String detail) {
		ProblemDetail problem = ProblemDetail.forStatusAndDetail(status, detail);
		problem.setProperty("kind", kind);
		return problem;
	}

	private static Kind kind(Throwable ex) {
		return (ex instanceof SessionRefusedException || ex instanceof ResumeRefusedException
				|| ex instanceof InvalidSessionKeyException || ex instanceof SessionNotFoundException
				|| ex instanceof StreamNotFoundException || ex instanceof HookFailedException
				|| ex instanceof DeciderRequiredException) ? Kind.REFUSED : Kind.UNSTORED;
	}

	private static ProblemDetail of(DecisionRefusedException ex) {
		ProblemDetail problem = problem(HttpStatus.CONFLICT, Kind.REFUSED, ex.getMessage());
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
		if (ex instanceof DeciderRequiredException) {
			return HttpStatus.FORBIDDEN;
		}
		if (ex instanceof CallerRequiredException) {
			return HttpStatus.UNAUTHORIZED;
		}
		return (ex instanceof SessionNotFoundException || ex instanceof StreamNotFoundException) ? HttpStatus.NOT_FOUND
				: HttpStatus.SERVICE_UNAVAILABLE;
	}

	/** What went wrong, for the page to choose what it offers. */
	enum Kind {

		/** Another window was faster. */
		CONFLICT,
		/** A call waits for a person. */
		WAITS,
		/** Another window is being answered. */
		RUNS,
		/** The request was made before and has no answer to give. */
		REPEATED,
		/** A rule, a hook or a decision does not allow it. */
		REFUSED,
		/** The store could not keep it. */
		UNSTORED,
		/** The model did not answer. */
		MODEL

	}

}
