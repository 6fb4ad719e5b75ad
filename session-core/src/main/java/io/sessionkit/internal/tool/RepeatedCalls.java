package io.sessionkit.internal.tool;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import io.sessionkit.internal.argument.ToolArguments;

import org.springframework.ai.chat.messages.AssistantMessage.ToolCall;

/**
 * Finds the calls of a reply that are the same call once more.
 */
public final class RepeatedCalls {

	private RepeatedCalls() {
	}

	/**
	 * Returns for each call the index of the first call with the same id, tool and
	 * arguments, which may be the call itself. Identical calls run once if they need
	 * approval. A blank id does not count as an id.
	 */
	public static List<Integer> originals(List<ToolCall> calls) {
		Map<List<String>, Integer> first = new HashMap<>();
		List<Integer> originals = new ArrayList<>();
		for (int i = 0; i < calls.size(); i++) {
			ToolCall call = calls.get(i);
			boolean named = call.id() != null && !call.id().isBlank();
			List<String> same = List.of(named ? call.id() : "#" + i, digest(call));
			first.putIfAbsent(same, i);
			originals.add(first.get(same));
		}
		return originals;
	}

	/**
	 * Returns the digest of a tool and its arguments.
	 */
	public static String digest(ToolCall call) {
		return ToolArguments.of(call.arguments()).digest(call.name());
	}

}
