package io.sessionkit.internal.tool;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.sessionkit.approval.ToolName;
import io.sessionkit.approval.UnknownToolException;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

/**
 * Checks names of tools that are configured. If a name has a typo, the tool that was
 * meant would not be treated as configured. So a call is refused if one of its tools has
 * a name that resembles a configured one that no tool has so far. A configured name that
 * resembles no other may be that of a tool that another client offers later: it is
 * logged, and nothing is refused. Safe for use by many threads.
 */
public final class NameCheck {

	private static final Log logger = LogFactory.getLog(NameCheck.class);

	private final Names names;

	private final Supplier<? extends Collection<String>> known;

	/** The configured names that a tool has. */
	private final Set<String> found = ConcurrentHashMap.newKeySet();

	private final Set<String> logged = ConcurrentHashMap.newKeySet();

	private final AtomicBoolean listed = new AtomicBoolean();

	/**
	 * The names, and what is said about them.
	 */
	public interface Names {

		/** Returns all configured names. */
		Set<String> all();

		/**
		 * Returns the names that are configured in the same place as one of them. A tool
		 * that has one of these is not what that name means.
		 */
		Set<String> besides(String name);

		/** Returns the property that has the names. */
		String property(Set<String> wrong);

		/** Returns what happens to a tool that was meant, to end a sentence with. */
		String consequence(Set<String> wrong);

		/** Returns what can be done on the tool instead of naming it. */
		String instead();

	}

	/**
	 * Creates the check.
	 * @param known supplies the names of existing tools other than those that a call
	 * offers
	 */
	public NameCheck(Names names, Supplier<? extends Collection<String>> known) {
		this.names = names;
		this.known = known;
	}

	/**
	 * Checks the names against the tools that are known before any call. If there are
	 * none, calls bring their own tools, and nothing can be checked yet.
	 * @throws UnknownToolException if one of these tools has a name that resembles a
	 * configured one that none of them has
	 */
	public void checkKnown() {
		if (this.names.all().isEmpty()) {
			return;
		}
		Collection<String> tools = list();
		refuseLike(tools, "the tool beans have");
		Set<String> missing = missing();
		if (!missing.isEmpty() && !tools.isEmpty()) {
			warn(missing, "no tool bean has such a name; the tool beans have " + new TreeSet<>(tools));
		}
	}

	/**
	 * Checks the names against the tools that a call offers.
	 * @param offered the names of the tools
	 * @throws UnknownToolException if one of these tools has a name that resembles a
	 * configured one that no tool has so far
	 */
	public void check(Collection<String> offered) {
		warnOfRenamed(offered);
		if (offered.isEmpty() || missing().isEmpty()) {
			return;
		}
		find(offered);
		if (!this.listed.get() || !suspects(offered).isEmpty()) {
			list();
		}
		refuseLike(offered, "this call offers");
		warnOnce(offered);
	}

	/**
	 * Logs each tool once that is configured by the name that it had before it was
	 * renamed.
	 */
	private void warnOfRenamed(Collection<String> offered) {
		for (String tool : offered) {
			String original = ToolName.original(tool);
			Set<String> all = this.names.all();
			if (!all.contains(tool) && all.contains(original) && this.logged.add(tool)) {
				logger.warn("Tool '" + tool + "' is treated as " + this.names.property(Set.of(original)) + " says of '"
						+ original + "': Spring AI has renamed it, since several MCP servers, or several versions of"
						+ " a tool, have the name. Which of them gets the number depends on the order in which they are"
						+ " asked, so a call that waits may belong to another server after a restart. Give them names"
						+ " of their own with a bean of type McpToolNamePrefixGenerator.");
			}
		}
	}

	/** Logs each name once that no tool has so far. */
	private void warnOnce(Collection<String> offered) {
		Set<String> missing = missing();
		missing.removeIf((name) -> !this.logged.add(name));
		if (!missing.isEmpty()) {
			warn(missing, "neither a tool bean nor a call so far has a tool of such a name; this call offers "
					+ new TreeSet<>(offered));
		}
	}

	private Set<String> missing() {
		Set<String> missing = new TreeSet<>(this.names.all());
		missing.removeAll(this.found);
		return missing;
	}

	private void find(Collection<String> tools) {
		Stream.concat(tools.stream(), tools.stream().map(ToolName::original))
			.filter(this.names.all()::contains)
			.forEach(this.found::add);
	}

	/**
	 * Lists the tools that are known besides those of a call. This may take a request to
	 * a server, so it is done once, and again before a call is refused.
	 */
	private Collection<String> list() {
		this.listed.set(true);
		try {
			Collection<String> tools = this.known.get();
			find(tools);
			return tools;
		}
		catch (RuntimeException ex) {
			logger.warn("The tool beans could not be listed, so not all names of "
					+ this.names.property(this.names.all()) + " were checked: " + ex.getClass().getName());
			return List.of();
		}
	}

	/**
	 * A tool that a configured name probably means.
	 */
	private record Suspect(String name, String tool) {
	}

	private List<Suspect> suspects(Collection<String> tools) {
		List<Suspect> suspects = new ArrayList<>();
		for (String name : missing()) {
			Set<String> others = this.names.besides(name);
			tools.stream()
				.filter((tool) -> !others.contains(tool) && ToolNames.areAlike(name, tool))
				.forEach((tool) -> suspects.add(new Suspect(name, tool)));
		}
		return suspects;
	}

	private void refuseLike(Collection<String> tools, String whose) {
		List<Suspect> suspects = suspects(tools);
		if (suspects.isEmpty()) {
			return;
		}
		Set<String> wrong = suspects.stream().map(Suspect::name).collect(Collectors.toCollection(TreeSet::new));
		String cure = suspects.stream()
			.map((suspect) -> "write '" + suspect.tool() + "' instead of '" + suspect.name() + "'")
			.collect(Collectors.joining(", "));
		throw new UnknownToolException(this.names.property(wrong) + " names " + wrong
				+ ", which no tool is called so far, but " + whose + " " + new TreeSet<>(tools)
				+ ". If that is what was meant, " + cure
				+ " (names are compared exactly, case-sensitive). If there are both tools, make the one that is named a"
				+ " bean, or put " + this.names.instead() + " on its method instead of naming it.", wrong);
	}

	private void warn(Set<String> missing, String seen) {
		logger.warn(this.names.property(missing) + " names " + missing + ", but " + seen
				+ ". If a name is misspelt, the tool that was meant " + this.names.consequence(missing)
				+ " (names are compared exactly, case-sensitive).");
	}

}
