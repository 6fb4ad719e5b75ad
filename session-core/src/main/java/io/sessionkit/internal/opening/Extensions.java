package io.sessionkit.internal.opening;

import java.util.ArrayList;
import java.util.List;

import io.sessionkit.hook.HistoryMerge;
import io.sessionkit.hook.SessionHook;
import io.sessionkit.hook.SessionListener;
import org.jspecify.annotations.Nullable;

/**
 * The parts of the application that take part in a turn: those of all turns, or those
 * that one call adds.
 *
 * @param hooks the hooks, the outermost first
 * @param listeners the listeners
 * @param merge combines the history and the input into the messages to send; null for
 * none of its own
 */
public record Extensions(List<SessionHook> hooks, List<SessionListener> listeners, @Nullable HistoryMerge merge) {

	/** No parts. */
	public static final Extensions NONE = new Extensions(List.of(), List.of(), null);

	public Extensions {
		hooks = List.copyOf(hooks);
		listeners = List.copyOf(listeners);
	}

	/**
	 * Returns those of the parts of all turns that take part in a turn that begins at a
	 * place. A turn that is not stored is none of the events of its session, and a
	 * history that a call brings is sent as it is.
	 * @param start the place
	 * @return those parts; the same if all of them take part
	 */
	public Extensions at(TurnRequest.Start start) {
		if (start.isStored() && !start.isGiven()) {
			return this;
		}
		return new Extensions(this.hooks, start.isStored() ? this.listeners : List.of(),
				start.isGiven() ? null : this.merge);
	}

	/**
	 * Returns these parts together with those of a call. The hooks of the call run inside
	 * these, and its merge replaces this one.
	 * @param ofCall the parts that a call adds
	 * @return the parts of one turn
	 */
	public Extensions and(Extensions ofCall) {
		if (ofCall.hooks.isEmpty() && ofCall.listeners.isEmpty() && ofCall.merge == null) {
			return this;
		}
		return new Extensions(joined(this.hooks, ofCall.hooks), joined(this.listeners, ofCall.listeners),
				(ofCall.merge != null) ? ofCall.merge : this.merge);
	}

	private static <T> List<T> joined(List<T> all, List<T> ofCall) {
		if (ofCall.isEmpty()) {
			return all;
		}
		List<T> joined = new ArrayList<>(all);
		joined.addAll(ofCall);
		return joined;
	}

}
