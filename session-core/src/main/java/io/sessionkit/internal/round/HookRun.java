package io.sessionkit.internal.round;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.ToIntFunction;

import io.sessionkit.SessionKey;
import io.sessionkit.TurnStatus;
import io.sessionkit.Verdict;
import io.sessionkit.Verdict.Kind;
import io.sessionkit.Verdict.Phase;
import io.sessionkit.hook.HookFailedException;
import io.sessionkit.hook.HookResult;
import io.sessionkit.hook.SessionHook;
import io.sessionkit.hook.SessionRefusedException;
import io.sessionkit.internal.Told;
import io.sessionkit.internal.binding.TurnBinding;
import io.sessionkit.internal.message.Copies;
import io.sessionkit.observation.CallStage;
import io.sessionkit.observation.ObservedCall;
import org.jspecify.annotations.Nullable;

import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.Message;

/**
 * Runs the hooks of one turn and keeps their verdicts. Safe for use by many threads; no
 * lock is held while a hook runs.
 */
public final class HookRun {

	/**
	 * The result of the hooks of a phase.
	 *
	 * @param value the value as the hooks have left it
	 * @param replaced whether a hook has replaced it
	 * @param answer the answer of a hook; null if none has answered
	 */
	public record Passed<T>(T value, boolean replaced, @Nullable String answer) {
	}

	/**
	 * The end of a turn that a hook has stopped.
	 */
	private record Stop(RuntimeException exception, TurnEnd end) {
	}

	/** No hooks: nothing is decided, so all turns without hooks share it. */
	public static final HookRun NONE = new HookRun(SessionKey.of("none"), List.<NamedHook>of(), (phase) -> {
		throw new IllegalStateException("There is no hook that could run.");
	}, ObservedCall.NONE);

	private static final int DEEPEST_CAUSE = 50;

	private final SessionKey key;

	private final List<NamedHook> outsideIn;

	private final List<NamedHook> insideOut;

	private final List<NamedHook> beforeModel;

	private final List<NamedHook> besideModel;

	private final boolean checksReplies;

	private final Function<Phase, HookedTurn> turn;

	private final ObservedCall observed;

	private final List<Verdict> verdicts = new ArrayList<>();

	private @Nullable Stop stop;

	/**
	 * Creates the run of the hooks of one turn.
	 * @param ofAll the hooks of all calls
	 * @param ofCall those that the call of the turn alone has, which run inside the
	 * others
	 * @param turn returns the turn as the hooks of a phase see it
	 * @param observed observes the call
	 */
	public HookRun(SessionKey key, List<SessionHook> ofAll, List<SessionHook> ofCall, Function<Phase, HookedTurn> turn,
			ObservedCall observed) {
		this(key, named(ofAll, ofCall), turn, observed);
	}

	private HookRun(SessionKey key, List<NamedHook> outsideIn, Function<Phase, HookedTurn> turn,
			ObservedCall observed) {
		this.key = key;
		this.observed = observed;
		this.outsideIn = outsideIn;
		List<NamedHook> reversed = new ArrayList<>(this.outsideIn);
		Collections.reverse(reversed);
		this.insideOut = reversed;
		this.beforeModel = this.outsideIn.stream().filter((hook) -> !hook.besideModel()).toList();
		this.besideModel = this.outsideIn.stream().filter(NamedHook::besideModel).toList();
		this.checksReplies = this.outsideIn.stream().anyMatch(NamedHook::checksReplies);
		this.turn = turn;
	}

	private static List<NamedHook> named(List<SessionHook> ofAll, List<SessionHook> ofCall) {
		List<NamedHook> named = new ArrayList<>();
		ofAll.forEach((hook) -> named.add(NamedHook.of(hook, false)));
		ofCall.forEach((hook) -> named.add(NamedHook.of(hook, true)));
		return named;
	}

	/**
	 * Returns a run of the hooks that were not asked about a message before. It decides
	 * nothing on the turn, unless it is {@link #adopt adopted}. Hooks that the call of
	 * the turn alone has were not asked. If fewer hooks of one name were asked than there
	 * are now, all of them run.
	 * @param asked the names of the hooks of all calls that were asked
	 * @param seen the turn as the hooks see it
	 */
	public HookRun unasked(List<String> asked, HookedTurn seen) {
		List<String> names = ofAllCalls();
		List<NamedHook> unasked = this.outsideIn.stream()
			.filter((hook) -> hook.isOfCall()
					|| Collections.frequency(asked, hook.name()) < Collections.frequency(names, hook.name()))
			.toList();
		return new HookRun(this.key, unasked, (phase) -> seen, this.observed);
	}

	/**
	 * Returns the names of the hooks of all calls.
	 */
	public List<String> ofAllCalls() {
		return this.outsideIn.stream().filter((hook) -> !hook.isOfCall()).map(NamedHook::name).toList();
	}

	/**
	 * Adds what was decided in another run. There must be hooks.
	 */
	public void adopt(List<Verdict> decided) {
		decided.forEach(this::add);
	}

	public boolean isEmpty() {
		return this.outsideIn.isEmpty();
	}

	/**
	 * Returns whether a reply may be withheld or changed.
	 */
	public boolean checksReplies() {
		return this.checksReplies;
	}

	public List<Verdict> verdicts() {
		return isEmpty() ? List.of() : kept();
	}

	private synchronized List<Verdict> kept() {
		return List.copyOf(this.verdicts);
	}

	/**
	 * Returns the newest refusal; null if there is none.
	 */
	public synchronized @Nullable Verdict refusal() {
		return this.verdicts.stream()
			.filter((verdict) -> verdict.kind() == Kind.REFUSED)
			.reduce((before, last) -> last)
			.orElse(null);
	}

	/**
	 * Returns the end of the turn if this exception, or one that it wraps, was thrown
	 * because of a hook.
	 * @return the end; null if no hook caused it
	 */
	public synchronized @Nullable TurnEnd end(Throwable cause) {
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
	 * Runs the hooks on the input, except for the guards that run beside the model.
	 * @throws SessionRefusedException if a hook refuses; what a hook throws is thrown as
	 * it is
	 */
	public Passed<List<Message>> beforeTurn(List<Message> input) {
		return run(this.beforeModel, HookStep.beforeTurn(input), input);
	}

	/**
	 * Runs all hooks on input that is added to a turn.
	 * @throws SessionRefusedException if a hook refuses; what a hook throws is thrown as
	 * it is
	 */
	public Passed<List<Message>> beforeMore(List<Message> input) {
		return run(this.outsideIn, HookStep.beforeTurn(input), input);
	}

	/**
	 * Runs all hooks on input that is to join another turn.
	 * @param passed is told the name of each hook of all calls that has let it pass,
	 * before the next one is asked
	 * @throws SessionRefusedException if a hook refuses; what a hook throws is thrown as
	 * it is
	 */
	public Passed<List<Message>> beforeJoining(List<Message> input, Consumer<String> passed) {
		return run(this.outsideIn, HookStep.beforeTurn(input), input, (hook) -> {
			if (!hook.isOfCall()) {
				passed.accept(hook.name());
			}
		});
	}

	/**
	 * Returns whether there are guards that run beside the model.
	 */
	public boolean checksBesideModel() {
		return !this.besideModel.isEmpty();
	}

	/**
	 * Runs those guards on the input.
	 * @param input the input as the other hooks have left it
	 * @throws SessionRefusedException if one refuses; what a guard throws is thrown as it
	 * is
	 */
	public void besideModel(List<Message> input) {
		run(this.besideModel, HookStep.beforeTurn(input), input);
	}

	/**
	 * Runs the hooks on a request.
	 * @param turnStart returns the position in a request at which the current turn begins
	 * @throws SessionRefusedException if a hook refuses; what a hook throws is thrown as
	 * it is
	 */
	public Passed<List<Message>> beforeModel(List<Message> request, ToIntFunction<List<Message>> turnStart) {
		return run(this.outsideIn, HookStep.beforeModel(turnStart), request);
	}

	/**
	 * Runs the hooks on a reply.
	 * @throws SessionRefusedException if a hook refuses
	 * @throws HookFailedException if a hook fails
	 */
	AssistantMessage afterModel(AssistantMessage reply) {
		return run(this.insideOut, HookStep.afterModel(), reply).value();
	}

	/**
	 * Runs the hooks on what is to be stored.
	 * @throws SessionRefusedException if a hook refuses
	 * @throws HookFailedException if a hook fails
	 */
	public List<Message> beforeSave(KeptPart part) {
		return run(this.insideOut, HookStep.beforeSave(part), part.messages()).value();
	}

	private <T> Passed<T> run(List<NamedHook> hooks, HookStep<T> step, T value) {
		return run(hooks, step, value, (hook) -> {
		});
	}

	private <T> Passed<T> run(List<NamedHook> hooks, HookStep<T> step, T value, Consumer<NamedHook> passed) {
		return hooks.isEmpty() ? new Passed<>(value, false, null)
				: this.observed.observe(CallStage.of(step.phase()), () -> ran(hooks, step, value, passed));
	}

	private <T> Passed<T> ran(List<NamedHook> hooks, HookStep<T> step, T value, Consumer<NamedHook> passed) {
		T now = value;
		for (NamedHook hook : hooks) {
			HookResult<T> result = ask(hook, step, now);
			if (result instanceof HookResult.Keep<T> keep && keep.note() != null) {
				add(new Verdict(hook.name(), step.phase(), Kind.PASSED, NamedHook.storable(keep.note())));
			}
			if (result instanceof HookResult.Refuse<T> refuse) {
				throw refused(hook, step.phase(), refuse.reason());
			}
			if (result instanceof HookResult.Answer answer) {
				add(new Verdict(hook.name(), step.phase(), Kind.ANSWERED, null));
				return new Passed<>(now, now != value, answer.text());
			}
			if (result instanceof HookResult.Replace<T> replace && !step.isSame(replace.value(), now)) {
				add(new Verdict(hook.name(), step.phase(), Kind.REPLACED, null));
				now = replace.value();
				step.replaced(now);
			}
			passed.accept(hook);
		}
		return new Passed<>(now, now != value, null);
	}

	private <T> HookResult<T> ask(NamedHook hook, HookStep<T> step, T value) {
		try {
			Copies copies = new Copies();
			HookResult<T> result = asked(hook, step, copies, value);
			hook.check(result, step.phase());
			if (result instanceof HookResult.Replace<T> replace) {
				T taken = hasNull(replace.value()) ? replace.value() : step.take(copies, replace.value());
				String fault = hasNull(taken) ? "a list with null in it" : step.fault(taken);
				if (fault != null) {
					throw new NamedHook.MisusedException(hook, step.phase(), "returned " + fault + ".");
				}
				return HookResult.replace(taken);
			}
			return result;
		}
		catch (Throwable ex) {
			String reason = (ex instanceof Told) ? String.valueOf(ex.getMessage()) : ex.getClass().getName();
			Verdict verdict = new Verdict(hook.name(), step.phase(), Kind.FAILED, reason);
			add(verdict);
			if (step.phase() == Phase.AFTER_MODEL || step.phase() == Phase.BEFORE_SAVE) {
				throw failed(verdict, ex);
			}
			throw ex;
		}
	}

	private static boolean hasNull(Object value) {
		return value instanceof List<?> list && list.stream().anyMatch(Objects::isNull);
	}

	private <T> HookResult<T> asked(NamedHook hook, HookStep<T> step, Copies copies, T value) {
		HookedTurn running = this.turn.apply(step.phase());
		try (TurnBinding binding = TurnBinding.of(running)) {
			return step.ask(hook.hook(), running.context(), copies, value);
		}
	}

	private SessionRefusedException refused(NamedHook hook, Phase phase, String reason) {
		Verdict verdict = new Verdict(hook.name(), phase, Kind.REFUSED, NamedHook.storable(reason));
		add(verdict);
		return stop(
				new SessionRefusedException("Hook '" + hook.name() + "' refused in " + NamedHook.method(phase)
						+ " of a turn on session " + this.key + ": " + verdict.reason(), verdict),
				new TurnEnd(TurnStatus.REFUSED, null));
	}

	/**
	 * Creates the exception for a failed hook. It leaves out the messages of what the
	 * hook threw, since they may quote the reply.
	 */
	private HookFailedException failed(Verdict verdict, Throwable thrown) {
		return stop(new HookFailedException(
				"Hook '" + verdict.hook() + "' failed in " + NamedHook.method(verdict.phase())
						+ " of a turn on session " + this.key + ", so the reply is withheld: " + verdict.reason(),
				verdict, (thrown instanceof NamedHook.MisusedException) ? null : thrown), TurnEnd.failed(thrown));
	}

	private synchronized <X extends RuntimeException> X stop(X exception, TurnEnd end) {
		this.stop = new Stop(exception, end);
		return exception;
	}

	private synchronized void add(Verdict verdict) {
		if (!this.verdicts.contains(verdict)) {
			this.verdicts.add(verdict);
		}
	}

}