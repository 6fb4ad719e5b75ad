package io.sessionkit.autoconfigure;

import java.time.Duration;

import io.sessionkit.autoconfigure.internal.WrittenTime;

import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * Deletion of expired sessions from the store. Expired sessions read as absent at once,
 * whether or not they have been deleted.
 *
 * @param enabled Whether to delete expired sessions in the background.
 * @param interval Time between two runs of the background thread.
 * @param batchSize Number of sessions and records that one call of the store looks up and
 * deletes. A database deletes each session in a separate transaction.
 */
public record PurgeProperties(@DefaultValue("true") boolean enabled, @DefaultValue("15m") Duration interval,
		@DefaultValue("200") int batchSize) {

	public PurgeProperties {
		if (interval.compareTo(WrittenTime.SHORTEST) < 0) {
			throw ConfigurationRefusedException.of(SessionKitProperties.PREFIX + ".purge.interval", interval,
					"Write one second or more, such as 15m, or set sessionkit.purge.enabled to false.");
		}
		SessionKitProperties.refuseLessThanOne("purge.batch-size", batchSize, "");
	}

}
