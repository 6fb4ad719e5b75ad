package io.sessionkit.internal.turn;

import java.util.ArrayList;
import java.util.List;

import io.sessionkit.context.Prune;
import io.sessionkit.context.SequenceGuard;
import io.sessionkit.context.Trim;
import io.sessionkit.hook.HistoryMerge;
import io.sessionkit.hook.SessionHook;
import io.sessionkit.hook.SessionListener;
import org.jspecify.annotations.Nullable;

import org.springframework.util.unit.DataSize;

/**
 * The settings that all turns share.
 */
public record TurnRules(Trim trim, Prune prune, SequenceGuard guard, List<SessionHook> hooks,
		List<SessionListener> listeners, boolean keepsSystemText, TurnInputs inputs, DataSize maxState,
		@Nullable HistoryMerge merge) {

	public TurnRules {
		hooks = List.copyOf(hooks);
		listeners = List.copyOf(listeners);
	}

	/**
	 * Returns the hooks of all turns, followed by those of the call, which run inside
	 * them.
	 */
	List<SessionHook> hooks(TurnRequest request) {
		return joined(this.hooks, request.hooks());
	}

	List<SessionListener> listeners(TurnRequest request) {
		return joined(this.listeners, request.listeners());
	}

	/**
	 * Returns the merge of the call if there is one, otherwise that of all turns.
	 */
	@Nullable HistoryMerge merge(TurnRequest request) {
		return (request.merge() != null) ? request.merge() : this.merge;
	}

	private static <T> List<T> joined(List<T> all, List<T> ofCall) {
		if (ofCall.isEmpty()) {
			return all;
		}
		List<T> joined = new ArrayList<>(all);
		joined.addAll(ofCall);
		return List.copyOf(joined);
	}

}
