package io.sessionkit.internal.turn;

import java.util.Map;

import io.sessionkit.codec.MessageCodec;

/**
 * The inputs of one turn that are kept with it.
 *
 * @param values all kept inputs
 * @param replayed those that are also stored with the question, to be shown again
 */
record KeptInputs(Map<String, Object> values, Map<String, Object> replayed) {

	/** No inputs. */
	static final KeptInputs NONE = new KeptInputs(Map.of(), Map.of());

	/**
	 * Selects the inputs that are kept with the turn of a call.
	 * @throws io.sessionkit.UnstorableMessageException if one of them cannot be kept
	 */
	static KeptInputs of(TurnRequest request, TurnInputs rules, MessageCodec codec) {
		Map<String, Object> values = rules.of(request, codec);
		return new KeptInputs(values, rules.replayed(values));
	}

}
