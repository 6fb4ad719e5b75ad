package io.sessionkit.internal.compensation;

import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

import io.sessionkit.Session;
import io.sessionkit.SessionKey;
import io.sessionkit.Turn;
import io.sessionkit.approval.ApprovalStatus;
import io.sessionkit.approval.Ruling;
import io.sessionkit.approval.ToolApproval;
import io.sessionkit.compensation.Compensation;
import io.sessionkit.compensation.Effect;
import io.sessionkit.compensation.Irreversible;
import io.sessionkit.compensation.Irreversible.Reason;
import io.sessionkit.compensation.RewindPlan;
import io.sessionkit.internal.argument.ToolArguments;
import io.sessionkit.internal.compensation.RanCall.Flaw;
import io.sessionkit.internal.ledger.Ledger;
import io.sessionkit.internal.ledger.LedgerEntry;
import io.sessionkit.internal.ruling.Rulings;
import io.sessionkit.internal.tool.ToolInput;
import io.sessionkit.internal.tree.ForkedFrom;
import io.sessionkit.store.SessionStore;
import org.jspecify.annotations.Nullable;

import org.springframework.ai.chat.messages.AssistantMessage.ToolCall;
import org.springframework.ai.tool.ToolCallback;

/**
 * Plans what a rewind does about the effects of the turns that leave the history. Safe
 * for use by many threads.
 */
public final class RewindPlanner {

	private final SessionStore store;

	private final Ledger ledger;

	private final CompensationRuns runs;

	private final CompensatingTools tools;

	private final Rulings rulings;

	/**
	 * Creates the planner.
	 * @param ledger the ledger of the calls that models have made
	 * @param runs the calls that take effects back
	 */
	public RewindPlanner(SessionStore store, Ledger ledger, CompensationRuns runs, CompensatingTools tools,
			Rulings rulings) {
		this.store = store;
		this.ledger = ledger;
		this.runs = runs;
		this.tools = tools;
		this.rulings = rulings;
	}

	/**
	 * A plan, and the stored form of its calls.
	 *
	 * @param plan the plan
	 * @param entries the compensating calls of the plan, in their order
	 */
	public record Planned(RewindPlan plan, List<LedgerEntry> entries) {
	}

	/**
	 * The turns whose effects a rewind looks at.
	 *
	 * @param turns the turns that leave the history, with those whose messages were
	 * deleted, newest first
	 * @param deleted the number of the turn up to which turns are no longer there that
	 * would leave the history too; 0 if there are none
	 */
	public record Looked(List<Turn> turns, long deleted) {
	}

	/**
	 * Plans a rewind.
	 * @param session the session as it is
	 * @param turns the turns that leave the history, newest first
	 * @param looked the turns whose effects to look at
	 */
	public Planned plan(Session session, List<Turn> turns, Looked looked) {
		Planning planning = new Planning(session, this.runs.stored(session.key()));
		calls(session.key(), looked.turns()).forEach(planning::add);
		if (looked.deleted() > 0) {
			planning.add(RanCalls.ofDeleted(session.key(), looked.deleted()));
		}
		RewindPlan.Place place = new RewindPlan.Place(session.key(), session.incarnation(), session.branch(),
				session.head());
		return new Planned(new RewindPlan(place, turns, planning.irreversible, planning.compensations, false),
				List.copyOf(planning.entries));
	}

	private List<RanCall> calls(SessionKey key, List<Turn> turns) {
		List<LedgerEntry> over = this.ledger.over(key);
		long copies = ForkedFrom.read(this.store.records(key, ForkedFrom.KIND), this.store.options().codec())
			.map(ForkedFrom::copies)
			.orElse(0L);
		List<RanCall> calls = new ArrayList<>();
		for (Turn turn : turns) {
			boolean copied = turn.number() <= copies;
			calls.addAll(new RanCalls(key, turn, this.store.items(key, turn.number()), over, copied).newestFirst());
		}
		return calls;
	}

	/**
	 * Returns a compensating call as applications see it.
	 */
	public static Compensation compensation(Effect effect, LedgerEntry entry) {
		String text = entry.result();
		return new Compensation(effect, entry.approval(),
				(text != null) ? new Compensation.Outcome(text, entry.failed()) : null);
	}

	/**
	 * The plan of one rewind while it is made.
	 */
	private final class Planning {

		private final Session session;

		private final Map<String, LedgerEntry> stored;

		private final Instant now = RewindPlanner.this.store.options().now();

		private final List<Irreversible> irreversible = new ArrayList<>();

		private final List<Compensation> compensations = new ArrayList<>();

		private final List<LedgerEntry> entries = new ArrayList<>();

		Planning(Session session, Map<String, LedgerEntry> stored) {
			this.session = session;
			this.stored = stored;
		}

		void add(RanCall call) {
			LedgerEntry before = this.stored.get(call.effect().id());
			if (before != null && hasBegun(before)) {
				addReady(call.effect(), before);
				return;
			}
			Flaw flaw = call.flaw();
			String name = RewindPlanner.this.tools.compensating(call.effect().tool());
			if (name != null && name.isEmpty()) {
				return;
			}
			if (flaw != null) {
				leave(call.effect(), flaw.reason(), flaw.detail());
			}
			else if (RewindPlanner.this.tools.find(call.effect().tool()) == null) {
				leave(call.effect(), Reason.UNKNOWN_TOOL,
						"Tool '" + call.effect().tool() + "' is not among the tools of the rewind.");
			}
			else if (name == null) {
				leave(call.effect(), Reason.NO_COMPENSATION,
						"Tool '" + call.effect().tool() + "' names no tool that takes its effect back.");
			}
			else {
				addNamed(call, name, before);
			}
		}

		/**
		 * A call that has begun is ended as it began, even if its tool has changed since.
		 */
		private static boolean hasBegun(LedgerEntry entry) {
			return entry.approval().claimedAt() != null || entry.status() == ApprovalStatus.DONE;
		}

		private void leaveMissing(Effect effect, String tool) {
			leave(effect, Reason.MISSING_TOOL,
					"Tool '" + tool + "', which takes the effect back, is not among the tools of the rewind.");
		}

		private void addNamed(RanCall call, String name, @Nullable LedgerEntry before) {
			ToolCallback tool = RewindPlanner.this.tools.find(name);
			if (tool == null) {
				leave(call.effect(), Reason.MISSING_TOOL,
						"Tool '" + name + "', which takes the effect back, is not among the tools of the rewind.");
				return;
			}
			String arguments = RewindPlanner.this.tools.arguments(call.effect(), tool);
			if (arguments == null) {
				leave(call.effect(), Reason.ARGUMENTS, "The arguments of the call are not certain, or they are not what"
						+ " tool '" + name + "' needs.");
				return;
			}
			addReady(call.effect(), CompensationRuns.now(approval(call, tool, arguments), before));
		}

		private void addReady(Effect effect, LedgerEntry entry) {
			ToolApproval call = entry.approval();
			ToolCallback tool = RewindPlanner.this.tools.find(call.tool());
			if (entry.status() == ApprovalStatus.APPROVED && tool == null) {
				leaveMissing(effect, call.tool());
				return;
			}
			if (tool != null && isEditedAndDenied(call, tool)) {
				leave(effect, Reason.DENIED, "A policy denies the call of tool '" + call.tool()
						+ "' with the arguments that were approved.");
				return;
			}
			switch (entry.status()) {
				case DENIED -> leave(effect, Reason.DENIED, "A policy denies the call of tool '" + call.tool() + "'.");
				case REJECTED -> leave(effect, Reason.REJECTED, "The call of tool '" + call.tool() + "' was rejected"
						+ ((call.decision() != null) ? " by " + call.decision().by() : "") + ".");
				default -> {
					this.entries.add(entry);
					this.compensations.add(compensation(effect, entry));
				}
			}
		}

		/** Policies have not seen the arguments that a person has approved instead. */
		private boolean isEditedAndDenied(ToolApproval call, ToolCallback tool) {
			return call.status() == ApprovalStatus.APPROVED && call.isEdited() && call.claimedAt() == null
					&& rule(call.agent(), tool, call.effectiveArguments()).kind() == Ruling.Kind.DENY;
		}

		private void leave(Effect effect, Reason reason, String detail) {
			this.irreversible.add(new Irreversible(effect, reason, detail));
		}

		private Ruling rule(@Nullable String agent, ToolCallback tool, String arguments) {
			return RewindPlanner.this.rulings.rule(
					new Rulings.Caller(this.session.key(), agent, this.session.attributes(), Map.of()),
					new ToolCall("", "function", tool.getToolDefinition().name(), arguments), tool);
		}

		private ToolApproval approval(RanCall call, ToolCallback tool, String arguments) {
			SessionKey key = this.session.key();
			RanCall.Place place = call.place();
			String name = tool.getToolDefinition().name();
			Ruling ruling = rule(place.agent(), tool, arguments);
			String description = (ruling.text() != null) ? ruling.text()
					: "Takes back what '" + call.effect().tool() + "' did in turn " + call.effect().turn() + ".";
			return new ToolApproval(key, call.effect().id(),
					new ToolApproval.Origin(place.turnId(), place.round(), place.index(), place.agent()),
					new ToolApproval.Call("", name, arguments, ToolArguments.of(arguments).digest(name), 1),
					new ToolApproval.Request(description, this.now, null,
							new ToolApproval.Requirements(null, ToolInput.schema(tool), null, null)),
					new ToolApproval.Progress(LedgerEntry.status(ruling), List.of(), null, null));
		}

	}

}
