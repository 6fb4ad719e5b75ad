package io.sessionkit.autoconfigure;

import java.time.Duration;
import java.util.LinkedHashSet;
import java.util.Set;

import io.sessionkit.approval.NewMessageRule;
import io.sessionkit.approval.SiblingRule;
import org.jspecify.annotations.Nullable;

import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * Which tool calls need a person's consent. Methods with @RequiresApproval and
 * ApprovalPolicy beans say so too.
 *
 * @param tools Names of tools of which every call needs a person's consent, compared
 * exactly. A call is refused if it offers a tool whose name is like one that no tool has;
 * a name that is like no other is logged. Unset: none.
 * @param siblings What becomes of calls next to one that waits, if they need no consent:
 * hold (they run once all others are decided) or run (they run first).
 * @param expiresAfter How long a call can be decided, such as 1h. Unset: as long as its
 * session lives.
 * @param onNewMessage What becomes of a new message while calls wait: reject (it is
 * refused), cancel (the calls are, and the message begins a turn) or queue (it is kept
 * and follows the results).
 * @param version The application's own marker of what a paused turn was made with. A call
 * with another marker does not go on with it. Unset: none.
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
