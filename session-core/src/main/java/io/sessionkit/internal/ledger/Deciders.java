package io.sessionkit.internal.ledger;

import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;

import io.sessionkit.SessionKey;
import io.sessionkit.access.Caller;
import io.sessionkit.access.SessionAccess;
import io.sessionkit.approval.DeciderRequiredException;
import io.sessionkit.approval.Decision;
import io.sessionkit.approval.StandingDecision;
import io.sessionkit.approval.ToolApproval;
import io.sessionkit.approval.ToolName;
import org.jspecify.annotations.Nullable;

/**
 * The callers who may decide on the calls of each tool. A tool that has no deciders of
 * its own is decided by whoever reaches the session.
 *
 * @param access finds the caller
 * @param byTool the authorities that decide, by the name of the tool; under
 * {@value #ALL_TOOLS} those for the tools that are not named
 * @param ownerDecides whether one of them may decide on calls of the own sessions
 */
public record Deciders(SessionAccess access, Map<String, Set<String>> byTool, boolean ownerDecides) {

	private static final String ALL_TOOLS = "*";

	/**
	 * Creates the deciders.
	 * @throws IllegalStateException if tools have deciders, and sessions do not depend on
	 * a caller; or if the owner does not decide, and nobody else does
	 */
	public Deciders {
		if (!byTool.isEmpty() && access.isUnlimited()) {
			throw new IllegalStateException("Tools have deciders " + byTool
					+ ", and the caller is unknown. Give the conversations an access, or leave the deciders out.");
		}
		if (!ownerDecides && byTool.isEmpty()) {
			throw new IllegalStateException("Owners do not decide on the calls of tools that have deciders, and no tool"
					+ " has any. Name deciders, or let the owners decide.");
		}
	}

	/**
	 * Checks the authorities by the name of the tool.
	 * @throws IllegalArgumentException if a tool has no authority, or if no tool could
	 * have one of the names
	 */
	public static void check(Map<String, Set<String>> byTool) {
		byTool.forEach((tool, authorities) -> {
			if (!tool.equals(ALL_TOOLS)) {
				ToolName.check(tool, "The map of deciders");
			}
			if (authorities.isEmpty()) {
				throw new IllegalArgumentException("Nobody decides on the calls of tool '" + tool
						+ "': give it an authority, or leave it out for those who reach the session.");
			}
		});
	}

	/**
	 * Returns the names of the tools that have deciders of their own.
	 */
	public Set<String> tools() {
		Set<String> tools = new HashSet<>(this.byTool.keySet());
		tools.remove(ALL_TOOLS);
		return tools;
	}

	/**
	 * Returns the key under which a caller decides.
	 * @throws io.sessionkit.SessionNotFoundException if the caller can decide nothing of
	 * that owner
	 */
	public SessionKey key(SessionKey named, Caller caller) {
		SessionKey key = SessionAccess.owned(named, caller);
		return decidesAnything(caller) ? key : SessionAccess.key(key, caller);
	}

	/**
	 * Returns whether a caller may decide any call in the sessions of an owner.
	 */
	public boolean mayDecideOf(Caller caller, String owner) {
		return caller.reaches(owner) || decidesAnything(caller);
	}

	/**
	 * Returns whether a caller may decide calls in the sessions of any other owner.
	 */
	boolean mayDecideOfOthers(Caller caller) {
		return caller.anyOwner() || decidesAnything(caller);
	}

	private boolean decidesAnything(Caller caller) {
		return this.byTool.values().stream().anyMatch(caller::hasAny);
	}

	/**
	 * Returns whether a caller may decide a call.
	 */
	public boolean mayDecide(Caller caller, ToolApproval call) {
		return mayDecide(caller, call.key(), call.tool());
	}

	/**
	 * Returns whether a caller may take back a decision on later calls.
	 */
	public boolean mayRevoke(Caller caller, StandingDecision decision) {
		return mayDecide(caller, decision.key(), decision.tool());
	}

	private boolean mayDecide(Caller caller, SessionKey key, String tool) {
		Set<String> deciders = of(tool);
		if (deciders == null || isServer(caller)) {
			return caller.reaches(key.owner());
		}
		return caller.hasAny(deciders) && (this.ownerDecides || !caller.name().equals(key.owner()));
	}

	/**
	 * Returns what says of a call whether a caller may decide it. A call that the caller
	 * may only see is refused; one that the caller may not even see is none.
	 */
	public Predicate<ToolApproval> right(Caller caller) {
		return (call) -> decides(caller, call.key(), call.tool(), "may not decide call " + call.id());
	}

	/**
	 * Returns whether a caller takes back a decision on later calls; throws if the caller
	 * may only see it.
	 */
	public boolean revokes(Caller caller, StandingDecision decision) {
		return decides(caller, decision.key(), decision.tool(), "may not revoke a decision on later ones");
	}

	private boolean decides(Caller caller, SessionKey key, String tool, String refused) {
		boolean decides = mayDecide(caller, key, tool);
		if (!decides && caller.reaches(key.owner())) {
			throw refusal(caller, key, tool, refused);
		}
		return decides;
	}

	private DeciderRequiredException refusal(Caller caller, SessionKey key, String tool, String what) {
		boolean own = caller.name().equals(key.owner());
		return new DeciderRequiredException("Calls of tool '" + tool + "' are decided by those who have one of "
				+ of(tool) + ((own && !this.ownerDecides) ? " and are not the owner of the session" : "") + "; "
				+ caller + " " + what + ".");
	}

	/**
	 * Returns a decision in the name of who makes it: it is never taken from a request.
	 */
	public static Decision named(Decision decision, Caller caller) {
		return caller.name().isEmpty() ? decision : decision.by(caller.name());
	}

	private static boolean isServer(Caller caller) {
		return caller.name().isEmpty() && caller.anyOwner();
	}

	private @Nullable Set<String> of(String tool) {
		Set<String> named = ToolName.find(this.byTool, tool);
		return (named != null) ? named : this.byTool.get(ALL_TOOLS);
	}

}
