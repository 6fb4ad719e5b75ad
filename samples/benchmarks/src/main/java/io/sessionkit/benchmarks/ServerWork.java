package io.sessionkit.benchmarks;

import org.jspecify.annotations.Nullable;

/**
 * The work of a server for one plain turn. Values that the server does not have are null.
 *
 * @param logBytes the bytes that it appends to its write-ahead log or append-only file
 * @param micros the time that it spends in its commands, in microseconds
 */
record ServerWork(@Nullable Double logBytes, @Nullable Double micros) {

	/** The work of a place that has no server. */
	static final ServerWork UNKNOWN = new ServerWork(null, null);

}
