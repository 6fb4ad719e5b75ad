package io.sessionkit.stream;

import io.sessionkit.internal.call.TurnAdvisor;
import reactor.core.publisher.Flux;

import org.springframework.ai.chat.client.ChatClientRequest;
import org.springframework.ai.chat.client.ChatClientResponse;
import org.springframework.ai.chat.client.advisor.api.StreamAdvisor;
import org.springframework.ai.chat.client.advisor.api.StreamAdvisorChain;
import org.springframework.core.Ordered;

/**
 * Refuses a call whose stream is to be kept and whose client has no session advisor,
 * before anything is called: no session would keep it, and its tools would have run.
 */
final class StreamCheck implements StreamAdvisor {

	@Override
	public String getName() {
		return "SessionKitStreamCheck";
	}

	/** Says nothing before the {@link ContinuationCheck}, which has more to say. */
	@Override
	public int getOrder() {
		return Ordered.HIGHEST_PRECEDENCE + 1;
	}

	@Override
	public Flux<ChatClientResponse> adviseStream(ChatClientRequest request, StreamAdvisorChain chain) {
		return Flux.defer(() -> {
			if (chain.getStreamAdvisors().stream().noneMatch(TurnAdvisor.class::isInstance)) {
				throw new IllegalStateException("The client of this call has no session advisor, so its stream cannot"
						+ " be resumed. Add .defaultAdvisors(sessionAdvisor) to the client.");
			}
			return chain.nextStream(request);
		});
	}

}
