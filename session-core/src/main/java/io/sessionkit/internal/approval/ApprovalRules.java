package io.sessionkit.internal.approval;

import java.time.Duration;
import java.util.function.Supplier;

import io.sessionkit.approval.OnNewMessage;
import io.sessionkit.approval.SiblingRule;
import io.sessionkit.internal.ledger.PauseNotices;
import io.sessionkit.internal.ledger.SafeTexts;
import io.sessionkit.internal.ruling.Rulings;
import io.sessionkit.internal.run.ToolLimits;
import io.sessionkit.store.SessionStore;
import org.jspecify.annotations.Nullable;

/**
 * The settings that all calls share.
 *
 * @param rulings the parts that rule on a call
 * @param siblings the rule for calls next to one that waits
 * @param waiting the rules for a turn whose calls wait
 * @param version the marker of the application; null for none
 * @param texts the texts for the model
 * @param limits the limits on the time of tools
 * @param traceIds supplies the trace id of the running call
 */
public record ApprovalRules(Rulings rulings, SiblingRule siblings, Waiting waiting, @Nullable String version,
		SafeTexts texts, ToolLimits limits, Supplier<@Nullable String> traceIds) {

	/**
	 * The rules for a turn whose calls wait.
	 *
	 * @param onNewMessage the rule for a new message meanwhile
	 * @param expiresAfter the time within which a call can be decided; null for as long
	 * as the session lives
	 * @param notices whether a notice is stored with the pause
	 * @param continuations whether the turn continues by itself once its calls are
	 * decided
	 */
	public record Waiting(OnNewMessage onNewMessage, @Nullable Duration expiresAfter, boolean notices,
			boolean continuations) {

		/** Returns the notices that a store gets with a pause. */
		PauseNotices pauseNotices(SessionStore store) {
			return new PauseNotices(store, this.notices, this.continuations, this.expiresAfter);
		}

	}

}
