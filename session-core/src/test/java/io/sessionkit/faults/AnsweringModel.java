package io.sessionkit.faults;

import java.util.ArrayList;
import java.util.List;

import io.sessionkit.test.ScriptedChatModel;
import io.sessionkit.test.ValidSequence;
import reactor.core.publisher.Flux;

import org.springframework.ai.chat.messages.AssistantMessage.ToolCall;
import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.MessageType;
import org.springframework.ai.chat.model.ChatModel;
import org.springframework.ai.chat.model.ChatResponse;
import org.springframework.ai.chat.prompt.ChatOptions;
import org.springframework.ai.chat.prompt.Prompt;

/**
 * A model that answers from what it is sent and keeps nothing, so that any number of
 * callers can ask it again and again. Questions that begin with a word for tools make it
 * call them.
 */
final class AnsweringModel implements ChatModel {

	static final String ANSWER = "answer to ";

	private static final ScriptedChatModel REPLIES = new ScriptedChatModel();

	private final Book book;

	AnsweringModel(Book book) {
		this.book = book;
	}

	@Override
	public ChatResponse call(Prompt prompt) {
		List<Message> request = prompt.getInstructions();
		ValidSequence.faults(request).forEach(this.book.invalidRequests::add);
		Message last = request.get(request.size() - 1);
		String question = question(request);
		if (last.getMessageType() == MessageType.USER) {
			List<ToolCall> calls = calls(question);
			if (!calls.isEmpty()) {
				return REPLIES.chunk("", calls, true);
			}
		}
		return REPLIES.chunk(ANSWER + question, List.of(), true);
	}

	private static String question(List<Message> request) {
		String question = "nothing";
		for (Message message : request) {
			question = (message.getMessageType() == MessageType.USER) ? message.getText() : question;
		}
		return question;
	}

	private static List<ToolCall> calls(String question) {
		List<ToolCall> calls = new ArrayList<>();
		if (question.startsWith(Caller.GATED)) {
			calls.add(call(App.GATED, question, 1));
			if (question.hashCode() % 3 == 0) {
				calls.add(call(App.GATED, question, 2));
			}
		}
		if (question.startsWith(Caller.FREE) || (question.startsWith(Caller.GATED) && question.hashCode() % 2 == 0)) {
			calls.add(call(App.FREE, question, 3));
		}
		return calls;
	}

	private static ToolCall call(String tool, String question, int order) {
		return new ToolCall(question + " " + order, "function", tool, "{\"id\":" + order + "}");
	}

	@Override
	public ChatOptions getOptions() {
		return REPLIES.getOptions();
	}

	@Override
	public Flux<ChatResponse> stream(Prompt prompt) {
		return Flux.defer(() -> Flux.just(call(prompt)));
	}

}
