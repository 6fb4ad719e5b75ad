package io.sessionkit.conversation;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.function.Function;

import io.sessionkit.SessionKey;
import io.sessionkit.SessionRefusedException;
import io.sessionkit.TurnStatus;
import io.sessionkit.Verdict;
import io.sessionkit.Verdict.Outcome;
import io.sessionkit.Verdict.Phase;
import io.sessionkit.hook.HookContext;
import io.sessionkit.hook.HookResult;
import io.sessionkit.hook.RunningTurn;
import io.sessionkit.hook.SessionHook;
import io.sessionkit.hook.TurnBinding;
import org.jspecify.annotations.Nullable;

import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.SystemMessage;

/**
 * Asks the hooks of one turn and keeps their verdicts. Safe for use by many threads; no
 * lock is held while a hook thinks.
 */
final class HookRun {

	/**
	 * What the hooks of a phase have left.
	 *
	 * @param value the value
	 * @param replaced whether a hook has replaced it
	 * @param answer what a hook answered; null for nothing
	 */
	record Passed<T>(T value, boolean replaced, @Nullable String answer) {
	}

	/**
	 * How a turn ends that a hook has stopped.
	 */
	private record Stop(SessionRefusedException exception, TurnEnd end) {
	}

	/**
	 * What is the same for all hooks of a phase.
	 */
	private interface Step<T> {

		Phase phase();

		HookResult<T> ask(SessionHook hook, HookContext context, Copies copies, T value);

		T take(Copies copies, T returned);

		boolean isSame(T replacement, T value);

		/**
		 * What is wrong with a replacement; null for nothing.
		 */
		@Nullable String fault(T replacement);

	}

	private interface Question {

		HookResult<List<Message>> ask(SessionHook hook, HookContext context, List<Message> messages);

	}

	private static final int DEEPEST_CAUSE = 50;

	private final SessionKey key;

	private final List<NamedHook> outsideIn;

	private final List<NamedHook> insideOut;

	private final boolean checksReplies;

	private final Function<Phase, RunningTurn> turn;

	private final List<Verdict> verdicts = new ArrayList<>();

	private @Nullable Stop stop;

	/**
	 * @param turn the turn as the hooks of a phase find it
	 */
	HookRun(SessionKey key, List<SessionHook> hooks, Function<Phase, RunningTurn> turn) {
		this.key = key;
		this.outsideIn = hooks.stream().map(NamedHook::of).toList();
		List<NamedHook> reversed = new ArrayList<>(this.outsideIn);
		Collections.reverse(reversed);
		this.insideOut = reversed;
		this.checksReplies = this.outsideIn.stream().anyMatch(NamedHook::checksReplies);
		this.turn = turn;
	}

	boolean isEmpty() {
		return this.outsideIn.isEmpty();
	}

	/**
	 * Whether a reply may be withheld or changed.
	 */
	boolean checksReplies() {
		return this.checksReplies;
	}

	synchronized List<Verdict> verdicts() {
		return List.copyOf(this.verdicts);
	}

	/**
	 * The newest refusal; null if there is none.
	 */
	synchronized @Nullable Verdict refusal() {
		return this.verdicts.stream()
			.filter((verdict) -> verdict.outcome() == Outcome.REFUSED)
			.reduce((before, last) -> last)
			.orElse(null);
	}

	/**
	 * How the turn ends if this is what ended it, or was wrapped into what ended it.
	 * @return null if it is not the work of a hook
	 */
	synchronized @Nullable TurnEnd end(Throwable cause) {
		Throwable current = cause;
		for (int depth = 0; this.stop != null && current != null && depth < DEEPEST_CAUSE; depth++) {
			if (current == this.stop.exception()) {
				return this.stop.end();
			}
			current = current.getCause();
		}
		return null;
	}

	/**
	 * Asks about the input.
	 * @throws SessionRefusedException if a hook refuses; what a hook throws is thrown as
	 * it is
	 */
	Passed<List<Message>> beforeTurn(List<Message> input) {
		return run(this.outsideIn, new ListStep(Phase.BEFORE_TURN, SessionHook::beforeTurn, HookRun::faultOfTurn),
				input);
	}

	/**
	 * Asks about a request.
	 * @throws SessionRefusedException if a hook refuses; what a hook throws is thrown as
	 * it is
	 */
	Passed<List<Message>> beforeModel(List<Message> request) {
		return run(this.outsideIn, new ListStep(Phase.BEFORE_MODEL, SessionHook::beforeModel, (messages) -> null),
				request);
	}

	/**
	 * Asks about a reply.
	 * @throws SessionRefusedException if a hook refuses or throws
	 */
	AssistantMessage afterModel(AssistantMessage reply) {
		return run(this.insideOut, new ReplyStep(), reply).value();
	}

	/**
	 * Asks about what is kept.
	 * @param history whether the turn becomes history, so that its tool calls must be
	 * whole
	 * @throws SessionRefusedException if a hook refuses or throws
	 */
	List<Message> beforeSave(List<Message> turn, boolean history) {
		return run(this.insideOut, new ListStep(Phase.BEFORE_SAVE, SessionHook::beforeSave, (messages) -> {
			String fault = faultOfTurn(messages);
			return (fault == null && history) ? ToolGroups.fault(messages, turn) : fault;
		}), turn).value();
	}

	private <T> Passed<T> run(List<NamedHook> hooks, Step<T> step, T value) {
		T now = value;
		for (NamedHook hook : hooks) {
			HookResult<T> result = ask(hook, step, now);
			if (result instanceof HookResult.Refuse<T> refuse) {
				throw refused(hook, step.phase(), refuse.reason());
			}
			if (result instanceof HookResult.Answer answer) {
				add(new Verdict(hook.name(), step.phase(), Outcome.ANSWERED, null));
				return new Passed<>(now, now != value, answer.text());
			}
			if (result instanceof HookResult.Replace<T> replace && !step.isSame(replace.value(), now)) {
				add(new Verdict(hook.name(), step.phase(), Outcome.REPLACED, null));
				now = replace.value();
			}
		}
		return new Passed<>(now, now != value, null);
	}

	private <T> HookResult<T> ask(NamedHook hook, Step<T> step, T value) {
		try {
			Copies copies = new Copies();
			HookResult<T> result = asked(hook, step, copies, value);
			hook.check(result, step.phase());
			if (result instanceof HookResult.Replace<T> replace) {
				T taken = step.take(copies, replace.value());
				String fault = step.fault(taken);
				if (fault != null) {
					throw new MisusedHookException(hook, step.phase(), "replaced what it cannot: " + fault + ".");
				}
				return HookResult.replace(taken);
			}
			return result;
		}
		catch (Throwable ex) {
			String reason = (ex instanceof MisusedHookException) ? String.valueOf(ex.getMessage())
					: ex.getClass().getName();
			Verdict verdict = new Verdict(hook.name(), step.phase(), Outcome.FAILED, reason);
			add(verdict);
			if (step.phase() == Phase.AFTER_MODEL || step.phase() == Phase.BEFORE_SAVE) {
				throw withheld(verdict, ex);
			}
			throw ex;
		}
	}

	private <T> HookResult<T> asked(NamedHook hook, Step<T> step, Copies copies, T value) {
		RunningTurn running = this.turn.apply(step.phase());
		try (TurnBinding binding = TurnBinding.of(running)) {
			return step.ask(hook.hook(), running.context(), copies, value);
		}
	}

	private SessionRefusedException refused(NamedHook hook, Phase phase, String reason) {
		Verdict verdict = new Verdict(hook.name(), phase, Outcome.REFUSED, storable(reason));
		add(verdict);
		return stop(
				new SessionRefusedException("Hook '" + hook.name() + "' refused in " + method(phase)
						+ " of a turn on session " + this.key + ": " + verdict.reason(), verdict),
				new TurnEnd(TurnStatus.REFUSED, null));
	}

	/**
	 * What the hook threw may quote the reply, so nothing of it but its class and where
	 * it was thrown goes on.
	 */
	private SessionRefusedException withheld(Verdict verdict, Throwable thrown) {
		SessionRefusedException withheld = new SessionRefusedException(
				"Hook '" + verdict.hook() + "' failed in " + method(verdict.phase()) + " of a turn on session "
						+ this.key + ", so the reply is withheld: " + verdict.reason(),
				verdict);
		withheld.setStackTrace(thrown.getStackTrace());
		return stop(withheld, TurnEnd.failed(thrown));
	}

	private synchronized SessionRefusedException stop(SessionRefusedException exception, TurnEnd end) {
		this.stop = new Stop(exception, end);
		return exception;
	}

	private synchronized void add(Verdict verdict) {
		if (!this.verdicts.contains(verdict)) {
			this.verdicts.add(verdict);
		}
	}

	/**
	 * A text without lone surrogates, which no store could keep: a refusal must not fail
	 * because its reason was cut in the middle of a character.
	 */
	private static String storable(String text) {
		return new String(text.getBytes(StandardCharsets.UTF_8), StandardCharsets.UTF_8);
	}

	private static @Nullable String faultOfTurn(List<Message> messages) {
		if (messages.isEmpty()) {
			return "no message is left";
		}
		return messages.stream().anyMatch(SystemMessage.class::isInstance)
				? "there is system text in a turn, where it is not kept" : null;
	}

	private static String method(Phase phase) {
		return switch (phase) {
			case BEFORE_TURN -> "beforeTurn";
			case BEFORE_MODEL -> "beforeModel";
			case AFTER_MODEL -> "afterModel";
			case BEFORE_SAVE -> "beforeSave";
		};
	}

	private record NamedHook(String name, SessionHook hook, boolean checksReplies) {

		static NamedHook of(SessionHook hook) {
			String name = hook.name();
			if (name == null || name.isBlank()) {
				throw new IllegalStateException("The name of a hook must not be null or blank. Give one to "
						+ hook.getClass().getName() + ", or leave name() as it is.");
			}
			return new NamedHook(storable(name), hook, hook.checksReplies());
		}

		void check(@Nullable HookResult<?> result, Phase phase) {
			if (result == null) {
				throw new MisusedHookException(this, phase, "returned null. Return HookResult.keep() for no change.");
			}
			boolean onReply = phase == Phase.AFTER_MODEL || phase == Phase.BEFORE_SAVE;
			if (onReply && result instanceof HookResult.Answer) {
				throw new MisusedHookException(this, phase,
						"answered, but the model has answered already. Use replace(..).");
			}
			boolean changesReply = result instanceof HookResult.Refuse<?>
					|| (phase == Phase.AFTER_MODEL && result instanceof HookResult.Replace<?>);
			if (onReply && changesReply && !this.checksReplies) {
				throw new MisusedHookException(this, phase,
						"changed a reply although its checksReplies() is false. Return true, so that streams wait.");
			}
		}

	}

	private record ListStep(Phase phase, Question question,
			Function<List<Message>, @Nullable String> faults) implements Step<List<Message>> {

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

	private record ReplyStep() implements Step<AssistantMessage> {

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

	private static final class MisusedHookException extends IllegalStateException {

		MisusedHookException(NamedHook hook, Phase phase, String fault) {
			super("Hook '" + hook.name() + "' (" + hook.hook().getClass().getName() + ") in " + method(phase) + " "
					+ fault);
		}

	}

}
