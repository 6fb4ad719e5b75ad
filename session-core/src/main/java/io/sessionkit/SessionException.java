package io.sessionkit;

import org.jspecify.annotations.Nullable;

/**
 * What SessionKit throws. The message names what was wrong and what to do, never the text
 * of a message or a secret.
 */
public abstract sealed class SessionException extends RuntimeException permits CommitFailedException,
		DecisionRefusedException, HookFailedException, InvalidSequenceException, InvalidSessionKeyException,
		NestedTurnException, ResumeRefusedException, SessionConflictException, SessionLostException,
		SessionNotFoundException, SessionPausedException, SessionRefusedException, StoreUnavailableException,
		TurnInProgressException, UnreadablePayloadException, UnstorableMessageException, UnsupportedVersionException {

	SessionException(String message, @Nullable Throwable cause) {
		super(message, cause);
	}

}
