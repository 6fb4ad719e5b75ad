package io.sessionkit.benchmarks;

/**
 * The cost of the steps of a turn. Round trips of whole turns are those beyond the two of
 * a plain turn.
 *
 * @param pause the round trips of a turn that ends by waiting for a person
 * @param decision all round trips of a decision on a call that waits
 * @param resume the round trips of the call that runs one approved tool and ends the turn
 * @param summary the round trips of a turn before which a summary is made
 * @param round the round trips of one tool round with {@code durability=step}
 * @param earlyBytes the bytes that such a round, from the 3rd to the 10th, appends to the
 * server's log
 * @param lateBytes the bytes that such a round, from the 32nd to the 39th, appends
 */
record StepCosts(double pause, double decision, double resume, double summary, double round, double earlyBytes,
		double lateBytes) {
}
