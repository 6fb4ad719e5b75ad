package io.sessionkit.internal.line;

import org.jspecify.annotations.Nullable;

/**
 * The name of one of the lines of a session: that of all its calls, or that of the calls
 * that make one request.
 *
 * @param kind the kind of the record that holds the line
 * @param id the id of that record
 * @param request the request; null for the line of all calls
 */
record LineName(String kind, String id, @Nullable Request request) {

	/** The line of all calls on a session. */
	static final LineName SESSION = new LineName("line", "turn", null);

	static LineName of(Request request) {
		return new LineName("request", request.id(), request);
	}

	@Nullable String content() {
		return (this.request != null) ? this.request.content() : null;
	}

}
