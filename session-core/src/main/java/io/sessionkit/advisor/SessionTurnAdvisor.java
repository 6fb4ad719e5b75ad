package io.sessionkit.advisor;

import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.function.Supplier;

import io.micrometer.observation.Observation;
import io.micrometer.observation.contextpropagation.ObservationThreadLocalAccessor;
import io.sessionkit.SessionKey;
import io.sessionkit.TurnResult;
import io.sessionkit.hook.TurnBinding;
import io.sessionkit.internal.approval.GatedTurn;
import io.sessionkit.internal.approval.GatedTurns;
import io.sessionkit.internal.approval.Pause;
import io.sessionkit.internal.turn.OpenTurn;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

import org.springframework.ai.chat.client.ChatClientRequest;
import org.springframework.ai.chat.client.ChatClientResponse;
import org.springframework.ai.chat.client.advisor.api.Advisor;
import org.springframework.ai.chat.client.advisor.api.BaseAdvisorChain;
import org.springframework.ai.chat.client.advisor.api.CallAdvisor;
import org.springframework.ai.chat.client.advisor.api.CallAdvisorChain;
import org.springframework.ai.chat.client.advisor.api.StreamAdvisor;
import org.springframework.ai.chat.client.advisor.api.StreamAdvisorChain;
import org.springframework.ai.chat.client.advisor.api.ToolAdvisor;
import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.model.ChatResponse;
import org.springframework.ai.chat.model.Generation;

/**
 * Stands outside the tool loop: opens the turn, and stores it when the loop has ended.
 */
final class SessionTurnAdvisor implements CallAdvisor, StreamAdvisor {

	private static final String PAUSED_TRACE = "sessionkit.paused.trace.id";

	private final GatedTurns turns;

	private final SessionKeyResolver resolver;

	private final boolean requireSession;

	private final SkippedHooks skippedHooks;

	SessionTurnAdvisor(GatedTurns turns, SessionKeyResolver resolver, boolean requireSession) {
		this.turns = turns;
		this.resolver = resolver;
		this.requireSession = requireSession;
		this.skippedHooks = new SkippedHooks(turns.hooks());
	}

	@Override
	public String getName() {
		return "SessionKitAdvisor";
	}

	@Override
	public int getOrder() {
		return SessionAdvisor.TURN_ORDER;
	}

	@Override
	public ChatClientResponse adviseCall(ChatClientRequest request, CallAdvisorChain chain) {
		SessionCall call = new SessionCall(request);
		Optional<SessionKey> key = key(call);
		if (key.isEmpty()) {
			return chain.nextCall(passed(call));
		}
		ChainCheck.check(chain.getCallAdvisors(), this, request);
		call.name(key.get());
		GatedTurns.Opened opened = open(call, key.get(), chain.getCallAdvisors());
		GatedTurn gated = opened.turn();
		if (gated == null) {
			return paused(opened.pause(), null, call);
		}
		OpenTurn turn = gated.turn();
		ChatResponse answer = turn.answer();
		ChatClientResponse response = (answer != null) ? response(answer, call) : runLoop(call, chain, gated);
		return gated.isWaiting() ? paused(gated.end(), response, call)
				: carrying(response, turn.complete(response.chatResponse()));
	}

	@Override
	public Flux<ChatClientResponse> adviseStream(ChatClientRequest request, StreamAdvisorChain chain) {
		SessionCall call = new SessionCall(request);
		return Flux.deferContextual((context) -> {
			Optional<SessionKey> key = key(call);
			if (key.isEmpty()) {
				return chain.nextStream(passed(call));
			}
			ChainCheck.check(chain.getStreamAdvisors(), this, request);
			call.name(key.get());
			Observation observation = context.getOrDefault(ObservationThreadLocalAccessor.KEY, null);
			Callable<GatedTurns.Opened> open = TurnBinding
				.carrying(() -> observed(observation, () -> open(call, key.get(), chain.getStreamAdvisors())));
			AtomicBoolean taken = new AtomicBoolean();
			return Flux.usingWhen(WaitingThread.run(open, (opened) -> endUnlessTaken(opened, taken)), (opened) -> {
				taken.set(true);
				return stream(call, chain, opened, observation);
			}, (opened) -> Mono.empty(), SessionTurnAdvisor::failed, SessionTurnAdvisor::cancelled);
		});
	}

	/**
	 * A subscriber that went away while the turn was opened leaves nobody to end it. A
	 * new turn has left no trace; one that goes on has its lease.
	 */
	private static void endUnlessTaken(GatedTurns.Opened opened, AtomicBoolean taken) {
		GatedTurn gated = opened.turn();
		if (gated != null && !taken.get() && gated.turn().isContinued()) {
			gated.turn().cancel();
		}
	}

	/**
	 * A call that is not ours. One inside of an open turn, since this advisor is
	 * registered twice, has its tools looked after already.
	 */
	private ChatClientRequest passed(SessionCall call) {
		if (call.openTurn().isPresent()) {
			return call.passed();
		}
		if (!call.isWithoutSession()) {
			this.skippedHooks.passed(call.request().context());
		}
		return call.passed(this.turns);
	}

	/**
	 * Work of a stream on the thread it runs on, as part of what is observed: the trace
	 * is asked for there.
	 */
	private static <T> T observed(@Nullable Observation observation, Supplier<T> work) {
		if (observation == null) {
			return work.get();
		}
		try (Observation.Scope scope = observation.openScope()) {
			return work.get();
		}
	}

	private Flux<ChatClientResponse> stream(SessionCall call, StreamAdvisorChain chain, GatedTurns.Opened opened,
			@Nullable Observation observation) {
		GatedTurn gated = opened.turn();
		if (gated == null) {
			return Flux.just(paused(opened.pause(), null, call));
		}
		link(gated, observation);
		return stream(call, rest(chain), gated);
	}

	/**
	 * Names the trace of the call that was paused in the observation of the one that goes
	 * on.
	 */
	private static void link(GatedTurn gated, @Nullable Observation current) {
		String trace = gated.pausedTrace();
		if (trace != null && current != null) {
			current.highCardinalityKeyValue(PAUSED_TRACE, trace);
		}
	}

	/**
	 * The session of the call; empty if the call is not ours to touch, because it names
	 * none, or because this advisor is registered twice and the turn is open already.
	 */
	private Optional<SessionKey> key(SessionCall call) {
		if (call.openTurn().isPresent() || call.isWithoutSession()) {
			return Optional.empty();
		}
		Optional<SessionKey> key = call.namedKey().or(() -> this.resolver.resolve(call.request()));
		if (key.isEmpty() && this.requireSession) {
			throw new IllegalStateException("This call names no session, and sessionkit.require-session is true. Add"
					+ " .advisors(SessionAdvisor.session(..)) to the call, or a SessionKeyResolver bean; a call that is to"
					+ " have none says so with SessionAdvisor.none().");
		}
		return key;
	}

	private GatedTurns.Opened open(SessionCall call, SessionKey key, List<? extends Advisor> advisors) {
		boolean toolLoop = advisors.stream().anyMatch(ToolAdvisor.class::isInstance);
		return this.turns.open(call.turnRequest(key), call.tools(), toolLoop);
	}

	/**
	 * The rest of the chain in a copy. Spring AI hands out each advisor of a chain once,
	 * so the advisor inside the tool loop would be used up by this call; in the chain it
	 * stays, and refuses another use of the same call. A copy turns advisors of equal
	 * order around, so it is made of a copy.
	 */
	private CallAdvisorChain rest(CallAdvisorChain chain) {
		return (chain instanceof BaseAdvisorChain whole) ? whole.mutate().build().copy((CallAdvisor) this) : chain;
	}

	private StreamAdvisorChain rest(StreamAdvisorChain chain) {
		return (chain instanceof BaseAdvisorChain whole) ? whole.mutate().build().copy((StreamAdvisor) this) : chain;
	}

	private ChatClientResponse runLoop(SessionCall call, CallAdvisorChain chain, GatedTurn gated) {
		OpenTurn turn = gated.turn();
		try (TurnBinding binding = TurnBinding.of(turn.running())) {
			link(gated, chain.getObservationRegistry().getCurrentObservation());
			ChatClientResponse response = rest(chain).nextCall(call.with(gated));
			if (!gated.isWaiting()) {
				turn.afterLoop(generations(response));
			}
			return response;
		}
		catch (RuntimeException | Error ex) {
			turn.fail(ex);
			throw ex;
		}
	}

	private static Flux<ChatClientResponse> stream(SessionCall call, StreamAdvisorChain chain, GatedTurn gated) {
		OpenTurn turn = gated.turn();
		AtomicReference<@Nullable ChatClientResponse> last = new AtomicReference<>();
		Flux<ChatClientResponse> replies = checked(turn, replies(call, chain, gated)).doOnNext((response) -> {
			last.set(response);
			if (response.chatResponse() != null) {
				turn.delivered(response.chatResponse());
			}
		}).filter((response) -> !gated.isWaiting() || !isPause(response));
		// The commit is part of the stream, not of its clean-up, so that its exception
		// reaches the subscriber as it is.
		Mono<ChatClientResponse> end = WaitingThread.run(() -> gated.isWaiting() ? paused(gated.end(), last.get(), call)
				: lastElement(last.get(), call, turn.complete(turn.afterStreamedLoop())));
		Flux<ChatClientResponse> whole = turn.holdsReplies() ? held(replies, end) : replies.concatWith(end);
		return whole.doOnCancel(turn::freeze);
	}

	/**
	 * An answer that did not come from the model waits for the guards on the input too.
	 */
	private static Flux<ChatClientResponse> checked(OpenTurn turn, Flux<ChatClientResponse> replies) {
		return turn.awaitsInputCheck()
				? replies.delayUntil((response) -> turn.awaitsInputCheck() ? BesideModel.passed(turn) : Mono.empty())
				: replies;
	}

	private static Flux<ChatClientResponse> replies(SessionCall call, StreamAdvisorChain chain, GatedTurn gated) {
		OpenTurn turn = gated.turn();
		ChatResponse answer = turn.answer();
		return (answer != null) ? Flux.just(response(answer, call)) : chain.nextStream(call.with(gated))
			.contextWrite((context) -> TurnBinding.write(turn.running(), context));
	}

	/**
	 * Nothing is delivered before the turn is stored: a hook may refuse until then.
	 */
	private static Flux<ChatClientResponse> held(Flux<ChatClientResponse> replies, Mono<ChatClientResponse> end) {
		return replies.collectList()
			.flatMapMany((all) -> end.flatMapMany((last) -> Flux.fromIterable(all).concatWithValues(last)));
	}

	private static ChatClientResponse response(ChatResponse answer, SessionCall call) {
		return ChatClientResponse.builder().chatResponse(answer).context(call.request().context()).build();
	}

	private static Mono<Void> failed(GatedTurns.Opened opened, Throwable cause) {
		return ended(opened, (turn) -> turn.fail(cause));
	}

	private static Mono<Void> cancelled(GatedTurns.Opened opened) {
		return ended(opened, OpenTurn::cancel);
	}

	private static Mono<Void> ended(GatedTurns.Opened opened, Consumer<OpenTurn> end) {
		GatedTurn gated = opened.turn();
		return (gated == null) ? Mono.empty() : WaitingThread.run(() -> {
			end.accept(gated.turn());
			return gated;
		}).then();
	}

	private static boolean isPause(ChatClientResponse response) {
		return response.chatResponse() != null && Pause.isPause(response.chatResponse());
	}

	/**
	 * What a call gets whose turn waits: the pause, with what the loop has cost.
	 * @param pause what waits
	 * @param loop what the loop ended with; null if it was not entered
	 */
	private static ChatClientResponse paused(@Nullable Pause pause, @Nullable ChatClientResponse loop,
			SessionCall call) {
		Pause waiting = Objects.requireNonNull(pause);
		ChatResponse cost = (loop != null) ? loop.chatResponse() : null;
		ChatResponse.Builder builder = ChatResponse.builder();
		builder = (cost != null) ? builder.from(cost) : builder;
		ChatResponse response = builder.generations(waiting.response().getResults())
			.metadata(SessionAdvisor.TURN, waiting.turn())
			.build();
		return (loop != null) ? loop.mutate().chatResponse(response).build() : response(response, call);
	}

	private static List<Generation> generations(ChatClientResponse response) {
		return (response.chatResponse() != null) ? response.chatResponse().getResults() : List.of();
	}

	private static ChatClientResponse carrying(ChatClientResponse response, TurnResult turn) {
		ChatResponse chatResponse = response.chatResponse();
		ChatResponse.Builder builder = ChatResponse.builder();
		builder = (chatResponse != null) ? builder.from(chatResponse) : builder.generations(List.of());
		return response.mutate().chatResponse(builder.metadata(SessionAdvisor.TURN, turn).build()).build();
	}

	/**
	 * One element more, without text, that carries the turn, and id, model and usage as
	 * the element before. It has no finish reason: an advisor that acts on one would act
	 * twice.
	 */
	private static ChatClientResponse lastElement(@Nullable ChatClientResponse end, SessionCall call, TurnResult turn) {
		ChatResponse.Builder builder = ChatResponse.builder();
		if (end != null && end.chatResponse() != null) {
			builder = builder.from(end.chatResponse());
		}
		ChatResponse response = builder.generations(List.of(new Generation(new AssistantMessage(""))))
			.metadata(SessionAdvisor.TURN, turn)
			.build();
		ChatClientResponse.Builder last = ChatClientResponse.builder().chatResponse(response);
		if (end != null) {
			return last.context(end.context()).build();
		}
		return last.context(call.request().context()).build();
	}

}
