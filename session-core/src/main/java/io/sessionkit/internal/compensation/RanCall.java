package io.sessionkit.internal.compensation;

import io.sessionkit.compensation.Effect;
import io.sessionkit.compensation.Irreversible;
import org.jspecify.annotations.Nullable;

/**
 * A tool call of the history that has run, or may have run.
 *
 * @param effect the call
 * @param place the reply that it comes from
 * @param flaw the reason for which it cannot be taken back, whatever its tool says; null
 * if there is none
 */
record RanCall(Effect effect, Place place, @Nullable Flaw flaw) {

	/**
	 * The place of a call in its turn.
	 *
	 * @param turnId the id of the turn
	 * @param round the reply of the turn that made it, from 1
	 * @param index its position among the calls of that reply, from 0
	 * @param agent the agent that made it; null if it named none
	 */
	record Place(String turnId, int round, int index, @Nullable String agent) {
	}

	/**
	 * A reason for which a call cannot be taken back.
	 */
	record Flaw(Irreversible.Reason reason, String detail) {
	}

}
