package io.sessionkit.migration;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

import io.sessionkit.SessionKey;
import io.sessionkit.codec.MessageCodec;
import io.sessionkit.codec.UnstorableMessageException;
import io.sessionkit.internal.message.Replies;
import io.sessionkit.internal.message.ToolGroups;
import io.sessionkit.internal.message.TurnSplitter;
import io.sessionkit.migration.ImportReport.Reason;
import org.jspecify.annotations.Nullable;

import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.UserMessage;

/**
 * Makes whole turns of the messages of one conversation, and leaves out what can be part
 * of none. Not safe for use by many threads.
 */
final class TurnCollector {

	private final SessionKey key;

	private final SourceConversation conversation;

	private final MessageCodec codec;

	private final ReportCounts counts;

	/** The messages of the turn that is not at its end. */
	private final List<SourceMessage> piece = new ArrayList<>();

	private final List<SourceTurn> turns = new ArrayList<>();

	private boolean unreadable;

	private boolean followsTurn;

	private long read;

	private long closed;

	/**
	 * Creates a collector.
	 * @param followsTurn whether turns of the conversation were imported before
	 * @param position the position of the last message of these turns
	 */
	TurnCollector(SessionKey key, SourceConversation conversation, MessageCodec codec, ReportCounts counts,
			boolean followsTurn, long position) {
		this.key = key;
		this.conversation = conversation;
		this.codec = codec;
		this.counts = counts;
		this.followsTurn = followsTurn;
		this.read = position;
		this.closed = position;
	}

	/** Returns the position up to which all messages are in turns or left out. */
	long position() {
		return this.closed;
	}

	int size() {
		return this.turns.stream().mapToInt((turn) -> turn.messages().size()).sum();
	}

	/** Returns the whole turns, and forgets them. */
	List<SourceTurn> take() {
		List<SourceTurn> taken = List.copyOf(this.turns);
		this.turns.clear();
		return taken;
	}

	void add(SourceMessage message) {
		Message content = message.message();
		if (content != null) {
			addContent(message, content);
		}
		else {
			leaveOut(message, Objects.requireNonNull(message.leftOut()));
		}
		this.read = message.position();
	}

	private void addContent(SourceMessage message, Message content) {
		if (!this.piece.isEmpty() && TurnSplitter.beginsAnew(last(), content)) {
			end();
		}
		if (this.piece.isEmpty() && content instanceof UserMessage) {
			this.unreadable = false;
		}
		this.piece.add(message);
	}

	private void leaveOut(SourceMessage message, Reason reason) {
		if (reason == Reason.UNREADABLE) {
			if (!this.piece.isEmpty() && isAnswer(last())) {
				end();
			}
			this.unreadable = true;
		}
		this.counts.leftOut(this.conversation, message, reason);
	}

	private static boolean isAnswer(Message message) {
		return message instanceof AssistantMessage reply && !reply.hasToolCalls();
	}

	/** Passes over a message between two turns. */
	void skip(SourceMessage message) {
		this.read = message.position();
		this.closed = this.read;
	}

	/** Ends the turn that the messages so far belong to. */
	void end() {
		if (!this.piece.isEmpty()) {
			endPiece();
		}
		this.piece.clear();
		this.unreadable = false;
		this.closed = this.read;
	}

	private void endPiece() {
		Reason flaw = flaw(this.piece.stream().map(SourceMessage::message).toList());
		List<SourceMessage> storable = (flaw == null) ? storable() : List.of();
		if (storable.isEmpty()) {
			Reason reason = (flaw != null) ? flaw : Reason.UNSTORABLE;
			this.piece.forEach((message) -> this.counts.leftOut(this.conversation, message, reason));
			return;
		}
		this.turns.add(new SourceTurn(storable));
		this.followsTurn = true;
	}

	private Message last() {
		return Objects.requireNonNull(this.piece.get(this.piece.size() - 1).message());
	}

	private @Nullable Reason flaw(List<Message> messages) {
		if (this.unreadable) {
			return Reason.UNREADABLE;
		}
		if (!(messages.get(0) instanceof UserMessage)) {
			return this.followsTurn ? Reason.NO_QUESTION : Reason.LEADING_ANSWER;
		}
		if (!isAnswer(messages.get(messages.size() - 1)) || ToolGroups.fault(messages) != null) {
			return Reason.UNFINISHED;
		}
		return null;
	}

	/**
	 * Returns the messages of the turn as they can be stored: replies without what the
	 * codec leaves out, as those of calls are stored.
	 * @return the messages; none if one of them cannot be stored, or has nothing left
	 */
	private List<SourceMessage> storable() {
		try {
			List<SourceMessage> storable = this.piece.stream().map(this::storable).toList();
			return storable.stream().anyMatch(TurnCollector::isBlank) ? List.of() : storable;
		}
		catch (UnstorableMessageException ex) {
			return List.of();
		}
	}

	private SourceMessage storable(SourceMessage message) {
		Message content = Objects.requireNonNull(message.message());
		Message storable = (content instanceof AssistantMessage) ? this.codec.storable(content) : content;
		if (!this.codec.surelyStores(storable)) {
			this.codec.encode(this.key, storable);
		}
		return message.with(storable);
	}

	private static boolean isBlank(SourceMessage message) {
		return message.message() instanceof AssistantMessage reply && Replies.isBlank(reply);
	}

}
