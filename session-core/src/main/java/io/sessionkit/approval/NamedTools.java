package io.sessionkit.approval;

import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;

/**
 * Asks about every call of the tools that are named. A name that no tool has is an error:
 * with a slip of the pen in it, the tool would run unasked.
 */
final class NamedTools implements ApprovalPolicy {

	private final Set<String> names;

	private final Supplier<? extends Collection<String>> known;

	private final Set<String> seen = ConcurrentHashMap.newKeySet();

	/**
	 * @param known the names of tools that there are besides those that a call offers
	 */
	NamedTools(Set<String> names, Supplier<? extends Collection<String>> known) {
		this.names = new LinkedHashSet<>(names);
		this.known = known;
	}

	boolean isEmpty() {
		return this.names.isEmpty();
	}

	@Override
	public boolean appliesTo(String tool) {
		return this.names.contains(tool);
	}

	@Override
	public Ruling rule(ToolRequest request) {
		return Ruling.ask();
	}

	/**
	 * Checks that each name is one of a tool, on a call that offers some.
	 * @param offered the names of the tools on offer
	 * @throws IllegalStateException if one is not
	 */
	void check(Collection<String> offered) {
		if (offered.isEmpty() || this.seen.containsAll(this.names)) {
			return;
		}
		this.seen.addAll(offered);
		if (!this.seen.containsAll(this.names)) {
			this.seen.addAll(this.known.get());
		}
		Set<String> unknown = new TreeSet<>(this.names);
		unknown.removeAll(this.seen);
		if (!unknown.isEmpty()) {
			throw new IllegalStateException("sessionkit.approval.tools names " + unknown
					+ ", but no tool has such a name: this call offers " + new TreeSet<>(offered)
					+ ", and neither earlier calls nor tool beans have it. Correct the name (it is compared letter by"
					+ " letter), make the tool a bean, or put @RequiresApproval on its method.");
		}
	}

}
