package io.sessionkit.approval;

import java.time.Duration;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

import io.sessionkit.SessionKey;
import org.jspecify.annotations.Nullable;

/**
 * A choice of the calls that wait, by a person who decides.
 *
 * @param owners the owners of the sessions, in any order, at least one, of whom an empty
 * one is the caller; null for all owners
 * @param tools the names of the tools; empty for all
 * @param waitingFor how long a call has waited at least: since it was requested, or since
 * its claim if nobody knows whether it ran. The clock is that of the store options, in
 * the process that asks and in the one that has written the call; null for any time
 */
public record InboxQuery(@Nullable List<String> owners, Set<String> tools, @Nullable Duration waitingFor) {

	/**
	 * Creates a query.
	 * @throws IllegalArgumentException if there are owners to choose from, and none in
	 * the list
	 * @throws io.sessionkit.InvalidSessionKeyException if no session can have one of them
	 */
	public InboxQuery {
		if (owners != null && owners.isEmpty()) {
			throw new IllegalArgumentException("An inbox of some owners needs their names. Name the users whose calls"
					+ " are decided here, or use InboxQuery.ofAnyOwner().");
		}
		if (owners != null) {
			owners.stream().filter((owner) -> !owner.isEmpty()).forEach(SessionKey::checkOwner);
		}
		owners = (owners != null) ? List.copyOf(new LinkedHashSet<>(owners)) : null;
		tools = Set.copyOf(tools);
	}

	/**
	 * Creates a query for all calls in the sessions of some owners.
	 * @param owners the owners, of whom an empty one is the caller
	 * @return the query
	 * @throws IllegalArgumentException if there are none
	 * @throws io.sessionkit.InvalidSessionKeyException if no session can have one of them
	 */
	public static InboxQuery of(List<String> owners) {
		return new InboxQuery(owners, Set.of(), null);
	}

	/**
	 * Creates a query for all calls that the caller may decide, whoever's they are.
	 * @return the query
	 */
	public static InboxQuery ofAnyOwner() {
		return new InboxQuery(null, Set.of(), null);
	}

	/**
	 * Returns whether the owners of the sessions are not limited.
	 * @return true if no owners are named
	 */
	public boolean isOfAnyOwner() {
		return this.owners == null;
	}

	/**
	 * Returns whether the query is for the calls of a tool.
	 * @param tool the name of the tool
	 * @return true if no tools are named, or this one is, by its name or by its
	 * {@linkplain ToolName#original original} one
	 */
	public boolean isFor(String tool) {
		return this.tools.isEmpty() || this.tools.contains(tool) || this.tools.contains(ToolName.original(tool));
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
