package io.sessionkit.internal.approval;

import java.util.function.Consumer;

import io.sessionkit.Durability;
import io.sessionkit.approval.ApprovalEvent;
import io.sessionkit.internal.ledger.Ledger;
import io.sessionkit.internal.ledger.PauseNotices;
import io.sessionkit.internal.ledger.StandingDecisions;

/**
 * The parts that all gated turns share.
 *
 * @param rules the settings of all calls
 * @param ledger the calls that wait, run or have run
 * @param standing the decisions on future calls
 * @param notices the notices that are stored with a pause
 * @param events is told of the calls
 * @param durability when results of tools are stored
 */
record GateSetup(ApprovalRules rules, Ledger ledger, StandingDecisions standing, PauseNotices notices,
		Consumer<ApprovalEvent> events, Durability durability) {
}
