package io.sessionkit;

/**
 * When a turn is written.
 */
public enum Durability {

	/**
	 * Once, when it ends, and when it has to wait. A killed process leaves nothing of a
	 * turn that it was working on.
	 */
	TURN,

	/**
	 * Whenever the model calls tools, and each result as soon as it is there. A killed
	 * process leaves a turn that can be looked at and continued; that costs one commit
	 * more for each round with tools and two small writes for each call.
	 */
	STEP

}
