package io.sessionkit.access;

import java.util.Optional;

import reactor.core.publisher.Mono;
import reactor.util.context.ContextView;

/**
 * Finds the caller, for example the user who is signed in. It is asked at each door, on
 * the thread that comes to it, so it should be fast. An implementation must be safe for
 * use by many threads.
 */
@FunctionalInterface
public interface CallerResolver {

	/**
	 * Returns the caller that this thread works for.
	 * @return the caller; empty if none is known, and then nothing is reached
	 */
	Optional<Caller> current();

	/**
	 * Returns the caller of a stream. By default it is that of the thread that
	 * subscribes.
	 * @param context the context of the subscriber
	 * @return the caller; empty to ask {@link #current} instead
	 */
	default Mono<Caller> current(ContextView context) {
		return Mono.empty();
	}

}
