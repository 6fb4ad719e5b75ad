package io.sessionkit.approval;

/**
 * The behaviour of approvals on one store, by call and by stream. Each class that this
 * one extends is a part of it.
 * <p>
 * It covers what the human-in-the-loop part of the OpenAI Agents SDK is known to do where
 * there is an equivalent here. What has none, and why:
 * <ul>
 * <li>Run states, their copies and their JSON: the session is the state, and the store
 * the only copy, so there is nothing that could be restored twice.</li>
 * <li>The latest of several decisions on a call counts there. Here a decision counts
 * once, and the second one is told.</li>
 * <li>Calls of nested agents that wait surface on the outer run there. Here they are a
 * typed error, since nobody would see them wait.</li>
 * <li>A call without an id is an error there. Here the place of a call is its name, as
 * some models give no ids.</li>
 * <li>The same call id with other arguments is an error there. Here it is another call in
 * another place, and asks.</li>
 * <li>Blank arguments are malformed there. Here they are none, as tools take them; a
 * condition that names an argument asks then.</li>
 * <li>Calls that need no consent run at once there. Here they are held unless the rule
 * for siblings says otherwise.</li>
 * <li>Callbacks that decide without a pause ({@code on_approval}) are policies that allow
 * or deny.</li>
 * <li>The number of rounds that a run may take, hand-offs to other agents, hosted MCP and
 * name spaces of tools: Spring AI's tool loop has none of them; a limit of tool calls
 * counts for each call of the client.</li>
 * <li>Messages that are staged for the next run are removed again there
 * ({@code clear_pending_input}). Here a queued message stays until its turn goes on or is
 * cancelled.</li>
 * </ul>
 */
abstract class ApprovalBehaviour extends SteppedTurns {

}
