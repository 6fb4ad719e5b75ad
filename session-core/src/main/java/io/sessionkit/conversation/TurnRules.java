package io.sessionkit.conversation;

import java.util.ArrayList;
import java.util.List;

import io.sessionkit.hook.HistoryMerge;
import io.sessionkit.hook.Prune;
import io.sessionkit.hook.SequenceGuard;
import io.sessionkit.hook.SessionHook;
import io.sessionkit.hook.SessionListener;
import io.sessionkit.hook.Trim;
import org.jspecify.annotations.Nullable;

import org.springframework.util.unit.DataSize;

/**
 * What is the same for all turns.
 */
record TurnRules(Trim trim, Prune prune, SequenceGuard guard, List<SessionHook> hooks, List<SessionListener> listeners,
		boolean keepsSystemText, TurnInputs inputs, DataSize maxState, @Nullable HistoryMerge merge) {

	TurnRules {
		hooks = List.copyOf(hooks);
		listeners = List.copyOf(listeners);
	}

	/**
	 * The hooks of all turns around those of the call.
	 */
	List<SessionHook> hooks(TurnRequest request) {
		return joined(this.hooks, request.hooks());
	}

	List<SessionListener> listeners(TurnRequest request) {
		return joined(this.listeners, request.listeners());
	}

	/**
	 * The merge of the call, or else that of all turns.
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
