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

/**
 * The advisor directly before the model. It records in the turn the prompt that is really
 * sent, after all other advisors. If guards check the input while the model is called, it
 * makes that call. A stream of the model ends at once when it is cancelled. It does not
 * change the request.
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
		RunningTurn turn = told(request);
		return (turn != null && turn.inputCheck().isPending()) ? BesideModel.call(turn, () -> chain.nextCall(request))
				: chain.nextCall(request);
	}

	@Override
	public Flux<ChatClientResponse> adviseStream(ChatClientRequest request, StreamAdvisorChain chain) {
		RunningTurn turn = told(request);
		Flux<ChatClientResponse> model = chain.nextStream(request);
		Flux<ChatClientResponse> read = ThrownErrors.passedOn((turn != null) ? UnwaitedCancel.of(model) : model);
		return (turn != null && turn.inputCheck().isPending()) ? BesideModel.stream(turn, read) : read;
	}

	/**
	 * Records in the turn of the call the prompt that is sent.
	 * @return the turn; null if the call has none
	 */
	private @Nullable RunningTurn told(ChatClientRequest request) {
		RunningTurn turn = new SessionCall(request).runningTurn(this.resolves).orElse(null);
		if (turn != null) {
			if (turn.inputCheck().isRefused()) {
				// an advisor has caught the refusal and tries again
				turn.inputCheck().pass();
			}
			turn.rounds().sent(request.prompt());
		}
		return turn;
	}

}
