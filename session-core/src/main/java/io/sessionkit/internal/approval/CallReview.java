package io.sessionkit.internal.approval;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Consumer;

import io.sessionkit.approval.ApprovalEvent;
import io.sessionkit.approval.ApprovalStatus;
import io.sessionkit.approval.Decision;
import io.sessionkit.approval.ResumeRefusedException;
import io.sessionkit.approval.Ruling;
import io.sessionkit.approval.StandingDecision;
import io.sessionkit.approval.ToolApproval;
import io.sessionkit.approval.UnknownToolException;
import io.sessionkit.hook.HookContext;
import io.sessionkit.internal.Names;
import io.sessionkit.internal.binding.TurnBinding;
import io.sessionkit.internal.ledger.Ledger;
import io.sessionkit.internal.ledger.LedgerEntry;
import io.sessionkit.internal.ledger.StandingDecisions;
import io.sessionkit.internal.ruling.Rulings;
import io.sessionkit.internal.run.StoppedTool;
import io.sessionkit.internal.run.ToolOutcome;
import io.sessionkit.internal.tool.CallId;
import io.sessionkit.internal.tool.LoopLimits;
import io.sessionkit.internal.tool.RepeatedCalls;
import io.sessionkit.internal.tool.ToolInput;
import io.sessionkit.internal.turn.RunningTurn;
import org.jspecify.annotations.Nullable;

import org.springframework.ai.chat.messages.AssistantMessage.ToolCall;
import org.springframework.ai.tool.ToolCallback;

/**
 * Determines what happens to the calls of a reply: by the policies when the reply is
 * made, and by standing decisions both then and when its turn continues.
 */
final class CallReview {

	private static final String POLICY = "policy";

	private final RunningTurn turn;

	private final TurnCall offer;

	private final Map<String, ToolCallback> tools;

	private final ApprovalRules rules;

	private final Ledger ledger;

	private final StandingDecisions standing;

	private final Consumer<ApprovalEvent> events;

	/**
	 * The trace id. It is read when the turn begins, since the turn may run on other
	 * threads later.
	 */
	private final @Nullable String trace;

	CallReview(TurnCall offer, GateSetup setup) {
		this.turn = offer.turn();
		this.offer = offer;
		this.tools = offer.offered();
		this.rules = setup.rules();
		this.ledger = setup.ledger();
		this.standing = setup.standing();
		this.events = NestedCalls.listening(this.turn.running(), setup.events());
		this.trace = this.rules.traceIds().get();
	}

	/**
	 * Returns the ledger entries for the calls of a new reply.
	 * @param all whether calls that need no approval get an entry too
	 * @return the entries; empty if no call needs one
	 * @throws UnknownToolException if a call needs an entry, and the tool of one of them
	 * is not on offer; or if a part of the turn is stored, and no request has had the
	 * tool of one of them
	 */
	List<LedgerEntry> of(List<ToolCall> calls, boolean all) {
		Map<Integer, Ruling> rulings = rulings(calls);
		if (!all && rulings.values().stream().allMatch((ruling) -> ruling.kind() == Ruling.Kind.ALLOW)) {
			checkRequested(calls);
			return List.of();
		}
		List<LedgerEntry> entries = entries(calls, rulings);
		checkOffered(entries);
		return entries;
	}

	/**
	 * Returns the entry of a call that the loop has ended without one. A call that a
	 * limit of the loop has refused is cancelled, as one that has an entry; a tool that
	 * returns the text of such a limit itself looks the same.
	 * @param result the result that the model would have got
	 */
	LedgerEntry ran(ToolCall call, int index, String result) {
		Instant now = this.ledger.now();
		LedgerEntry requested = LedgerEntry.requested(approval(call, index, 1, Ruling.allow(), now));
		if (LoopLimits.haveRefused(call.name(), result)) {
			return requested.with(ApprovalStatus.CANCELLED);
		}
		return requested.claimed(now, this.turn.id())
			.ended(now, ToolOutcome.storable(result), StoppedTool.isTold(call.name(), result));
	}

	/**
	 * Returns whether all tools of a reply are on offer, so that another call can prove
	 * that it offers the same.
	 */
	boolean isOffered(List<ToolCall> calls) {
		return calls.stream()
			.allMatch((call) -> this.tools.containsKey(call.name())
					&& this.turn.request().tools().containsKey(call.name()));
	}

	/**
	 * Returns whether a call that no reply has made may run without approval.
	 */
	boolean allows(ToolCall call) {
		return rule(call).kind() == Ruling.Kind.ALLOW;
	}

	/**
	 * Returns the entries of the calls of a held reply, now that its turn continues.
	 * @throws ResumeRefusedException if this call cannot continue the turn with them
	 */
	List<LedgerEntry> again(List<LedgerEntry> held) {
		prove(held);
		return withStandingDecisions(held).stream().map(this::unlessDenied).toList();
	}

	/**
	 * Denies a call whose arguments a person has changed into such that a policy denies.
	 * The policies have not seen these, and whoever decides must not bypass them.
	 */
	private LedgerEntry unlessDenied(LedgerEntry entry) {
		ToolApproval call = entry.approval();
		if (call.status() != ApprovalStatus.APPROVED || !call.isEdited() || call.claimedAt() != null) {
			return entry;
		}
		Ruling ruling = rule(new ToolCall(call.callId(), "function", call.tool(), call.effectiveArguments()));
		if (ruling.kind() != Ruling.Kind.DENY) {
			return entry;
		}
		LedgerEntry denied = this.ledger
			.replace(entry.decided(ApprovalStatus.DENIED, denied(ruling, this.ledger.now())));
		if (denied == null) {
			// another writer was first, so the claim of this one fails
			return entry;
		}
		this.events.accept(new ApprovalEvent.Denied(denied.approval()));
		return denied;
	}

	private List<LedgerEntry> withStandingDecisions(List<LedgerEntry> entries) {
		if (entries.stream().noneMatch((entry) -> entry.status() == ApprovalStatus.PROPOSED)) {
			return entries;
		}
		List<StandingDecision> standing = this.standing.of(this.turn.key());
		return entries.stream().map((entry) -> withStandingDecision(entry, standing)).toList();
	}

	private LedgerEntry withStandingDecision(LedgerEntry entry, List<StandingDecision> standing) {
		LedgerEntry decided = decided(entry, standing);
		LedgerEntry stored = (decided != entry) ? this.ledger.replace(decided) : null;
		if (stored == null) {
			// none, or it lost a race with a decision, which takes effect on the next
			// resume
			return entry;
		}
		this.events.accept(new ApprovalEvent.Decided(stored.approval()));
		return stored;
	}

	private LedgerEntry decided(LedgerEntry entry, List<StandingDecision> standing) {
		ToolApproval call = entry.approval();
		if (call.status() != ApprovalStatus.PROPOSED) {
			return entry;
		}
		return standing.stream()
			.filter((decision) -> StandingDecisions.covers(decision, call))
			.reduce((older, newer) -> newer)
			.map((decision) -> decided(entry, decision))
			.orElse(entry);
	}

	private LedgerEntry decided(LedgerEntry entry, StandingDecision decision) {
		boolean approved = decision.approved();
		return entry.decided(approved ? ApprovalStatus.APPROVED : ApprovalStatus.REJECTED,
				new ToolApproval.Decided(approved ? Decision.Verb.APPROVE : Decision.Verb.REJECT, decision.by(),
						this.ledger.now(), decision.reason(), null, approved ? entry.approval().digest() : null,
						decision.id()));
	}

	private void prove(List<LedgerEntry> entries) {
		Set<String> tools = new TreeSet<>();
		Set<String> versions = new TreeSet<>();
		for (LedgerEntry entry : entries) {
			addToolChange(tools, entry.approval());
			addVersionChange(versions, entry.approval());
		}
		if (!tools.isEmpty() || !versions.isEmpty()) {
			throw refused(tools, versions);
		}
	}

	private void addToolChange(Set<String> changes, ToolApproval call) {
		String digest = this.turn.request().tools().get(call.tool());
		if (digest == null) {
			changes.add("This call does not offer tool '" + call.tool() + "'.");
		}
		else if (!digest.equals(call.requirements().toolDigest())) {
			changes.add("Tool '" + call.tool() + "' has another description or input schema.");
		}
	}

	private void addVersionChange(Set<String> changes, ToolApproval call) {
		if (!Objects.equals(call.requirements().version(), this.rules.version())) {
			changes.add("sessionkit.approval.version was '" + call.requirements().version() + "' and is '"
					+ this.rules.version() + "'.");
		}
	}

	private ResumeRefusedException refused(Set<String> tools, Set<String> versions) {
		Set<String> changes = new TreeSet<>(tools);
		changes.addAll(versions);
		String where = versions.isEmpty() ? "" : "in an instance that has the version of the approval";
		String client = tools.isEmpty() ? "" : "with a ChatClient that offers what was approved";
		return new ResumeRefusedException(
				"The turn that waits on session " + this.turn.key()
						+ " cannot continue with this call, and nothing was run: " + String.join(" ", changes)
						+ " Call " + (client + " " + where).strip() + ", or end the turn with Approvals.cancel(..).",
				List.copyOf(changes));
	}

	/**
	 * Returns the rulings on calls by their position in the reply. Identical calls have
	 * one ruling together, unless the first of them needs no approval: then each of them
	 * is a call of its own, which is ruled on. A policy may count calls.
	 */
	private Map<Integer, Ruling> rulings(List<ToolCall> calls) {
		List<Integer> originals = RepeatedCalls.originals(calls);
		Map<Integer, Ruling> rulings = new LinkedHashMap<>();
		for (int i = 0; i < calls.size(); i++) {
			Ruling first = rulings.get(originals.get(i));
			if (first == null || first.kind() == Ruling.Kind.ALLOW) {
				rulings.put(i, rule(calls.get(i)));
			}
		}
		return rulings;
	}

	/**
	 * A policy runs as part of the turn, as a hook does, whichever thread a stream is on.
	 */
	private Ruling rule(ToolCall call) {
		try (TurnBinding binding = TurnBinding.of(this.turn.running())) {
			return this.rules.rulings().rule(caller(), call, this.tools.get(call.name()));
		}
	}

	private Rulings.Caller caller() {
		HookContext context = this.turn.running().context();
		return new Rulings.Caller(context.key(), context.agent(), context.attributes(), context.parameters());
	}

	private List<LedgerEntry> entries(List<ToolCall> calls, Map<Integer, Ruling> rulings) {
		List<LedgerEntry> entries = requested(calls, rulings);
		if (entries.stream().noneMatch((entry) -> entry.status() == ApprovalStatus.PROPOSED)) {
			return entries;
		}
		List<StandingDecision> standing = this.standing.of(this.turn.key());
		return entries.stream().map((entry) -> decided(entry, standing)).toList();
	}

	private List<LedgerEntry> requested(List<ToolCall> calls, Map<Integer, Ruling> rulings) {
		Instant now = this.ledger.now();
		List<LedgerEntry> entries = new ArrayList<>();
		List<Integer> originals = RepeatedCalls.originals(calls);
		rulings.forEach((index, ruling) -> {
			boolean runsEachTime = rulings.getOrDefault(originals.get(index), ruling).kind() == Ruling.Kind.ALLOW;
			int times = runsEachTime ? 1 : Collections.frequency(originals, index);
			entries.add(LedgerEntry.requested(approval(calls.get(index), index, times, ruling, now)));
		});
		return entries;
	}

	private ToolApproval approval(ToolCall call, int index, int times, Ruling ruling, Instant now) {
		int round = this.turn.roundNumber();
		return new ToolApproval(this.turn.key(), CallId.of(this.turn.key(), this.turn.id(), round, index),
				new ToolApproval.Origin(this.turn.id(), round, index, this.turn.agent()),
				new ToolApproval.Call(Objects.requireNonNullElse(call.id(), ""), call.name(),
						Objects.requireNonNullElse(call.arguments(), ""), RepeatedCalls.digest(call), times),
				request(call, ruling, now),
				new ToolApproval.Progress(LedgerEntry.status(ruling), denial(ruling, now), null, null));
	}

	private ToolApproval.Request request(ToolCall call, Ruling ruling, Instant now) {
		boolean asks = ruling.kind() == Ruling.Kind.ASK;
		Duration expiresAfter = this.rules.waiting().expiresAfter();
		ToolCallback tool = this.tools.get(call.name());
		return new ToolApproval.Request(asks ? ruling.text() : null, now,
				(asks && expiresAfter != null) ? now.plus(expiresAfter) : null,
				new ToolApproval.Requirements(this.turn.request().tools().get(call.name()),
						(tool != null) ? schema(tool, asks) : null, this.rules.version(), this.trace));
	}

	/** Only a call that waits is decided with other arguments. */
	private static String schema(ToolCallback tool, boolean asks) {
		return asks ? ToolInput.schema(tool) : tool.getToolDefinition().inputSchema();
	}

	private static List<ToolApproval.Decided> denial(Ruling ruling, Instant now) {
		return (ruling.kind() == Ruling.Kind.DENY) ? List.of(denied(ruling, now)) : List.of();
	}

	private static ToolApproval.Decided denied(Ruling ruling, Instant now) {
		return new ToolApproval.Decided(Decision.Verb.REJECT, POLICY, now, ruling.text(), null, null, null);
	}

	/**
	 * Refuses calls of tools that are not on offer. The loop could find such a tool
	 * elsewhere, and it would run without approval. If it finds none, it fails, and no
	 * call could prove that it offers what the stored turn needs.
	 */
	private void checkOffered(List<LedgerEntry> entries) {
		for (LedgerEntry entry : entries) {
			String tool = entry.approval().tool();
			if (!this.tools.containsKey(tool)) {
				boolean stepwise = entries.stream().allMatch(LedgerEntry::isAllowed);
				throw notOffered(tool, stepwise ? "stored before its tools run (sessionkit.durability=step)"
						: "checked, since one of its calls needs an approval or is denied");
			}
		}
	}

	/**
	 * Refuses calls of invented tools behind a part of the turn that is stored. The loop
	 * would fail at such a call, and each call that continues the turn would run those
	 * before it once more.
	 */
	private void checkRequested(List<ToolCall> calls) {
		if (this.turn.holding().reply() == null) {
			return;
		}
		for (ToolCall call : calls) {
			if (!this.tools.containsKey(call.name()) && !this.offer.hasRequested(call.name())) {
				throw notOffered(call.name(), "behind a part of the turn that is stored");
			}
		}
	}

	/** A model may invent a name, of any length and with any characters. */
	private UnknownToolException notOffered(String tool, String which) {
		String shown = Names.shown(tool);
		return new UnknownToolException(
				"The model called tool '" + shown + "' on session " + this.turn.key() + ", in a reply that is " + which
						+ ", but it is not among the tools of the call: " + this.tools.keySet()
						+ ". Nothing of this reply was run. Offer it with .tools(..) or .toolCallbacks(..); a ChatModel"
						+ " of your own, such as a stub in a test, takes tools only if its getOptions() are"
						+ " ToolCallingChatOptions.",
				List.of(shown));
	}

}
