package io.sessionkit.benchmarks;

import java.util.OptionalDouble;

import org.jspecify.annotations.Nullable;

/**
 * One line of the tables: a way to keep sessions, and the place where it keeps them. One
 * more contender is one more class, or one more line in {@link Contenders}.
 */
interface Contender extends AutoCloseable {

	/**
	 * Returns the name in the tables.
	 * @return the name
	 */
	String name();

	/**
	 * Returns the contender that it is divided by.
	 * @return the name of the same statements by hand; null for none
	 */
	@Nullable String byHand();

	/**
	 * Returns the sessions, connected as an application would connect.
	 * @return always the same
	 */
	Threads threads();

	/**
	 * Writes a session without waiting for a disk after each message.
	 * @param thread the id of a new session
	 * @param messages the number of messages, even
	 */
	void preload(String thread, int messages);

	/**
	 * Puts the place in order, after everything to preload has been written.
	 */
	void settle();

	/**
	 * Returns how much the place holds.
	 * @return the bytes with all indexes; empty if that cannot be determined
	 */
	OptionalDouble storedBytes();

	/**
	 * Runs turns that are counted and not timed.
	 * @param thread the id of the session
	 * @param turns the number of turns
	 * @return the average cost of one of them
	 */
	TurnCost count(String thread, int turns);

	/**
	 * Runs turns, neither counted nor timed here, and asks the server what they made it
	 * do.
	 * @param thread the id of the session
	 * @param turns the number of turns
	 * @return the work for one of them: the average of the bytes, and the average time of
	 * those turns during which the server was interrupted least
	 */
	ServerWork work(String thread, int turns);

	@Override
	void close();

}
