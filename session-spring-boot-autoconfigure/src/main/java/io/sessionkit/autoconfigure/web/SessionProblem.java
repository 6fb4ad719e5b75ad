package io.sessionkit.autoconfigure.web;

import java.net.URI;
import java.util.Arrays;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;

import io.sessionkit.IdempotencyKeyException;
import io.sessionkit.InvalidSessionKeyException;
import io.sessionkit.NestedTurnException;
import io.sessionkit.NothingWaitsException;
import io.sessionkit.SessionConflictException;
import io.sessionkit.SessionException;
import io.sessionkit.SessionLostException;
import io.sessionkit.SessionNotFoundException;
import io.sessionkit.ShuttingDownException;
import io.sessionkit.TurnHandedOverException;
import io.sessionkit.TurnInProgressException;
import io.sessionkit.TurnOpenException;
import io.sessionkit.access.CallerRefusedException;
import io.sessionkit.access.CallerRequiredException;
import io.sessionkit.advisor.SessionRequiredException;
import io.sessionkit.approval.DeciderRequiredException;
import io.sessionkit.approval.DecisionRefusedException;
import io.sessionkit.approval.ResumeRefusedException;
import io.sessionkit.approval.UnattendedToolException;
import io.sessionkit.approval.UnknownToolException;
import io.sessionkit.codec.UnreadablePayloadException;
import io.sessionkit.codec.UnstorableMessageException;
import io.sessionkit.codec.UnsupportedVersionException;
import io.sessionkit.context.InvalidSequenceException;
import io.sessionkit.context.UnfinishedReplyException;
import io.sessionkit.hook.HookFailedException;
import io.sessionkit.hook.SessionRefusedException;
import io.sessionkit.store.ChangeRefusedException;
import io.sessionkit.store.CommitFailedException;
import io.sessionkit.store.StoreUnavailableException;
import io.sessionkit.stream.StreamNotFoundException;
import org.jspecify.annotations.Nullable;

import org.springframework.http.HttpStatus;
import org.springframework.http.ProblemDetail;

/**
 * The problem that a client is told of for each exception of SessionKit. Its texts are
 * fixed: the message of an exception is for developers, and names owners and sessions.
 */
enum SessionProblem {

	INVALID_SESSION_KEY(InvalidSessionKeyException.class, HttpStatus.BAD_REQUEST,
			"The id of the session is not a valid one."),

	SESSION_REQUIRED(SessionRequiredException.class, HttpStatus.BAD_REQUEST, "The request names no session."),

	CALLER_REQUIRED(CallerRequiredException.class, HttpStatus.UNAUTHORIZED, "Sign in first."),

	CALLER_REFUSED(CallerRefusedException.class, HttpStatus.FORBIDDEN, "Nobody with this name can have sessions."),

	SESSION_NOT_FOUND(SessionNotFoundException.class, HttpStatus.NOT_FOUND, "There is no such session."),

	DECIDER_REQUIRED(DeciderRequiredException.class, HttpStatus.FORBIDDEN,
			"This tool call is decided by somebody else."),

	STREAM_NOT_FOUND(StreamNotFoundException.class, HttpStatus.NOT_FOUND,
			"There is no stream with such an event, or it is not kept any more. Read the session."),

	SESSION_LOST(SessionLostException.class, HttpStatus.GONE,
			"The session does not have what was there before. It was erased, or it has expired. Nothing was stored."),

	CONFLICT(SessionConflictException.class, HttpStatus.CONFLICT,
			"Another request has changed the session. Read it, then ask again, without a message if a turn is open."),

	TURN_IN_PROGRESS(TurnInProgressException.class, HttpStatus.CONFLICT,
			"Another request is working on the session. When it is done, read the session: a message may be there. Ask again only if it is not, and without a message if a turn is open."),

	TURN_OPEN(TurnOpenException.class, HttpStatus.CONFLICT,
			"A turn of the session is not finished. If another request is working on it, wait and read the session. Otherwise decide its tool calls, if any wait, and continue it without a message."),

	NOTHING_WAITS(NothingWaitsException.class, HttpStatus.CONFLICT,
			"Nothing in the session waits to be continued. It may have gone on already."),

	CHANGE_REFUSED(ChangeRefusedException.class, HttpStatus.CONFLICT,
			"The session does not allow this as it is now. Read it, then choose again."),

	DECISION_REFUSED(DecisionRefusedException.class, HttpStatus.CONFLICT,
			"The decision does not count. Look at the tool call again."),

	RESUME_REFUSED(ResumeRefusedException.class, HttpStatus.CONFLICT,
			"The turn cannot continue: its tools are not those that were approved. A message of this request is kept in it, so do not send that again."),

	IDEMPOTENCY_KEY(IdempotencyKeyException.class, HttpStatus.UNPROCESSABLE_CONTENT,
			"The idempotency key of this request belongs to an earlier one that asked something else, or that has no answer. Use a new key."),

	REFUSED(SessionRefusedException.class, HttpStatus.UNPROCESSABLE_CONTENT,
			"A rule of this application refuses the message or its answer. If a turn is open, the message may be kept in it: continue or cancel that turn first."),

	UNSTORABLE_MESSAGE(UnstorableMessageException.class, HttpStatus.UNPROCESSABLE_CONTENT,
			"The message contains something that cannot be stored."),

	UNFINISHED_REPLY(UnfinishedReplyException.class, HttpStatus.BAD_GATEWAY,
			"The answer has broken off. Read the session, then ask again, without a message if a turn is open."),

	STORE_UNAVAILABLE(StoreUnavailableException.class, HttpStatus.SERVICE_UNAVAILABLE,
			"The sessions cannot be reached or changed at the moment. Later, read the session: a message may be there. Ask again only if it is not, and without a message if a turn is open."),

	SHUTTING_DOWN(ShuttingDownException.class, HttpStatus.SERVICE_UNAVAILABLE,
			"The server shuts down. Send the request again."),

	HANDED_OVER(TurnHandedOverException.class, HttpStatus.SERVICE_UNAVAILABLE,
			"The server shuts down, and the turn is not finished. Ask to continue it, without a new message."),

	NOT_STORED(CommitFailedException.class, HttpStatus.SERVICE_UNAVAILABLE,
			"The end of the turn, and with it the answer, may not be stored. Read the session, then ask again, without a message if a turn is open."),

	HOOK_FAILED(HookFailedException.class),

	INVALID_SEQUENCE(InvalidSequenceException.class),

	NESTED_TURN(NestedTurnException.class),

	UNATTENDED_TOOL(UnattendedToolException.class),

	UNKNOWN_TOOL(UnknownToolException.class),

	UNREADABLE_PAYLOAD(UnreadablePayloadException.class),

	UNSUPPORTED_VERSION(UnsupportedVersionException.class),

	SESSION_ERROR(SessionException.class);

	private static final Map<Class<?>, SessionProblem> BY_TYPE = Arrays.stream(values())
		.collect(Collectors.toUnmodifiableMap(SessionProblem::type, (problem) -> problem));

	/**
	 * The detail of {@link #NOT_STORED} if the store has said that it refuses the turn.
	 */
	private static final String UNWRITTEN = "The end of the turn, and with it the answer, is not stored. Ask again, without a message if a turn is open.";

	/** The detail of {@link #CHANGE_REFUSED} if there is no such turn or branch. */
	private static final String UNKNOWN = "The session has no such turn or branch. Read it, then choose again.";

	private final Class<? extends SessionException> type;

	private final HttpStatus status;

	private final String detail;

	SessionProblem(Class<? extends SessionException> type) {
		this(type, HttpStatus.INTERNAL_SERVER_ERROR, "The application could not answer the request.");
	}

	SessionProblem(Class<? extends SessionException> type, HttpStatus status, String detail) {
		this.type = type;
		this.status = status;
		this.detail = detail;
	}

	/**
	 * Returns the problem of an exception, or that of the nearest type above.
	 */
	static SessionProblem of(SessionException ex) {
		Class<?> type = ex.getClass();
		SessionProblem found = BY_TYPE.get(type);
		while (found == null) {
			type = type.getSuperclass();
			found = BY_TYPE.get(type);
		}
		return found;
	}

	Class<? extends SessionException> type() {
		return this.type;
	}

	/** Returns the status, unless the reason of an exception has another one. */
	HttpStatus status() {
		return this.status;
	}

	/**
	 * Returns whether the same request may be sent again in a moment: the call has not
	 * begun, or it is a rewind that goes on where it has stopped. After the other
	 * problems that pass, its message may be stored, and its tools may have run.
	 */
	boolean isRepeatable() {
		return this == SHUTTING_DOWN;
	}

	/**
	 * Returns whether nothing has failed: the process shuts down in order.
	 */
	boolean isOfShutdown() {
		return this == SHUTTING_DOWN || this == HANDED_OVER;
	}

	private static String lowerCase(Enum<?> constant) {
		return constant.name().toLowerCase(Locale.ROOT).replace('_', '-');
	}

	ProblemDetail detail(SessionException ex) {
		ProblemDetail problem = ProblemDetail.forStatusAndDetail(isOfUnknown(ex) ? HttpStatus.NOT_FOUND : this.status,
				text(ex));
		problem.setType(URI.create("urn:sessionkit:" + ex.code()));
		problem.setProperty("code", ex.code());
		put(problem, "messageKept", ex.isMessageKept() ? true : null);
		if (ex instanceof DecisionRefusedException refusal) {
			put(problem, "reason", lowerCase(refusal.reason()));
			put(problem, "callStatus", (refusal.status() != null) ? refusal.status().code() : null);
			put(problem, "decidedBy", refusal.decidedBy());
		}
		if (ex instanceof ChangeRefusedException refusal) {
			put(problem, "reason", lowerCase(refusal.reason()));
		}
		return problem;
	}

	private String text(SessionException ex) {
		boolean unwritten = ex instanceof CommitFailedException failure && failure.isUnwritten();
		return unwritten ? UNWRITTEN : isOfUnknown(ex) ? UNKNOWN : this.detail;
	}

	private static boolean isOfUnknown(SessionException ex) {
		return ex instanceof ChangeRefusedException refusal && refusal.reason().isUnknown();
	}

	private static void put(ProblemDetail problem, String name, @Nullable Object value) {
		if (value != null) {
			problem.setProperty(name, value);
		}
	}

}
