package io.sessionkit.autoconfigure;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;

import io.sessionkit.approval.OnNewMessage;
import io.sessionkit.approval.SiblingRule;
import io.sessionkit.approval.ToolName;
import org.jspecify.annotations.Nullable;

import org.springframework.boot.context.properties.NestedConfigurationProperty;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * Approval of tool calls. Methods with @RequiresApproval and ApprovalPolicy beans require
 * approvals too.
 *
 * @param tools Names of tools of which every call needs a person's approval. Names must
 * match exactly. If a name matches no tool but resembles the name of a tool that a call
 * offers, the call is refused; a name that resembles no other is logged. Unset: none.
 * @param siblings Handling of tool calls that need no approval, next to one that waits:
 * hold (they run once all others are decided) or run (they run first).
 * @param expiresAfter Time during which a tool call can be decided, such as 1h, a year at
 * most and shorter than sessionkit.time-to-live. Unset: as long as its session lives.
 * @param onNewMessage Handling of a new message while tool calls wait: reject (the
 * message is refused), cancel (the tool calls are answered as cancelled, their turn
 * becomes history, and the message begins a new turn) or queue (the message is kept and
 * follows the results).
 * @param deciders Authorities of Spring Security that may decide on the calls of a tool,
 * as tool=AUTHORITY, such as refund=ROLE_LEAD; * stands for all other tools that need an
 * approval. Repeat a tool to allow several authorities. A tool named here needs an
 * approval. Requires sessions that belong to users (sessionkit.owner). Unset: whoever
 * reaches the session decides.
 * @param ownerDecides Whether deciders (sessionkit.approval.deciders) may also decide on
 * tool calls in their own sessions.
 * @param version Marker of your own that is stored with a paused turn. A call under
 * another marker does not continue the turn. Unset: none.
 * @param notices Notices of tool calls that wait, as application events.
 * @param continuations Turns that continue by themselves once their tool calls are
 * decided.
 */
public record ApprovalProperties(@Nullable Set<String> tools, @DefaultValue("hold") SiblingRule siblings,
		@Nullable Duration expiresAfter, @DefaultValue("reject") OnNewMessage onNewMessage,
		@Nullable List<String> deciders, @DefaultValue("true") boolean ownerDecides, @Nullable String version,
		@DefaultValue @NestedConfigurationProperty NoticeProperties notices,
		@DefaultValue @NestedConfigurationProperty ContinuationProperties continuations) {

	private static final String PREFIX = SessionKitProperties.PREFIX + ".approval.";

	public static final String DECIDERS = PREFIX + "deciders";

	private static final String ALL_TOOLS = "*";

	/**
	 * One authority. It has nothing that separates several or belongs to an expression,
	 * since no user has an authority that is named so.
	 */
	static final Pattern AUTHORITY = Pattern.compile("[^=*,|;()'\"`\\s]+");

	private static final Pattern DECIDER = Pattern
		.compile("\\s*(\\*|" + ToolName.FORM + ")\\s*=\\s*" + AUTHORITY + "\\s*");

	public ApprovalProperties {
		tools = (tools != null) ? new LinkedHashSet<>(tools) : Set.of();
		tools.forEach(ApprovalProperties::refuseUnlessName);
		deciders = (deciders != null) ? List.copyOf(deciders) : List.of();
		for (String entry : deciders) {
			if (!DECIDER.matcher(entry).matches()) {
				throw ConfigurationRefusedException.of(DECIDERS, entry,
						"Write a tool and one authority, such as cancel_order=ROLE_LEAD, or *=ROLE_LEAD for all tools."
								+ " Several authorities are several entries.");
			}
		}
		if (!ownerDecides && deciders.isEmpty()) {
			throw ConfigurationRefusedException.of(PREFIX + "owner-decides", ownerDecides, "Write '" + PREFIX
					+ "deciders' too, or leave it out: no tool has deciders, so the owners would decide on every"
					+ " call.");
		}
		SessionKitProperties.refuseBelowASecond("approval.expires-after", expiresAfter);
		SessionKitProperties.refuseAbove(SessionKitProperties.LONGEST, "approval.expires-after", expiresAfter);
		if (version != null && version.isBlank()) {
			throw ConfigurationRefusedException.of(PREFIX + "version", "blank",
					"Write a marker, such as 2026-11, or leave it out.");
		}
	}

	private static void refuseUnlessName(String tool) {
		if (!ToolName.isPossible(tool)) {
			throw ConfigurationRefusedException.of(PREFIX + "tools", tool,
					"Write the exact names of tools with commas between them, such as cancel_order,refund, or a list in"
							+ " YAML, or leave it out. What rules on all tools is an ApprovalPolicy bean.");
		}
	}

	/**
	 * Returns the authorities that decide, by the name of the tool.
	 */
	public Map<String, Set<String>> decidersByTool() {
		Map<String, Set<String>> byTool = new LinkedHashMap<>();
		for (String entry : (this.deciders != null) ? this.deciders : List.<String>of()) {
			String[] parts = entry.split("=");
			byTool.computeIfAbsent(parts[0].strip(), (tool) -> new LinkedHashSet<>()).add(parts[1].strip());
		}
		return byTool;
	}

	/**
	 * Returns the names of the tools that need an approval: those that are named, and
	 * those that have deciders of their own.
	 */
	public Set<String> namedTools() {
		Set<String> named = new LinkedHashSet<>(decidersByTool().keySet());
		named.remove(ALL_TOOLS);
		if (this.tools != null) {
			named.addAll(this.tools);
		}
		return named;
	}

}
