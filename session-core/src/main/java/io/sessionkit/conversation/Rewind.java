package io.sessionkit.conversation;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;

import io.sessionkit.Session;
import io.sessionkit.SessionConflictException;
import io.sessionkit.Turn;
import io.sessionkit.approval.ApprovalStatus;
import io.sessionkit.compensation.Compensation;
import io.sessionkit.compensation.RewindPlan;
import io.sessionkit.compensation.RewindReport;
import io.sessionkit.compensation.RewindReport.Status;
import io.sessionkit.internal.binding.ActingCaller;
import io.sessionkit.internal.compensation.CompensatingTools;
import io.sessionkit.internal.compensation.CompensationRuns;
import io.sessionkit.internal.compensation.RewindPlanner;
import io.sessionkit.internal.compensation.RewindPlanner.Planned;
import io.sessionkit.internal.lease.HeldLease;
import io.sessionkit.internal.ledger.LedgerEntry;
import io.sessionkit.internal.line.Drain;
import io.sessionkit.internal.message.OpenTurn;
import io.sessionkit.store.SessionStore;
import org.jspecify.annotations.Nullable;

import org.springframework.ai.tool.ToolCallback;

/**
 * One rewind under its lease: runs what may run, in order, and moves the head at the end.
 * Not safe for use by many threads.
 */
final class Rewind {

	private final RewindPlan plan;

	private final RewindPlan now;

	/** The compensating calls as they are now, in the order of the plan. */
	private final List<LedgerEntry> entries;

	private final Work work;

	/**
	 * Creates a rewind.
	 * @param plan the plan as the caller has seen it
	 * @param now the same plan, made under the lease
	 */
	Rewind(RewindPlan plan, Planned now, Work work) {
		this.plan = plan;
		this.now = now.plan();
		this.entries = new ArrayList<>(now.entries());
		this.work = work;
	}

	/**
	 * The parts that a rewind works with.
	 *
	 * @param context the values for tools that take a context
	 */
	record Work(SessionStore store, CompensationRuns runs, MovesBack moves, CompensatingTools tools,
			Map<String, Object> context, HeldLease lease, Drain drain) {
	}

	static SessionConflictException notAsPlanned(RewindPlan plan) {
		return new SessionConflictException("Session " + plan.key() + " is not as the rewind was planned: it has moved"
				+ " on, or other calls would take its effects back. This call did not move the head. A call with"
				+ " the same plan whose answer was lost may have: read the session before you plan again, since a new"
				+ " plan takes the turns back that are the newest ones then. What was taken back already is not"
				+ " repeated.", null);
	}

	RewindReport run() {
		if (!isAccepted()) {
			return report(Status.REFUSED, List.of());
		}
		proposeAll();
		for (int i = 0; i < this.entries.size(); i++) {
			if (this.entries.get(i).status() == ApprovalStatus.APPROVED) {
				this.entries.set(i, run(this.entries.get(i)));
			}
			Status stop = stop(this.entries.get(i).status());
			if (stop != null) {
				return report(stop, List.of());
			}
		}
		return this.plan.turns().isEmpty() ? report(Status.NOTHING, List.of()) : report(Status.COMPLETED, move());
	}

	/** Returns whether all effects that stay were shown when the plan was accepted. */
	private boolean isAccepted() {
		List<String> shown = this.plan.irreversible().stream().map((each) -> each.effect().id()).toList();
		List<String> staying = this.now.irreversible().stream().map((each) -> each.effect().id()).toList();
		return staying.isEmpty() || this.plan.accepted() && shown.containsAll(staying);
	}

	/** All of them can be decided at once, before the first one runs. */
	private void proposeAll() {
		Map<String, LedgerEntry> stored = this.work.runs().stored(this.plan.key());
		this.entries.replaceAll((entry) -> (entry.status() == ApprovalStatus.PROPOSED)
				? proposed(entry, stored.get(entry.approval().id())) : entry);
	}

	private LedgerEntry proposed(LedgerEntry entry, @Nullable LedgerEntry stored) {
		if (stored != null && (stored.equals(entry) || isApprovedSince(stored, entry))) {
			return stored;
		}
		return this.work.runs().propose(entry).orElseThrow(() -> notAsPlanned(this.plan));
	}

	/** Somebody may approve a call while it is planned once more. */
	private static boolean isApprovedSince(LedgerEntry stored, LedgerEntry planned) {
		return stored.revision() > planned.revision() && stored.status() == ApprovalStatus.APPROVED
				&& stored.approval().decision() != null
				&& stored.approval().effectiveDigest().equals(planned.approval().effectiveDigest());
	}

	private LedgerEntry run(LedgerEntry entry) {
		if (this.work.drain().isOn()) {
			throw Drain.refused(this.plan.key());
		}
		ToolCallback tool = Objects.requireNonNull(this.work.tools().find(entry.approval().tool()));
		checkUnmoved(this.work.store().find(this.plan.key()).orElseThrow(() -> notAsPlanned(this.plan)));
		return runAsOwner(entry, tool);
	}

	/** Tools work for the owner of their session, whoever rewinds it. */
	private LedgerEntry runAsOwner(LedgerEntry entry, ToolCallback tool) {
		return ActingCaller.asOwner(this.plan.key(),
				() -> this.work.runs().run(entry, tool, this.work.context(), this.work.lease()));
	}

	private void checkUnmoved(Session session) {
		OpenTurn.check(session, "rewound");
		RewindPlan.Place place = new RewindPlan.Place(session.key(), session.incarnation(), session.branch(),
				session.head());
		if (!place.equals(this.plan.place())) {
			throw notAsPlanned(this.plan);
		}
	}

	private static @Nullable Status stop(ApprovalStatus status) {
		return switch (status) {
			case DONE -> null;
			case PROPOSED -> Status.WAITING;
			default -> Status.STOPPED;
		};
	}

	private List<Turn> move() {
		return this.work.moves().rewind(this.plan.turns(), this::checkUnmoved, () -> {
			throw notAsPlanned(this.plan);
		});
	}

	private RewindReport report(Status status, List<Turn> undone) {
		List<Compensation> compensations = new ArrayList<>();
		for (int i = 0; i < this.entries.size(); i++) {
			compensations
				.add(RewindPlanner.compensation(this.now.compensations().get(i).effect(), this.entries.get(i)));
		}
		return new RewindReport(status, new RewindPlan(this.now.place(), this.now.turns(), this.now.irreversible(),
				compensations, this.plan.accepted()), undone);
	}

}
