package io.sessionkit.hook;

import java.util.List;

import org.springframework.ai.chat.messages.Message;

/**
 * Combines the history and the new input into the messages to send. Without a merge the
 * input is appended to the history. A merge is called once for each turn, after the hooks
 * on the input and before the advisors inside of the session advisor. Limits are applied
 * to what it is given, and together with the {@link io.sessionkit.context.SequenceGuard}
 * to its result.
 * <p>
 * The merge may change both lists and set other messages into them. The messages are
 * copies that stand for their originals, so changing a message has no effect: to change a
 * message, replace it in the list.
 * <p>
 * Only new messages are stored. A returned message belongs to the list that it was given
 * in or was set into. Any other message is identified by its content, without its
 * metadata. The last messages are the input if their content is that of the input. Each
 * of the others is a message of the history if it has the content of one that was not
 * returned. The remaining messages are new. So history is never stored twice, wherever it
 * stands and whatever has rebuilt the messages, and the input is stored as it is
 * returned, in that order. A reply that the merge has rewritten is new unless it was set
 * into the list of the history: it is stored with this turn, and a warning is logged.
 * <p>
 * Cut the history where a turn begins, as {@link #keepLastTurns} does. After any other
 * cut, the rest of a turn with tools cannot be sent: results without their calls are
 * dropped, and so is a reply without its question. A warning is logged then.
 * <p>
 * When a turn continues after a pause, the merge is called again with the history and
 * with the messages of the caller in that turn. The history is sent as the merge returns
 * it, followed by the turn as it is stored. If the merge throws then, the turn stays
 * paused.
 * <p>
 * When a question is asked again, as by {@code SessionAdvisor.regenerating()}, the input
 * has the messages that the merge made when it was asked first, since they were stored: a
 * merge that makes messages looks whether they are there.
 * <p>
 * The result must contain a new message and no system text, and must end with a message
 * that the model can answer. Otherwise the call fails, as it does when the merge throws.
 * The turn is then kept as FAILED, with its input as it was before the merge. One merge
 * serves many turns at once and must be safe for use by many threads; it runs on the
 * threads that hooks run on.
 */
@FunctionalInterface
public interface HistoryMerge {

	/**
	 * Returns the messages to send, without system text.
	 * @param context the turn; its {@code turnStarts} are indexes in the list of the
	 * history
	 * @param history copies of the history, oldest first, within the limits, with old
	 * tool results pruned
	 * @param input copies of the caller's messages in this turn, as hooks have left them
	 * @return the messages
	 */
	List<Message> merge(HookContext context, List<Message> history, List<Message> input);

	/**
	 * Returns a merge that sends the newest turns of the history and the input. Turns are
	 * sent as a whole, with their tool rounds; a summary counts as one turn. To do the
	 * same for all calls, use {@link io.sessionkit.context.Trim}, which reads no more
	 * than it sends.
	 * @param turns the number of turns; 0 for the input alone
	 * @return the merge
	 * @throws IllegalArgumentException if the number is negative
	 */
	static HistoryMerge keepLastTurns(int turns) {
		return new LastTurns(turns);
	}

}
