package io.sessionkit.migration;

import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import io.sessionkit.codec.UnreadablePayloadException;
import io.sessionkit.internal.message.MessageContent;
import io.sessionkit.internal.message.Replies;
import io.sessionkit.migration.ImportReport.Outcome;
import io.sessionkit.migration.ImportReport.Reason;
import org.jspecify.annotations.Nullable;

import org.springframework.ai.chat.memory.ChatMemoryRepository;
import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.SystemMessage;
import org.springframework.ai.chat.messages.ToolResponseMessage;

/**
 * Reads a {@code ChatMemoryRepository}. Positions are those in its lists.
 */
final class RepositoryReader implements SourceReader {

	/** The metadata in which Spring AI's JDBC repository puts the time of a message. */
	private static final String TIME = "JdbcChatMemoryRepository_message_timestamp";

	private final ChatMemoryRepository repository;

	private final List<String> ids;

	private SourceConversation read = new SourceConversation("", "");

	private List<Message> messages = List.of();

	RepositoryReader(ChatMemoryRepository repository) {
		this.repository = repository;
		this.ids = repository.findConversationIds().stream().distinct().sorted().toList();
	}

	@Override
	public String name() {
		return "ChatMemoryRepository";
	}

	@Override
	public List<SourceConversation> conversations(@Nullable SourceConversation after, int limit) {
		return this.ids.stream()
			.filter((id) -> after == null || id.compareTo(after.id()) > 0)
			.limit(limit)
			.map((id) -> new SourceConversation(id, ""))
			.toList();
	}

	@Override
	public @Nullable Outcome refusal(SourceConversation conversation, Instant now) {
		return null;
	}

	@Override
	public List<SourceMessage> messages(SourceConversation conversation, long after, int limit) {
		if (!conversation.equals(this.read)) {
			this.messages = read(conversation.id());
			this.read = conversation;
		}
		List<SourceMessage> page = new ArrayList<>();
		for (int i = (int) Math.max(0, after + 1); i < this.messages.size() && page.size() < limit; i++) {
			page.add(message(i, this.messages.get(i)));
		}
		return page;
	}

	private List<Message> read(String id) {
		try {
			return List.copyOf(this.repository.findByConversationId(id));
		}
		catch (RuntimeException ex) {
			// one that does not list its conversations either cannot be reached; they are
			// listed again for each failure, since it may be lost at any of them
			this.repository.findConversationIds();
			throw new UnreadablePayloadException(
					"The repository has thrown " + ex.getClass().getName() + " for a conversation that it lists.",
					null);
		}
	}

	private static SourceMessage message(int position, Message message) {
		if (message instanceof SystemMessage) {
			return SourceMessage.leftOut(position, Reason.SYSTEM_TEXT);
		}
		if (!MessageContent.knows(message)) {
			return SourceMessage.leftOut(position, Reason.UNREADABLE);
		}
		if (isEmpty(message)) {
			return SourceMessage.leftOut(position, Reason.EMPTY);
		}
		MessageContent content = MessageContent.of(message);
		Instant at = (content.metadata().get(TIME) instanceof Instant time) ? time : null;
		return SourceMessage.of(position, at, (at != null) ? withoutTime(content) : message);
	}

	/** Many repositories keep nothing of tool calls and results but their messages. */
	private static boolean isEmpty(Message message) {
		return (message instanceof AssistantMessage reply && Replies.isBlank(reply))
				|| (message instanceof ToolResponseMessage results && results.getResponses().isEmpty());
	}

	private static Message withoutTime(MessageContent content) {
		Map<String, @Nullable Object> metadata = new HashMap<>(content.metadata());
		metadata.remove(TIME);
		return content.withMetadata(metadata).message();
	}

}
