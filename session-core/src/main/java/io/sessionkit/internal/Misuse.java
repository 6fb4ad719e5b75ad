package io.sessionkit.internal;

/**
 * A call that cannot work where it was made. Its message quotes no text of a session, so
 * it is told even where messages of exceptions are left out.
 */
public final class Misuse extends IllegalStateException {

	public Misuse(String message) {
		super(message);
	}

}
