package io.sessionkit.internal.round;

import java.util.List;

import io.sessionkit.store.RecordWrite;
import org.jspecify.annotations.Nullable;

import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.model.ChatResponse;

/**
 * Decides, inside the tool loop of one turn, whether its tools may be called. It may take
 * its time: no lock is held while it is asked. What it throws ends the turn, and no tool
 * is called.
 */
public interface TurnGate {

	/**
	 * What the tool loop ends with if the turn waits from now on.
	 * @return the response; null if it does not wait
	 */
	@Nullable ChatResponse pause();

	/**
	 * A request is about to be made.
	 * @param first whether nothing has been said in this run of the loop
	 * @return what the tool loop gets in the place of the model's reply; null to ask the
	 * model
	 */
	@Nullable ChatResponse beforeRequest(boolean first);

	/**
	 * A reply that calls tools is whole, and hooks have let it pass.
	 * @param reply the reply
	 * @return what the tool loop gets in its place, which leaves it out of the turn; null
	 * to let it pass
	 */
	@Nullable ChatResponse afterReply(AssistantMessage reply);

	/**
	 * This call has failed. A turn of which a part is stored stays open for another call
	 * to go on with, unless none could.
	 * @param cause what ended the call
	 * @return whether the turn ends with it, as a failed one
	 */
	boolean endsTurn(Throwable cause);

	/**
	 * This call ends and writes nothing of the turn; its lease is given back after this.
	 */
	void ending();

	/**
	 * What is to be written together with the next part of the turn.
	 * @return the records
	 */
	List<RecordWrite> records();

}
