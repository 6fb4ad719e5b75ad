package io.sessionkit.advisor;

import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;

import io.micrometer.observation.Observation;
import io.micrometer.observation.contextpropagation.ObservationThreadLocalAccessor;
import io.sessionkit.OnCancel;
import io.sessionkit.SessionKey;
import io.sessionkit.TurnResult;
import io.sessionkit.access.Caller;
import io.sessionkit.access.SessionAccess;
import io.sessionkit.conversation.Conversations;
import io.sessionkit.internal.CarriedError;
import io.sessionkit.internal.KeptMessage;
import io.sessionkit.internal.approval.GatedTurns;
import io.sessionkit.internal.approval.OpenedCall;
import io.sessionkit.internal.approval.TurnCall;
import io.sessionkit.internal.binding.TurnBinding;
import io.sessionkit.internal.call.SessionParameters;
import io.sessionkit.internal.call.TurnAdvisor;
import io.sessionkit.internal.call.UnreadErrors;
import io.sessionkit.internal.call.WaitingThread;
import io.sessionkit.internal.door.InnerParts;
import io.sessionkit.internal.line.Admission;
import io.sessionkit.internal.line.Arrival;
import io.sessionkit.internal.opening.TurnRequest;
import io.sessionkit.internal.run.RunningCall;
import io.sessionkit.internal.turn.RunningTurn;
import io.sessionkit.internal.turn.Turns;
import io.sessionkit.observation.CallStage;
import io.sessionkit.observation.ObservedCall;
import org.jspecify.annotations.Nullable;
import reactor.core.Exceptions;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.util.context.ContextView;

import org.springframework.ai.chat.client.ChatClientRequest;
import org.springframework.ai.chat.client.ChatClientResponse;
import org.springframework.ai.chat.client.advisor.api.Advisor;
import org.springframework.ai.chat.client.advisor.api.BaseAdvisorChain;
import org.springframework.ai.chat.client.advisor.api.CallAdvisorChain;
import org.springframework.ai.chat.client.advisor.api.StreamAdvisorChain;
import org.springframework.ai.chat.client.advisor.api.ToolAdvisor;
import org.springframework.ai.chat.model.ChatResponse;

/**
 * The advisor outside the tool loop. It opens the turn, and stores it when the loop has
 * ended.
 */
final class SessionTurnAdvisor implements TurnAdvisor {

	private static final String PAUSED_TRACE = "sessionkit.paused.trace.id";

	private final GatedTurns turns;

	private final SessionAccess access;

	private final SessionKeyResolver resolver;

	private final boolean requireSession;

	private final CallRules rules;

	private final SkippedHooks skippedHooks;

	SessionTurnAdvisor(GatedTurns turns, Conversations conversations, SessionKeyResolver resolver,
			boolean requireSession, CallRules rules) {
		this.turns = turns;
		this.access = conversations.access();
		this.resolver = resolver;
		this.requireSession = requireSession;
		this.rules = rules;
		// not of the turns: approvals that a test has replaced by a mock have none
		this.skippedHooks = new SkippedHooks(InnerParts.of(conversations, Turns.class).hooks());
	}

	@Override
	public String getName() {
		return "SessionKitAdvisor";
	}

	@Override
	public int getOrder() {
		return SessionParameters.TURN_ORDER;
	}

	@Override
	public ChatClientResponse adviseCall(ChatClientRequest request, CallAdvisorChain chain) {
		SessionCall call = new SessionCall(request);
		Optional<SessionKey> key = key(call, this.access::caller);
		if (key.isEmpty()) {
			ChatClientRequest passed = passed(call, chain.getCallAdvisors());
			return RunningCall.callInner(() -> chain.nextCall(passed));
		}
		ChainCheck.check(chain.getCallAdvisors(), this, request);
		call.name(key.get());
		ObservedCall observed = this.turns.observe(false);
		try {
			return observed.observe(CallStage.CALL,
					() -> inSession(call, call.turnRequest(key.get(), observed), chain));
		}
		catch (Throwable ex) {
			KeptMessage.takeBackOfOthers(ex, key.get());
			throw ex;
		}
	}

	private ChatClientResponse inSession(SessionCall call, TurnRequest request, CallAdvisorChain chain) {
		TurnRequest asking = this.turns.allowedHere(request, false);
		boolean toolLoop = hasToolLoop(chain.getCallAdvisors());
		Arrival arrival = arrive(call, asking);
		if (arrival != null) {
			this.turns.check(asking, call.tools(), toolLoop);
		}
		Admission admission = (arrival != null) ? arrival.await() : null;
		// nothing comes between the admission and what ends it, also if no turn opens
		OpenedCall opened = this.turns.open(asking, call.tools(), toolLoop, admission);
		if (opened instanceof OpenedCall.Working working) {
			return worked(call, chain, working.call());
		}
		CallResponses responses = new CallResponses(call);
		return (opened instanceof OpenedCall.Answered answered)
				? CallResponses.carrying(responses.answered(answered), answered.turn())
				: responses.queued((OpenedCall.Queued) opened);
	}

	private ChatClientResponse worked(SessionCall call, CallAdvisorChain chain, TurnCall working) {
		RunningTurn turn = working.turn();
		ChatResponse answer = turn.answer();
		CallResponses responses = new CallResponses(call);
		ChatClientResponse response = (answer != null) ? responses.response(answer) : runLoop(call, chain, working);
		return working.isWaiting() ? responses.paused(working.end(), response) : completed(response, turn);
	}

	@Override
	public Flux<ChatClientResponse> adviseStream(ChatClientRequest request, StreamAdvisorChain chain) {
		SessionCall call = new SessionCall(request);
		return this.access.isUnlimited() ? Flux.defer(() -> adviseStream(call, chain, Caller::server))
				: Flux.deferContextual(
						(context) -> caller(call, context).flatMapMany((caller) -> adviseStream(call, chain, caller)));
	}

	/**
	 * A call without a session needs no caller. Only the call that is about to reach one
	 * fails if nobody can say who calls.
	 */
	private Mono<Supplier<Caller>> caller(SessionCall call, ContextView context) {
		if (isPassedOn(call)) {
			return Mono.just(this.access::caller);
		}
		return Mono.defer(() -> this.access.caller(context))
			.<Supplier<Caller>>map((caller) -> () -> caller)
			.onErrorResume((ex) -> Mono.just(() -> {
				throw Exceptions.propagate(ex);
			}));
	}

	private static boolean isPassedOn(SessionCall call) {
		return call.ownTurn().isPresent() || call.isWithoutSession();
	}

	private Flux<ChatClientResponse> adviseStream(SessionCall call, StreamAdvisorChain chain, Supplier<Caller> caller) {
		Optional<SessionKey> key = key(call, caller);
		if (key.isEmpty()) {
			return chain.nextStream(passed(call, chain.getStreamAdvisors()));
		}
		ChainCheck.check(chain.getStreamAdvisors(), this, call.request());
		call.name(key.get());
		ObservedCall observed = this.turns.observe(true);
		return StreamStage
			.observed(observed, CallStage.CALL,
					Flux.deferContextual(
							(inside) -> openAndStream(call, call.turnRequest(key.get(), observed), chain, inside)))
			.doOnError((ex) -> KeptMessage.takeBackOfOthers(ex, key.get()));
	}

	private Flux<ChatClientResponse> openAndStream(SessionCall call, TurnRequest request, StreamAdvisorChain chain,
			ContextView context) {
		OnCancel rule = call.parameters().onCancel(this.rules.onCancel());
		Observation observation = context.getOrDefault(ObservationThreadLocalAccessor.KEY, null);
		TurnRequest asking = this.turns.allowedHere(request, true);
		boolean toolLoop = hasToolLoop(chain.getStreamAdvisors());
		StreamOpening opening = new StreamOpening(this.turns, call, asking, toolLoop, arrive(call, asking));
		return UnreadErrors.loggedByClass(Flux.usingWhen(opening.opened(observation), (opened) -> {
			opening.take();
			return stream(call, chain, opened, observation);
		}, (opened) -> Mono.empty(), SessionTurnAdvisor::failed, (opened) -> cancelled(opened, rule)));
	}

	/**
	 * Returns the request of a call that this advisor passes on. If the call has its turn
	 * already, because this advisor is registered twice, its tools are controlled.
	 */
	private ChatClientRequest passed(SessionCall call, List<? extends Advisor> advisors) {
		if (call.ownTurn().isPresent()) {
			return call.passed();
		}
		if (!call.isWithoutSession()) {
			this.skippedHooks.passed(call.request().context());
		}
		return call.passed(this.turns.tools(), hasToolLoop(advisors));
	}

	private Flux<ChatClientResponse> stream(SessionCall call, StreamAdvisorChain chain, OpenedCall opened,
			@Nullable Observation observation) {
		if (opened instanceof OpenedCall.Working working) {
			link(working.call(), observation);
			return streamTurn(call, rest(chain), working.call());
		}
		CallResponses responses = new CallResponses(call);
		if (opened instanceof OpenedCall.Answered answered) {
			ChatClientResponse reply = responses.answered(answered);
			return Flux.just(reply, responses.lastElement(reply, answered.turn()));
		}
		return Flux.just(responses.queued((OpenedCall.Queued) opened));
	}

	/**
	 * Adds the trace id of the paused call to the observation of the call that continues
	 * the turn.
	 */
	private static void link(TurnCall working, @Nullable Observation current) {
		String trace = working.pausedTrace();
		if (trace != null && current != null) {
			current.highCardinalityKeyValue(PAUSED_TRACE, trace);
		}
	}

	boolean has(Object part) {
		return this.resolver.equals(part);
	}

	private Optional<SessionKey> resolved(SessionCall call) {
		Optional<SessionKey> key = this.resolver.resolve(call.request());
		if (key == null) {
			throw new IllegalStateException("The SessionKeyResolver " + this.resolver.getClass().getName()
					+ " has returned null. Return Optional.empty() for a call without a session.");
		}
		return key;
	}

	/**
	 * Returns the session of the call. It is empty if this advisor has to pass the call
	 * on, because the call names none, or because this advisor is registered twice and
	 * the call has its turn already.
	 */
	private Optional<SessionKey> key(SessionCall call, Supplier<Caller> caller) {
		if (call.ownTurn().isPresent()) {
			return Optional.empty();
		}
		UnaryOperator<SessionKey> reached = (named) -> SessionAccess.key(named, caller.get());
		Supplier<Optional<SessionKey>> resolved = () -> resolved(call)
			.map((found) -> SessionAccess.owned(found, caller.get()));
		Optional<SessionKey> key = call.isWithoutSession() ? Optional.empty()
				: call.childKey(reached, resolved).or(() -> call.namedKey(reached)).or(resolved);
		if (key.isEmpty()) {
			checkWithoutSession(call);
		}
		return key;
	}

	private void checkWithoutSession(SessionCall call) {
		call.checkNeedsNoSession();
		if (this.requireSession && !call.isWithoutSession()) {
			throw new SessionRequiredException("This call names no session, and sessionkit.require-session is true. Add"
					+ " .advisors(SessionAdvisor.session(..)) to the call, or a SessionKeyResolver bean; a call that is to"
					+ " have none says so with SessionAdvisor.none().");
		}
	}

	/**
	 * Returns the arrival of the call, which is to be checked before it looks; null if it
	 * does not stand in line.
	 */
	private @Nullable Arrival arrive(SessionCall call, TurnRequest asking) {
		return this.turns.arrive(asking, call.made(asking, this.rules.idempotencyTimeToLive()),
				call.parameters().concurrency(this.rules.concurrency()), call.parameters().mayJoin(),
				this.rules.concurrencyTimeout());
	}

	private static boolean hasToolLoop(List<? extends Advisor> advisors) {
		return advisors.stream().anyMatch(ToolAdvisor.class::isInstance);
	}

	private CallAdvisorChain rest(CallAdvisorChain chain) {
		return (chain instanceof BaseAdvisorChain whole)
				? ChainRest.behind(this, whole.getCallAdvisors(), (last) -> whole.copy(last)) : chain;
	}

	private StreamAdvisorChain rest(StreamAdvisorChain chain) {
		return (chain instanceof BaseAdvisorChain whole)
				? ChainRest.behind(this, whole.getStreamAdvisors(), (last) -> whole.copy(last)) : chain;
	}

	private ChatClientResponse runLoop(SessionCall call, CallAdvisorChain chain, TurnCall working) {
		RunningTurn turn = working.turn();
		try (TurnBinding binding = TurnBinding.of(turn.running())) {
			link(working, chain.getObservationRegistry().getCurrentObservation());
			ChatClientResponse response = RunningCall.callInner(() -> rest(chain).nextCall(call.with(working)));
			if (!working.isWaiting()) {
				turn.loop().afterLoop(CallResponses.generations(response));
			}
			return response;
		}
		catch (Throwable ex) {
			Throwable cause = CarriedError.original(ex);
			turn.fail(cause);
			if (cause instanceof Error error) {
				throw error;
			}
			throw ex;
		}
	}

	private static Flux<ChatClientResponse> streamTurn(SessionCall call, StreamAdvisorChain chain, TurnCall working) {
		RunningTurn turn = working.turn();
		AtomicReference<@Nullable ChatClientResponse> last = new AtomicReference<>();
		Flux<ChatClientResponse> replies = checked(turn, replies(call, chain, working)).doOnNext((response) -> {
			last.set(response);
			if (response.chatResponse() != null) {
				turn.loop().delivered(response.chatResponse());
			}
		}).filter((response) -> !working.isWaiting() || !CallResponses.isPause(response));
		// The commit is part of the stream, not of its clean-up, so that its exception
		// reaches the subscriber as it is.
		CallResponses responses = new CallResponses(call);
		Mono<ChatClientResponse> end = WaitingThread
			.run(() -> working.isWaiting() ? responses.paused(working.end(), last.get())
					: responses.lastElement(last.get(), completedStream(turn)));
		Flux<ChatClientResponse> whole = turn.loop().holdReplies() ? held(replies, end) : replies.concatWith(end);
		return whole.doOnCancel(turn::freeze);
	}

	/** Returns null if the turn is not stored. */
	private static @Nullable TurnResult completedStream(RunningTurn turn) {
		TurnResult result = turn.complete(turn.loop().afterStreamedLoop());
		return turn.request().isStored() ? result : null;
	}

	/**
	 * Delays an answer that did not come from the model until the guards on the input
	 * have passed it too.
	 */
	private static Flux<ChatClientResponse> checked(RunningTurn turn, Flux<ChatClientResponse> replies) {
		return turn.inputCheck().isPending()
				? replies
					.delayUntil((response) -> turn.inputCheck().isPending() ? BesideModel.passed(turn) : Mono.empty())
				: replies;
	}

	private static Flux<ChatClientResponse> replies(SessionCall call, StreamAdvisorChain chain, TurnCall working) {
		RunningTurn turn = working.turn();
		ChatResponse answer = turn.answer();
		return (answer != null) ? Flux.just(new CallResponses(call).response(answer))
				: ThrownErrors.passedOn(chain.nextStream(call.with(working)))
					.contextWrite((context) -> TurnBinding.write(turn.running(), context));
	}

	/**
	 * Delivers nothing before the turn is stored, since a hook may refuse until then.
	 */
	private static Flux<ChatClientResponse> held(Flux<ChatClientResponse> replies, Mono<ChatClientResponse> end) {
		return replies.collectList()
			.flatMapMany((all) -> end.flatMapMany((last) -> Flux.fromIterable(all).concatWithValues(last)));
	}

	private static Mono<Void> failed(OpenedCall opened, Throwable cause) {
		return ended(opened, (turn) -> turn.fail(CarriedError.original(cause)));
	}

	private static Mono<Void> cancelled(OpenedCall opened, OnCancel onCancel) {
		return ended(opened, (turn) -> turn.cancel(onCancel));
	}

	private static Mono<Void> ended(OpenedCall opened, Consumer<RunningTurn> end) {
		if (!(opened instanceof OpenedCall.Working working)) {
			return Mono.empty();
		}
		return WaitingThread.run(() -> {
			end.accept(working.call().turn());
			return opened;
		}).then();
	}

	private static ChatClientResponse completed(ChatClientResponse response, RunningTurn turn) {
		TurnResult result = turn.complete(response.chatResponse());
		return turn.request().isStored() ? CallResponses.carrying(response, result) : response;
	}

}
