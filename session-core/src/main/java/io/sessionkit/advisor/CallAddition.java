package io.sessionkit.advisor;

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
		return parameters.values()
			.stream()
			.filter(CallAddition.class::isInstance)
			.map(CallAddition.class::cast)
			.filter((addition) -> addition.type() == type)
			.sorted(Comparator.comparingLong(CallAddition::number))
			.map(CallAddition::value)
			.map(type::cast)
			.toList();
	}

}
