package io.sessionkit.internal.approval;

import java.util.List;

import io.sessionkit.TurnResult;
import io.sessionkit.approval.ToolApproval;

import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.metadata.ChatGenerationMetadata;
import org.springframework.ai.chat.model.ChatResponse;
import org.springframework.ai.chat.model.Generation;

/**
 * The result of a call whose turn waits.
 *
 * @param response a response without text; its finish reason says why, and its metadata
 * lists the calls that wait
 * @param turn the turn as it is stored
 */
public record Pause(ChatResponse response, TurnResult turn) {

	/** The finish reason of a response whose turn waits. */
	public static final String FINISH_REASON = "approvalRequired";

	/**
	 * The key of the calls that wait, a list of {@link ToolApproval}, in the metadata of
	 * the generation.
	 */
	public static final String PENDING = "sessionkit.pending";

	static Pause of(List<ToolApproval> pending, TurnResult turn) {
		return new Pause(response(pending), turn);
	}

	static ChatResponse response(List<ToolApproval> pending) {
		ChatGenerationMetadata end = ChatGenerationMetadata.builder()
			.finishReason(FINISH_REASON)
			.metadata(PENDING, pending)
			.build();
		return new ChatResponse(List.of(new Generation(new AssistantMessage(null), end)));
	}

	/**
	 * Returns whether a response says that its turn waits.
	 * @param response a response
	 * @return true if its finish reason says so
	 */
	public static boolean isPause(ChatResponse response) {
		return response.getResults()
			.stream()
			.anyMatch((generation) -> FINISH_REASON.equals(generation.getMetadata().getFinishReason()));
	}

}
