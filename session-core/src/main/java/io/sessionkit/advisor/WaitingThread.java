package io.sessionkit.advisor;

import java.util.concurrent.Callable;

import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/**
 * Work of a stream that calls the store or a hook, on a thread that may wait. It is not
 * interrupted when the subscriber goes away: an interrupted commit is neither done nor
 * not done, and an interrupted file database is closed for everybody.
 */
final class WaitingThread {

	private WaitingThread() {
	}

	static <T> Mono<T> run(Callable<T> work) {
		return Mono.create((sink) -> Schedulers.boundedElastic().schedule(() -> {
			try {
				sink.success(work.call());
			}
			catch (Exception | Error ex) {
				sink.error(ex);
			}
		}));
	}

}
