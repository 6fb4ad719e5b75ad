package io.sessionkit.samples.chat;

import java.util.List;

import io.sessionkit.SessionException;
import io.sessionkit.SessionKey;
import io.sessionkit.approval.DecisionRefusedException;
import io.sessionkit.approval.InboxQuery;
import io.sessionkit.approval.StandingDecision;
import io.sessionkit.conversation.Approvals;
import io.sessionkit.samples.chat.ApprovalController.DecisionRequest;
import io.sessionkit.samples.chat.ApprovalsView.CallView;
import io.sessionkit.store.Page;
import org.jspecify.annotations.Nullable;

import org.springframework.http.HttpStatus;
import org.springframework.stereotype.Component;
import org.springframework.web.server.ResponseStatusException;

/**
 * Decides on a tool call as the page asks for it.
 */
@Component
final class CallDecisions {

	private static final int MOST = 1_000;

	private final Approvals approvals;

	private final ToolCallViews views;

	CallDecisions(Approvals approvals, ToolCallViews views) {
		this.approvals = approvals;
		this.views = views;
	}

	/**
	 * Decides in the name of the user who is signed in.
	 * @param key the thread; one without owner is the user's own
	 */
	CallView decide(SessionKey key, String call, DecisionRequest request, Visitor visitor) {
		try {
			return this.views
				.of(this.approvals.decide(key, call, request.checkedDigest(), request.checkedDecision(visitor.name())));
		}
		catch (DecisionRefusedException ex) {
			throw explained(ex, key, call, request.arguments());
		}
	}

	/**
	 * Revokes a decision on calls to come.
	 * @param key the thread; one without owner is the user's own
	 */
	void revoke(SessionKey key, String decision) {
		StandingDecision standing = this.approvals.standingDecisions(key)
			.stream()
			.filter((each) -> each.id().equals(decision))
			.findFirst()
			.orElseThrow(() -> new ResponseStatusException(HttpStatus.NOT_FOUND,
					"There is no such standing decision in this thread, or it was revoked already."));
		if (!this.approvals.revoke(standing)) {
			throw new ResponseStatusException(HttpStatus.CONFLICT, "It was revoked already.");
		}
	}

	/**
	 * Looks for the reason in the arguments that a person has written, since it is to be
	 * shown beside their fields.
	 */
	private SessionException explained(DecisionRefusedException ex, SessionKey key, String id,
			@Nullable String arguments) {
		if (arguments == null || ex.status() == null || !ex.status().isPending()) {
			return ex;
		}
		List<ArgumentFault> faults = this.approvals.inbox(InboxQuery.of(List.of(key.owner())), Page.first(MOST))
			.stream()
			.filter((call) -> call.id().equals(id) && call.key().id().equals(key.id()))
			.findFirst()
			.map((call) -> ArgumentFault.in(arguments, call))
			.orElse(List.of());
		return faults.isEmpty() ? ex : new ArgumentsRefusedException(faults, ex.status());
	}

}
