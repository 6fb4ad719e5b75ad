package io.sessionkit.internal.view;

import java.util.List;
import java.util.function.Supplier;

import io.sessionkit.SessionKey;
import io.sessionkit.context.InvalidSequenceException;
import io.sessionkit.context.SequenceGuard;
import io.sessionkit.internal.message.CurrentTurn;
import io.sessionkit.internal.message.InputRule;

import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.SystemMessage;

/**
 * Turns a request into one that may be sent: within the limits, and a valid sequence. Not
 * safe for use by many threads.
 */
public final class RequestView {

	private final SessionKey key;

	private final ViewTrimmer trimmer;

	private final SequenceGuard guard;

	public RequestView(SessionKey key, ViewTrimmer trimmer, SequenceGuard guard) {
		this.key = key;
		this.trimmer = trimmer;
		this.guard = guard;
	}

	/**
	 * Returns a request for the hooks, cut roughly to the size that may be sent.
	 * @param turn supplies the messages of the current turn so far, if they are needed
	 */
	public List<Message> beforeHooks(List<Message> request, Supplier<List<Message>> turn) {
		return this.trimmer.fitRoughly(request, () -> CurrentTurn.start(request, turn.get()));
	}

	/**
	 * Returns what may be sent of a request that no hook has changed.
	 * @param turn supplies the messages of the current turn so far, if they are needed
	 * @throws InvalidSequenceException if nothing is left that the model could answer
	 */
	public List<Message> of(List<Message> request, Supplier<List<Message>> turn) {
		List<Message> sent = this.trimmer.fit(request, () -> CurrentTurn.start(request, turn.get()), this.guard::apply);
		if (isSystemText(sent)) {
			throw new InvalidSequenceException("Nothing is left of the request on session " + this.key
					+ ": it has only tool results whose calls are not in the history. Send them to the session whose"
					+ " last reply has the calls, or add a user message.");
		}
		return sent;
	}

	private static boolean isSystemText(List<Message> messages) {
		for (Message message : messages) {
			if (!(message instanceof SystemMessage)) {
				return false;
			}
		}
		return true;
	}

	/**
	 * Returns what may be sent of a request that hooks have changed.
	 * @param before the request before the hooks changed it
	 * @param turn supplies the messages of the current turn so far, if they are needed
	 * @throws InvalidSequenceException if the current turn is no longer at its end
	 */
	public List<Message> ofChanged(List<Message> request, List<Message> before, Supplier<List<Message>> turn) {
		List<Message> sent = this.trimmer.fit(request, () -> CurrentTurn.start(request, turn.get()), this.guard::apply);
		if (!InputRule.isAnswerableStill(sent, before)) {
			throw new InvalidSequenceException("After the hooks, the request on session " + this.key
					+ " does not end with a user message or tool results. A beforeModel hook has to leave the current"
					+ " turn in its place, at the end.");
		}
		return sent;
	}

}
