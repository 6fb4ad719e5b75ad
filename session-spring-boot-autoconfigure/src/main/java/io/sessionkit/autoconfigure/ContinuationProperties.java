package io.sessionkit.autoconfigure;

import java.time.Duration;

import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * Turns that continue by themselves, by the call that a bean of type TurnContinuation
 * supplies.
 *
 * @param enabled Whether a turn continues on a server, without anyone's request, once all
 * of its tool calls are decided or have expired. Set it in every process that pauses,
 * decides or continues turns.
 * @param run Whether this process continues turns; it then needs a TurnContinuation bean.
 * Set it to false in a process that only decides.
 * @param interval Interval at which this process looks for decisions of other processes,
 * and for turns that could not be continued. Turns that are decided in this process
 * continue at once.
 * @param threads Number of turns that this process continues at the same time.
 */
public record ContinuationProperties(@DefaultValue("false") boolean enabled, @DefaultValue("true") boolean run,
		@DefaultValue("10s") Duration interval, @DefaultValue("4") int threads) {

	public static final String ENABLED = SessionKitProperties.PREFIX + ".approval.continuations.enabled";

	public static final String RUN = SessionKitProperties.PREFIX + ".approval.continuations.run";

	public ContinuationProperties {
		SessionKitProperties.refuseBelowASecond("approval.continuations.interval", interval);
		if (threads < 1) {
			throw ConfigurationRefusedException.of(SessionKitProperties.PREFIX + ".approval.continuations.threads",
					threads, "Write 1 or more, or set '" + RUN + "' to false.");
		}
	}

}
