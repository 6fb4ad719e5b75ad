package io.sessionkit.advisor;

import io.sessionkit.internal.call.SessionParameters;
import io.sessionkit.internal.turn.RunningTurn;
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
 * The advisor directly before the model. It records in the turn the prompt that is really
 * sent, after all other advisors. If guards check the input while the model is called, it
 * makes that call. A stream of the model ends at once when it is cancelled. It changes
 * nothing of the request but the ids of calls that a reply has repeated, after it has
 * recorded them as they are.
 */
final class SessionModelAdvisor implements CallAdvisor, StreamAdvisor {

	/** True if a call may have a session although it names none. */
	private final boolean resolves;

	SessionModelAdvisor(boolean resolves) {
		this.resolves = resolves;
	}

	@Override
	public String getName() {
		return "SessionKitModelAdvisor";
	}

	@Override
	public int getOrder() {
		return SessionParameters.MODEL_ORDER;
	}

	@Override
	public ChatClientResponse adviseCall(ChatClientRequest request, CallAdvisorChain chain) {
		RunningTurn turn = turn(request);
		ChatClientRequest sent = sent(turn, request);
		return (turn != null && turn.inputCheck().isPending()) ? BesideModel.call(turn, () -> chain.nextCall(sent))
				: chain.nextCall(sent);
	}

	@Override
	public Flux<ChatClientResponse> adviseStream(ChatClientRequest request, StreamAdvisorChain chain) {
		RunningTurn turn = turn(request);
		Flux<ChatClientResponse> model = chain.nextStream(sent(turn, request));
		Flux<ChatClientResponse> read = ThrownErrors.passedOn((turn != null) ? UnwaitedCancel.of(model) : model);
		return (turn != null && turn.inputCheck().isPending()) ? BesideModel.stream(turn, read) : read;
	}

	private @Nullable RunningTurn turn(ChatClientRequest request) {
		return new SessionCall(request).runningTurn(this.resolves).orElse(null);
	}

	/**
	 * Records in the turn of the call the prompt that is sent.
	 * @return the request with the prompt as the model gets it
	 */
	private static ChatClientRequest sent(@Nullable RunningTurn turn, ChatClientRequest request) {
		if (turn == null) {
			return request;
		}
		if (turn.inputCheck().isRefused()) {
			// an advisor has caught the refusal and tries again
			turn.inputCheck().pass();
		}
		Prompt prompt = turn.loop().sent(request.prompt());
		return (prompt == request.prompt()) ? request : request.mutate().prompt(prompt).build();
	}

}
