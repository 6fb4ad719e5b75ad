package io.sessionkit.advisor;

import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

/**
 * Work of a stream that calls the store or a hook, on a thread that may wait. It is not
 * interrupted when the subscriber goes away: an interrupted commit is neither done nor
 * not done, and an interrupted file database is closed for everybody.
 */
final class WaitingThread {

	private static final Log logger = LogFactory.getLog(WaitingThread.class);

	/**
	 * Threads of our own: on the shared ones Spring AI runs tools, and a tool that does
	 * not end would hold up the commit of another session's turn.
	 */
	private static final Scheduler threads = Schedulers.newBoundedElastic(Schedulers.DEFAULT_BOUNDED_ELASTIC_SIZE,
			Schedulers.DEFAULT_BOUNDED_ELASTIC_QUEUESIZE, "sessionkit-stream", 60, true);

	private WaitingThread() {
	}

	static <T> Mono<T> run(Callable<T> work) {
		return run(work, (result) -> {
		});
	}

	/**
	 * The same for a result that must not be lost.
	 * @param after is given the result after it was handed on, or was not since nobody
	 * wanted it any more
	 */
	static <T> Mono<T> run(Callable<T> work, Consumer<T> after) {
		return Mono.create((sink) -> {
			AtomicBoolean gone = new AtomicBoolean();
			sink.onCancel(() -> gone.set(true));
			threads.schedule(() -> {
				try {
					T result = work.call();
					sink.success(result);
					after.accept(result);
				}
				catch (Exception | Error ex) {
					if (gone.get()) {
						// Reactor would log it whole, and what a hook threw may quote a
						// message
						logger.warn("A stream was cancelled, and what it still did failed: " + ex.getClass().getName());
						return;
					}
					sink.error(ex);
				}
			});
		});
	}

}
