package io.sessionkit.advisor;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;

import org.springframework.ai.chat.client.ChatClient;

/**
 * A hook or listener that is added to one call. Each is an advisor parameter of its own,
 * since setting a parameter again replaces its value. A number keeps their order.
 *
 * @param number a number that increases with each addition
 * @param type what it was added as; its class may be both
 * @param value the hook or listener
 */
record CallAddition(long number, Class<?> type, Object value) {

	private static final String PREFIX = "sessionkit.addition.";

	private static final AtomicLong numbers = new AtomicLong();

	static <T> Consumer<ChatClient.AdvisorSpec> add(Class<T> type, T value) {
		if (value == null) {
			throw new IllegalArgumentException("The " + type.getSimpleName() + " of a call must not be null."
					+ " Leave it out for a call that adds none.");
		}
		return (advisors) -> {
			CallAddition addition = new CallAddition(numbers.incrementAndGet(), type, value);
			advisors.param(PREFIX + addition.number(), addition);
		};
	}

	/**
	 * Returns what was added as a type, in order.
	 */
	static <T> List<T> of(Map<String, ?> parameters, Class<T> type) {
		// most calls add nothing, and every call asks several times
		List<CallAddition> added = new ArrayList<>(0);
		for (Object each : parameters.values()) {
			if (each instanceof CallAddition addition && addition.type() == type) {
				added.add(addition);
			}
		}
		added.sort(Comparator.comparingLong(CallAddition::number));
		return added.isEmpty() ? List.of() : added.stream().map(CallAddition::value).<T>map(type::cast).toList();
	}

}
