package io.sessionkit.conversation;

import java.util.List;

import io.sessionkit.InvalidSequenceException;
import io.sessionkit.SessionKey;
import io.sessionkit.hook.SequenceGuard;
import org.jspecify.annotations.Nullable;

import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.MessageType;
import org.springframework.ai.chat.messages.SystemMessage;

/**
 * Makes of a request what may be sent: within the limits, and a valid sequence. Not safe
 * for use by many threads.
 */
final class RequestView {

	private final SessionKey key;

	private final ViewTrimmer trimmer;

	private final SequenceGuard guard;

	RequestView(SessionKey key, ViewTrimmer trimmer, SequenceGuard guard) {
		this.key = key;
		this.trimmer = trimmer;
		this.guard = guard;
	}

	/**
	 * A request for hooks to look at: as large as it may be, more or less.
	 * @param length how many messages the current turn has
	 */
	List<Message> beforeHooks(List<Message> request, @Nullable Message first, int length) {
		return this.trimmer.fitRoughly(request, currentTurn(request, first, length));
	}

	/**
	 * A request that no hook has changed.
	 * @param first the first message of the current turn; null if it has none
	 * @param length how many messages the current turn has
	 * @throws InvalidSequenceException if nothing is left that the model could answer
	 */
	List<Message> of(List<Message> request, @Nullable Message first, int length) {
		List<Message> sent = this.trimmer.fit(request, currentTurn(request, first, length), this.guard::apply);
		if (sent.stream().allMatch(SystemMessage.class::isInstance)) {
			throw new InvalidSequenceException("Nothing is left of the request on session " + this.key
					+ ": it has only tool results whose calls are not in the history. Send them to the session whose"
					+ " last reply has the calls, or add a user message.");
		}
		return sent;
	}

	/**
	 * A request that hooks have changed.
	 * @param before what it was before
	 * @param first the first message of the current turn; null if it has none
	 * @param length how many messages the current turn has
	 * @throws InvalidSequenceException if the current turn is not at its end any more
	 */
	List<Message> ofChanged(List<Message> request, List<Message> before, @Nullable Message first, int length) {
		List<Message> sent = this.trimmer.fit(request, currentTurn(request, first, length), this.guard::apply);
		if (!canBeAnswered(sent) && canBeAnswered(before)) {
			throw new InvalidSequenceException("After the hooks, the request on session " + this.key
					+ " does not end with a user message or tool results. A beforeModel hook has to leave the current"
					+ " turn in its place, at the end.");
		}
		return sent;
	}

	static boolean canBeAnswered(List<Message> request) {
		MessageType last = request.isEmpty() ? MessageType.SYSTEM : request.get(request.size() - 1).getMessageType();
		return last == MessageType.USER || last == MessageType.TOOL;
	}

	/**
	 * Where the current turn begins: at its first message if that is still there, else as
	 * far from the end as it is long.
	 */
	private static int currentTurn(List<Message> request, @Nullable Message first, int length) {
		for (int i = 0; i < request.size(); i++) {
			if (request.get(i) == first) {
				return i;
			}
		}
		return request.size() - length;
	}

}
