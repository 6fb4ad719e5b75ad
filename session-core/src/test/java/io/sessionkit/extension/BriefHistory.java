package io.sessionkit.extension;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

import io.sessionkit.hook.HookContext;
import io.sessionkit.hook.HookResult;
import io.sessionkit.hook.ModelRequest;
import io.sessionkit.hook.SessionHook;
import io.sessionkit.hook.TurnPart;

import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.ToolResponseMessage;
import org.springframework.ai.chat.messages.ToolResponseMessage.ToolResponse;
import org.springframework.util.StringUtils;

/**
 * Shows the model a history without tool rounds and with short replies, and keeps long
 * results of tools shortened.
 */
public final class BriefHistory implements SessionHook {

	private final int shown;

	private final int kept;

	/**
	 * A hook.
	 * @param shown how many characters the model is shown of a reply
	 * @param kept how many characters are kept of a result
	 */
	public BriefHistory(int shown, int kept) {
		this.shown = shown;
		this.kept = kept;
	}

	@Override
	public HookResult<List<Message>> beforeModel(HookContext context, ModelRequest request) {
		List<Message> messages = new ArrayList<>(request.system());
		request.history().stream().filter((message) -> !isToolRound(message)).map(this::brief).forEach(messages::add);
		messages.addAll(request.turn());
		return HookResult.replace(messages);
	}

	@Override
	public HookResult<List<Message>> beforeSave(HookContext context, TurnPart part) {
		return HookResult.replace(part.messages().stream().map((message) -> kept(part, message)).toList());
	}

	/**
	 * It withholds nothing, so streams need not wait for it.
	 */
	@Override
	public boolean checksReplies() {
		return false;
	}

	private static boolean isToolRound(Message message) {
		return message instanceof ToolResponseMessage
				|| (message instanceof AssistantMessage reply && reply.hasToolCalls());
	}

	private Message brief(Message message) {
		return (message instanceof AssistantMessage reply && reply.getText() != null)
				? new AssistantMessage(StringUtils.truncate(reply.getText(), this.shown)) : message;
	}

	private Message kept(TurnPart part, Message message) {
		if (message == part.reply() || !(message instanceof ToolResponseMessage results)) {
			return message;
		}
		Stream<ToolResponse> cut = results.getResponses()
			.stream()
			.map((result) -> new ToolResponse(result.id(), result.name(),
					StringUtils.truncate(result.responseData(), this.kept)));
		return ToolResponseMessage.builder().responses(cut.toList()).metadata(results.getMetadata()).build();
	}

}
