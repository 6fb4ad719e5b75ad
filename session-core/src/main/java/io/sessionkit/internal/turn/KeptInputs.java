package io.sessionkit.internal.turn;

import java.util.Map;

import io.sessionkit.codec.MessageCodec;

/**
 * The inputs of one turn that are kept with it.
 *
 * @param values all of them
 * @param replayed those that go with the question too, to be shown again
 */
record KeptInputs(Map<String, Object> values, Map<String, Object> replayed) {

	/** Nothing is kept. */
	static final KeptInputs NONE = new KeptInputs(Map.of(), Map.of());

	/**
	 * @throws io.sessionkit.UnstorableMessageException if one of them cannot be kept
	 */
	static KeptInputs of(TurnRequest request, TurnInputs rules, MessageCodec codec) {
		Map<String, Object> values = rules.of(request, codec);
		return new KeptInputs(values, rules.replayed(values));
	}

}
