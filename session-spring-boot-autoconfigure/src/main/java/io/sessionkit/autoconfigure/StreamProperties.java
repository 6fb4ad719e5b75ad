package io.sessionkit.autoconfigure;

import java.time.Duration;

import io.sessionkit.stream.OnDisconnect;

import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.util.unit.DataSize;

/**
 * Streams of events whose readers may come back.
 *
 * @param resumable Whether to keep the events of streams that are started by TurnStreams
 * for a while, so that their readers can come back to any process.
 * @param onDisconnect Handling of a turn whose readers disconnect, if streams are
 * resumable: continue (the turn runs to its end) or cancel.
 * @param timeToLive How long each stored chunk of a stream is kept. Must be longer than
 * sessionkit.lease.
 * @param maxSize Maximum total size of what is kept of a stream in its stored form, one
 * byte for each character. Events beyond it reach only readers of the process that runs
 * the call.
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
