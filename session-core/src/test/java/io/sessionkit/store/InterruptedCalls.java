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

		};
		contract.interruptedThreadIsServedOrToldAndHarmsNobody();
		contract.interruptsWhileOthersReadAndWriteHarmNobody();
	}

}
