package io.sessionkit.approval;

/**
 * Decides which tool calls need a person's consent. If there are several policies, the
 * strictest ruling counts: a denial first, then a request for consent, then permission.
 * <p>
 * It is called when the reply is complete and before any call of the reply runs, once for
 * each tool call. Of calls that are the same it is asked about the first one, and about
 * the others if that is allowed. It is not called again when a call that waited
 * continues, unless a person has approved other arguments: it is asked about these, and
 * only a denial counts. If it throws, the call of the client ends and none of the calls
 * runs; the turn ends too, unless a part of it is stored. If it was shown no arguments,
 * the call waits for consent instead.
 * <p>
 * In a call that names no session, or whose turn is not stored, it is called right before
 * each tool runs, behind the tools before it. For the calls that take effects back it is
 * called with each plan and each rewind. With the starter it is also called, without
 * parameters, for tool calls that no session advisor sees. One policy serves many turns
 * at once and must be safe for use by many threads.
 */
@FunctionalInterface
public interface ApprovalPolicy {

	/**
	 * Rules on a tool call.
	 * @param request the call, with information on the turn that makes it
	 * @return the ruling: whether the call may run
	 */
	Ruling rule(ToolRequest request);

	/**
	 * Returns whether this policy rules on the calls of a tool. By default it rules on
	 * all. If it does, it also sees calls whose arguments cannot be read, do not fit the
	 * tool's input schema, or differ from what the tool would get. It sees such a call
	 * without arguments, and the call needs consent unless the policy denies it.
	 * @param tool the name of the tool
	 * @return false if this policy does not concern the tool
	 */
	default boolean appliesTo(String tool) {
		return true;
	}

}
