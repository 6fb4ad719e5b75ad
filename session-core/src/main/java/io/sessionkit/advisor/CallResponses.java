package io.sessionkit.advisor;

import java.util.List;

import io.sessionkit.TurnResult;
import io.sessionkit.internal.approval.OpenedCall;
import io.sessionkit.internal.approval.Pause;
import io.sessionkit.internal.call.SessionParameters;
import org.jspecify.annotations.Nullable;

import org.springframework.ai.chat.client.ChatClientResponse;
import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.model.ChatResponse;
import org.springframework.ai.chat.model.Generation;

/**
 * The responses of a call that do not come from the model as they are: those of turns
 * that wait or have been answered, and those that carry their turn.
 */
record CallResponses(SessionCall call) {

	/**
	 * Returns the response for a call that did not ask the model.
	 */
	ChatClientResponse response(ChatResponse answer) {
		return ChatClientResponse.builder().chatResponse(answer).context(this.call.request().context()).build();
	}

	/**
	 * Returns the response for a call that another turn has answered.
	 */
	ChatClientResponse answered(OpenedCall.Answered answered) {
		String mark = answered.joined() ? SessionParameters.STEERED : SessionParameters.REPEATED;
		return response(marked(answered.reply(), mark));
	}

	private static ChatResponse marked(ChatResponse response, String mark) {
		return ChatResponse.builder().from(response).metadata(mark, true).build();
	}

	/**
	 * Returns the response for a call whose message waits with an open turn.
	 */
	ChatClientResponse queued(OpenedCall.Queued queued) {
		ChatClientResponse response = paused(queued.pause(), null);
		ChatResponse pause = response.chatResponse();
		return (queued.joined() && pause != null)
				? response.mutate().chatResponse(marked(pause, SessionParameters.STEERED)).build() : response;
	}

	static boolean isPause(ChatClientResponse response) {
		return response.chatResponse() != null && Pause.isPause(response.chatResponse());
	}

	/**
	 * Returns the response for a call whose turn waits: the pause, with the usage of the
	 * loop.
	 * @param pause the pause
	 * @param loop the last response of the loop; null if the loop was not entered
	 */
	ChatClientResponse paused(Pause pause, @Nullable ChatClientResponse loop) {
		ChatResponse cost = (loop != null) ? loop.chatResponse() : null;
		ChatResponse.Builder builder = ChatResponse.builder();
		builder = (cost != null) ? builder.from(cost) : builder;
		ChatResponse response = builder.generations(pause.response().getResults())
			.metadata(SessionParameters.TURN, pause.turn())
			.build();
		return (loop != null) ? loop.mutate().chatResponse(response).build() : response(response);
	}

	static List<Generation> generations(ChatClientResponse response) {
		return (response.chatResponse() != null) ? response.chatResponse().getResults() : List.of();
	}

	/**
	 * Returns a response with the turn that it belongs to.
	 */
	static ChatClientResponse carrying(ChatClientResponse response, TurnResult turn) {
		ChatResponse chatResponse = response.chatResponse();
		ChatResponse.Builder builder = ChatResponse.builder();
		builder = (chatResponse != null) ? builder.from(chatResponse) : builder.generations(List.of());
		return response.mutate().chatResponse(builder.metadata(SessionParameters.TURN, turn).build()).build();
	}

	/**
	 * Returns one more element, without text, that carries the turn. Its id, model and
	 * usage are those of the element before. It has no finish reason, since an advisor
	 * that acts on one would act twice.
	 */
	ChatClientResponse lastElement(@Nullable ChatClientResponse end, @Nullable TurnResult turn) {
		ChatResponse.Builder builder = ChatResponse.builder();
		builder = (end != null && end.chatResponse() != null) ? builder.from(end.chatResponse()) : builder;
		builder.generations(List.of(new Generation(new AssistantMessage(""))));
		ChatResponse response = ((turn != null) ? builder.metadata(SessionParameters.TURN, turn) : builder).build();
		ChatClientResponse.Builder last = ChatClientResponse.builder().chatResponse(response);
		if (end != null) {
			return last.context(end.context()).build();
		}
		return last.context(this.call.request().context()).build();
	}

}
