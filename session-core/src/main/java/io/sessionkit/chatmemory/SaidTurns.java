package io.sessionkit.chatmemory;

import java.util.ArrayList;
import java.util.List;

import io.sessionkit.SessionKey;
import io.sessionkit.internal.message.Replies;
import io.sessionkit.internal.message.ToolGroups;
import io.sessionkit.internal.message.TurnSplitter;

import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.ToolResponseMessage;

/**
 * Messages of a memory as turns. A turn ends with an answer that has content and no tool
 * calls.
 *
 * @param abandoned a question that was open and gets no answer any more
 * @param turns whole turns
 * @param open the messages at the end that wait for an answer
 */
record SaidTurns(List<Message> abandoned, List<List<Message>> turns, List<Message> open) {

	private static final String NO_CONTENT = "an answer that is not the last message has neither text nor tool calls nor"
			+ " media. Leave it out, with its question";

	/**
	 * Returns the turns of messages that follow those that are open.
	 * @param followsTurn whether the session has history, so that an answer may come
	 * first
	 * @throws IllegalArgumentException if they are no valid sequence
	 */
	static SaidTurns of(SessionKey key, List<Message> open, List<Message> added, boolean followsTurn) {
		List<Message> all = new ArrayList<>(open);
		all.addAll(added);
		List<List<Message>> pieces = pieces(all);
		List<Message> abandoned = List.of();
		List<List<Message>> turns = new ArrayList<>();
		List<Message> waiting = List.of();
		for (int i = 0; i < pieces.size(); i++) {
			List<Message> piece = pieces.get(i);
			check(key, piece, followsTurn || i > 0);
			if (isAnswered(piece)) {
				turns.add(piece);
			}
			else if (i == pieces.size() - 1) {
				waiting = piece;
			}
			else if (i == 0 && piece.size() <= open.size()) {
				abandoned = piece;
			}
			else {
				throw refused(key, hasNoReply(piece) ? NO_CONTENT
						: "tool calls among them have no answer of the model behind their results");
			}
		}
		return new SaidTurns(abandoned, turns, waiting);
	}

	private static List<List<Message>> pieces(List<Message> messages) {
		List<List<Message>> pieces = new ArrayList<>();
		List<Message> piece = new ArrayList<>();
		for (Message message : messages) {
			if (!piece.isEmpty() && TurnSplitter.beginsAnew(piece.get(piece.size() - 1), message)) {
				pieces.add(piece);
				piece = new ArrayList<>();
			}
			piece.add(message);
		}
		if (!piece.isEmpty()) {
			pieces.add(piece);
		}
		return pieces;
	}

	private static boolean isAnswered(List<Message> piece) {
		return Replies.isAnswer(piece.get(piece.size() - 1));
	}

	/**
	 * Returns whether what waits for an answer has got one without content, so that there
	 * will be no other.
	 */
	static boolean hasNoReply(List<Message> open) {
		return !open.isEmpty() && open.get(open.size() - 1) instanceof AssistantMessage reply && Replies.isBlank(reply);
	}

	/**
	 * Returns messages without the replies that have no content and precede another
	 * reply. A model that hides what it thinks gives such replies in front of its answer,
	 * and Spring AI's advisor adds all of them.
	 */
	static List<Message> withoutHiddenThoughts(List<Message> messages) {
		List<Message> said = new ArrayList<>();
		for (Message message : messages) {
			if (message instanceof AssistantMessage && hasNoReply(said)) {
				said.remove(said.size() - 1);
			}
			said.add(message);
		}
		return said;
	}

	private static void check(SessionKey key, List<Message> piece, boolean followsTurn) {
		if (piece.subList(0, piece.size() - 1).stream().anyMatch((message) -> hasNoReply(List.of(message)))) {
			throw refused(key, NO_CONTENT);
		}
		if (piece.get(0) instanceof ToolResponseMessage || ToolGroups.fault(piece) != null) {
			throw refused(key, "tool results among them do not answer, all and in order, the calls right before them");
		}
		if (piece.get(0) instanceof AssistantMessage && !followsTurn) {
			throw refused(key, "the first one is an answer, which a model cannot be sent first. Put a greeting into the"
					+ " system text, or a user message before it");
		}
	}

	private static IllegalArgumentException refused(SessionKey key, String why) {
		return new IllegalArgumentException(
				"Nothing was added to session " + key + ", since the messages are not a valid sequence: " + why + ".");
	}

}
