package io.sessionkit.internal.approval;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

import io.sessionkit.approval.UnattendedToolException;
import io.sessionkit.internal.binding.TurnBinding;
import io.sessionkit.internal.ruling.Rulings;
import io.sessionkit.internal.turn.RunningTurn;
import org.jspecify.annotations.Nullable;

import org.springframework.ai.chat.model.ToolContext;
import org.springframework.ai.tool.ToolCallback;
import org.springframework.util.function.SingletonSupplier;

/**
 * A call that works on a turn, with the tools that it offers. Only if one of its tools
 * could need an approval, if it continues a turn, or if results of tools are stored one
 * by one, is there a gate that decides which calls run.
 */
public final class TurnCall implements GatedTool.Owner {

	private final RunningTurn turn;

	private final OfferedTools offer;

	private final Map<String, ToolCallback> tools = new LinkedHashMap<>();

	/** The names of the tools that requests of the loop have had. */
	private final Set<String> requested = ConcurrentHashMap.newKeySet();

	/** The gate of the turn; null if its calls run as the tool loop has them. */
	private @Nullable GatedTurn gate;

	/**
	 * True if the tool loop has run, or may run, another tool of the name of one on
	 * offer. A call that continues the turn could not say what it decides about.
	 */
	private volatile boolean replaced;

	TurnCall(RunningTurn turn, List<ToolCallback> tools, OfferedTools offer) {
		this.turn = turn;
		this.offer = offer;
		tools.forEach((tool) -> this.tools.put(tool.getToolDefinition().name(), tool));
	}

	/**
	 * Returns the tools on offer, by name. A tool of an advisor behind the session
	 * advisor is not among them.
	 */
	Map<String, ToolCallback> offered() {
		return this.tools;
	}

	/**
	 * Returns whether a request of the loop has had a tool of this name, whoever has
	 * added it.
	 */
	boolean hasRequested(String tool) {
		return this.requested.contains(tool);
	}

	/** Sets the gate of the turn. */
	void gate(GatedTurn known) {
		this.turn.gate(known);
		this.gate = known;
	}

	/**
	 * Sets the gate that the turn has only while the process shuts down. It is made once.
	 * A turn that no other call could continue runs on.
	 */
	void gateWhileStopping(BooleanSupplier stopping, Supplier<GatedTurn> gate) {
		SingletonSupplier<GatedTurn> once = SingletonSupplier.of(gate);
		this.turn.stopping(() -> (stopping.getAsBoolean() && !this.replaced) ? once.get() : null);
	}

	/**
	 * Returns the turn.
	 * @return the turn
	 */
	public RunningTurn turn() {
		return this.turn;
	}

	/**
	 * Returns the tools as the tool loop sees them.
	 * @return one for each tool on offer, in their order
	 */
	public List<ToolCallback> tools() {
		return this.tools.values().stream().<ToolCallback>map((tool) -> new GatedTool(tool, this)).toList();
	}

	/**
	 * Returns whether the turn has begun to wait, so that this call must not store
	 * anything more of it.
	 * @return true if the turn waits
	 */
	public boolean isWaiting() {
		return this.gate != null && this.gate.isWaiting();
	}

	/**
	 * Ends this call on a turn that waits.
	 * @return the result of the call
	 * @throws IllegalStateException if the turn does not wait
	 */
	public Pause end() {
		if (this.gate == null) {
			throw new IllegalStateException("The turn on session " + this.turn.key() + " does not wait.");
		}
		return this.gate.end();
	}

	/**
	 * Returns the trace of the call that was paused.
	 * @return the id of the trace; null if there is none, and for a new turn
	 */
	public @Nullable String pausedTrace() {
		return (this.gate != null) ? this.gate.pausedTrace() : null;
	}

	/**
	 * Checks the tools that a request really has.
	 * @param offered the tools of the request
	 * @throws UnattendedToolException if one of them needs approval and would run without
	 * asking this turn
	 */
	public void checkTools(List<ToolCallback> offered) {
		if (offered.isEmpty()) {
			return;
		}
		this.offer.checkInSession(this.turn.key(), offered);
		offered.forEach((tool) -> this.requested.add(tool.getToolDefinition().name()));
		List<String> others = this.offer.unasked(offered).filter(this.tools::containsKey).toList();
		if (!others.isEmpty() && asks()) {
			throw OfferedTools.replaced(this.turn.key(), others.get(0));
		}
		this.replaced |= !others.isEmpty();
	}

	/**
	 * Returns whether tools of this call may wait, be refused, or be stored one by one.
	 */
	private boolean asks() {
		return this.gate != null || rulings().mayAsk(List.copyOf(this.tools.values()));
	}

	@Override
	public Rulings rulings() {
		return this.offer.rules().rulings();
	}

	@Override
	public boolean needsModel() {
		return this.gate != null && this.gate.needsModel();
	}

	@Override
	public String run(ToolCallback tool, String arguments, @Nullable ToolContext context) {
		String result = result(tool, arguments, context);
		this.turn.loop().toolEnded(tool.getToolDefinition().name(), arguments, result);
		return result;
	}

	private String result(ToolCallback tool, String arguments, @Nullable ToolContext context) {
		if (this.gate != null) {
			return this.gate.run(tool, arguments, context);
		}
		try (TurnBinding binding = TurnBinding.of(this.turn.running())) {
			return this.offer.rules().limits().told(tool, arguments, context);
		}
	}

}
