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
	 * Returns the additions of a type, in order.
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
