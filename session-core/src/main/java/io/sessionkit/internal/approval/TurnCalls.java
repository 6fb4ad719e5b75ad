package io.sessionkit.internal.approval;

import java.util.List;
import java.util.Optional;

import io.sessionkit.Durability;
import io.sessionkit.internal.binding.TurnFacts;
import io.sessionkit.internal.line.Drain;
import io.sessionkit.internal.opening.TurnRequest;
import io.sessionkit.internal.ruling.Rulings;
import io.sessionkit.internal.turn.RunningTurn;
import org.jspecify.annotations.Nullable;

import org.springframework.ai.tool.ToolCallback;

/**
 * Makes the calls that work on turns, each with the gate that its tools need.
 */
final class TurnCalls {

	private final OfferedTools tools;

	private final GateSetup setup;

	private final Drain drain;

	TurnCalls(OfferedTools tools, GateSetup setup, Drain drain) {
		this.tools = tools;
		this.setup = setup;
		this.drain = drain;
	}

	/**
	 * Creates the call that works on a new turn.
	 * @param turn the turn, which has begun
	 * @param tools the tools on offer
	 * @param toolLoop whether the call runs tools itself
	 * @param enclosing the turn inside of which the call is made; null for none
	 */
	TurnCall begun(RunningTurn turn, List<ToolCallback> tools, boolean toolLoop, @Nullable TurnFacts enclosing) {
		TurnCall call = new TurnCall(turn, tools, this.tools);
		boolean stepwise = this.setup.durability() == Durability.STEP && !tools.isEmpty();
		if (stepwise || mayAsk(tools)) {
			call.gate(gate(call, enclosing, toolLoop));
		}
		else if (enclosing == null && toolLoop && !tools.isEmpty()) {
			call.gateWhileStopping(this.drain::isOn, () -> gate(call, null, true));
		}
		return call;
	}

	/**
	 * Creates the call that continues a turn.
	 * @param turn the turn, with the reply that it holds back
	 * @param tools the tools on offer, which the call runs itself
	 * @param enclosing the turn inside of which the call is made; null for none
	 * @return the call; empty if another one runs the calls of the turn, since this one
	 * has lost its lease
	 * @throws io.sessionkit.approval.ResumeRefusedException if the tools are not those
	 * that were approved
	 */
	Optional<TurnCall> resumed(RunningTurn turn, List<ToolCallback> tools, @Nullable TurnFacts enclosing) {
		TurnCall call = new TurnCall(turn, tools, this.tools);
		GatedTurn gate = gate(call, enclosing, true);
		call.gate(gate);
		return gate.resume() ? Optional.of(call) : Optional.empty();
	}

	/**
	 * Creates the call that works on a turn that is not stored. Its tool calls have
	 * nowhere to wait, as in a call without a session.
	 * @param turn the turn, which has begun
	 * @param tools the tools on offer
	 * @param enclosing the turn inside of which the call is made; null for none
	 */
	TurnCall unstored(RunningTurn turn, List<ToolCallback> tools, @Nullable TurnFacts enclosing) {
		return new TurnCall(turn, mayAsk(tools) ? refusing(turn, tools, enclosing) : tools, this.tools);
	}

	/** Returns tools whose calls fail if they need an approval. */
	private List<ToolCallback> refusing(RunningTurn turn, List<ToolCallback> tools, @Nullable TurnFacts enclosing) {
		TurnRequest request = turn.request();
		Rulings.Caller caller = new Rulings.Caller(request.key(), request.agent(),
				turn.running().context().attributes(), request.parameters());
		return this.tools.sessionless(tools, caller, "is not stored on session " + request.key(), enclosing);
	}

	private boolean mayAsk(List<ToolCallback> tools) {
		return this.setup.rules().rulings().mayAsk(tools);
	}

	/** Only a call with a tool loop can continue a turn that stops. */
	private GatedTurn gate(TurnCall call, @Nullable TurnFacts enclosing, boolean toolLoop) {
		return new GatedTurn(call, this.setup, enclosing, toolLoop ? this.drain : new Drain());
	}

}
