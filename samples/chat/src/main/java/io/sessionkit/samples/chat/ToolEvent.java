package io.sessionkit.samples.chat;

/**
 * A tool call of a reply that begins or has its result.
 *
 * @param id what the model calls the call
 * @param data the arguments or the result
 */
record ToolEvent(State state, String id, String name, String data) {

	enum State {

		CALLED, RETURNED

	}

}
