package io.sessionkit.autoconfigure;

import java.time.Duration;

import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * Shutdown of the application.
 *
 * @param timeout Longest time that the application waits for calls at work when it shuts
 * down; up to 10 s more for turns that it continues by itself. Keep it below
 * spring.lifecycle.timeout-per-shutdown-phase.
 */
public record ShutdownProperties(@DefaultValue("20s") Duration timeout) {

	public ShutdownProperties {
		SessionKitProperties.refuseBelowASecond("shutdown.timeout", timeout);
		SessionKitProperties.refuseAbove(SessionKitProperties.LONGEST, "shutdown.timeout", timeout);
	}

}
