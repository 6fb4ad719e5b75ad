package io.sessionkit.internal.ledger;

import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.function.Predicate;

import io.sessionkit.access.Caller;
import io.sessionkit.access.SessionAccess;
import io.sessionkit.approval.InboxQuery;
import io.sessionkit.approval.ToolApproval;
import io.sessionkit.store.Page;
import org.jspecify.annotations.Nullable;

/**
 * The calls that a caller may decide, in the sessions of some owners or of all.
 *
 * @param deciders says who may decide
 * @param ledger the calls
 */
public record Inbox(Deciders deciders, Ledger ledger) {

	/**
	 * Returns the calls that the caller of this thread may decide, those whose last
	 * change is oldest first. Calls of sessions without owner are left out, which a
	 * caller with a name cannot reach.
	 */
	public List<ToolApproval> of(InboxQuery query, Page page) {
		Caller caller = this.deciders.access().caller();
		Predicate<ToolApproval> shown = shown(query, caller);
		List<String> owners = query.owners();
		if (owners == null && this.deciders.mayDecideOfOthers(caller)) {
			return this.ledger.pending(shown, page);
		}
		return ofOwners((owners != null) ? owners : List.of(caller.name()), caller).stream()
			.filter(shown)
			.sorted(Comparator.comparing(Inbox::changedAt))
			.skip(page.offset())
			.limit(page.limit())
			.toList();
	}

	private Predicate<ToolApproval> shown(InboxQuery query, Caller caller) {
		Instant latest = latest(query.waitingFor());
		return (call) -> query.isFor(call.tool()) && !changedAt(call).isAfter(latest)
				&& this.deciders.mayDecide(caller, call) && SessionAccess.owned(call.key(), caller).equals(call.key());
	}

	/** Returns the calls of the owners of whom the caller can decide anything. */
	private List<ToolApproval> ofOwners(List<String> owners, Caller caller) {
		return owners.stream()
			.map((owner) -> owner.isEmpty() ? caller.name() : owner)
			.filter((owner) -> this.deciders.mayDecideOf(caller, owner))
			.distinct()
			.flatMap((owner) -> this.ledger.pendingOf(owner, new Page(0, Integer.MAX_VALUE)).stream())
			.toList();
	}

	/** A time may come from a request, so it may be longer than all times before. */
	private Instant latest(@Nullable Duration waited) {
		Instant now = this.ledger.now();
		if (waited == null || waited.isNegative()) {
			return Instant.MAX;
		}
		return (waited.compareTo(Duration.between(Instant.MIN, now)) > 0) ? Instant.MIN : now.minus(waited);
	}

	/** A call that may have run waits since its claim. */
	private static Instant changedAt(ToolApproval call) {
		Instant claimed = call.claimedAt();
		return (claimed != null) ? claimed : call.requestedAt();
	}

}
