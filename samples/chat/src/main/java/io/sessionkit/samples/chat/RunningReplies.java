package io.sessionkit.samples.chat;

import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import java.util.stream.Collectors;

import io.sessionkit.SessionKey;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Sinks;

import org.springframework.http.codec.ServerSentEvent;
import org.springframework.stereotype.Component;

/**
 * The replies to requests that have a name of their own. Such a reply goes on when its
 * reader is gone, since the page can send the request again: it then gets all events from
 * the first one. What ends it before is {@link #stop}. Safe for use by many threads.
 */
@Component
final class RunningReplies {

	private final Map<Request, Running> running = new ConcurrentHashMap<>();

	/**
	 * Returns the events of the reply that is running for this request in this process,
	 * or those of a new one.
	 * @param reply makes the events of a new one, which is told whether it is alone in
	 * its thread
	 */
	Flux<ServerSentEvent<Object>> join(Request request, Function<Boolean, Flux<ServerSentEvent<Object>>> reply) {
		return this.running.computeIfAbsent(request, (name) -> start(name, reply)).events();
	}

	private Running start(Request request, Function<Boolean, Flux<ServerSentEvent<Object>>> reply) {
		Sinks.Empty<Void> stop = Sinks.empty();
		Flux<ServerSentEvent<Object>> events = Flux.defer(() -> reply.apply(isAlone(request)))
			.takeUntilOther(stop.asMono())
			.doFinally((signal) -> this.running.remove(request))
			.replay()
			.autoConnect();
		return new Running(events, stop);
	}

	/** Two that begin at once see each other, so that at most one of them is alone. */
	private boolean isAlone(Request request) {
		return this.running.keySet()
			.stream()
			.noneMatch((other) -> other.thread().equals(request.thread()) && !other.equals(request));
	}

	/**
	 * Returns the names of the requests on a thread that wait or are being answered.
	 */
	Set<String> names(SessionKey thread) {
		return this.running.keySet()
			.stream()
			.filter((request) -> request.thread().equals(thread))
			.map(Request::id)
			.collect(Collectors.toSet());
	}

	/**
	 * Ends a request, whether it waits or is being answered. One that is over, or runs in
	 * another process, is left alone.
	 */
	void stop(SessionKey thread, String id) {
		this.running.forEach((request, each) -> {
			if (request.thread().equals(thread) && request.id().equals(id)) {
				each.stop().tryEmitEmpty();
			}
		});
	}

	/**
	 * @param id the name that the page has given to the request
	 * @param question what it asks: another question is another request
	 */
	record Request(SessionKey thread, String id, Object question) {
	}

	private record Running(Flux<ServerSentEvent<Object>> events, Sinks.Empty<Void> stop) {
	}

}
