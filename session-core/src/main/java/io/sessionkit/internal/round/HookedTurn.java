package io.sessionkit.internal.round;

import io.sessionkit.hook.HookContext;
import io.sessionkit.internal.binding.TurnAccess;

/**
 * A turn as its hooks see it.
 */
public interface HookedTurn extends TurnAccess {

	/**
	 * Returns the current view of the turn, with the attributes that were written so far.
	 * @return the context
	 */
	HookContext context();

}
