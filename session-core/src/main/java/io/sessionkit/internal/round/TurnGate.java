package io.sessionkit.internal.round;

import java.util.List;

import io.sessionkit.store.RecordWrite;
import org.jspecify.annotations.Nullable;

import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.model.ChatResponse;

/**
 * Decides, inside the tool loop of one turn, whether its tools may be called. A gate may
 * block, since no lock is held while it runs. An exception from it ends the turn, and no
 * tool is called.
 */
public interface TurnGate {

	/**
	 * Returns the response that ends the tool loop if the turn waits from now on.
	 * @return the response; null if the turn does not wait
	 */
	@Nullable ChatResponse pause();

	/**
	 * Checks a request that is about to be made.
	 * @param first whether nothing has been said in this run of the loop
	 * @return the response that the tool loop gets instead of the model's reply; null to
	 * call the model
	 */
	@Nullable ChatResponse beforeRequest(boolean first);

	/**
	 * Checks a complete reply that calls tools, after hooks have let it pass.
	 * @param reply the reply
	 * @return the response that the tool loop gets instead, which leaves the reply out of
	 * the turn; null to let the reply pass
	 */
	@Nullable ChatResponse afterReply(AssistantMessage reply);

	/**
	 * Returns whether the failure of this call ends the turn. A turn of which a part is
	 * stored stays open for another call to continue, unless none could.
	 * @param cause the cause that ended the call
	 * @return true if the turn ends as a failed one
	 */
	boolean endsTurn(Throwable cause);

	/**
	 * Notes that this call ends and writes nothing of the turn. The lease is given back
	 * after this.
	 */
	void ending();

	/**
	 * Returns the records to write together with the next part of the turn.
	 * @return the records
	 */
	List<RecordWrite> records();

}
