package io.sessionkit.store.redis;

import io.sessionkit.store.StoreUnavailableException;

import org.springframework.dao.DataAccessResourceFailureException;

/**
 * Thrown if the factory of connections gives none, since it is stopped or not started
 * yet. Nothing was sent.
 */
final class NoConnectionException extends DataAccessResourceFailureException {

	private static final String MESSAGE = "The RedisConnectionFactory of the session store gave no connection: it is"
			+ " stopped, or not started yet. Nothing was read or written.";

	NoConnectionException(IllegalStateException cause) {
		super(MESSAGE, cause);
	}

	StoreUnavailableException translated(boolean write) {
		return write ? StoreUnavailableException.unwritten(MESSAGE, this)
				: new StoreUnavailableException(MESSAGE, this);
	}

}
