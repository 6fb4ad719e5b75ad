package io.sessionkit.benchmarks;

import org.springframework.ai.chat.messages.Message;

/**
 * A way to keep sessions, ready to be called. Safe for use by many threads, each on a
 * session of its own.
 */
interface Threads {

	/**
	 * Writes a session as it would be after so many messages. This is not measured, so it
	 * may take a short cut if the result is what the turns would have left.
	 * @param thread the id of a new session
	 * @param messages the number of messages, even
	 */
	void preload(String thread, int messages);

	/**
	 * Runs one whole turn: a {@code ChatClient} call that reads the history, asks the
	 * model and stores question and reply.
	 * @param thread the id of the session
	 * @param question the user's message
	 */
	void turn(String thread, Message question);

}
