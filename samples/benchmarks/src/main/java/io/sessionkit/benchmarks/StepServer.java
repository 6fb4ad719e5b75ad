package io.sessionkit.benchmarks;

import io.sessionkit.store.SessionStore;

/**
 * A store on a server, with a proxy between them that counts.
 */
interface StepServer extends AutoCloseable {

	/**
	 * Returns the name in the tables.
	 */
	String name();

	/**
	 * Returns the store.
	 * @return always the same
	 */
	SessionStore store();

	/**
	 * Returns how often the driver has waited for an answer so far. What it sends
	 * together counts once.
	 */
	long roundTrips();

	/**
	 * Returns how many bytes the server has appended to its log so far.
	 */
	double logBytes();

	@Override
	void close();

}
