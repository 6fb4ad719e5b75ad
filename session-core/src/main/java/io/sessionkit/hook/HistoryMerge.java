package io.sessionkit.hook;

import java.util.List;

import org.springframework.ai.chat.messages.Message;

/**
 * Makes of history and input what is sent, in the place of the one behind the other.
 * Asked once for each turn, after the hooks on the input and before the advisors inside
 * of the session; limits and the {@link SequenceGuard} are applied to what it returns.
 * <p>
 * Both lists are its own: they may be changed, and so may what stands in them be set to
 * something else. The messages are copies that stand for their originals, so it has no
 * effect to change one of them; a message that shall be another is replaced.
 * <p>
 * Only what is new is stored. What is returned belongs to the list that it was given in
 * or was set into; else, by what it says, to a message of the history that was not
 * returned, or to one of the input; and what is still left is new too. So history is
 * never stored again, wherever it stands, and of the input is stored what is returned, in
 * that order.
 * <p>
 * It must return a message that is new and no system text, and leave at the end what the
 * model is to answer; otherwise the call fails, as it does when this throws. The turn is
 * kept as FAILED then, with its input as it was before. One merge serves many turns at
 * once and must be safe for use by many threads; it runs where hooks run.
 */
@FunctionalInterface
public interface HistoryMerge {

	/**
	 * What is sent, without system text.
	 * @param history copies of the history, oldest first, within the limits
	 * @param input copies of what the caller says in this turn, as hooks have left it
	 * @return the messages
	 */
	List<Message> merge(List<Message> history, List<Message> input);

}
