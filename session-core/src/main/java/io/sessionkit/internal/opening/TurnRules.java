package io.sessionkit.internal.opening;

import io.sessionkit.context.Prune;
import io.sessionkit.context.Retention;
import io.sessionkit.context.SequenceGuard;
import io.sessionkit.context.Trim;
import io.sessionkit.observation.CallObserver;

import org.springframework.util.unit.DataSize;

/**
 * The settings that all turns share.
 *
 * @param sent the settings of what the model is sent
 * @param kept the settings of what a session keeps
 * @param extensions the parts of the application that take part in every turn
 * @param observer observes all calls
 */
public record TurnRules(Sent sent, Kept kept, Extensions extensions, CallObserver observer) {

	/**
	 * The settings of what the model is sent.
	 *
	 * @param trim the limits of the history
	 * @param prune the rule for old results of tools
	 * @param guard the treatment of a request that is not a valid sequence
	 */
	public record Sent(Trim trim, Prune prune, SequenceGuard guard) {

	}

	/**
	 * The settings of what a session keeps.
	 *
	 * @param systemText whether the snapshot of a turn has its system text
	 * @param parameters the parameters of a call that are kept with its turn
	 * @param maxAttributes the maximum size of the attributes
	 * @param retention the limits of its turns
	 */
	public record Kept(boolean systemText, TurnParameters parameters, DataSize maxAttributes, Retention retention) {

	}

}
