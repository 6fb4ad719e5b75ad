package io.sessionkit.internal.turn;

import java.util.List;
import java.util.function.Supplier;

import io.sessionkit.context.InvalidSequenceException;
import io.sessionkit.hook.SessionRefusedException;
import io.sessionkit.internal.round.HookRun;
import io.sessionkit.internal.round.InputCheck;
import io.sessionkit.internal.round.RoundRequest;
import io.sessionkit.internal.round.Rounds;
import io.sessionkit.internal.round.Transcript;
import io.sessionkit.internal.round.TurnEvents;
import io.sessionkit.internal.view.DistinctIds;
import org.jspecify.annotations.Nullable;

import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.model.ChatResponse;
import org.springframework.ai.chat.model.Generation;
import org.springframework.ai.chat.prompt.Prompt;

/**
 * The tool loop of one turn, as the advisors report it. Safe for use by many threads:
 * what arrives after the turn has ended is ignored or refused.
 */
public final class ToolLoop {

	private final TurnPrompt prompt;

	private final Rounds rounds;

	private final HookRun hooks;

	private final TurnEvents events;

	private final Supplier<InputCheck> inputCheck;

	/** Null if no messages of other calls join the turn. */
	private volatile @Nullable TurnSteering steering;

	ToolLoop(TurnPrompt prompt, Rounds rounds, HookRun hooks, TurnEvents events, Supplier<InputCheck> inputCheck) {
		this.prompt = prompt;
		this.rounds = rounds;
		this.hooks = hooks;
		this.events = events;
		this.inputCheck = inputCheck;
	}

	/**
	 * Registers what lets messages of other calls join the turn.
	 */
	void steering(TurnSteering known) {
		this.steering = known;
	}

	/**
	 * Returns whether hooks or a gate check replies, the store is asked between model
	 * calls, or the process shuts down. They may block.
	 * @return true if there is any of that
	 */
	public boolean mayWait() {
		return this.steering != null || this.rounds.mayWait() || this.rounds.gate().isStopping();
	}

	/**
	 * Returns whether a hook may withhold or change a reply. If so, nothing that the
	 * model says may be handed out before the turn is stored.
	 * @return true if streams have to wait
	 */
	public boolean holdReplies() {
		return this.hooks.checksReplies();
	}

	/**
	 * Returns whether a model call is in progress.
	 * @return true between {@link #begin} and the end of that round
	 */
	public boolean isRoundOpen() {
		return this.rounds.isOpen();
	}

	/**
	 * Turns the messages that the tool advisor forwards into the request for the model.
	 * @param forwarded the messages, including system text
	 * @return a model call with a valid sequence within the limits, or the response that
	 * replaces it: the answer of a hook, or that of the gate
	 * @throws IllegalStateException if the turn is over
	 * @throws SessionRefusedException if a hook refuses; what a hook throws is thrown as
	 * it is
	 * @throws InvalidSequenceException if the guard is strict and repairs are needed, or
	 * if nothing is left that the model could answer
	 */
	public RoundRequest begin(List<Message> forwarded) {
		ChatResponse pause = this.rounds.gate().pause(forwarded);
		if (pause != null) {
			return new RoundRequest.Answer(pause);
		}
		List<Message> whole = this.rounds.record(forwarded);
		ChatResponse instead = this.rounds.instead();
		return (instead != null) ? new RoundRequest.Answer(instead)
				: begun(joined(whole, forwarded), this.rounds.entries());
	}

	private List<Message> joined(List<Message> whole, List<Message> forwarded) {
		TurnSteering asked = this.steering;
		return (asked != null && asked.join()) ? this.rounds.whole(forwarded) : whole;
	}

	private RoundRequest begun(List<Message> whole, List<Transcript.Entry> said) {
		HookRun.Passed<List<Message>> passed = this.hooks.beforeModel(
				this.hooks.isEmpty() ? whole : this.prompt.beforeHooks(whole, said),
				(request) -> this.prompt.turnStart(request, said));
		if (passed.answer() != null) {
			return new RoundRequest.Answer(answer(passed.answer()));
		}
		List<Message> sent = this.prompt.afterHooks(whole, passed, said);
		RoundRequest call = new RoundRequest.ModelCall(sent, this.rounds.begin(this::pass));
		this.prompt.roundBegins();
		this.events.modelCalled(sent.size());
		return call;
	}

	private void pass() {
		this.inputCheck.get().pass();
	}

	/**
	 * Records the answer of a hook that replaces that of the model.
	 */
	ChatResponse answer(String text) {
		pass();
		return this.rounds.answer(text);
	}

	/**
	 * Records the answer of the model to an input that did not pass. Only its cost is
	 * kept.
	 * @param response the last response of the model; null if there is none
	 */
	public void unused(@Nullable ChatResponse response) {
		if (response != null) {
			this.rounds.unused(response);
		}
	}

	/**
	 * Records the final prompt sent to the model, after all advisors have run. May be
	 * called twice for the same model call.
	 * @param leaving the messages and options, including system text and tools
	 * @return the prompt as the model gets it: the same, unless a reply has given several
	 * calls one id
	 */
	public Prompt sent(Prompt leaving) {
		if (!this.rounds.isFrozen()) {
			this.prompt.sent(leaving, this.rounds::entries);
		}
		List<Message> messages = leaving.getInstructions();
		List<Message> distinct = DistinctIds.of(messages);
		return (distinct == messages) ? leaving : new Prompt(distinct, leaving.getOptions());
	}

	/**
	 * Records a chunk that a stream hands to the caller.
	 * @param chunk the chunk
	 */
	public void delivered(ChatResponse chunk) {
		this.rounds.delivered(chunk);
	}

	/**
	 * Reports the result of a tool that has ended.
	 * @param tool the name of the tool
	 * @param arguments the arguments, as the tool loop has passed them
	 * @param result the result, or the answer that replaces it
	 */
	public void toolEnded(String tool, String arguments, String result) {
		if (!this.rounds.isFrozen()) {
			this.events.toolEnded(tool, arguments, result);
		}
	}

	/**
	 * Ends the tool loop of a stream, and records what it ended with if no model call
	 * came after it.
	 * @return the whole answer; null if there was none
	 */
	public @Nullable ChatResponse afterStreamedLoop() {
		pass();
		return this.rounds.afterStreamedLoop();
	}

	/**
	 * Ends the tool loop, and records what it ended with if no model call came after it.
	 * @param generations what the loop returned
	 */
	public void afterLoop(List<Generation> generations) {
		pass();
		this.rounds.afterLoop(generations);
	}

}
