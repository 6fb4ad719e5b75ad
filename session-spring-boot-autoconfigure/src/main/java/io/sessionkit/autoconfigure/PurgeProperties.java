package io.sessionkit.autoconfigure;

import java.time.Duration;

import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * When expired sessions are deleted from the store. They read as absent at once, whether
 * or not they are deleted.
 *
 * @param enabled Whether expired sessions are deleted in the background.
 * @param interval How long the background thread rests between two runs.
 * @param batchSize How many sessions are looked up and deleted by one call of the store.
 * In a database each is deleted in a transaction of its own.
 */
public record PurgeProperties(@DefaultValue("true") boolean enabled, @DefaultValue("15m") Duration interval,
		@DefaultValue("200") int batchSize) {

	private static final Duration SHORTEST_INTERVAL = Duration.ofSeconds(1);

	public PurgeProperties {
		if (interval.compareTo(SHORTEST_INTERVAL) < 0) {
			throw ConfigurationRefusedException.of(SessionKitProperties.PREFIX + ".purge.interval", interval,
					"Write one second or more, such as 15m, or set sessionkit.purge.enabled to false.");
		}
		SessionKitProperties.refuseLessThanOne("purge.batch-size", batchSize, "");
	}

}
