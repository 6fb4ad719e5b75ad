package io.sessionkit.advisor;

import java.time.Duration;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;

import io.sessionkit.internal.SharedThreads;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Operators;
import reactor.util.context.Context;

/**
 * A stream that does not wait until its source is cancelled, and passes on nothing that
 * the source says after that. A provider's client may close its connection only when the
 * read at work on it ends, which takes a silent model up to the timeout. The turn is
 * stored meanwhile.
 */
final class UnwaitedCancel<T> extends Flux<T> {

	private static final Log logger = LogFactory.getLog(UnwaitedCancel.class);

	private static final int MOST_THREADS = 256;

	/**
	 * Threads for nothing else: they may all be waiting, and a turn must be stored all
	 * the same.
	 */
	private static final Executor threads = SharedThreads.queueing("sessionkit-cancel-", MOST_THREADS,
			Duration.ofSeconds(10));

	private final Flux<T> source;

	private UnwaitedCancel(Flux<T> source) {
		this.source = source;
	}

	static <T> Flux<T> of(Flux<T> source) {
		return new UnwaitedCancel<>(source);
	}

	@Override
	public void subscribe(CoreSubscriber<? super T> actual) {
		this.source.subscribe(new Reader<>(actual));
	}

	private static final class Reader<T> implements CoreSubscriber<T>, Subscription {

		private final CoreSubscriber<? super T> actual;

		private final AtomicBoolean over = new AtomicBoolean();

		private volatile Subscription source = Operators.emptySubscription();

		Reader(CoreSubscriber<? super T> actual) {
			this.actual = actual;
		}

		@Override
		public Context currentContext() {
			return this.actual.currentContext();
		}

		@Override
		public void onSubscribe(Subscription subscription) {
			this.source = subscription;
			this.actual.onSubscribe(this);
		}

		@Override
		public void onNext(T element) {
			if (!this.over.get()) {
				this.actual.onNext(element);
			}
		}

		@Override
		public void onError(Throwable ex) {
			if (end()) {
				this.actual.onError(ex);
			}
		}

		@Override
		public void onComplete() {
			if (end()) {
				this.actual.onComplete();
			}
		}

		@Override
		public void request(long count) {
			this.source.request(count);
		}

		@Override
		public void cancel() {
			if (end()) {
				threads.execute(this::cancelSource);
			}
		}

		private boolean end() {
			return this.over.compareAndSet(false, true);
		}

		/** Reactor would log the whole exception, which may quote a message. */
		private void cancelSource() {
			try {
				this.source.cancel();
			}
			catch (Throwable ex) {
				logger.warn("A model whose stream was cancelled has failed: " + ex.getClass().getName());
			}
		}

	}

}
