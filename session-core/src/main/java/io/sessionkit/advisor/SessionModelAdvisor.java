package io.sessionkit.advisor;

import reactor.core.publisher.Flux;

import org.springframework.ai.chat.client.ChatClientRequest;
import org.springframework.ai.chat.client.ChatClientResponse;
import org.springframework.ai.chat.client.advisor.api.CallAdvisor;
import org.springframework.ai.chat.client.advisor.api.CallAdvisorChain;
import org.springframework.ai.chat.client.advisor.api.StreamAdvisor;
import org.springframework.ai.chat.client.advisor.api.StreamAdvisorChain;

/**
 * Stands right in front of the model: tells the turn what really leaves, after all other
 * advisors. It changes nothing.
 */
final class SessionModelAdvisor implements CallAdvisor, StreamAdvisor {

	/** Whether a call may have a session although it names none. */
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
		return SessionAdvisor.MODEL_ORDER;
	}

	@Override
	public ChatClientResponse adviseCall(ChatClientRequest request, CallAdvisorChain chain) {
		tell(request);
		return chain.nextCall(request);
	}

	@Override
	public Flux<ChatClientResponse> adviseStream(ChatClientRequest request, StreamAdvisorChain chain) {
		tell(request);
		return chain.nextStream(request);
	}

	private void tell(ChatClientRequest request) {
		new SessionCall(request).runningTurn(this.resolves).ifPresent((turn) -> turn.sent(request.prompt()));
	}

}
