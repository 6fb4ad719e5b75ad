package io.sessionkit.internal.opening;

import java.util.Map;

import io.sessionkit.codec.MessageCodec;

/**
 * The parameters of a call that are kept with its turn.
 *
 * @param values all kept parameters
 * @param replayed those that are also stored with the question, to be shown again
 */
public record KeptParameters(Map<String, Object> values, Map<String, Object> replayed) {

	/** No parameters. */
	public static final KeptParameters NONE = new KeptParameters(Map.of(), Map.of());

	/**
	 * Selects the parameters that are kept with the turn of a call.
	 * @throws io.sessionkit.codec.UnstorableMessageException if one of them cannot be
	 * kept
	 */
	public static KeptParameters of(TurnRequest request, TurnParameters rules, MessageCodec codec) {
		Map<String, Object> values = rules.of(request, codec);
		return new KeptParameters(values, rules.replayed(values));
	}

}
