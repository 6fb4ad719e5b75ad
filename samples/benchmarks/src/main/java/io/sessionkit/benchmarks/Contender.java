package io.sessionkit.benchmarks;

import java.util.OptionalDouble;

import org.jspecify.annotations.Nullable;

/**
 * One line of the tables: a way to keep threads, and the place where it keeps them. One
 * more contender is one more class, or one more line in {@link Contenders}.
 */
interface Contender extends AutoCloseable {

	/**
	 * What the tables call it.
	 * @return the name
	 */
	String name();

	/**
	 * The contender that it is divided by.
	 * @return the name of the same statements by hand; null for none
	 */
	@Nullable String byHand();

	/**
	 * The threads, connected as an application would connect.
	 * @return always the same
	 */
	Threads threads();

	/**
	 * Writes threads without waiting for a disk after each message.
	 * @param thread its id, new
	 * @param messages how many messages, an even number
	 */
	void preload(String thread, int messages);

	/**
	 * All that was preloaded has been written: time to put the place in order.
	 */
	void settle();

	/**
	 * What the place holds.
	 * @return bytes with all indexes; empty where that cannot be told
	 */
	OptionalDouble storedBytes();

	/**
	 * Runs turns that are counted and not timed.
	 * @param thread its id
	 * @param turns how many
	 * @return what one of them cost, on average
	 */
	TurnCost count(String thread, int turns);

	@Override
	void close();

}
