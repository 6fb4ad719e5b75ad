package io.sessionkit.internal.round;

import java.util.List;

import io.sessionkit.hook.SessionListener;

import org.springframework.ai.chat.messages.Message;

/**
 * A listener that passes on what it is told to the one who reads the reply of a call. It
 * is also told of the result of each tool as soon as the tool ends, while other calls of
 * the same reply may still run. What it is told then is reported as {@link #toolReturned}
 * too. If a hook checks replies, it is told neither arguments nor results.
 */
public interface CallWatch extends SessionListener {

	/**
	 * Handles the result of a tool. Not called for a tool that has thrown.
	 * @param tool the name of the tool
	 * @param arguments the arguments, as the tool loop has passed them
	 * @param result the result, or the answer that replaces it
	 */
	void toolEnded(String tool, String arguments, String result);

	/**
	 * Handles messages of other calls that have become part of the turn.
	 * @param messages what the user has said
	 */
	void joined(List<Message> messages);

	/**
	 * Handles, before the model is called, that a hook checks its replies: nothing that
	 * the model says may be passed on before the turn is stored, but for its text.
	 */
	void checked();

}
