package io.sessionkit.internal.ruling;

import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.Set;
import java.util.function.Supplier;

import io.sessionkit.approval.ApprovalPolicy;
import io.sessionkit.approval.Ruling;
import io.sessionkit.approval.ToolName;
import io.sessionkit.approval.ToolRequest;
import io.sessionkit.approval.UnknownToolException;
import io.sessionkit.internal.tool.NameCheck;

/**
 * Requires approval for every call of the tools that are named. {@link NameCheck} says
 * what becomes of names that are misspelt.
 */
public final class NamedTools implements ApprovalPolicy, NameCheck.Names {

	private static final String PROPERTY = "sessionkit.approval.tools";

	private static final String DECIDERS = "sessionkit.approval.deciders";

	private final Set<String> names;

	private final Set<String> decided;

	private final NameCheck check;

	/**
	 * Creates the policy.
	 * @param known supplies the names of existing tools other than those that a call
	 * offers
	 */
	public NamedTools(Set<String> names, Supplier<? extends Collection<String>> known) {
		this(names, Set.of(), known);
	}

	/**
	 * Creates the policy.
	 * @param decided the names of tools that have deciders, which require approval too.
	 * One that is misspelt is noticed even if the tool that was meant is among the others
	 * @param known supplies the names of existing tools other than those that a call
	 * offers
	 */
	public NamedTools(Set<String> names, Set<String> decided, Supplier<? extends Collection<String>> known) {
		this.names = new LinkedHashSet<>(names);
		this.names.addAll(decided);
		this.decided = Set.copyOf(decided);
		this.check = new NameCheck(this, known);
	}

	boolean isEmpty() {
		return this.names.isEmpty();
	}

	@Override
	public boolean appliesTo(String tool) {
		return this.names.contains(tool) || this.names.contains(ToolName.original(tool));
	}

	@Override
	public Ruling rule(ToolRequest request) {
		return Ruling.ask();
	}

	/**
	 * Checks the names against the tools that are known before any call. If there are
	 * none, calls bring their own tools, and nothing can be checked yet.
	 * @throws UnknownToolException if one of these tools has a name that resembles a
	 * configured one that none of them has
	 */
	public void checkKnown() {
		this.check.checkKnown();
	}

	/**
	 * Checks the names against the tools that a call offers.
	 * @param offered the names of the tools
	 * @throws UnknownToolException if one of these tools has a name that resembles a
	 * configured one that no tool has so far
	 */
	public void check(Collection<String> offered) {
		this.check.check(offered);
	}

	@Override
	public Set<String> all() {
		return this.names;
	}

	@Override
	public Set<String> besides(String name) {
		return this.decided.contains(name) ? this.decided : this.names;
	}

	@Override
	public String property(Set<String> wrong) {
		return wrong.stream().anyMatch(this.decided::contains) ? DECIDERS : PROPERTY;
	}

	@Override
	public String consequence(Set<String> wrong) {
		return property(wrong).equals(DECIDERS) ? "is decided by whoever reaches the session" : "runs without approval";
	}

	@Override
	public String instead() {
		return "@RequiresApproval";
	}

}
