package io.sessionkit.approval;

import java.time.Duration;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

import org.jspecify.annotations.Nullable;

/**
 * A choice of the calls that wait, by a person who decides.
 *
 * @param owners the owners of the sessions, in any order; at least one
 * @param tools the names of the tools; empty for all
 * @param waitingFor how long a call has waited at least, by the clock of the store; null
 * for any time
 */
public record InboxQuery(List<String> owners, Set<String> tools, @Nullable Duration waitingFor) {

	public InboxQuery {
		if (owners.isEmpty()) {
			throw new IllegalArgumentException(
					"An inbox lists the calls of some owners. Name the users whose calls are decided here.");
		}
		owners = List.copyOf(new LinkedHashSet<>(owners));
		tools = Set.copyOf(tools);
	}

	/**
	 * Creates a query for all calls in the sessions of some owners.
	 * @param owners the owners
	 * @return the query
	 * @throws IllegalArgumentException if there are none
	 */
	public static InboxQuery of(List<String> owners) {
		return new InboxQuery(owners, Set.of(), null);
	}

	/**
	 * Returns this query for the calls of some tools.
	 * @param names the names of the tools; empty for all
	 * @return a copy
	 */
	public InboxQuery tools(Set<String> names) {
		return new InboxQuery(this.owners, names, this.waitingFor);
	}

	/**
	 * Returns this query for the calls that have waited for some time.
	 * @param time the time
	 * @return a copy
	 */
	public InboxQuery waitingFor(Duration time) {
		return new InboxQuery(this.owners, this.tools, time);
	}

}
