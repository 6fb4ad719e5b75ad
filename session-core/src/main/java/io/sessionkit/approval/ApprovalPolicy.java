package io.sessionkit.approval;

/**
 * Says which tool calls need a person's consent. Of several policies the strictest
 * counts: denying, then asking, then allowing.
 * <p>
 * It is asked once for each call, when the reply that makes it is whole and before any of
 * its calls runs; not again when a call that waited goes on. What it throws ends the
 * turn, and none of the calls runs. One policy serves many turns at once and must be safe
 * for use by many threads.
 */
@FunctionalInterface
public interface ApprovalPolicy {

	/**
	 * Rules on a call.
	 * @param request the call and what is known of the turn that makes it
	 * @return whether it may run
	 */
	Ruling rule(ToolRequest request);

	/**
	 * Returns whether it rules on calls of a tool; on all by default. Where it does, a
	 * call whose arguments cannot be read, do not fit the tool's input schema, or say
	 * something else than the tool would get is shown to it without arguments, and needs
	 * consent unless it denies the call.
	 * @param tool the name of the tool
	 * @return false if its calls are none of this policy's business
	 */
	default boolean appliesTo(String tool) {
		return true;
	}

}
