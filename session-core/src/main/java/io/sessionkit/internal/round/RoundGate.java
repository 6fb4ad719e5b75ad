package io.sessionkit.internal.round;

import java.util.List;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.ToolResponseMessage;
import org.springframework.ai.chat.model.ChatResponse;

/**
 * Asks the gate of one turn, if it has one, and tells the listeners of calls that run
 * although the turn waits. Safe for use by many threads; no lock is held while the gate
 * is asked, since it may write to the store.
 */
public final class RoundGate {

	private final TurnEvents events;

	private volatile @Nullable TurnGate gate;

	/** Supplies the gate of a turn that has none, if its process shuts down. */
	private volatile Supplier<@Nullable TurnGate> stopping = () -> null;

	/** True while the tool loop runs calls of a turn that waits. */
	private volatile boolean meanwhile;

	RoundGate(TurnEvents events) {
		this.events = events;
	}

	/**
	 * Registers the gate to consult before tools run.
	 */
	public void register(TurnGate known) {
		this.gate = known;
	}

	/**
	 * Registers what supplies the gate of a turn that has none, while its process shuts
	 * down.
	 */
	public void stopping(Supplier<@Nullable TurnGate> supplier) {
		this.stopping = supplier;
	}

	/** Returns whether the next request may have to be given up. */
	public boolean isStopping() {
		return this.stopping.get() != null;
	}

	/** Returns whether the turn has a gate of its own. */
	boolean isRegistered() {
		return this.gate != null;
	}

	/**
	 * Returns the response that ends the tool loop if the turn waits; null if it does not
	 * wait.
	 * @param forwarded the messages that the tool advisor forwards
	 */
	public @Nullable ChatResponse pause(List<Message> forwarded) {
		TurnGate asked = asked();
		ChatResponse pause = (asked != null) ? asked.pause() : null;
		if (pause != null && this.meanwhile) {
			this.meanwhile = false;
			forwarded.stream()
				.filter(ToolResponseMessage.class::isInstance)
				.reduce((before, last) -> last)
				.ifPresent((results) -> this.events.recorded(List.of(results)));
		}
		return pause;
	}

	/**
	 * Returns the gate's substitute for the model's reply; null to call the model.
	 * @param first whether nothing has been said in this run of the loop
	 */
	@Nullable ChatResponse beforeRequest(boolean first) {
		TurnGate asked = asked();
		ChatResponse instead = (asked != null) ? asked.beforeRequest(first) : null;
		tellMeanwhile(asked, instead);
		return instead;
	}

	/**
	 * Returns what the gate gives the tool loop instead of a reply that calls tools; null
	 * to let the reply pass.
	 */
	@Nullable ChatResponse afterReply(AssistantMessage calling) {
		TurnGate asked = asked();
		ChatResponse instead = (asked != null) ? asked.afterReply(calling) : null;
		tellMeanwhile(asked, instead);
		return instead;
	}

	/**
	 * Reports the calls that the tool loop runs although the turn waits. They become part
	 * of it with the whole reply, when it continues.
	 */
	private void tellMeanwhile(@Nullable TurnGate asked, @Nullable ChatResponse instead) {
		if (asked != null && instead != null && instead.hasToolCalls() && asked.pause() != null) {
			this.meanwhile = true;
			this.events.recorded(List.of(instead.getResults().get(0).getOutput()));
		}
	}

	/**
	 * Returns whether the cause that ended the call also ends a turn of which a part is
	 * stored.
	 */
	public boolean endsTurn(Throwable cause) {
		TurnGate asked = asked();
		return asked != null && asked.endsTurn(cause);
	}

	/**
	 * Notifies the gate that the call ends without writing anything of the turn.
	 */
	public void ending() {
		TurnGate asked = asked();
		if (asked != null) {
			asked.ending();
		}
	}

	private @Nullable TurnGate asked() {
		TurnGate known = this.gate;
		return (known != null) ? known : this.stopping.get();
	}

}
