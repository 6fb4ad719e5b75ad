package io.sessionkit.internal.view;

import io.sessionkit.SessionSettings;
import io.sessionkit.SessionSettings.TrimSettings;
import io.sessionkit.context.Trim;
import io.sessionkit.store.Window;
import org.jspecify.annotations.Nullable;

/**
 * The limits that apply to the history of one call. Each is that of the call, or else
 * that of the session, or else the configured one.
 *
 * @param messages the number of the newest messages of history, cut at a turn
 * @param trim the limits of the requests
 */
public record Limits(int messages, Trim trim) {

	/**
	 * Returns the limits of a call.
	 * @param call the number of the newest messages that the call allows; null if it says
	 * nothing
	 * @param session the settings of the session
	 * @param configured the limits of all sessions
	 */
	public static Limits of(@Nullable Integer call, SessionSettings session, Trim configured) {
		int messages = or((call != null) ? call : session.limit(), Integer.MAX_VALUE);
		TrimSettings own = session.trim();
		if (own.equals(TrimSettings.NONE)) {
			return new Limits(messages, configured);
		}
		return new Limits(messages,
				configured.maxTurns(or(own.maxTurns(), configured.maxTurns()))
					.maxMessages(or(own.maxMessages(), configured.maxMessages()))
					.maxTokens(or(own.maxTokens(), configured.maxTokens())));
	}

	/**
	 * Returns the limits on the request with the tokens as they are before a factor.
	 * @param factor how many tokens a model counts for each one that is estimated
	 */
	public Trim estimated(double factor) {
		return this.trim.limitsTokens() ? this.trim.maxTokens((int) Math.max(1, this.trim.maxTokens() / factor))
				: this.trim;
	}

	private static int or(@Nullable Integer value, int other) {
		return (value != null) ? value : other;
	}

	/**
	 * Returns the part of a view that can be sent, whatever its tokens are.
	 * @param input the number of messages that the turn begins with
	 */
	Window window(int input) {
		int room = (this.trim.maxMessages() == Integer.MAX_VALUE) ? Integer.MAX_VALUE
				: Math.max(0, this.trim.maxMessages() - input);
		return new Window(this.trim.maxTurns(), room).and(Window.items(this.messages));
	}

}
