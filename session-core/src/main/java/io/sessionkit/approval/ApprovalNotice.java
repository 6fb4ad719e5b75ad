package io.sessionkit.approval;

import java.time.Instant;
import java.util.List;

import io.sessionkit.SessionKey;
import org.jspecify.annotations.Nullable;

/**
 * A notice that tool calls of a reply wait for a person. It has no arguments: whoever may
 * decide reads them from the inbox.
 *
 * @param id the id of the notice, the same each time that it is delivered
 * @param key the session
 * @param turnId the id of the turn that waits
 * @param approvalIds the ids by which the calls are decided, as
 * {@link ToolApproval#id()}, in their order
 * @param tools the names of their tools, in the same order
 * @param requestedAt when the calls began to wait
 * @param expiresAt when they can no longer be decided; null for as long as their session
 * lives
 */
public record ApprovalNotice(String id, SessionKey key, String turnId, List<String> approvalIds, List<String> tools,
		Instant requestedAt, @Nullable Instant expiresAt) {

	public ApprovalNotice {
		approvalIds = List.copyOf(approvalIds);
		tools = List.copyOf(tools);
	}

}
