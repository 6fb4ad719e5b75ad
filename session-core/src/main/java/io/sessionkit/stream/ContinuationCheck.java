package io.sessionkit.stream;

import java.util.List;

import io.sessionkit.advisor.SessionAdvisor;
import io.sessionkit.internal.approval.Pause;
import io.sessionkit.internal.call.SessionParameters;
import io.sessionkit.internal.call.TurnAdvisor;
import reactor.core.publisher.Flux;

import org.springframework.ai.chat.client.ChatClientRequest;
import org.springframework.ai.chat.client.ChatClientResponse;
import org.springframework.ai.chat.client.advisor.api.Advisor;
import org.springframework.ai.chat.client.advisor.api.CallAdvisor;
import org.springframework.ai.chat.client.advisor.api.CallAdvisorChain;
import org.springframework.ai.chat.client.advisor.api.StreamAdvisor;
import org.springframework.ai.chat.client.advisor.api.StreamAdvisorChain;
import org.springframework.ai.chat.messages.SystemMessage;
import org.springframework.ai.chat.model.ChatResponse;
import org.springframework.core.Ordered;

/**
 * Refuses a call that is to continue a turn and would do something else, before anything
 * is called or stored. A message could cancel the calls of the turn, or begin another
 * one. A call that has not brought the turn to its end, nor to another pause, has failed,
 * also if nothing was thrown.
 */
final class ContinuationCheck implements CallAdvisor, StreamAdvisor {

	@Override
	public String getName() {
		return "SessionKitContinuationCheck";
	}

	@Override
	public int getOrder() {
		return Ordered.HIGHEST_PRECEDENCE;
	}

	@Override
	public ChatClientResponse adviseCall(ChatClientRequest request, CallAdvisorChain chain) {
		check(request, chain.getCallAdvisors());
		return ended(chain.nextCall(request));
	}

	@Override
	public Flux<ChatClientResponse> adviseStream(ChatClientRequest request, StreamAdvisorChain chain) {
		return Flux.defer(() -> {
			check(request, chain.getStreamAdvisors());
			return chain.nextStream(request).map(ContinuationCheck::ended);
		});
	}

	/**
	 * Refuses a response that leaves its turn open although nothing waits in it.
	 */
	private static ChatClientResponse ended(ChatClientResponse response) {
		ChatResponse answer = response.chatResponse();
		if (answer != null && !Pause.isPause(answer)
				&& SessionAdvisor.turn(answer).filter((turn) -> turn.turn().status().isOpen()).isPresent()) {
			throw new UnfitContinuationException("The reply of the model, as hooks have left it, is empty.");
		}
		return response;
	}

	private static void check(ChatClientRequest request, List<? extends Advisor> advisors) {
		if (advisors.stream().noneMatch(TurnAdvisor.class::isInstance)) {
			throw new UnfitContinuationException("The client of the call has no session advisor. Build it from the"
					+ " ChatClient.Builder bean, or add .defaultAdvisors(sessionAdvisor).");
		}
		if (!request.prompt().getInstructions().stream().allMatch(SystemMessage.class::isInstance)) {
			throw new UnfitContinuationException("The call has a message. Leave .user(..) and .messages(..) out; a"
					+ " client with a default user text cannot continue turns.");
		}
		if (SessionParameters.STARTS.stream().anyMatch(request.context()::containsKey)) {
			throw new UnfitContinuationException("The call says where its turn begins. Leave editing(..),"
					+ " regenerating(..), branch(..), history(..) and reading() out.");
		}
		if (request.context().containsKey(SessionParameters.CHILD)) {
			throw new UnfitContinuationException(
					"The call names a child session. Leave child(..) out: the session of the"
							+ " turn is added, whichever it is.");
		}
	}

}
