package io.sessionkit.samples.chat;

import java.util.List;

import io.sessionkit.Turn;
import io.sessionkit.compensation.Compensation;
import io.sessionkit.compensation.Effect;
import io.sessionkit.compensation.Irreversible;
import io.sessionkit.compensation.RewindPlan;
import io.sessionkit.compensation.RewindReport;
import io.sessionkit.samples.chat.ApprovalsView.CallView;
import org.jspecify.annotations.Nullable;

/**
 * A plan to take turns back, and how far it has come.
 *
 * @param from the first turn that goes; 0 if nothing is being taken back
 * @param begun whether somebody has begun with it
 * @param turns the numbers of the turns that go, newest first
 * @param digest what a person agrees to
 * @param steps the calls that take effects back, in the order in which they run
 * @param stays the effects that cannot be taken back
 * @param status how the last attempt ended; null for a plan
 */
record RewindView(long from, boolean begun, List<Long> turns, String digest, List<Step> steps, List<Stay> stays,
		RewindReport.@Nullable Status status) {

	static final RewindView NONE = new RewindView(0, false, List.of(), "", List.of(), List.of(), null);

	static RewindView of(long from, boolean begun, RewindPlan plan, ToolCallViews calls,
			RewindReport.@Nullable Status status) {
		return new RewindView(from, begun, plan.turns().stream().map(Turn::number).toList(), plan.digest(),
				plan.compensations().stream().map((each) -> Step.of(each, calls)).toList(),
				plan.irreversible().stream().map(Stay::of).toList(), status);
	}

	/**
	 * @param outcome what came of it; null if it has not run, or if nobody knows
	 */
	record Step(CallView call, EffectView effect, boolean done, boolean failed, @Nullable String outcome) {

		private static Step of(Compensation compensation, ToolCallViews calls) {
			Compensation.Outcome outcome = compensation.outcome();
			return new Step(calls.of(compensation.call()), EffectView.of(compensation.effect()), compensation.isDone(),
					compensation.hasFailed(), (outcome != null) ? DemoReply.plain(outcome.text()) : null);
		}

	}

	record Stay(EffectView effect, Irreversible.Reason reason, String detail) {

		private static Stay of(Irreversible each) {
			return new Stay(EffectView.of(each.effect()), each.reason(), each.detail());
		}

	}

	/**
	 * @param title the head of a sentence for the tool
	 */
	record EffectView(long turn, String tool, String title, String arguments, @Nullable String result) {

		private static EffectView of(Effect effect) {
			String result = effect.result();
			return new EffectView(effect.turn(), effect.tool(), ToolCallViews.title(effect.tool()), effect.arguments(),
					(result != null) ? DemoReply.plain(result) : null);
		}

	}

}
