package io.sessionkit.store.redis;

import org.springframework.dao.TransientDataAccessResourceException;

/**
 * Thrown if the text that arrived is not the whole answer to the request. The script may
 * have run.
 */
final class BrokenAnswerException extends TransientDataAccessResourceException {

	BrokenAnswerException(String why) {
		super("The answer of a script is not whole: " + why + ".");
	}

	BrokenAnswerException(RuntimeException cause) {
		super("The driver could not read the answer of a script.", cause);
	}

}
