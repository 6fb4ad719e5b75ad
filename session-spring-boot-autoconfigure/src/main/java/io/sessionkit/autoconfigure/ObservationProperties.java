package io.sessionkit.autoconfigure;

import java.time.Duration;
import java.util.List;

import org.jspecify.annotations.Nullable;

import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * Observations, meters, health and endpoint. Each needs Micrometer or Spring Boot
 * Actuator.
 *
 * @param enabled Whether to observe and to count the calls on sessions.
 * @param mdc Whether to put the id of the turn at work into the logging context (MDC), as
 * sessionkit.turn.
 * @param waitingOwners Owners of the sessions whose waiting tool calls are counted by the
 * gauge sessionkit.approvals.waiting. Unset: all owners, if the store lists records of
 * all owners.
 * @param waitingInterval Shortest time between two counts of the waiting tool calls. Each
 * count reads up to 1,000 tool calls, of each owner if owners are named.
 * @param healthTimeout Maximum time for the store's answer in the health check.
 * @param endpointTexts Whether the endpoint of Actuator shows what may quote a
 * conversation: messages, arguments of tools, titles, tags and attributes.
 */
public record ObservationProperties(@DefaultValue("true") boolean enabled, @DefaultValue("false") boolean mdc,
		@Nullable List<String> waitingOwners, @DefaultValue("1m") Duration waitingInterval,
		@DefaultValue("5s") Duration healthTimeout, @DefaultValue("false") boolean endpointTexts) {

	public ObservationProperties {
		// A blank value is bound to an empty list, and would count the calls of nobody.
		waitingOwners = (waitingOwners != null && waitingOwners.isEmpty()) ? null : waitingOwners;
		SessionKitProperties.refuseBelowASecond("observation.waiting-interval", waitingInterval);
		SessionKitProperties.refuseAbove(SessionKitProperties.LONGEST, "observation.waiting-interval", waitingInterval);
		SessionKitProperties.refuseBelowASecond("observation.health-timeout", healthTimeout);
		SessionKitProperties.refuseAbove(SessionKitProperties.LONGEST, "observation.health-timeout", healthTimeout);
	}

}
