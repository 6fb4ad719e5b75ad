package io.sessionkit.approval;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeSet;
import java.util.function.Consumer;
import java.util.function.Predicate;

import io.sessionkit.ApprovalStatus;
import io.sessionkit.NestedTurnException;
import io.sessionkit.ResumeRefusedException;
import io.sessionkit.TurnStatus;
import io.sessionkit.conversation.Durability;
import io.sessionkit.conversation.HeldReply;
import io.sessionkit.conversation.OpenTurn;
import io.sessionkit.conversation.TurnGate;
import io.sessionkit.hook.HookContext;
import io.sessionkit.store.RecordWrite;
import org.jspecify.annotations.Nullable;

import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.AssistantMessage.ToolCall;
import org.springframework.ai.chat.metadata.ChatGenerationMetadata;
import org.springframework.ai.chat.model.ChatResponse;
import org.springframework.ai.chat.model.Generation;
import org.springframework.ai.chat.model.ToolContext;
import org.springframework.ai.tool.ToolCallback;

/**
 * A turn whose tool calls pass the policies first. For advisors.
 * <p>
 * The tool loop stays Spring AI's: a reply with calls that have to wait is taken out of
 * it, and a turn that goes on puts the reply in again in the place of a model call. The
 * loop runs the tools then, in their order, and each asks here whether it may.
 */
public final class GatedTurn implements TurnGate {

	private static final String POLICY = "policy";

	private final OpenTurn turn;

	private final Map<String, ToolCallback> tools = new LinkedHashMap<>();

	private final ApprovalRules rules;

	private final Ledger ledger;

	private final Consumer<ApprovalEvent> events;

	private final boolean stepwise;

	private final @Nullable HookContext enclosing;

	private final ToolRuns runs;

	private final boolean gated;

	/** The calls that the tool loop runs or has run last. */
	private volatile ToolBatch batch = new ToolBatch(List.of(), List.of());

	/** Which calls of the held reply the loop is to run; null if it holds none back. */
	private volatile @Nullable Predicate<LedgerEntry> released;

	private volatile boolean waits;

	GatedTurn(OpenTurn turn, List<ToolCallback> tools, ApprovalRules rules, Ledger ledger,
			Consumer<ApprovalEvent> events, Durability durability, @Nullable HookContext enclosing) {
		this.turn = turn;
		this.rules = rules;
		this.ledger = ledger;
		this.events = events;
		this.enclosing = enclosing;
		this.stepwise = durability == Durability.STEP;
		tools.forEach((tool) -> this.tools.put(tool.getToolDefinition().name(), tool));
		this.runs = new ToolRuns(turn, ledger, rules.texts(), events);
		this.gated = turn.isContinued() || (!tools.isEmpty() && (this.stepwise || rules.mayAsk(tools)));
		if (this.gated) {
			turn.gate(this);
		}
	}

	/**
	 * The turn.
	 * @return the turn
	 */
	public OpenTurn turn() {
		return this.turn;
	}

	/**
	 * The tools as the tool loop is to see them.
	 * @return one for each tool on offer, in their order
	 */
	public List<ToolCallback> tools() {
		return this.tools.values().stream().<ToolCallback>map((tool) -> new GatedTool(tool, this)).toList();
	}

	/**
	 * Whether the turn has come to wait, so that nothing of it is to be stored by this
	 * call any more.
	 * @return true if it waits
	 */
	public boolean isWaiting() {
		return this.waits;
	}

	/**
	 * Ends this call on a turn that waits.
	 * @return what the call gets
	 */
	public Pause end() {
		return new Pause(waiting(), this.turn.pause());
	}

	/**
	 * The trace of the call that was paused.
	 * @return its id; null for none, and for a new turn
	 */
	public @Nullable String pausedTrace() {
		return this.turn.isContinued() ? this.batch.entries()
			.stream()
			.map((entry) -> entry.approval().requirements().traceId())
			.filter(Objects::nonNull)
			.findFirst()
			.orElse(null) : null;
	}

	// a turn that goes on

	/**
	 * Proves that the call can go on with the turn, and finds out with which of its
	 * calls.
	 */
	void resume() {
		HeldReply held = Objects.requireNonNull(this.turn.holding().reply());
		List<LedgerEntry> entries = withStandingDecisions(
				HeldCalls.of(this.turn, this.ledger, this.rules.texts()).entries());
		prove(entries);
		boolean undecided = entries.stream().anyMatch((entry) -> entry.status().isPending());
		if (undecided && this.enclosing != null) {
			throw nested(entries);
		}
		boolean siblingsRun = this.rules.siblings() == SiblingRule.RUN;
		this.released = !undecided ? (entry) -> true : (entry) -> entry.status() == ApprovalStatus.APPROVED
				&& (siblingsRun || entry.approval().decision() != null);
		this.batch = new ToolBatch(held.reply().getToolCalls(), entries);
	}

	private List<LedgerEntry> withStandingDecisions(List<LedgerEntry> entries) {
		if (entries.stream().noneMatch((entry) -> entry.status() == ApprovalStatus.PROPOSED)) {
			return entries;
		}
		List<StandingDecision> standing = this.ledger.standing(this.turn.key());
		return entries.stream().map((entry) -> {
			LedgerEntry decided = decided(entry, standing);
			LedgerEntry stored = (decided != entry) ? this.ledger.replace(decided) : entry;
			// somebody decides this call at the same moment: his word counts next time
			return (stored != null) ? stored : entry;
		}).toList();
	}

	private LedgerEntry decided(LedgerEntry entry, List<StandingDecision> standing) {
		Approval call = entry.approval();
		if (call.status() != ApprovalStatus.PROPOSED) {
			return entry;
		}
		return standing.stream()
			.filter((decision) -> decision.coversCall(call.tool(), call.digest()))
			.reduce((older, newer) -> newer)
			.map((decision) -> entry
				.with(call.decided(decision.approved() ? ApprovalStatus.APPROVED : ApprovalStatus.REJECTED,
						new Approval.Decided(decision.by(), this.ledger.now(), decision.reason(), null,
								decision.approved() ? call.digest() : null, decision.id()))))
			.orElse(entry);
	}

	private void prove(List<LedgerEntry> entries) {
		TreeSet<String> changes = new TreeSet<>();
		for (LedgerEntry entry : entries) {
			Approval call = entry.approval();
			String digest = this.turn.request().tools().get(call.tool());
			if (digest == null) {
				changes.add("This call does not offer tool '" + call.tool() + "'.");
			}
			else if (!digest.equals(call.requirements().toolDigest())) {
				changes.add("Tool '" + call.tool() + "' has another description or input schema.");
			}
			if (!Objects.equals(call.requirements().version(), this.rules.version())) {
				changes.add("sessionkit.approval.version was '" + call.requirements().version() + "' and is '"
						+ this.rules.version() + "'.");
			}
		}
		if (!changes.isEmpty()) {
			throw new ResumeRefusedException("The turn that waits on session " + this.turn.key()
					+ " cannot go on with this call, and nothing was run: " + String.join(" ", changes)
					+ " Use a ChatClient that offers what was approved, or end the turn with Approvals.cancel(..).",
					List.copyOf(changes));
		}
	}

	@Override
	public @Nullable ChatResponse pause() {
		return this.waits ? waiting() : null;
	}

	@Override
	public @Nullable ChatResponse beforeRequest(boolean first) {
		if (!first) {
			return null;
		}
		Predicate<LedgerEntry> chosen = this.released;
		if (chosen == null) {
			checkNotStored();
			return null;
		}
		AssistantMessage reply = Objects.requireNonNull(this.turn.holding().reply()).reply();
		this.batch = new ToolBatch(reply.getToolCalls(), this.batch.entries());
		if (this.batch.entries().stream().allMatch(chosen)) {
			tellExpired();
			return calling(this.turn.holding().release());
		}
		this.waits = true;
		return someOf(reply, chosen);
	}

	/** A part that is stored stays, so the loop cannot begin at the beginning again. */
	private void checkNotStored() {
		if (this.turn.holding().reply() != null) {
			throw new IllegalStateException("The tool loop of the turn on session " + this.turn.key()
					+ " was started again, by a retry around it, after a part of the turn was stored. Nothing more is"
					+ " run. Call again without a message to go on with it, and retry inside the tool loop only.");
		}
	}

	private void tellExpired() {
		this.batch.entries()
			.stream()
			.filter((entry) -> entry.status() == ApprovalStatus.EXPIRED)
			.forEach((entry) -> this.events.accept(new ApprovalEvent.Expired(entry.approval())));
	}

	// a reply with calls

	@Override
	public @Nullable ChatResponse afterReply(AssistantMessage reply) {
		List<ToolCall> calls = reply.getToolCalls();
		Map<Integer, Ruling> rulings = rulings(calls);
		boolean allAllowed = rulings.values().stream().allMatch((ruling) -> ruling.outcome() == Ruling.Outcome.ALLOW);
		if (allAllowed && !this.stepwise) {
			this.released = null;
			this.batch = new ToolBatch(calls, List.of());
			return null;
		}
		List<LedgerEntry> entries = entries(calls, rulings);
		checkOffered(entries);
		if (entries.stream().anyMatch((entry) -> entry.status() == ApprovalStatus.PROPOSED)) {
			return hold(reply, entries);
		}
		if (this.stepwise) {
			store(reply, entries, TurnStatus.INCOMPLETE, true);
		}
		else {
			this.batch = new ToolBatch(calls, entries);
		}
		this.released = null;
		return null;
	}

	private Map<Integer, Ruling> rulings(List<ToolCall> calls) {
		List<Integer> originals = HeldCalls.originals(calls);
		Map<Integer, Ruling> rulings = new LinkedHashMap<>();
		for (int i = 0; i < calls.size(); i++) {
			if (originals.get(i) == i) {
				ToolCall call = calls.get(i);
				rulings.put(i, this.rules.rule(caller(), call, this.tools.get(call.name())));
			}
		}
		return rulings;
	}

	private ApprovalRules.Caller caller() {
		HookContext context = this.turn.running().context();
		return new ApprovalRules.Caller(context.key(), context.agent(), context.state(), context.parameters());
	}

	private List<LedgerEntry> entries(List<ToolCall> calls, Map<Integer, Ruling> rulings) {
		Instant now = this.ledger.now();
		String trace = this.rules.traceIds().get();
		List<LedgerEntry> entries = new ArrayList<>();
		rulings.forEach((index, ruling) -> entries
			.add(LedgerEntry.requested(approval(calls.get(index), index, ruling, now, trace))));
		boolean asks = entries.stream().anyMatch((entry) -> entry.status() == ApprovalStatus.PROPOSED);
		if (!asks) {
			return entries;
		}
		List<StandingDecision> standing = this.ledger.standing(this.turn.key());
		return entries.stream().map((entry) -> decided(entry, standing)).toList();
	}

	private Approval approval(ToolCall call, int index, Ruling ruling, Instant now, @Nullable String trace) {
		ToolCallback tool = this.tools.get(call.name());
		int round = this.turn.roundNumber();
		boolean asks = ruling.outcome() == Ruling.Outcome.ASK;
		Duration expiresAfter = this.rules.expiresAfter();
		Approval.Requirements requirements = new Approval.Requirements(this.turn.request().tools().get(call.name()),
				(tool != null) ? tool.getToolDefinition().inputSchema() : null, this.rules.version(), trace);
		Approval.Decided denied = (ruling.outcome() == Ruling.Outcome.DENY)
				? new Approval.Decided(POLICY, now, ruling.text(), null, null, null) : null;
		return new Approval(this.turn.key(), CallId.of(this.turn.key(), this.turn.id(), round, index), this.turn.id(),
				round, index, this.turn.agent(), Objects.requireNonNullElse(call.id(), ""), call.name(),
				Objects.requireNonNullElse(call.arguments(), ""), HeldCalls.digest(call), asks ? ruling.text() : null,
				status(ruling.outcome()), now, (asks && expiresAfter != null) ? now.plus(expiresAfter) : null, denied,
				null, null, requirements);
	}

	private static ApprovalStatus status(Ruling.Outcome outcome) {
		return switch (outcome) {
			case ALLOW -> ApprovalStatus.APPROVED;
			case ASK -> ApprovalStatus.PROPOSED;
			case DENY -> ApprovalStatus.DENIED;
		};
	}

	/** What the loop would find elsewhere would run without asking here. */
	private void checkOffered(List<LedgerEntry> entries) {
		for (LedgerEntry entry : entries) {
			Approval call = entry.approval();
			boolean allowed = call.status() == ApprovalStatus.APPROVED && call.decision() == null;
			if (!allowed && !this.tools.containsKey(call.tool())) {
				throw new IllegalStateException("The model called tool '" + call.tool() + "' on session "
						+ this.turn.key() + ", which needs an approval, but is not among the tools of the call: "
						+ this.tools.keySet() + ". Nothing was run. Offer it with .tools(..) or .toolCallbacks(..).");
			}
		}
	}

	private ChatResponse hold(AssistantMessage reply, List<LedgerEntry> entries) {
		if (this.enclosing != null) {
			throw nested(entries);
		}
		Predicate<LedgerEntry> siblings = (entry) -> entry.status() == ApprovalStatus.APPROVED;
		boolean goesOn = this.rules.siblings() == SiblingRule.RUN && entries.stream().anyMatch(siblings);
		store(reply, entries, TurnStatus.AWAITING_APPROVAL, goesOn);
		this.waits = true;
		entries.stream()
			.filter((entry) -> entry.status() == ApprovalStatus.PROPOSED)
			.forEach((entry) -> this.events.accept(new ApprovalEvent.Requested(entry.approval())));
		return goesOn ? someOf(reply, siblings) : waiting();
	}

	private void store(AssistantMessage reply, List<LedgerEntry> entries, TurnStatus status, boolean goesOn) {
		List<RecordWrite> writes = entries.stream()
			.map((entry) -> this.ledger.enter(entry, this.rules.expiresAfter()))
			.toList();
		this.turn.holding().store(reply, HeldCalls.notes(entries), status, writes, goesOn);
		this.batch = new ToolBatch(reply.getToolCalls(), entries.stream().map((entry) -> entry.revision(1)).toList());
	}

	private NestedTurnException nested(List<LedgerEntry> entries) {
		List<String> waiting = entries.stream()
			.map(LedgerEntry::approval)
			.filter((call) -> call.status().isPending())
			.map(Approval::tool)
			.toList();
		HookContext outer = Objects.requireNonNull(this.enclosing);
		return new NestedTurnException("The turn on session " + this.turn.key() + " needs an approval of " + waiting
				+ ", but it was opened inside of turn " + outer.turnId() + " on session " + outer.key()
				+ ", which would not see it wait. Nothing was run. Let the outer call offer these tools itself, or make"
				+ " the inner call outside of a tool.");
	}

	private ChatResponse waiting() {
		return Pause.response(this.ledger.pending(this.batch.entries()));
	}

	private ChatResponse someOf(AssistantMessage reply, Predicate<LedgerEntry> chosen) {
		List<ToolCall> calls = this.batch.entries()
			.stream()
			.filter(chosen)
			.map((entry) -> reply.getToolCalls().get(entry.approval().index()))
			.toList();
		return calls.isEmpty() ? waiting() : calling(AssistantMessage.builder().content("").toolCalls(calls).build());
	}

	private static ChatResponse calling(AssistantMessage reply) {
		return new ChatResponse(
				List.of(new Generation(reply, ChatGenerationMetadata.builder().finishReason("TOOL_CALLS").build())));
	}

	// tools

	/**
	 * Whether the model has to be asked once more whatever the tools of this batch say.
	 */
	boolean needsModel() {
		HeldReply held = this.turn.holding().reply();
		return this.batch.hasAnswers() || (this.released != null && held != null && !held.queued().isEmpty());
	}

	/**
	 * Runs a tool if it may, and answers in its place if not.
	 */
	String run(ToolCallback tool, String arguments, @Nullable ToolContext context) {
		String name = tool.getToolDefinition().name();
		ToolBatch.Slot slot = this.batch.take(name, arguments);
		if (slot == null && this.gated) {
			Ruling ruling = this.rules.rule(caller(), new ToolCall("", "function", name, arguments), tool);
			if (ruling.outcome() != Ruling.Outcome.ALLOW) {
				throw new IllegalStateException("Tool '" + name + "' needs an approval, and was run for a call that no"
						+ " reply on session " + this.turn.key() + " has made. Nothing was run.");
			}
		}
		return (slot != null) ? this.runs.run(this.batch, slot, tool, arguments, context)
				: ToolRuns.run(tool, arguments, context);
	}

	@Override
	public List<RecordWrite> records() {
		List<LedgerEntry> over = new ArrayList<>();
		for (LedgerEntry entry : this.batch.entries()) {
			if (entry.status() == ApprovalStatus.APPROVED) {
				over.add(entry.with(entry.approval().with(ApprovalStatus.CANCELLED)));
			}
			else if (entry.status().isOver()) {
				over.add(entry);
			}
		}
		return this.ledger.closing(over);
	}

}
