package io.sessionkit.advisor;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;

import io.sessionkit.internal.call.SessionParameters;
import io.sessionkit.internal.call.WaitingThread;
import io.sessionkit.internal.round.OpenRound;
import io.sessionkit.internal.round.RoundRequest;
import io.sessionkit.internal.turn.RunningTurn;
import io.sessionkit.observation.CallStage;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;

import org.springframework.ai.chat.client.ChatClientRequest;
import org.springframework.ai.chat.client.ChatClientResponse;
import org.springframework.ai.chat.client.advisor.api.CallAdvisor;
import org.springframework.ai.chat.client.advisor.api.CallAdvisorChain;
import org.springframework.ai.chat.client.advisor.api.StreamAdvisor;
import org.springframework.ai.chat.client.advisor.api.StreamAdvisorChain;
import org.springframework.ai.chat.model.ChatResponse;
import org.springframework.ai.chat.prompt.Prompt;
import org.springframework.util.StringUtils;

/**
 * The advisor inside the tool loop. It handles each request before the model and each
 * reply before its tools are called.
 */
final class SessionRoundAdvisor implements CallAdvisor, StreamAdvisor {

	/** True if a call may have a session although it names none. */
	private final boolean resolves;

	/** True if a streamed reply without a finish reason fails. */
	private final boolean requireFinishReason;

	SessionRoundAdvisor(boolean resolves, boolean requireFinishReason) {
		this.resolves = resolves;
		this.requireFinishReason = requireFinishReason;
	}

	@Override
	public String getName() {
		return "SessionKitRoundAdvisor";
	}

	@Override
	public int getOrder() {
		return SessionParameters.ROUND_ORDER;
	}

	@Override
	public ChatClientResponse adviseCall(ChatClientRequest request, CallAdvisorChain chain) {
		RunningTurn turn = turn(request);
		new SessionCall(request).checkTools();
		if (turn == null) {
			return chain.nextCall(request);
		}
		RoundRequest start = begin(turn, request);
		if (start instanceof RoundRequest.ModelCall call) {
			return turn.observed().observe(CallStage.ROUND, () -> called(call, request, chain));
		}
		return response(((RoundRequest.Answer) start).response(), request);
	}

	private static ChatClientResponse called(RoundRequest.ModelCall call, ChatClientRequest request,
			CallAdvisorChain chain) {
		try {
			ChatClientResponse response = chain.nextCall(with(request, call));
			ChatResponse checked = call.round().afterWhole(response.chatResponse());
			return (checked == response.chatResponse()) ? response : response.mutate().chatResponse(checked).build();
		}
		finally {
			call.round().afterFailed();
		}
	}

	@Override
	public Flux<ChatClientResponse> adviseStream(ChatClientRequest request, StreamAdvisorChain chain) {
		RunningTurn turn = turn(request);
		new SessionCall(request).checkTools();
		if (turn == null) {
			return chain.nextStream(request);
		}
		return ThrownErrors
			.passedOn(turn.loop().mayWait() ? streamWithHooks(request, chain, turn) : stream(request, chain, turn));
	}

	private Flux<ChatClientResponse> stream(ChatClientRequest request, StreamAdvisorChain chain, RunningTurn turn) {
		return Flux.defer(() -> answers(turn, begin(turn, request), request,
				(call) -> chain.nextStream(with(request, call))
					.concatMapDelayError((response) -> taken(call.round(), response), false, 0)
					.doOnComplete(() -> afterStreamed(call.round(), turn))));
	}

	/**
	 * Streams a round with hooks or a gate, which may block. They run on a thread that
	 * may wait.
	 */
	private Flux<ChatClientResponse> streamWithHooks(ChatClientRequest request, StreamAdvisorChain chain,
			RunningTurn turn) {
		return Flux.defer(() -> {
			AtomicBoolean gone = new AtomicBoolean();
			return WaitingThread.run(() -> begin(turn, request), (start) -> {
				if (gone.get() && start instanceof RoundRequest.ModelCall call) {
					call.round().afterFailed();
				}
			})
				.flatMapMany((start) -> answers(turn, start, request, (call) -> replies(call, request, chain, turn)))
				.doOnCancel(() -> gone.set(true));
		});
	}

	private static RoundRequest begin(RunningTurn turn, ChatClientRequest request) {
		return turn.loop().begin(request.prompt().getInstructions());
	}

	/**
	 * Returns the answer that replaces the model call, or the replies to that call, whose
	 * round ends with them.
	 */
	private static Flux<ChatClientResponse> answers(RunningTurn turn, RoundRequest start, ChatClientRequest request,
			Function<RoundRequest.ModelCall, Flux<ChatClientResponse>> replies) {
		if (start instanceof RoundRequest.ModelCall call) {
			return StreamStage.observed(turn.observed(), CallStage.ROUND, Flux.defer(() -> replies.apply(call)))
				.doOnError((ex) -> call.round().afterFailed())
				.doOnCancel(call.round()::afterFailed);
		}
		return Flux.just(response(((RoundRequest.Answer) start).response(), request));
	}

	private Flux<ChatClientResponse> replies(RoundRequest.ModelCall call, ChatClientRequest request,
			StreamAdvisorChain chain, RunningTurn turn) {
		AtomicReference<@Nullable ChatClientResponse> last = new AtomicReference<>();
		List<ChatClientResponse> kept = new ArrayList<>();
		Flux<ChatClientResponse> chunks = chain.nextStream(with(request, call))
			.doOnNext(last::set)
			.concatMapDelayError((response) -> taken(call.round(), response), false, 0)
			.filter((response) -> !isKept(response, kept, turn));
		return chunks.concatWith(
				WaitingThread
					.run(() -> afterStreamed(call.round(), turn)
						.map((instead) -> replaced(kept, instead, turn, last.get(), request))
						.orElse(kept))
					.flatMapIterable((all) -> all));
	}

	private Optional<List<ChatResponse>> afterStreamed(OpenRound round, RunningTurn turn) {
		if (this.requireFinishReason) {
			round.checkFinished(turn.key());
		}
		return round.afterStreamed();
	}

	/**
	 * Holds back the chunks that may not be passed on before the reply is complete. While
	 * hooks check replies or the input, these are all chunks. Otherwise they are the
	 * chunks from the first tool call on, since the tool loop runs the calls that it
	 * gets.
	 */
	private static boolean isKept(ChatClientResponse response, List<ChatClientResponse> kept, RunningTurn turn) {
		ChatResponse chunk = response.chatResponse();
		if (chunk == null) {
			return false;
		}
		boolean keeps = turn.loop().holdReplies() || turn.inputCheck().isPending() || !kept.isEmpty()
				|| chunk.hasToolCalls();
		if (keeps) {
			kept.add(response);
		}
		return keeps;
	}

	/**
	 * Returns the responses to pass on instead of those that were held back, when the
	 * reply is complete.
	 */
	private static List<ChatClientResponse> replaced(List<ChatClientResponse> kept, List<ChatResponse> instead,
			RunningTurn turn, @Nullable ChatClientResponse last, ChatClientRequest request) {
		List<ChatClientResponse> all = new ArrayList<>();
		if (!turn.loop().holdReplies()) {
			kept.stream().filter(SessionRoundAdvisor::isText).forEach(all::add);
		}
		instead.forEach((response) -> all.add(behind(last, response, request)));
		return all;
	}

	/**
	 * Returns whether a response is text. Text after the first tool call is part of the
	 * reply too.
	 */
	private static boolean isText(ChatClientResponse response) {
		ChatResponse chunk = response.chatResponse();
		return chunk != null && !chunk.hasToolCalls()
				&& chunk.getResults()
					.stream()
					.anyMatch((generation) -> StringUtils.hasLength(generation.getOutput().getText()));
	}

	/**
	 * Returns a response with the context of the response before it.
	 */
	private static ChatClientResponse behind(@Nullable ChatClientResponse last, ChatResponse checked,
			ChatClientRequest request) {
		return (last != null) ? last.mutate().chatResponse(checked).build() : response(checked, request);
	}

	/**
	 * Returns the turn to which this round belongs.
	 * @return the turn; null if there is nothing to do, because the call has no session,
	 * or because this advisor is registered twice and the round is already open
	 */
	private @Nullable RunningTurn turn(ChatClientRequest request) {
		return new SessionCall(request).runningTurn(this.resolves)
			.filter((turn) -> !turn.loop().isRoundOpen())
			.orElse(null);
	}

	private static ChatClientRequest with(ChatClientRequest request, RoundRequest.ModelCall call) {
		return ChatClientRequest.builder()
			.prompt(new Prompt(call.messages(), request.prompt().getOptions()))
			.context(request.context())
			.build();
	}

	private static ChatClientResponse response(ChatResponse response, ChatClientRequest request) {
		return ChatClientResponse.builder().chatResponse(response).context(request.context()).build();
	}

	/**
	 * Records a response and returns those to hand on instead of it. What comes before a
	 * failure is handed on before it.
	 */
	private static Flux<ChatClientResponse> taken(OpenRound round, ChatClientResponse response) {
		ChatResponse chunk = response.chatResponse();
		List<ChatResponse> parts = (chunk != null) ? round.chunk(chunk) : List.of();
		return (parts.size() < 2) ? Flux.just(response)
				: Flux.fromIterable(parts).map((part) -> response.mutate().chatResponse(part).build());
	}

}
