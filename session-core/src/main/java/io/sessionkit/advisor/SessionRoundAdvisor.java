package io.sessionkit.advisor;

import io.sessionkit.conversation.OpenTurn;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;

import org.springframework.ai.chat.client.ChatClientRequest;
import org.springframework.ai.chat.client.ChatClientResponse;
import org.springframework.ai.chat.client.advisor.api.CallAdvisor;
import org.springframework.ai.chat.client.advisor.api.CallAdvisorChain;
import org.springframework.ai.chat.client.advisor.api.StreamAdvisor;
import org.springframework.ai.chat.client.advisor.api.StreamAdvisorChain;
import org.springframework.ai.chat.prompt.Prompt;

/**
 * Stands inside the tool loop: sees each request before the model and each reply before
 * its tools are called.
 */
final class SessionRoundAdvisor implements CallAdvisor, StreamAdvisor {

	/** Whether a call may have a session although it names none. */
	private final boolean resolves;

	SessionRoundAdvisor(boolean resolves) {
		this.resolves = resolves;
	}

	@Override
	public String getName() {
		return "SessionRoundAdvisor";
	}

	@Override
	public int getOrder() {
		return SessionAdvisor.ROUND_ORDER;
	}

	@Override
	public ChatClientResponse adviseCall(ChatClientRequest request, CallAdvisorChain chain) {
		OpenTurn turn = turn(request);
		if (turn == null) {
			return chain.nextCall(request);
		}
		ChatClientRequest prepared = prepare(request, turn);
		try {
			ChatClientResponse response = chain.nextCall(prepared);
			turn.afterRound(response.chatResponse());
			return response;
		}
		finally {
			turn.afterFailedRound();
		}
	}

	@Override
	public Flux<ChatClientResponse> adviseStream(ChatClientRequest request, StreamAdvisorChain chain) {
		OpenTurn turn = turn(request);
		if (turn == null) {
			return chain.nextStream(request);
		}
		return Flux.defer(() -> chain.nextStream(prepare(request, turn)))
			.doOnNext((response) -> take(turn, response))
			.doOnComplete(turn::afterStreamedRound)
			.doOnError((ex) -> turn.afterFailedRound())
			.doOnCancel(turn::afterFailedRound);
	}

	/**
	 * The turn whose round this is.
	 * @return null if there is nothing to do: the call has no session, or this advisor is
	 * registered twice and the round is open already
	 */
	private @Nullable OpenTurn turn(ChatClientRequest request) {
		SessionCall call = new SessionCall(request);
		OpenTurn turn = call.openTurn().orElse(null);
		if (turn == null && !call.isPassed() && (this.resolves || call.namedKey().isPresent())) {
			throw new IllegalStateException("This call" + call.namedKey().map((key) -> " on session " + key).orElse("")
					+ " was executed before: another .content(), .chatResponse(), retry or subscription on the same call"
					+ " would ask the model without the session. Keep the first result, or start with prompt() again;"
					+ " to retry a stream, Flux.defer(() -> chat.prompt()...stream().content()).retry(3).");
		}
		return (turn != null && !turn.isRoundOpen()) ? turn : null;
	}

	private static ChatClientRequest prepare(ChatClientRequest request, OpenTurn turn) {
		Prompt prompt = request.prompt();
		return ChatClientRequest.builder()
			.prompt(new Prompt(turn.beforeRound(prompt.getInstructions()), prompt.getOptions()))
			.context(request.context())
			.build();
	}

	private static void take(OpenTurn turn, ChatClientResponse response) {
		if (response.chatResponse() != null) {
			turn.chunk(response.chatResponse());
		}
	}

}
