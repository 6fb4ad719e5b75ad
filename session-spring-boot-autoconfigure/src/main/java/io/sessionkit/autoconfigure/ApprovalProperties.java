package io.sessionkit.autoconfigure;

import java.time.Duration;
import java.util.LinkedHashSet;
import java.util.Set;

import io.sessionkit.approval.NewMessageRule;
import io.sessionkit.approval.SiblingRule;
import org.jspecify.annotations.Nullable;

import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * Approval of tool calls. Methods with @RequiresApproval and ApprovalPolicy beans require
 * approvals too.
 *
 * @param tools Names of tools of which every call needs a person's approval. Names must
 * match exactly. If a name matches no tool but resembles the name of a tool that a call
 * offers, the call is refused; a name that resembles no other is logged. Unset: none.
 * @param siblings Handling of calls that need no approval, next to one that waits: hold
 * (they run once all others are decided) or run (they run first).
 * @param expiresAfter Time during which a call can be decided, such as 1h. Unset: as long
 * as its session lives.
 * @param onNewMessage Handling of a new message while calls wait: reject (the message is
 * refused), cancel (the calls are cancelled, and the message begins a new turn) or queue
 * (the message is kept and follows the results).
 * @param version Application-defined marker of the version that a paused turn was created
 * with. A call with a different marker does not continue the turn. Unset: none.
 */
public record ApprovalProperties(@Nullable Set<String> tools, @DefaultValue("hold") SiblingRule siblings,
		@Nullable Duration expiresAfter, @DefaultValue("reject") NewMessageRule onNewMessage,
		@Nullable String version) {

	private static final String PREFIX = SessionKitProperties.PREFIX + ".approval.";

	public ApprovalProperties {
		tools = (tools != null) ? new LinkedHashSet<>(tools) : Set.of();
		if (tools.stream().anyMatch(String::isBlank)) {
			throw ConfigurationRefusedException.of(PREFIX + "tools", tools,
					"Write the names of tools, such as cancel_order, or leave it out.");
		}
		SessionKitProperties.refuseBelowASecond("approval.expires-after", expiresAfter);
		if (version != null && version.isBlank()) {
			throw ConfigurationRefusedException.of(PREFIX + "version", "blank",
					"Write a marker, such as 2026-11, or leave it out.");
		}
	}

}
