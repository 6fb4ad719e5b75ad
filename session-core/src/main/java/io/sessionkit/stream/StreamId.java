package io.sessionkit.stream;

import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import io.sessionkit.SessionKey;
import io.sessionkit.internal.RandomNumbers;
import org.jspecify.annotations.Nullable;

/**
 * The id of an event: the name of its stream, and its number there.
 *
 * @param stream the name of the stream, which nobody can guess
 * @param number the number of the event, from 0
 */
record StreamId(String stream, long number) {

	private static final Pattern FORM = Pattern.compile("([0-9a-f]{32})-(0|[1-9][0-9]{0,8})");

	static String newStream() {
		return RandomNumbers.uuid().toString().replace("-", "").toLowerCase(Locale.ROOT);
	}

	/**
	 * Reads an id that a client has sent.
	 * @throws StreamNotFoundException if no event has such an id
	 */
	static StreamId parse(SessionKey key, @Nullable String text) {
		Matcher matcher = FORM.matcher((text != null) ? text : "");
		if (!matcher.matches()) {
			throw new StreamNotFoundException(key);
		}
		return new StreamId(matcher.group(1), Long.parseLong(matcher.group(2)));
	}

	/**
	 * Returns an event with its id. A lost event has the id of the one before: a process
	 * that still has the stream, or knows the event, gives a reader who comes back what
	 * comes next.
	 * @param number the number of the event, from 0
	 */
	static StreamEvent numbered(String stream, long number, CallEvent event) {
		long known = (event instanceof CallEvent.Lost) ? number - 1 : number;
		return new StreamEvent((known >= 0) ? new StreamId(stream, known).toString() : "", event);
	}

	@Override
	public String toString() {
		return this.stream + "-" + this.number;
	}

}
