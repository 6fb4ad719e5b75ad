package io.sessionkit.internal.round;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import io.sessionkit.TokenUsage;
import io.sessionkit.internal.message.MessageContent;
import io.sessionkit.internal.message.Replies;
import org.jspecify.annotations.Nullable;

import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.AssistantMessage.ToolCall;
import org.springframework.ai.chat.messages.MessageType;
import org.springframework.ai.chat.metadata.ChatGenerationMetadata;
import org.springframework.ai.chat.metadata.ChatResponseMetadata;
import org.springframework.ai.chat.model.ChatResponse;
import org.springframework.ai.chat.model.Generation;
import org.springframework.ai.content.Media;

/**
 * Combines the chunks of one streamed reply. Unlike Spring AI's aggregator it keeps media
 * and all provider state, and leaves a model's thoughts out of the text. Not safe for use
 * by many threads.
 */
final class ReplyAggregator {

	/**
	 * Has one entry for each part in a chunk, so the lists of all chunks are joined
	 * (Google GenAI).
	 */
	private static final String THOUGHT_SIGNATURES = "thoughtSignatures";

	/**
	 * Has a piece of the thinking in each chunk (Ollama). Models for the protocol of
	 * OpenAI gather the pieces of their {@code reasoningContent} themselves.
	 */
	private static final String THINKING = "thinking";

	private final StringBuilder text = new StringBuilder();

	private final StringBuilder thinking = new StringBuilder();

	private final Map<String, @Nullable Object> metadata = new HashMap<>();

	private final List<ToolCall> toolCalls = new ArrayList<>();

	private final List<Media> media = new ArrayList<>();

	private boolean empty = true;

	private boolean finished;

	private @Nullable ChatResponse end;

	private @Nullable ChatGenerationMetadata finish;

	private @Nullable String model;

	private TokenUsage usage = TokenUsage.NONE;

	/**
	 * Adds a chunk.
	 * @param chunk the chunk
	 */
	void add(ChatResponse chunk) {
		addMetadata(chunk.getMetadata());
		if (this.end == null || Replies.usage(chunk.getMetadata().getUsage()).total() > 0
				|| Replies.usage(this.end.getMetadata().getUsage()).total() == 0) {
			this.end = chunk;
		}
		for (Generation generation : chunk.getResults()) {
			this.empty = false;
			if (isFinish(generation.getMetadata())) {
				this.finished = true;
				this.finish = generation.getMetadata();
			}
		}
		Generation chosen = Replies.chosen(chunk);
		if (chosen != null) {
			addMessage(chosen.getOutput());
		}
	}

	/**
	 * Returns whether no chunk held a message.
	 */
	boolean isEmpty() {
		return this.empty;
	}

	/**
	 * Returns whether a chunk had a finish reason.
	 */
	boolean isFinished() {
		return this.finished;
	}

	/**
	 * Returns whether the model has finished and calls no tools.
	 */
	boolean isFinalAnswer() {
		return this.finished && this.toolCalls.isEmpty();
	}

	/**
	 * Returns whether a chunk called a tool.
	 */
	boolean callsTools() {
		return !this.toolCalls.isEmpty();
	}

	String text() {
		return this.text.toString();
	}

	TokenUsage usage() {
		return this.usage;
	}

	@Nullable String model() {
		return this.model;
	}

	/**
	 * Returns the whole reply.
	 */
	AssistantMessage message() {
		return build(this.toolCalls);
	}

	/**
	 * Returns the reply so far, without its tool calls, which may be incomplete.
	 */
	AssistantMessage partial() {
		return build(List.of());
	}

	/**
	 * Returns the responses to hand on for a chunk. Text and tool calls are separate,
	 * since the tool loop keeps chunks with calls to itself.
	 */
	static List<ChatResponse> parts(ChatResponse chunk) {
		Generation chosen = Replies.chosen(chunk);
		AssistantMessage said = (chosen != null) ? chosen.getOutput() : null;
		String text = (said != null && said.hasToolCalls() && !Replies.isThought(said)) ? said.getText() : null;
		if (text == null || text.isEmpty()) {
			return List.of(chunk);
		}
		List<Generation> rest = chunk.getResults()
			.stream()
			.map((each) -> (each == chosen) ? withoutText(each) : each)
			.toList();
		return List.of(said(text), ChatResponse.builder().from(chunk).generations(rest).build());
	}

	private static Generation withoutText(Generation generation) {
		return new Generation((AssistantMessage) MessageContent.of(generation.getOutput()).withText("").message(),
				generation.getMetadata());
	}

	/**
	 * Returns the responses to hand on instead of the chunks of the reply.
	 * @param checked the reply, as hooks have left it; null if there was none
	 */
	List<ChatResponse> responses(@Nullable AssistantMessage checked) {
		ChatResponse last = this.end;
		if (last == null || checked == null) {
			return (last != null) ? List.of(last) : List.of();
		}
		ChatGenerationMetadata metadata = (this.finish != null) ? this.finish : ChatGenerationMetadata.NULL;
		return parts(Replies.with(last, new Generation(checked, metadata)));
	}

	/**
	 * Returns the responses to hand on instead of the reply, with the metadata that says
	 * what the reply has cost.
	 * @param unread the reply if its text was held back so far; null if it was not
	 */
	List<ChatResponse> as(ChatResponse instead, @Nullable AssistantMessage unread) {
		ChatResponse next = (this.end != null) ? Replies.with(this.end, instead.getResults().get(0)) : instead;
		String text = (unread != null) ? unread.getText() : null;
		return (text == null || text.isEmpty()) ? List.of(next) : List.of(said(text), next);
	}

	private static ChatResponse said(String text) {
		return new ChatResponse(List.of(new Generation(new AssistantMessage(text))));
	}

	@SuppressWarnings("NullAway") // declared non-null, but providers put null there
	private AssistantMessage build(List<ToolCall> calls) {
		return (AssistantMessage) new MessageContent(MessageType.ASSISTANT, this.text.toString(), properties(),
				List.copyOf(calls), List.of(), List.copyOf(this.media))
			.message();
	}

	private Map<String, @Nullable Object> properties() {
		Map<String, @Nullable Object> properties = new HashMap<>(this.metadata);
		if (!this.thinking.isEmpty()) {
			properties.put(THINKING, this.thinking.toString());
		}
		return properties;
	}

	private void addMessage(AssistantMessage message) {
		if (message.getText() != null && !Replies.isThought(message)) {
			this.text.append(message.getText());
		}
		message.getMetadata().forEach(this::addProperty);
		this.toolCalls.addAll(message.getToolCalls());
		this.media.addAll(message.getMedia());
	}

	private void addProperty(String name, @Nullable Object value) {
		if (name.equals(THINKING) && value instanceof String piece) {
			this.thinking.append(piece);
		}
		else if (name.equals(THOUGHT_SIGNATURES) && value instanceof List<?> more
				&& this.metadata.get(name) instanceof List<?> before) {
			List<@Nullable Object> all = new ArrayList<>(before);
			all.addAll(more);
			this.metadata.put(name, all);
		}
		else if (!name.equals(Replies.IS_THOUGHT) || !Boolean.parseBoolean(String.valueOf(value))) {
			// the mark of a thought is left out: a whole reply is not a thought
			this.metadata.put(name, value);
		}
	}

	private void addMetadata(@Nullable ChatResponseMetadata metadata) {
		if (metadata == null) {
			return;
		}
		if (metadata.getModel() != null && !metadata.getModel().isEmpty()) {
			this.model = metadata.getModel();
		}
		TokenUsage counted = Replies.usage(metadata.getUsage());
		this.usage = new TokenUsage(last(counted.input(), this.usage.input()),
				last(counted.output(), this.usage.output()), last(counted.cacheRead(), this.usage.cacheRead()),
				last(counted.cacheWrite(), this.usage.cacheWrite()));
	}

	private static long last(long now, long before) {
		return (now > 0) ? now : before;
	}

	private static boolean isFinish(@Nullable ChatGenerationMetadata metadata) {
		String reason = (metadata != null) ? metadata.getFinishReason() : null;
		return reason != null && !reason.isEmpty();
	}

}
