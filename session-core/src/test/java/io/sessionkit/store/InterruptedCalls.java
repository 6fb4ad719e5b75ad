package io.sessionkit.store;

/**
 * The part of the contract about interrupted threads, for stores that do not run all of
 * it.
 */
public final class InterruptedCalls {

	private InterruptedCalls() {
	}

	/**
	 * Fails unless the store does what the contract says.
	 */
	public static void check(SessionStore store) throws Exception {
		InterruptContract contract = new InterruptContract() {

			@Override
			protected SessionStore store() {
				return store;
			}

			/** Some files are slow: each write waits for the disk. */
			@Override
			int interruptedWrites() {
				return 10;
			}

		};
		contract.interruptedThreadIsServedOrToldAndHarmsNobody();
		contract.interruptsWhileOthersReadAndWriteHarmNobody();
	}

}
