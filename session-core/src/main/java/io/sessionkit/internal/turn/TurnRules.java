package io.sessionkit.internal.turn;

import io.sessionkit.context.Prune;
import io.sessionkit.context.Retention;
import io.sessionkit.context.SequenceGuard;
import io.sessionkit.context.Trim;
import io.sessionkit.observation.TurnObserver;

import org.springframework.util.unit.DataSize;

/**
 * The settings that all turns share.
 *
 * @param trim the limits of what is sent
 * @param prune the rule for old results of tools
 * @param guard the treatment of a request that is not a valid sequence
 * @param extensions the parts of the application that take part in every turn
 * @param keepsSystemText whether the snapshot of a turn keeps its system text
 * @param parameters the parameters of a call that are kept with its turn
 * @param maxAttributes the maximum size of the attributes of a session
 * @param retention the limits of what a session keeps
 * @param observer observes all calls
 */
public record TurnRules(Trim trim, Prune prune, SequenceGuard guard, Extensions extensions, boolean keepsSystemText,
		TurnParameters parameters, DataSize maxAttributes, Retention retention, TurnObserver observer) {
}
