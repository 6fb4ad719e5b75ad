package io.sessionkit.conversation;

import java.util.List;
import java.util.function.Function;

import io.sessionkit.Verdict.Phase;
import io.sessionkit.hook.HookContext;
import io.sessionkit.hook.HookResult;
import io.sessionkit.hook.SessionHook;
import org.jspecify.annotations.Nullable;

import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.SystemMessage;

/**
 * What is the same for all hooks of a phase.
 */
interface HookStep<T> {

	Phase phase();

	HookResult<T> ask(SessionHook hook, HookContext context, Copies copies, T value);

	T take(Copies copies, T returned);

	boolean isSame(T replacement, T value);

	/**
	 * What is wrong with a replacement; null for nothing.
	 */
	@Nullable String fault(T replacement);

	static HookStep<List<Message>> beforeTurn() {
		return new Lists(Phase.BEFORE_TURN, SessionHook::beforeTurn, HookStep::faultOfTurn);
	}

	static HookStep<List<Message>> beforeModel() {
		return new Lists(Phase.BEFORE_MODEL, SessionHook::beforeModel, (messages) -> null);
	}

	static HookStep<AssistantMessage> afterModel() {
		return new Reply();
	}

	/**
	 * @param turn what would be kept
	 * @param history whether the turn becomes history, so that its tool calls must be
	 * whole
	 */
	static HookStep<List<Message>> beforeSave(List<Message> turn, boolean history) {
		return new Lists(Phase.BEFORE_SAVE, SessionHook::beforeSave, (messages) -> {
			String fault = faultOfTurn(messages);
			return (fault == null && history) ? ToolGroups.fault(messages, turn) : fault;
		});
	}

	private static @Nullable String faultOfTurn(List<Message> messages) {
		if (messages.isEmpty()) {
			return "no message is left";
		}
		return messages.stream().anyMatch(SystemMessage.class::isInstance)
				? "there is system text in a turn, where it is not kept" : null;
	}

	interface Question {

		HookResult<List<Message>> ask(SessionHook hook, HookContext context, List<Message> messages);

	}

	record Lists(Phase phase, Question question,
			Function<List<Message>, @Nullable String> faults) implements HookStep<List<Message>> {

		@Override
		public HookResult<List<Message>> ask(SessionHook hook, HookContext context, Copies copies,
				List<Message> value) {
			return this.question.ask(hook, context, copies.give(value));
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

	}

}
