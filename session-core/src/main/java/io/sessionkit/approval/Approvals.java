package io.sessionkit.approval;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Supplier;

import io.sessionkit.ApprovalStatus;
import io.sessionkit.DecisionRefusedException;
import io.sessionkit.NestedTurnException;
import io.sessionkit.SessionConflictException;
import io.sessionkit.SessionKey;
import io.sessionkit.SessionPausedException;
import io.sessionkit.SessionRefusedException;
import io.sessionkit.Turn;
import io.sessionkit.TurnInProgressException;
import io.sessionkit.codec.ToolArguments;
import io.sessionkit.conversation.Conversations;
import io.sessionkit.conversation.OpenTurn;
import io.sessionkit.conversation.TurnRequest;
import io.sessionkit.conversation.TurnResult;
import io.sessionkit.hook.HookContext;
import io.sessionkit.hook.TurnBinding;
import io.sessionkit.store.Page;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.ai.tool.ToolCallback;

/**
 * Where people see and decide the tool calls that wait for them: a bean to inject. It
 * needs the store only, so it works in a process that knows neither model nor tools.
 * Deciding runs nothing; the next call on the session without user text does.
 * <p>
 * A decision counts once: of two who decide the same call one wins, and the other gets a
 * {@link DecisionRefusedException}. Safe for use by many threads and processes.
 */
public final class Approvals {

	/**
	 * The entry of the tool context, if a call has one, in which a tool that was approved
	 * finds the id of its call; Spring AI sends it to servers of MCP with the rest of the
	 * context.
	 */
	public static final String CLAIM = "sessionkit.claim";

	private static final Log logger = LogFactory.getLog(Approvals.class);

	private static final int ATTEMPTS = 5;

	private final Conversations conversations;

	private final ApprovalRules rules;

	private final Ledger ledger;

	private final List<Consumer<? super ApprovalEvent>> listeners;

	private Approvals(Builder builder) {
		this.conversations = builder.conversations;
		this.rules = new ApprovalRules(new NamedTools(builder.tools, builder.knownTools), new AnnotatedTools(),
				builder.policies, builder.siblings, builder.onNewMessage, builder.expiresAfter, builder.version,
				new SafeTexts(builder.texts), builder.traceIds);
		this.ledger = new Ledger(this.conversations);
		this.listeners = List.copyOf(builder.listeners);
	}

	/**
	 * Approvals for tools whose method has {@link RequiresApproval}, and for no others.
	 * @param conversations the sessions
	 * @return the approvals
	 */
	public static Approvals of(Conversations conversations) {
		return builder(conversations).build();
	}

	/**
	 * A builder: no tools by name, no policies, siblings held, no expiry, new messages
	 * refused while calls wait.
	 * @param conversations the sessions
	 * @return the builder
	 */
	public static Builder builder(Conversations conversations) {
		return new Builder(conversations);
	}

	/**
	 * The calls of a session that wait for a person, and those of which nobody knows
	 * whether they ran.
	 * @param key the session
	 * @return the calls, in the order in which they were made; none if the session is
	 * absent
	 */
	public List<Approval> pending(SessionKey key) {
		return this.ledger.pending(this.ledger.open(key));
	}

	/**
	 * The same for all sessions of an owner, the newest change first. Reads what waits in
	 * these sessions up to the end of the page, and no thread.
	 * @param owner the owner; empty for sessions that have none
	 * @param page which of the calls
	 * @return the calls
	 */
	public List<Approval> pending(String owner, Page page) {
		return this.ledger.pending(owner, page);
	}

	/**
	 * All calls of a session that needed consent, whatever became of them.
	 * @param key the session
	 * @return the calls that are over, then those that are not, each in the order in
	 * which they were made
	 */
	public List<Approval> ledger(SessionKey key) {
		List<LedgerEntry> all = new ArrayList<>(this.ledger.over(key));
		all.addAll(this.ledger.judged(withExpired(key, this.ledger.open(key))));
		return all.stream().map(LedgerEntry::approval).toList();
	}

	/**
	 * Approves a call as it was shown.
	 * @param shown the call
	 * @param by who approves it
	 * @return the call as it is now
	 * @throws DecisionRefusedException if it cannot be decided any more
	 */
	public Approval approve(Approval shown, String by) {
		return decide(shown, Decision.approve(by));
	}

	/**
	 * Rejects a call.
	 * @param shown the call
	 * @param by who rejects it
	 * @param reason what the model is told
	 * @return the call as it is now
	 * @throws DecisionRefusedException if it cannot be decided any more
	 */
	public Approval reject(Approval shown, String by, String reason) {
		return decide(shown, Decision.reject(by, reason));
	}

	/**
	 * Decides a call as it was shown.
	 * @param shown the call
	 * @param decision the decision
	 * @return the call as it is now
	 * @throws DecisionRefusedException if it cannot be decided any more, or other
	 * arguments do not fit the tool
	 */
	public Approval decide(Approval shown, Decision decision) {
		return decide(shown.key(), shown.id(), shown.digest(), decision);
	}

	/**
	 * Decides a call that somebody was shown elsewhere, on a page for example.
	 * @param key the session
	 * @param id the id of the call
	 * @param digest the digest that was shown with it, which proves that tool and
	 * arguments were
	 * @param decision the decision
	 * @return the call as it is now
	 * @throws DecisionRefusedException if there is no such call, if it is not the one
	 * that was shown, if it cannot be decided any more, or if other arguments do not fit
	 * the tool
	 */
	public Approval decide(SessionKey key, String id, String digest, Decision decision) {
		for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
			LedgerEntry entry = judged(key, id);
			check(entry, digest, decision);
			LedgerEntry decided = this.ledger.replace(decided(entry, decision));
			if (decided != null) {
				keepAlways(decided.approval(), decision);
				tell(new ApprovalEvent.Decided(decided.approval()));
				return decided.approval();
			}
		}
		throw new DecisionRefusedException(
				"The call " + id + " of session " + key
						+ " changed each time that it was to be decided. Nothing was decided; read it again.",
				null, null);
	}

	private LedgerEntry judged(SessionKey key, String id) {
		List<LedgerEntry> open = withExpired(key, this.ledger.open(key));
		return this.ledger.judged(open)
			.stream()
			.filter((entry) -> entry.approval().id().equals(id))
			.findFirst()
			.or(() -> this.ledger.over(key).stream().filter((entry) -> entry.approval().id().equals(id)).findFirst())
			.orElseThrow(() -> new DecisionRefusedException(
					"Session " + key + " has no tool call " + id + " that was to be decided, or it was not stored yet.",
					null, null));
	}

	private static void check(LedgerEntry entry, String digest, Decision decision) {
		Approval call = entry.approval();
		if (!call.digest().equals(digest)) {
			throw refused(call, "is not the one that was shown: tool or arguments are different");
		}
		boolean fits = switch (decision.verb()) {
			case APPROVE -> call.status() == ApprovalStatus.PROPOSED;
			case REJECT -> call.status().isPending();
			case RETRY, ANSWER -> call.status() == ApprovalStatus.UNCERTAIN;
		};
		if (!fits) {
			throw refused(call, switch (call.status()) {
				case PROPOSED -> "has not run, so it can be approved or rejected, not " + decision.verb();
				case UNCERTAIN -> "may have run; say RETRY, ANSWER or REJECT, not " + decision.verb();
				case EXPIRED -> "has expired, at " + call.expiresAt();
				default -> "is " + call.status() + " already"
						+ ((call.decision() != null) ? ", decided by " + call.decision().by() : "");
			});
		}
		if (decision.arguments() != null) {
			checkArguments(call, decision.arguments());
		}
	}

	private static void checkArguments(Approval call, String arguments) {
		String schema = call.requirements().schema();
		List<String> faults = ToolArguments.of(arguments).faults((schema != null) ? schema : "{}");
		if (!faults.isEmpty()) {
			throw refused(call, "cannot run with these arguments: " + String.join("; ", faults));
		}
	}

	private static DecisionRefusedException refused(Approval call, String why) {
		return new DecisionRefusedException(
				"The call of tool '" + call.tool() + "' (" + call.id() + ") in session " + call.key() + " " + why
						+ ". Nothing was decided.",
				call.status(), (call.decision() != null) ? call.decision().by() : null);
	}

	private LedgerEntry decided(LedgerEntry entry, Decision decision) {
		Approval call = entry.approval();
		Instant now = this.ledger.now();
		boolean runs = decision.verb() == Decision.Verb.APPROVE || decision.verb() == Decision.Verb.RETRY;
		Approval.Decided before = (decision.verb() == Decision.Verb.RETRY) ? call.decision() : null;
		String arguments = (before != null) ? before.arguments() : decision.arguments();
		String digest = runs ? digest(call, arguments) : null;
		String reason = (decision.verb() == Decision.Verb.REJECT) ? decision.text() : null;
		Approval.Decided decided = new Approval.Decided(decision.by(), now, reason, arguments, digest, null);
		return switch (decision.verb()) {
			case APPROVE, RETRY -> entry.with(call.decided(ApprovalStatus.APPROVED, decided));
			case REJECT -> entry.with(call.decided(ApprovalStatus.REJECTED, decided));
			case ANSWER -> entry.ended(call.decided(ApprovalStatus.DONE, decided).ended(now),
					Objects.requireNonNullElse(decision.text(), ""), false);
		};
	}

	private static String digest(Approval call, @Nullable String arguments) {
		return (arguments != null) ? ToolArguments.of(arguments).digest(call.tool()) : call.digest();
	}

	private void keepAlways(Approval call, Decision decision) {
		if (decision.always() == null) {
			return;
		}
		boolean exact = decision.always() == StandingDecision.Scope.ARGUMENTS;
		String id = ToolArguments.of(exact ? call.arguments() : "{}").digest((exact ? "call " : "tool ") + call.tool());
		this.ledger.write(new StandingDecision(call.key(), id, call.tool(), exact ? call.digest() : null,
				decision.verb() == Decision.Verb.APPROVE, decision.text(), decision.by(), this.ledger.now()));
	}

	/**
	 * The call that the tool is run for that asks. Its id is the same each time that the
	 * call could run, so it is the key by which what the tool calls can recognize a
	 * repetition.
	 * @return the call; empty if it needed no consent, and outside of tools
	 */
	public Optional<Approval> running() {
		return ToolRuns.running();
	}

	/**
	 * The decisions on calls to come.
	 * @param key the session
	 * @return the decisions, the oldest first
	 */
	public List<StandingDecision> standingDecisions(SessionKey key) {
		return this.ledger.standing(key);
	}

	/**
	 * Takes a decision on calls to come back. Calls that it has decided stay decided.
	 * @param decision the decision
	 * @return whether it was there
	 */
	public boolean revoke(StandingDecision decision) {
		return this.ledger.revoke(decision.key(), decision.id());
	}

	/**
	 * Ends the open turn of a session without the model: what has not run does not run,
	 * and the model will be told so. The turn is history then; one that cannot become
	 * history, since the thread has moved on, is kept beside it.
	 * @param key the session
	 * @return the calls that were open, as they are now; none if the session has no open
	 * turn
	 * @throws TurnInProgressException if another call works on the turn
	 */
	public List<Approval> cancel(SessionKey key) {
		if (this.conversations.openTurn(key).isEmpty()) {
			return List.of();
		}
		TurnRequest request = new TurnRequest(key, List.of(), null, null, 0, Map.of(), Map.of(), List.of(), List.of(),
				null);
		OpenTurn turn = this.conversations.resumeToEnd(request);
		try {
			HeldCalls calls = HeldCalls.of(turn, this.ledger, this.rules.texts());
			List<LedgerEntry> ended = calls.cancel();
			turn.alongside(() -> this.ledger.closing(ended));
			if (this.conversations.isOnHead(turn)) {
				takeQueued(turn);
				turn.answerHeld(calls.answers(ended));
				turn.complete(null);
			}
			else {
				turn.giveUp();
			}
			return ended.stream().map(LedgerEntry::approval).toList();
		}
		catch (RuntimeException | Error ex) {
			turn.fail(ex);
			throw ex;
		}
	}

	/** Messages that were queued become part of the turn, unless a hook refuses them. */
	private static void takeQueued(OpenTurn turn) {
		try {
			turn.beginAgain();
		}
		catch (SessionRefusedException ex) {
			logger.warn("What was queued on session " + turn.key() + " was left out when its turn was cancelled: hook '"
					+ ex.hook() + "' refused it");
		}
	}

	// for the advisor

	/**
	 * A call as it begins.
	 *
	 * @param turn the turn that it works on; null if it does not go on
	 * @param pause what it gets if its message was queued; null if it goes on
	 */
	public record Opened(@Nullable GatedTurn turn, @Nullable Pause pause) {
	}

	/**
	 * Opens the turn of a call, or goes on with the open one if the call has no input.
	 * For advisors.
	 * @param request what the turn starts with
	 * @param tools the tools on offer
	 * @param toolLoop whether the call runs tools itself
	 * @return the turn
	 * @throws NestedTurnException if the call is made inside of a turn on the same
	 * session
	 * @throws IllegalStateException if a configured name is not one of a tool, if the
	 * call has no input and nothing waits, or if it leaves running tools that need
	 * consent to the application
	 * @throws SessionPausedException if the call has input, calls wait, and new messages
	 * are refused meanwhile
	 * @throws io.sessionkit.ResumeRefusedException if the tools are not those that were
	 * approved
	 */
	public Opened open(TurnRequest request, List<ToolCallback> tools, boolean toolLoop) {
		HookContext enclosing = TurnBinding.enclosing().orElse(null);
		if (enclosing != null && enclosing.key().equals(request.key())) {
			throw new NestedTurnException("A tool or hook of turn " + enclosing.turnId() + " on session "
					+ enclosing.key() + " made a call on the same session " + request.key()
					+ ". Give the inner call a session of its own, or none.");
		}
		this.rules.named().check(names(tools));
		if (!toolLoop && (request.input().isEmpty() || this.rules.mayAsk(tools))) {
			throw new IllegalStateException("The call on session " + request.key() + " has no tool advisor, so tools"
					+ " that need an approval could run unseen. Leave spring.ai.chat.client.tool-calling.enabled on, or"
					+ " add a ToolCallingAdvisor.");
		}
		if (request.input().isEmpty()) {
			return new Opened(resume(request, tools, enclosing), null);
		}
		try {
			return new Opened(gated(this.conversations.open(request), tools, enclosing), null);
		}
		catch (SessionPausedException ex) {
			return afterPause(request, tools, enclosing, ex);
		}
	}

	private GatedTurn gated(OpenTurn turn, List<ToolCallback> tools, @Nullable HookContext enclosing) {
		return new GatedTurn(turn, tools, this.rules, this.ledger, this::tell, this.conversations.durability(),
				enclosing);
	}

	private GatedTurn resume(TurnRequest request, List<ToolCallback> tools, @Nullable HookContext enclosing) {
		OpenTurn turn = this.conversations.resume(request);
		try {
			GatedTurn gated = gated(turn, tools, enclosing);
			gated.resume();
			return gated;
		}
		catch (RuntimeException | Error ex) {
			turn.fail(ex);
			throw ex;
		}
	}

	private Opened afterPause(TurnRequest request, List<ToolCallback> tools, @Nullable HookContext enclosing,
			SessionPausedException refusal) {
		return switch (this.rules.onNewMessage()) {
			case REJECT -> throw refusal;
			case CANCEL -> {
				cancel(request.key());
				yield new Opened(gated(this.conversations.open(request), tools, enclosing), null);
			}
			case QUEUE -> new Opened(null, queue(request));
		};
	}

	private Pause queue(TurnRequest request) {
		SessionKey key = request.key();
		Turn open = this.conversations.openTurn(key)
			.orElseThrow(
					() -> new SessionConflictException(
							"The turn that waited on session " + key
									+ " has gone on in the meantime. The new message was not stored; call again.",
							null));
		if (this.conversations.leaseHolder(key, open.id()) != null) {
			throw new TurnInProgressException("Another call works on the open turn of session " + key
					+ " at this moment. The new message was not stored; call again when it is done.");
		}
		Turn kept = this.conversations.queue(key, request.input());
		return Pause.of(pending(key), new TurnResult(key, kept, List.of(), false));
	}

	/**
	 * The tools of a call that names no session, in which nothing could wait: those that
	 * need consent refuse. For advisors.
	 * @param agent the agent that the call names; null for none
	 * @param tools the tools on offer
	 * @param parameters the advisor parameters of the call
	 * @return the tools as the call may use them
	 * @throws IllegalStateException if a configured name is not one of a tool
	 */
	public List<ToolCallback> withoutSession(@Nullable String agent, List<ToolCallback> tools,
			Map<String, Object> parameters) {
		this.rules.named().check(names(tools));
		if (!this.rules.mayAsk(tools)) {
			return tools;
		}
		HookContext enclosing = TurnBinding.enclosing().orElse(null);
		ApprovalRules.Caller caller = new ApprovalRules.Caller(null, agent, Map.of(), parameters);
		return tools.stream()
			.<ToolCallback>map((tool) -> new SessionlessTool(tool, this.rules, caller, enclosing))
			.toList();
	}

	private static List<String> names(List<ToolCallback> tools) {
		return tools.stream().map((tool) -> tool.getToolDefinition().name()).toList();
	}

	private List<LedgerEntry> withExpired(SessionKey key, List<LedgerEntry> open) {
		Optional<Turn> turn = this.conversations.openTurn(key);
		return turn.flatMap((waiting) -> this.conversations.held(key, waiting.id()))
			.map((held) -> HeldCalls.withExpired(key, held, open))
			.orElse(open);
	}

	private void tell(ApprovalEvent event) {
		for (Consumer<? super ApprovalEvent> listener : this.listeners) {
			try {
				listener.accept(event);
			}
			catch (RuntimeException ex) {
				logger.warn("A listener of approvals of session " + event.approval().key() + " threw "
						+ ex.getClass().getName());
			}
		}
	}

	/**
	 * Builds {@link Approvals}. Not safe for use by many threads.
	 */
	public static final class Builder {

		private final Conversations conversations;

		private Set<String> tools = Set.of();

		private Supplier<? extends Collection<String>> knownTools = List::of;

		private List<ApprovalPolicy> policies = List.of();

		private SiblingRule siblings = SiblingRule.HOLD;

		private NewMessageRule onNewMessage = NewMessageRule.REJECT;

		private @Nullable Duration expiresAfter;

		private @Nullable String version;

		private ApprovalTexts texts = new ApprovalTexts() {
		};

		private Supplier<@Nullable String> traceIds = () -> null;

		private List<Consumer<? super ApprovalEvent>> listeners = List.of();

		private Builder(Conversations conversations) {
			this.conversations = conversations;
		}

		/**
		 * The tools of which every call needs consent; none by default.
		 * @param names their names, letter by letter
		 * @return this builder
		 */
		public Builder tools(Set<String> names) {
			this.tools = Set.copyOf(names);
			return this;
		}

		/**
		 * The names of tools that there are besides those that a call offers, so that a
		 * name of {@link #tools} can be one of them; none by default. It is asked only
		 * where a name was not found.
		 * @param names gives the names
		 * @return this builder
		 */
		public Builder knownTools(Supplier<? extends Collection<String>> names) {
			this.knownTools = names;
			return this;
		}

		/**
		 * Who else rules on calls; nobody by default.
		 * @param policies the policies
		 * @return this builder
		 */
		public Builder policies(List<? extends ApprovalPolicy> policies) {
			this.policies = List.copyOf(policies);
			return this;
		}

		/**
		 * What becomes of calls next to one that waits; they are held by default.
		 * @param siblings the rule
		 * @return this builder
		 */
		public Builder siblings(SiblingRule siblings) {
			this.siblings = siblings;
			return this;
		}

		/**
		 * What becomes of a new message while calls wait; it is refused by default.
		 * @param onNewMessage the rule
		 * @return this builder
		 */
		public Builder onNewMessage(NewMessageRule onNewMessage) {
			this.onNewMessage = onNewMessage;
			return this;
		}

		/**
		 * How long a call can be decided, by the clock of the store; as long as its
		 * session lives by default.
		 * @param expiresAfter the time; null for no end
		 * @return this builder
		 * @throws IllegalArgumentException if it is not positive
		 */
		public Builder expiresAfter(@Nullable Duration expiresAfter) {
			if (expiresAfter != null && (expiresAfter.isZero() || expiresAfter.isNegative())) {
				throw new IllegalArgumentException("The time to decide must be positive: " + expiresAfter
						+ ". Leave it out for calls that can always be decided.");
			}
			this.expiresAfter = expiresAfter;
			return this;
		}

		/**
		 * The application's own marker of what a paused turn was made with, a prompt
		 * version for example. A call with another one does not go on with it. None by
		 * default.
		 * @param version the marker; null for none
		 * @return this builder
		 */
		public Builder version(@Nullable String version) {
			this.version = version;
			return this;
		}

		/**
		 * What the model is told in the place of a result.
		 * @param texts the texts
		 * @return this builder
		 */
		public Builder texts(ApprovalTexts texts) {
			this.texts = texts;
			return this;
		}

		/**
		 * Gives the trace id of the running call, which is kept with what waits; none by
		 * default.
		 * @param traceIds gives it, or null
		 * @return this builder
		 */
		public Builder traceIds(Supplier<@Nullable String> traceIds) {
			this.traceIds = traceIds;
			return this;
		}

		/**
		 * Who is told what happens; nobody by default.
		 * @param listeners the listeners
		 * @return this builder
		 */
		public Builder listeners(List<? extends Consumer<? super ApprovalEvent>> listeners) {
			this.listeners = List.copyOf(listeners);
			return this;
		}

		/**
		 * The approvals.
		 * @return new approvals
		 */
		public Approvals build() {
			return new Approvals(this);
		}

	}

}
