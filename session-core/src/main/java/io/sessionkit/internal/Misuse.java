package io.sessionkit.internal;

/**
 * A use that cannot work where it was made, such as a call or what a hook returns.
 */
public final class Misuse extends IllegalStateException implements Told {

	public Misuse(String message) {
		super(message);
	}

}
