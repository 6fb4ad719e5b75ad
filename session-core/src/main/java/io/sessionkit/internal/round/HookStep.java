package io.sessionkit.internal.round;

import java.util.List;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.ToIntFunction;

import io.sessionkit.Verdict.Phase;
import io.sessionkit.hook.HookContext;
import io.sessionkit.hook.HookResult;
import io.sessionkit.hook.ModelRequest;
import io.sessionkit.hook.SessionHook;
import io.sessionkit.internal.message.Copies;
import io.sessionkit.internal.message.InputRule;
import org.jspecify.annotations.Nullable;

import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.Message;

/**
 * The part of running a hook that depends on the phase.
 */
interface HookStep<T> {

	Phase phase();

	HookResult<T> ask(SessionHook hook, HookContext context, Copies copies, T value);

	T take(Copies copies, T returned);

	boolean isSame(T replacement, T value);

	/**
	 * Returns what is wrong with a replacement, worded to follow "returned"; null if
	 * nothing is.
	 */
	@Nullable String fault(T replacement);

	/**
	 * Notes that a hook has replaced the value that the next hook gets.
	 */
	void replaced(T replacement);

	/**
	 * Creates the step for the input of a turn.
	 * @param before the input before any hook has run
	 */
	static HookStep<List<Message>> beforeTurn(List<Message> before) {
		return new Lists(Phase.BEFORE_TURN,
				(hook, context, copies, input) -> hook.beforeTurn(context, copies.give(input)),
				(input) -> InputRule.fault(input, input, before), (input) -> {
				});
	}

	/**
	 * Creates the step for a request.
	 * @param turnStart returns the position in a request at which the current turn begins
	 */
	static HookStep<List<Message>> beforeModel(ToIntFunction<List<Message>> turnStart) {
		return new Lists(Phase.BEFORE_MODEL,
				(hook, context, copies, request) -> hook.beforeModel(context,
						new ModelRequest(copies.give(request), turnStart.applyAsInt(request))),
				(messages) -> null, (messages) -> {
				});
	}

	static HookStep<AssistantMessage> afterModel() {
		return new Reply();
	}

	static HookStep<List<Message>> beforeSave(KeptPart part) {
		return new Lists(Phase.BEFORE_SAVE,
				(hook, context, copies, messages) -> hook.beforeSave(context, part.part(copies)), part::fault,
				part::replaced);
	}

	/**
	 * Runs one hook on copies of the messages.
	 */
	interface Question {

		HookResult<List<Message>> ask(SessionHook hook, HookContext context, Copies copies, List<Message> messages);

	}

	record Lists(Phase phase, Question question, Function<List<Message>, @Nullable String> faults,
			Consumer<List<Message>> follower) implements HookStep<List<Message>> {

		@Override
		public HookResult<List<Message>> ask(SessionHook hook, HookContext context, Copies copies,
				List<Message> value) {
			return this.question.ask(hook, context, copies, value);
		}

		@Override
		public List<Message> take(Copies copies, List<Message> returned) {
			return copies.take(returned);
		}

		@Override
		public boolean isSame(List<Message> replacement, List<Message> value) {
			return Copies.areAlike(replacement, value);
		}

		@Override
		public @Nullable String fault(List<Message> replacement) {
			return this.faults.apply(replacement);
		}

		@Override
		public void replaced(List<Message> replacement) {
			this.follower.accept(replacement);
		}

	}

	record Reply() implements HookStep<AssistantMessage> {

		@Override
		public Phase phase() {
			return Phase.AFTER_MODEL;
		}

		@Override
		public HookResult<AssistantMessage> ask(SessionHook hook, HookContext context, Copies copies,
				AssistantMessage value) {
			return hook.afterModel(context, (AssistantMessage) copies.give(value));
		}

		@Override
		public AssistantMessage take(Copies copies, AssistantMessage returned) {
			return (AssistantMessage) copies.take(returned);
		}

		@Override
		public boolean isSame(AssistantMessage replacement, AssistantMessage value) {
			return Copies.areAlike(replacement, value);
		}

		@Override
		public @Nullable String fault(AssistantMessage replacement) {
			return null;
		}

		@Override
		public void replaced(AssistantMessage replacement) {
		}

	}

}
