package io.sessionkit.internal.approval;

import java.time.Duration;
import java.util.function.Supplier;

import io.sessionkit.approval.NewMessageRule;
import io.sessionkit.approval.SiblingRule;
import org.jspecify.annotations.Nullable;

/**
 * The settings that all calls share.
 *
 * @param rulings the parts that rule on a call
 * @param siblings the rule for calls next to one that waits
 * @param onNewMessage the rule for a new message while calls wait
 * @param expiresAfter the time within which a call can be decided; null for as long as
 * the session lives
 * @param version the marker of the application; null for none
 * @param texts the texts for the model
 * @param limits the limits on the time of tools
 * @param traceIds supplies the trace id of the running call
 * @param notices whether a pause is stored with a notice of it
 * @param continues whether turns continue by themselves once their calls are decided
 */
public record ApprovalRules(Rulings rulings, SiblingRule siblings, NewMessageRule onNewMessage,
		@Nullable Duration expiresAfter, @Nullable String version, SafeTexts texts, ToolLimits limits,
		Supplier<@Nullable String> traceIds, boolean notices, boolean continues) {
}
