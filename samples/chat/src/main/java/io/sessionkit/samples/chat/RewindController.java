package io.sessionkit.samples.chat;

import io.sessionkit.Session;
import io.sessionkit.SessionException;
import io.sessionkit.SessionKey;
import io.sessionkit.SessionNotFoundException;
import io.sessionkit.compensation.RewindPlan;
import io.sessionkit.compensation.RewindReport;
import io.sessionkit.conversation.Compensations;
import io.sessionkit.conversation.Conversation;
import io.sessionkit.conversation.Conversations;
import io.sessionkit.samples.chat.ApprovalController.DecisionRequest;
import io.sessionkit.samples.chat.ApprovalsView.CallView;
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
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.server.ResponseStatusException;

/**
 * Takes turns back with what their tools have done. A person sees the plan first, and
 * what is done is what they have seen. One that waits or has stopped is continued by the
 * same request, also after a restart: an attribute of the thread says from which turn.
 */
@RestController
@RequestMapping("/api/threads/{id}/rewind")
final class RewindController {

	/** It belongs to the newest turn, so it goes when that turn does. */
	static final String FROM = "takingBackFrom";

	private final Compensations compensations;

	private final Conversations conversations;

	private final ToolCallViews calls;

	RewindController(Compensations compensations, Conversations conversations, ToolCallViews calls) {
		this.compensations = compensations;
		this.conversations = conversations;
		this.calls = calls;
	}

	/**
	 * Plans to take back all turns from one of them on; without it, shows what is being
	 * taken back. Changes nothing. Turns that are not in the history leave nothing to do.
	 */
	@GetMapping
	RewindView read(@PathVariable String id, @RequestParam(required = false) @Nullable Long from) {
		Conversation thread = this.conversations.get(id);
		Session session = session(thread);
		long begun = begun(session);
		long first = (from != null) ? from : begun;
		if (first == 0 || !ShownTurns.of(thread, session).hasInHistory(first)) {
			return RewindView.NONE;
		}
		return RewindView.of(first, first == begun, plan(thread, session, first), this.calls, null);
	}

	/**
	 * Returns the turn from which on turns are being taken back.
	 * @return its number; 0 if nothing is being taken back
	 */
	static long begun(Session session) {
		return (session.attributes().get(FROM) instanceof Number number) ? number.longValue() : 0;
	}

	private RewindPlan plan(Conversation thread, Session session, long first) {
		int turns = ShownTurns.of(thread, session).countFrom(first);
		if (turns == 0) {
			throw new ResponseStatusException(HttpStatus.NOT_FOUND,
					"Turn " + first + " is not in the history of this thread, or not any more. Reload the page.");
		}
		return this.compensations.plan(thread.key(), turns);
	}

	@PostMapping
	RewindView rewind(@PathVariable String id, @RequestBody Consent consent) {
		Conversation thread = this.conversations.get(id);
		Session session = session(thread);
		long first = consent.checkedFrom();
		RewindPlan plan = plan(thread, session, first);
		if (!plan.digest().equals(consent.digest())) {
			throw new ResponseStatusException(HttpStatus.CONFLICT,
					"Something has changed since this was shown. Look at it again.");
		}
		if (begun(session) != first && !plan.compensations().isEmpty()) {
			thread.putAttribute(FROM, first);
		}
		RewindReport report = this.compensations.rewind(consent.isAccepted() ? plan.acceptingIrreversible() : plan);
		return RewindView.of(first, true, report.plan(), this.calls, report.status());
	}

	/**
	 * Decides on a call that takes something back. It runs with the next request to go
	 * on.
	 */
	@PostMapping("/calls/{call}")
	CallView decide(@PathVariable String id, @PathVariable String call, @RequestBody DecisionRequest decision,
			HttpServletRequest request) {
		return this.calls.of(this.compensations.decide(SessionKey.of(id), call, decision.checkedDigest(),
				decision.checkedDecision(Visitor.of(request).name())));
	}

	/**
	 * Goes no further. What is taken back stays so.
	 */
	@DeleteMapping
	@ResponseStatus(HttpStatus.NO_CONTENT)
	void leave(@PathVariable String id) {
		this.conversations.get(id).removeAttribute(FROM);
	}

	private static Session session(Conversation thread) {
		return thread.session()
			.orElseThrow(() -> new SessionNotFoundException("There is no thread " + thread.key() + "."));
	}

	@ExceptionHandler
	ProblemDetail session(SessionException ex) {
		return Problems.ofMove(ex);
	}

	@ExceptionHandler
	ProblemDetail value(IllegalArgumentException ex) {
		return Problems.wrongValue(ex, "This cannot be taken back so. Look at it again.");
	}

	/**
	 * @param from the first turn that goes
	 * @param digest that of the plan that was shown
	 * @param accept whether effects that cannot be taken back may stay
	 */
	record Consent(@Nullable Long from, @Nullable String digest, @Nullable Boolean accept) {

		boolean isAccepted() {
			return Boolean.TRUE.equals(this.accept);
		}

		long checkedFrom() {
			if (this.from == null || this.digest == null) {
				throw new ResponseStatusException(HttpStatus.BAD_REQUEST,
						"Send \"from\", the first turn that goes, and the \"digest\" of the plan that was shown.");
			}
			return this.from;
		}

	}

}
