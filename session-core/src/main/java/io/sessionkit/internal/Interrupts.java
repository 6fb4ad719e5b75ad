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

	/**
	 * Returns whether an interrupt has ended what this thread was doing: the exception or
	 * one of its causes says so, or the thread is interrupted still.
	 * @param thrown the exception, which this thread has caught
	 * @return true if it was interrupted
	 */
	public static boolean hasEnded(Throwable thrown) {
		boolean interrupted = Thread.currentThread().isInterrupted();
		for (Throwable cause = thrown; cause != null && !interrupted; cause = cause.getCause()) {
			interrupted = cause instanceof InterruptedException;
		}
		return interrupted;
	}

}
