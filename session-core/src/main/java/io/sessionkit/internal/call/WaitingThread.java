package io.sessionkit.internal.call;

import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;

import io.sessionkit.internal.CarriedError;
import io.sessionkit.internal.SharedThreads;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import reactor.core.publisher.Mono;
import reactor.core.publisher.MonoSink;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

/**
 * Runs work of a stream that calls the store or the application, on a thread that may
 * wait. The work is not interrupted when the subscriber cancels: after an interrupt it is
 * unknown whether a commit took place, and an interrupted file database is closed for all
 * its users. What the work throws is the error of the stream, also what Reactor would
 * throw at this thread instead ({@link CarriedError}).
 */
public final class WaitingThread {

	private static final Log logger = LogFactory.getLog(WaitingThread.class);

	/** The largest number of threads of each kind. */
	private static final int MOST_THREADS = Schedulers.DEFAULT_BOUNDED_ELASTIC_SIZE;

	/**
	 * SessionKit's own threads. Spring AI runs tools on the shared ones, and a tool that
	 * does not end would delay the commit of another session's turn.
	 */
	private static final Scheduler threads = threads("sessionkit-stream");

	/** Hooks that do not end may hold all the other threads. */
	private static final Scheduler storeThreads = threads("sessionkit-store");

	private WaitingThread() {
	}

	/**
	 * Returns threads that take their work from one queue. The bounded elastic scheduler
	 * of Reactor chooses the thread when the work comes, so that it never runs if that
	 * thread is held for ever.
	 */
	private static Scheduler threads(String name) {
		return Schedulers.fromExecutorService(SharedThreads.queueing(name + "-", MOST_THREADS, Duration.ofMinutes(1)),
				name);
	}

	public static <T> Mono<T> run(Callable<T> work) {
		return run(work, (result) -> {
		});
	}

	/**
	 * Runs work that calls the store and nothing of the application, and whose result
	 * goes to nothing of it either, on a thread that no hook holds.
	 */
	public static <T> Mono<T> runAtStore(Callable<T> work) {
		return on(storeThreads, work, (result) -> {
		});
	}

	/**
	 * Runs work whose result must not be lost.
	 * @param after receives the result after it was passed on, or after it was dropped
	 * because the subscriber had cancelled
	 */
	public static <T> Mono<T> run(Callable<T> work, Consumer<T> after) {
		return on(threads, work, after);
	}

	private static <T> Mono<T> on(Scheduler scheduler, Callable<T> work, Consumer<T> after) {
		return Mono.create((sink) -> {
			AtomicBoolean gone = new AtomicBoolean();
			sink.onCancel(() -> gone.set(true));
			scheduler.schedule(() -> deliver(work, after, sink, gone));
		});
	}

	private static <T> void deliver(Callable<T> work, Consumer<T> after, MonoSink<T> sink, AtomicBoolean gone) {
		try {
			T result = work.call();
			sink.success(result);
			after.accept(result);
		}
		catch (Exception | Error ex) {
			fail(ex, sink, gone);
		}
	}

	private static void fail(Throwable ex, MonoSink<?> sink, AtomicBoolean gone) {
		if (gone.get()) {
			// Reactor would log the whole exception, and that of a hook may quote a
			// message
			logger.warn("A stream was cancelled, and what it still did failed: " + ex.getClass().getName());
			return;
		}
		sink.error(CarriedError.carrying(ex));
	}

}
