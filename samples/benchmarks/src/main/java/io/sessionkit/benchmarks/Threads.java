package io.sessionkit.benchmarks;

import org.springframework.ai.chat.messages.Message;

/**
 * A way to keep threads of conversation, ready to be called. Safe for use by many
 * threads, each on a conversation of its own.
 */
interface Threads {

	/**
	 * Writes a thread as it would be after so many messages. Not measured, so it may take
	 * a short cut, if what is there afterwards is what the turns would have left.
	 * @param thread its id, new
	 * @param messages how many messages, an even number
	 */
	void preload(String thread, int messages);

	/**
	 * One whole turn: a {@code ChatClient} call that brings the history, asks the model
	 * and stores question and reply.
	 * @param thread its id
	 * @param question what the user says
	 */
	void turn(String thread, Message question);

}
