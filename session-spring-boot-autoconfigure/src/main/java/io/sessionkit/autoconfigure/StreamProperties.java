package io.sessionkit.autoconfigure;

import java.time.Duration;

import io.sessionkit.stream.OnDisconnect;

import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.util.unit.DataSize;

/**
 * Streams of events whose readers may come back.
 *
 * @param resumable Whether to keep the events of streams that are started by TurnStreams
 * for a while, so that their readers can come back on any instance.
 * @param onDisconnect Handling of a turn whose readers disconnect, if streams are
 * resumable: continue (the turn goes on) or cancel.
 * @param timeToLive Time that what is written of a stream at one time is kept, longer
 * than sessionkit.lease.
 * @param maxSize Maximum total size of what is kept of a stream in its stored form, one
 * byte for each character. What is more is lost for readers on other instances.
 */
public record StreamProperties(@DefaultValue("false") boolean resumable,
		@DefaultValue("continue") OnDisconnect onDisconnect, @DefaultValue("10m") Duration timeToLive,
		@DefaultValue("1MB") DataSize maxSize) {

	public StreamProperties {
		SessionKitProperties.refuseBelowASecond("streams.time-to-live", timeToLive);
		if (maxSize.toBytes() < 1) {
			throw ConfigurationRefusedException.of(SessionKitProperties.PREFIX + ".streams.max-size", maxSize,
					"Write a size above zero, such as 1MB.");
		}
	}

}
