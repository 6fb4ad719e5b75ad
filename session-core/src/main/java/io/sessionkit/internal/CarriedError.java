package io.sessionkit.internal;

import reactor.core.Exceptions;

/**
 * An exception that carries an error which Reactor does not pass on, but throws at
 * whatever thread it meets it on: a {@link LinkageError} or a
 * {@link VirtualMachineError}. Nobody sees it there, and the stream would run for ever.
 */
public final class CarriedError extends IllegalStateException {

	private static final long serialVersionUID = 1L;

	private CarriedError(Throwable error) {
		super("The call ended with " + error.getClass().getName()
				+ ", which a stream cannot pass on as it is. It is the cause of this exception.", error);
	}

	/**
	 * Returns what a stream can pass on: the given exception, or one that carries it.
	 */
	public static Throwable carrying(Throwable ex) {
		return Exceptions.isFatal(ex) ? new CarriedError(ex) : ex;
	}

	/**
	 * Returns the error that the given exception carries, or the exception itself.
	 */
	public static Throwable original(Throwable ex) {
		Throwable cause = ex.getCause();
		return (ex instanceof CarriedError && cause != null) ? cause : ex;
	}

	/**
	 * Rethrows an error as something that a stream can pass on.
	 */
	public static RuntimeException rethrow(Error ex) {
		if (carrying(ex) instanceof CarriedError carrier) {
			return carrier;
		}
		throw ex;
	}

}
