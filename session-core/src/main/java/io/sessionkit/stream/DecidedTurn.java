package io.sessionkit.stream;

import java.util.List;
import java.util.Map;

import io.sessionkit.SessionKey;
import io.sessionkit.approval.ToolApproval;

/**
 * A turn that is to be continued, since none of its tool calls waits for a person any
 * more.
 *
 * @param key the session
 * @param turnId the id of the turn
 * @param calls the calls that it holds back, decided, expired or run; their
 * {@linkplain ToolApproval#requirements() requirements} and
 * {@linkplain ToolApproval#agent() agent} help to choose the client
 * @param parameters the advisor parameters that are kept with the turn, for a tool
 * context that is made of them
 */
public record DecidedTurn(SessionKey key, String turnId, List<ToolApproval> calls, Map<String, Object> parameters) {

	public DecidedTurn {
		calls = List.copyOf(calls);
		parameters = Map.copyOf(parameters);
	}

}
