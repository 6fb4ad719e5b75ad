package io.sessionkit.conversation;

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
record Deciders(SessionAccess access, Map<String, Set<String>> byTool, boolean ownerDecides) {

	static final String ALL_TOOLS = "*";

	/**
	 * Returns the key under which a caller decides.
	 * @throws io.sessionkit.SessionNotFoundException if the caller can decide nothing of
	 * that owner
	 */
	SessionKey key(SessionKey named, Caller caller) {
		SessionKey key = SessionAccess.owned(named, caller);
		return decidesAnything(caller) ? key : SessionAccess.key(key, caller);
	}

	/**
	 * Returns whether a caller may decide any call in the sessions of an owner.
	 */
	boolean mayDecideOf(Caller caller, String owner) {
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
	boolean mayDecide(Caller caller, ToolApproval call) {
		return mayDecide(caller, call.key(), call.tool());
	}

	/**
	 * Returns whether a caller may take back a decision on later calls.
	 */
	boolean mayRevoke(Caller caller, StandingDecision decision) {
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
	Predicate<ToolApproval> right(Caller caller) {
		return (call) -> decides(caller, call.key(), call.tool(), "may not decide call " + call.id());
	}

	/**
	 * Returns whether a caller takes back a decision on later calls; throws if the caller
	 * may only see it.
	 */
	boolean revokes(Caller caller, StandingDecision decision) {
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
	static Decision named(Decision decision, Caller caller) {
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
