package io.sessionkit.compensation;

import org.jspecify.annotations.Nullable;

/**
 * A tool call of the history that has run, or may have run.
 *
 * @param id its id in the session, which never changes; also the id of the call that
 * takes it back. What a call may have done before a person let it run again has an id of
 * its own, and no call takes it back
 * @param turn the number of its turn
 * @param tool the name of the tool
 * @param arguments the arguments with which it ran: those of the model, or those that a
 * person has approved instead
 * @param result what the tool returned; null if that is not known
 */
public record Effect(String id, long turn, String tool, String arguments, @Nullable String result) {

	/**
	 * Returns the call without its arguments and result, which may be secret.
	 * @return tool, turn and id
	 */
	@Override
	public String toString() {
		return "Effect[" + this.tool + " of turn " + this.turn + ", " + this.id + "]";
	}

}
