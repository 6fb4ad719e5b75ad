package io.sessionkit.samples.chat;

import java.time.Instant;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

import io.sessionkit.SessionKey;
import io.sessionkit.access.Caller;
import io.sessionkit.access.SessionAccess;
import io.sessionkit.approval.InboxQuery;
import io.sessionkit.approval.ToolApproval;
import io.sessionkit.conversation.Approvals;
import io.sessionkit.conversation.Compensations;
import io.sessionkit.samples.chat.ApprovalController.DecisionRequest;
import io.sessionkit.samples.chat.ApprovalsView.CallView;
import io.sessionkit.samples.chat.ApprovalsView.StandingView;
import io.sessionkit.store.Page;
import io.sessionkit.store.SessionStore;
import jakarta.servlet.http.HttpServletRequest;
import org.jspecify.annotations.Nullable;

import org.springframework.http.HttpStatus;
import org.springframework.http.ProblemDetail;
import org.springframework.web.bind.annotation.DeleteMapping;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.bind.annotation.RestController;

/**
 * Lists the tool calls that wait for the one who asks, and takes decisions on those in
 * the threads of others. Of such a thread nothing is shown but the call.
 */
@RestController
@RequestMapping("/api/inbox")
final class InboxController {

	private static final int MOST = 100;

	/** The calls of one reply are asked for at the same time. */
	private static final Comparator<Found> OLDEST_FIRST = Comparator
		.comparing((Found found) -> found.call().requestedAt())
		.thenComparing((found) -> found.call().turnId())
		.thenComparingInt((found) -> found.call().index());

	/** The store has the newest first, so more are read than are shown. */
	private static final int MOST_READ = 1_000;

	private final Approvals approvals;

	private final Compensations compensations;

	private final SessionAccess access;

	private final SessionStore store;

	private final ThreadViews threads;

	private final ToolCallViews calls;

	private final CallDecisions decisions;

	InboxController(Approvals approvals, Compensations compensations, SessionAccess access, SessionStore store,
			ThreadViews threads, ToolCallViews calls, CallDecisions decisions) {
		this.approvals = approvals;
		this.compensations = compensations;
		this.access = access;
		this.store = store;
		this.threads = threads;
		this.calls = calls;
		this.decisions = decisions;
	}

	@GetMapping
	List<WaitingCall> inbox(HttpServletRequest request) {
		Visitor visitor = Visitor.of(request);
		Map<SessionKey, String> titles = new HashMap<>();
		return Stream
			.concat(this.approvals.inbox(query(visitor), Page.first(MOST_READ))
				.stream()
				.map((call) -> new Found(call, false)),
					takenBack(visitor).stream().map((call) -> new Found(call, true)))
			.filter((found) -> found.call().status().isPending())
			.sorted(OLDEST_FIRST)
			.limit(MOST)
			.map((found) -> view(found, visitor, titles))
			.toList();
	}

	/** Without users, calls in threads that users have left behind are nobody's. */
	private static InboxQuery query(Visitor visitor) {
		return (visitor.name() != null) ? InboxQuery.ofAnyOwner() : InboxQuery.of(List.of(""));
	}

	/**
	 * Returns the calls that take something back. No query finds those of others, so the
	 * application reads them itself, for those who decide.
	 */
	private List<ToolApproval> takenBack(Visitor visitor) {
		if (!visitor.decides()) {
			return List.of();
		}
		return this.access.callAs(Caller.server(),
				() -> visitor.decidesFor()
					.stream()
					.flatMap((owner) -> this.compensations.pendingOf(owner, Page.first(MOST_READ)).stream())
					.filter(this::isBeingTakenBack)
					.toList());
	}

	/** One that somebody has left again waits for nobody. */
	private boolean isBeingTakenBack(ToolApproval call) {
		return this.store.find(call.key()).filter((session) -> RewindController.begun(session) != 0).isPresent();
	}

	private WaitingCall view(Found found, Visitor visitor, Map<SessionKey, String> titles) {
		ToolApproval call = found.call();
		String title = visitor.is(call.key().owner()) ? titles.computeIfAbsent(call.key(), this::title) : null;
		return new WaitingCall((visitor.name() != null) ? call.key().owner() : null, call.key().id(), title,
				call.tool(), ToolCallViews.title(call.tool()), call.requestedAt(), ApprovalsView.CallView.expiry(call),
				found.takesBack(), (visitor.name() != null) ? this.calls.of(call) : null);
	}

	private String title(SessionKey key) {
		return this.store.find(key).map(this.threads::title).orElse(key.id());
	}

	/**
	 * Decides on a call of a user. The page of that user goes on with the turn.
	 */
	@PostMapping("/{owner}/{id}/calls/{call}")
	CallView decide(@PathVariable String owner, @PathVariable String id, @PathVariable String call,
			@RequestBody DecisionRequest decision, HttpServletRequest request) {
		return this.decisions.decide(SessionKey.of(owner, id), call, decision, Visitor.of(request));
	}

	/**
	 * Lists the decisions on calls to come in the thread of a user that the one who asks
	 * may revoke.
	 */
	@GetMapping("/{owner}/{id}/standing-decisions")
	List<StandingView> standing(@PathVariable String owner, @PathVariable String id) {
		return this.approvals.standingDecisions(SessionKey.of(owner, id)).stream().map(StandingView::of).toList();
	}

	@DeleteMapping("/{owner}/{id}/standing-decisions/{decision}")
	@ResponseStatus(HttpStatus.NO_CONTENT)
	void revoke(@PathVariable String owner, @PathVariable String id, @PathVariable String decision) {
		this.decisions.revoke(SessionKey.of(owner, id), decision);
	}

	/**
	 * Decides on a call of a user that takes something back.
	 */
	@PostMapping("/{owner}/{id}/rewind/{call}")
	CallView decideRewind(@PathVariable String owner, @PathVariable String id, @PathVariable String call,
			@RequestBody DecisionRequest decision, HttpServletRequest request) {
		return this.calls.of(this.compensations.decide(SessionKey.of(owner, id), call, decision.checkedDigest(),
				decision.checkedDecision(Visitor.of(request).name())));
	}

	@ExceptionHandler
	ProblemDetail value(IllegalArgumentException ex) {
		return Problems.wrongValue(ex, "There is no such decision on this call. Look at it again.");
	}

	private record Found(ToolApproval call, boolean takesBack) {
	}

	/**
	 * @param owner the user whose thread it is; null without users
	 * @param thread the id of the thread
	 * @param title its title; null for the thread of another user
	 * @param callTitle the head of a sentence for the tool
	 * @param takesBack whether the call takes the effect of another one back
	 * @param call what a decision needs to be made here; null without users
	 */
	record WaitingCall(@Nullable String owner, String thread, @Nullable String title, String tool, String callTitle,
			Instant requestedAt, @Nullable Instant expiresAt, boolean takesBack, @Nullable CallView call) {
	}

}
