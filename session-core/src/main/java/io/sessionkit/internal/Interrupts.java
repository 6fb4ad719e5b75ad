package io.sessionkit.internal;

/**
 * Keeps the interrupt of a thread where an exception goes no further. Code of an
 * application may throw an {@link InterruptedException} that it does not declare.
 */
public final class Interrupts {

	private Interrupts() {
	}

	/**
	 * Interrupts this thread again if the exception says that it was interrupted.
	 * @param thrown the exception, which this thread has caught
	 */
	public static void keep(Throwable thrown) {
		if (thrown instanceof InterruptedException) {
			Thread.currentThread().interrupt();
		}
	}

}
