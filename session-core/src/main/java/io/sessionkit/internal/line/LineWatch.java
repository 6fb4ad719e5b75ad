package io.sessionkit.internal.line;

import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.function.LongSupplier;

/**
 * Finds out which calls of a line are gone, by watching their beats. It compares with no
 * clock but its own, which nobody can set, so clocks of processes may differ. Used by one
 * thread.
 */
final class LineWatch {

	private record Seen(long beat, long since) {
	}

	private final LongSupplier nanoTime;

	private final Map<String, Seen> seen = new HashMap<>();

	/**
	 * Creates a watch that has seen nothing.
	 * @param nanoTime a clock like {@link System#nanoTime}
	 */
	LineWatch(LongSupplier nanoTime) {
		this.nanoTime = nanoTime;
	}

	/**
	 * Returns the calls that are gone: their beat has been the same for longer than their
	 * life.
	 * @param line the line as it is now
	 */
	Set<String> gone(Line line) {
		long now = this.nanoTime.getAsLong();
		Set<String> gone = new HashSet<>();
		for (Line.Ticket ticket : line.tickets()) {
			Seen before = this.seen.get(ticket.id());
			if (before == null || before.beat() != ticket.beat()) {
				this.seen.put(ticket.id(), new Seen(ticket.beat(), now));
			}
			else if (now - before.since() > ticket.life().toNanos()) {
				gone.add(ticket.id());
			}
		}
		this.seen.keySet().removeIf((id) -> !line.has(id));
		return gone;
	}

}
