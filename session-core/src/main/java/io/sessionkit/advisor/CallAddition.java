package io.sessionkit.advisor;

import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;

import org.springframework.ai.chat.client.ChatClient;

/**
 * Hooks and listeners that are added to one call. Each is an advisor parameter of its
 * own, since a parameter that is set again replaces the one before; a number keeps their
 * order.
 *
 * @param number rises with each that is added
 * @param value the hook or listener
 */
record CallAddition(long number, Object value) {

	private static final String PREFIX = "sessionkit.addition.";

	private static final AtomicLong numbers = new AtomicLong();

	static Consumer<ChatClient.AdvisorSpec> add(Object value) {
		return (advisors) -> {
			CallAddition addition = new CallAddition(numbers.incrementAndGet(), value);
			advisors.param(PREFIX + addition.number(), addition);
		};
	}

	/**
	 * What was added of a type, in order.
	 */
	static <T> List<T> of(Map<String, ?> parameters, Class<T> type) {
		return parameters.values()
			.stream()
			.filter(CallAddition.class::isInstance)
			.map(CallAddition.class::cast)
			.sorted(Comparator.comparingLong(CallAddition::number))
			.map(CallAddition::value)
			.filter(type::isInstance)
			.map(type::cast)
			.toList();
	}

}
