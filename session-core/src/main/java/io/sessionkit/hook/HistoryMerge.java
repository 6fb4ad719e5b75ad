package io.sessionkit.hook;

import java.util.List;

import org.springframework.ai.chat.messages.Message;

/**
 * Combines the history and the new input into the messages to send. Without a merge the
 * input is appended to the history. A merge is asked once for each turn, after the hooks
 * on the input and before the advisors inside of the session; limits and the
 * {@link io.sessionkit.context.SequenceGuard} are applied to what it returns.
 * <p>
 * Both lists are its own: it may change them, and set other messages into them. The
 * messages are copies that stand for their originals, so it has no effect to change one
 * of them; a message that shall be another is replaced.
 * <p>
 * Only what is new is stored. A message that is returned belongs to the list that it was
 * given in or was set into. Any other is told by what it says, its metadata left aside:
 * the last messages are the input if they say what it says, each of the others is a
 * message of the history if it says the same as one that was not returned, and what is
 * still left is new. So history is never stored again, wherever it stands and whoever
 * made the messages anew, and of the input is stored what is returned, in that order. A
 * reply that the merge has rewritten is new unless it was set into the list of the
 * history: it is stored with this turn, and the log warns of it.
 * <p>
 * Cut the history where a turn begins, as {@link #keepLastTurns} does. What is left of a
 * turn with tools behind another cut cannot be sent: results without their calls are
 * dropped, and so is a reply without its question. The log warns of that.
 * <p>
 * When a turn goes on after a pause, the merge is asked again with the history and what
 * the caller said in that turn. What it makes of the history is sent, and behind it the
 * turn as it is stored. If it throws then, the turn waits on.
 * <p>
 * It must return a message that is new and no system text, and leave at the end what the
 * model is to answer; otherwise the call fails, as it does when this throws. The turn is
 * kept as FAILED then, with its input as it was before. One merge serves many turns at
 * once and must be safe for use by many threads; it runs where hooks run.
 */
@FunctionalInterface
public interface HistoryMerge {

	/**
	 * Returns the messages to send, without system text.
	 * @param history copies of the history, oldest first, within the limits
	 * @param input copies of what the caller says in this turn, as hooks have left it
	 * @return the messages
	 */
	List<Message> merge(List<Message> history, List<Message> input);

	/**
	 * Returns the messages to send where more must be known of the turn: which it is, who
	 * answers, where the turns of the history begin. SessionKit calls this one only; it
	 * asks {@link #merge(List, List)} unless it is overridden.
	 * @param context the turn; its {@code turnStarts} are places in the list of the
	 * history
	 * @param history copies of the history, oldest first, within the limits
	 * @param input copies of what the caller says in this turn, as hooks have left it
	 * @return the messages
	 */
	default List<Message> merge(HookContext context, List<Message> history, List<Message> input) {
		return merge(history, input);
	}

	/**
	 * Returns a merge that sends the newest turns of the history and the input. Turns are
	 * sent as a whole, with their tool rounds; a summary counts as one. For all calls
	 * {@link io.sessionkit.context.Trim} does the same and reads no more than it sends.
	 * @param turns how many turns; 0 for the input alone
	 * @return the merge
	 * @throws IllegalArgumentException if the number is negative
	 */
	static HistoryMerge keepLastTurns(int turns) {
		return new LastTurns(turns);
	}

}
