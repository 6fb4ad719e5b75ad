package io.sessionkit.samples.chat;

import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;

import com.fasterxml.jackson.annotation.JsonAnySetter;
import io.sessionkit.SessionKey;
import io.sessionkit.Turn;
import io.sessionkit.approval.Decision;
import io.sessionkit.approval.StandingDecision;
import io.sessionkit.conversation.Approvals;
import io.sessionkit.conversation.Conversation;
import io.sessionkit.conversation.Conversations;
import io.sessionkit.samples.chat.ApprovalsView.CallView;
import io.sessionkit.samples.chat.ApprovalsView.StandingView;
import jakarta.servlet.http.HttpServletRequest;
import org.jspecify.annotations.Nullable;

import org.springframework.http.HttpStatus;
import org.springframework.web.bind.annotation.DeleteMapping;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.server.ResponseStatusException;

/**
 * Lets a person decide on tool calls. A decision runs nothing: the page continues the
 * turn when everything is decided, see {@link ChatController#resume}.
 */
@RestController
@RequestMapping("/api/threads/{id}")
final class ApprovalController {

	private final Approvals approvals;

	private final Conversations conversations;

	private final ToolCallViews views;

	private final CallDecisions decisions;

	ApprovalController(Approvals approvals, Conversations conversations, ToolCallViews views, CallDecisions decisions) {
		this.approvals = approvals;
		this.conversations = conversations;
		this.views = views;
		this.decisions = decisions;
	}

	@GetMapping("/approvals")
	ApprovalsView read(@PathVariable String id) {
		SessionKey key = SessionKey.of(id);
		Conversation thread = this.conversations.get(key);
		return new ApprovalsView(thread.openTurn().map(Turn::number).orElse(0L), thread.isOpenTurnRunning(),
				this.approvals.ledger(key).stream().map(this.views::of).toList(),
				this.approvals.standingDecisions(key).stream().map(StandingView::of).toList());
	}

	@PostMapping("/approvals/{call}")
	CallView decide(@PathVariable String id, @PathVariable String call, @RequestBody DecisionRequest decision,
			HttpServletRequest request) {
		return this.decisions.decide(SessionKey.of(id), call, decision, Visitor.of(request));
	}

	@DeleteMapping("/standing-decisions/{decision}")
	@ResponseStatus(HttpStatus.NO_CONTENT)
	void revoke(@PathVariable String id, @PathVariable String decision) {
		this.decisions.revoke(SessionKey.of(id), decision);
	}

	/**
	 * @param digest the digest that was shown with the call
	 * @param verb APPROVE, REJECT, RETRY or ANSWER
	 * @param by the name of the person who decides. It is believed only where nobody
	 * signs in; with users the name is that of the login, never that of the request
	 * @param text the reason of a rejection, or the result of an answer
	 * @param arguments the arguments to run instead of the model's
	 * @param always the calls to come for which the decision also counts: TOOL or
	 * ARGUMENTS; null for none
	 * @param unknown the fields that no decision has
	 */
	record DecisionRequest(@Nullable String digest, @Nullable String verb, @Nullable String by, @Nullable String text,
			@Nullable String arguments, @Nullable String always,
			@JsonAnySetter @Nullable Map<String, @Nullable Object> unknown) {

		String checkedDigest() {
			if (this.digest == null) {
				throw refused("There is no \"digest\". Send the one that was shown with the call.");
			}
			return this.digest;
		}

		/**
		 * @param user the name of the user who is signed in; null to believe the request
		 */
		Decision checkedDecision(@Nullable String user) {
			String name = (user != null) ? user : this.by;
			checkFields();
			Decision.Verb verb = checkedVerb();
			StandingDecision.Scope scope = checkedScope();
			if (name == null || name.isBlank()) {
				throw refused("Nobody knows who decides. Write your name.");
			}
			try {
				return decision(verb, name.strip(), scope);
			}
			catch (IllegalArgumentException ex) {
				throw refused(
						"There is no such decision: a name or a text is too long, only an approval has arguments, and only an approval or a rejection counts always.");
			}
		}

		/**
		 * Refuses a decision with unknown fields: one of them may be a condition of it.
		 */
		private void checkFields() {
			if (this.unknown != null && !this.unknown.isEmpty()) {
				throw refused("There is no \"" + this.unknown.keySet().iterator().next()
						+ "\" in a decision. It has digest, verb, by, text, arguments and always; the reason of a"
						+ " rejection is its \"text\".");
			}
		}

		private Decision.Verb checkedVerb() {
			return Stream.of(Decision.Verb.values())
				.filter((each) -> each.name().equals(this.verb))
				.findFirst()
				.orElseThrow(() -> refused("There is no \"verb\"" + ((this.verb != null) ? " " + this.verb : "")
						+ ". Write APPROVE, REJECT, RETRY or ANSWER."));
		}

		private StandingDecision.@Nullable Scope checkedScope() {
			if (this.always == null) {
				return null;
			}
			return Stream.of(StandingDecision.Scope.values())
				.filter((each) -> each.name().equals(this.always))
				.findFirst()
				.orElseThrow(() -> refused("Nothing counts \"always\" for " + this.always
						+ ". Write TOOL or ARGUMENTS, or leave it out."));
		}

		private Decision decision(Decision.Verb verb, String by, StandingDecision.@Nullable Scope scope) {
			Decision decision = switch (verb) {
				case APPROVE -> Decision.approve(by);
				case REJECT -> (this.text != null) ? Decision.reject(by, this.text) : Decision.reject(by);
				case RETRY -> Decision.retry(by);
				case ANSWER -> Decision.answer(by, Objects.requireNonNullElse(this.text, ""));
			};
			decision = (this.arguments != null) ? decision.withArguments(this.arguments) : decision;
			return (scope != null) ? decision.always(scope) : decision;
		}

		private static ResponseStatusException refused(@Nullable String why) {
			return new ResponseStatusException(HttpStatus.BAD_REQUEST, why);
		}

	}

}
