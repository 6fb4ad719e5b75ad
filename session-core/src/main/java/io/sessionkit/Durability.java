package io.sessionkit;

/**
 * The points at which a turn is written to the store.
 */
public enum Durability {

	/**
	 * A turn is written once, when it ends, and also when it has to wait or a standing
	 * approval lets a call run, and from then on as with {@link #STEP}. A killed process
	 * leaves nothing of a turn of which nothing was written.
	 */
	TURN,

	/**
	 * A turn is written each time the model calls tools, and each tool result as soon as
	 * it is available. A killed process leaves a turn that can be inspected and
	 * continued. The price is one more commit for each round with tools and two small
	 * writes for each tool call.
	 */
	STEP

}
