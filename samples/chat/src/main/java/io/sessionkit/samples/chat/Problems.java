package io.sessionkit.samples.chat;

import io.sessionkit.SessionConflictException;
import io.sessionkit.SessionException;
import io.sessionkit.TurnInProgressException;
import io.sessionkit.TurnOpenException;
import io.sessionkit.approval.ApprovalStatus;
import io.sessionkit.approval.DecisionRefusedException;
import io.sessionkit.store.ChangeRefusedException;
import io.sessionkit.stream.CallEvent;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.http.HttpStatus;
import org.springframework.http.ProblemDetail;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.RestControllerAdvice;

/**
 * Turns exceptions into problems that a person can read.
 */
@RestControllerAdvice
final class Problems {

	private static final Log logger = LogFactory.getLog(Problems.class);

	@ExceptionHandler
	ProblemDetail session(SessionException ex) {
		return of(ex);
	}

	/**
	 * Returns the problem to show for an exception with which a call has ended before its
	 * first event, when no model was asked. The texts are fixed, since those of
	 * exceptions are for developers: SessionKit's name owners, sessions and properties,
	 * and those of a model provider may contain anything.
	 */
	static ProblemDetail of(Throwable ex) {
		logger.debug("A request was refused or has failed.", ex);
		if (ex instanceof DecisionRefusedException refusal) {
			return of(refusal);
		}
		return (ex instanceof SessionException known) ? of(known.code()) : ofModel();
	}

	/**
	 * Returns the problem to show for a failure of which the events of a stream tell no
	 * more than the code.
	 */
	static ProblemDetail of(CallEvent.Failed event) {
		return of(event.code());
	}

	private static ProblemDetail ofApplication() {
		return problem(HttpStatus.INTERNAL_SERVER_ERROR, Kind.UNSTORED,
				"The application could not answer the request.");
	}

	/**
	 * Returns the problem of a turn that was not stored since its thread was deleted
	 * while it ran.
	 */
	static ProblemDetail deleted() {
		return problem(HttpStatus.GONE, Kind.DELETED,
				"This thread was deleted while the answer was written. It is not stored.");
	}

	/**
	 * Returns the problem of an exception whose code says it all.
	 */
	private static ProblemDetail of(String code) {
		return switch (code) {
			case "conflict" -> problem(HttpStatus.CONFLICT, Kind.CONFLICT,
					"Another window was faster. Ask again to go on from there.");
			case "session-lost" -> deleted();
			case "turn-open" -> problem(HttpStatus.CONFLICT, Kind.WAITS,
					"A turn of this thread is not finished. If a tool call of it waits for a decision, approve or reject it, let the turn go on, then send your message.");
			case "turn-in-progress" -> problem(HttpStatus.CONFLICT, Kind.RUNS,
					"Another window is being answered at the moment. Its answer appears here when it is there.");
			case "not-stored" -> problem(HttpStatus.SERVICE_UNAVAILABLE, Kind.UNSTORED,
					"The answer could not be stored, or the database did not say so. Reload the page to see what the thread holds.");
			case "change-refused" -> problem(HttpStatus.CONFLICT, Kind.REFUSED,
					"This cannot be asked now. If it takes the place of a turn, that may be deleted, or its effects are being taken back. Reload the page.");
			case "idempotency-key" ->
				problem(HttpStatus.CONFLICT, Kind.REPEATED, "This request was made before, and has no answer to give.");
			case "refused", "hook-failed" -> problem(HttpStatus.UNPROCESSABLE_CONTENT, Kind.REFUSED,
					"A rule of this chat refuses the message or its answer. The turn says why.");
			case "resume-refused" -> problem(HttpStatus.CONFLICT, Kind.REFUSED,
					"The turn cannot continue: its tools are not those that were approved.");
			case "nothing-waits" -> problem(HttpStatus.CONFLICT, Kind.REFUSED,
					"Nothing in this thread waits to be continued. It may have gone on already.");
			case "invalid-session-key" ->
				problem(HttpStatus.BAD_REQUEST, Kind.REFUSED, "The id of the thread is not a valid one.");
			case "caller-required" -> problem(HttpStatus.UNAUTHORIZED, Kind.REFUSED, "Sign in first.");
			case "caller-refused" ->
				problem(HttpStatus.FORBIDDEN, Kind.REFUSED, "Nobody with this name can have threads here.");
			case "decider-required" ->
				problem(HttpStatus.FORBIDDEN, Kind.REFUSED, "This tool call is decided by somebody else.");
			case "session-not-found" -> problem(HttpStatus.NOT_FOUND, Kind.REFUSED, "There is no such thread.");
			case "stream-not-found" -> problem(HttpStatus.NOT_FOUND, Kind.REFUSED,
					"There is no such answer, or it is not kept any more. Reload the page.");
			case "store-unavailable" -> problem(HttpStatus.SERVICE_UNAVAILABLE, Kind.UNSTORED,
					"The threads cannot be reached at the moment. Reload the page later to see what the thread holds.");
			case "unstorable-message" ->
				problem(HttpStatus.BAD_REQUEST, Kind.UNSTORED, "The message contains something that cannot be stored.");
			case "error", "unfinished-reply" -> ofModel();
			default -> ofApplication();
		};
	}

	private static ProblemDetail ofModel() {
		return problem(HttpStatus.BAD_GATEWAY, Kind.MODEL, "The model could not answer. Try again.");
	}

	/**
	 * Returns the problem of a call that ended without an answer and without an
	 * exception.
	 */
	static ProblemDetail noReply() {
		return problem(HttpStatus.BAD_GATEWAY, Kind.MODEL, "The model gave no answer. Try again.");
	}

	@ExceptionHandler
	ProblemDetail arguments(ArgumentsRefusedException ex) {
		ProblemDetail problem = problem(HttpStatus.CONFLICT, Kind.REFUSED, ex.getMessage());
		problem.setProperty("faults", ex.faults());
		problem.setProperty("callStatus", ex.status());
		return problem;
	}

	/**
	 * Returns the problem of a move in the thread, which asks nothing.
	 */
	static ProblemDetail ofMove(SessionException ex) {
		if (ex instanceof SessionConflictException) {
			return problem(HttpStatus.CONFLICT, Kind.CONFLICT, "Other windows kept writing here. Try again.");
		}
		if (ex instanceof TurnOpenException) {
			return problem(HttpStatus.CONFLICT, Kind.WAITS,
					"A tool call of this thread waits for a decision, which has to come first.");
		}
		if (ex instanceof TurnInProgressException) {
			return problem(HttpStatus.CONFLICT, Kind.RUNS,
					"Another window works on this thread at the moment. Try again when it is done.");
		}
		return (ex instanceof ChangeRefusedException refusal) ? ofMove(refusal) : of(ex);
	}

	private static ProblemDetail ofMove(ChangeRefusedException ex) {
		logger.debug("A move or a deletion was refused.", ex);
		return switch (ex.reason()) {
			case UNKNOWN_TURN, UNKNOWN_BRANCH ->
				problem(HttpStatus.NOT_FOUND, Kind.REFUSED, "There is no such turn or branch here. Reload the page.");
			case REWIND_UNFINISHED, EFFECTS_TAKEN_BACK -> problem(HttpStatus.CONFLICT, Kind.REFUSED,
					"Effects of these tools were taken back, or are being taken back. What was taken back cannot become history again:"
							+ " ask the question anew. What is being taken back stays until that has ended: go on with it, or reject what waits.");
			default -> problem(HttpStatus.CONFLICT, Kind.REFUSED,
					"There is no such turn on this branch, its name is taken, or it is the active one. Reload the page.");
		};
	}

	/**
	 * Returns the problem of a value that SessionKit refuses.
	 * @param detail what may be wrong, for a person
	 */
	static ProblemDetail wrongValue(IllegalArgumentException ex, String detail) {
		logger.debug("A value was refused.", ex);
		return problem(HttpStatus.BAD_REQUEST, Kind.REFUSED, detail);
	}

	private static ProblemDetail problem(HttpStatus status, Kind kind, @Nullable String detail) {
		ProblemDetail problem = ProblemDetail.forStatusAndDetail(status, detail);
		problem.setProperty("kind", kind);
		return problem;
	}

	private static ProblemDetail of(DecisionRefusedException ex) {
		ProblemDetail problem = problem(HttpStatus.CONFLICT, Kind.REFUSED, words(ex));
		problem.setProperty("callStatus", ex.status());
		problem.setProperty("decidedBy", ex.decidedBy());
		return problem;
	}

	private static String words(DecisionRefusedException ex) {
		ApprovalStatus status = ex.status();
		if (ex.reason() == DecisionRefusedException.Reason.ARGUMENTS) {
			return "The tool cannot run with these arguments. Change them, or reject the call.";
		}
		if (status == ApprovalStatus.EXPIRED) {
			return "Nobody has decided on this call in time, so it does not run.";
		}
		if (status != null && !status.isPending() && ex.decidedBy() != null) {
			return "This call was decided by " + ex.decidedBy() + " already.";
		}
		return "The decision does not count. Look at the tool call again.";
	}

	/** The kind of a problem, by which the page chooses what to offer. */
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
		/** The thread was deleted meanwhile. */
		DELETED,
		/** The model did not answer. */
		MODEL

	}

}
