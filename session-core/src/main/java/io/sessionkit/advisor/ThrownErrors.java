package io.sessionkit.advisor;

import io.sessionkit.internal.CarriedError;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Operators;
import reactor.util.context.Context;

/**
 * A stream that passes on as a signal what its source throws while it is subscribed to or
 * asked for elements. Reactor throws a {@link LinkageError} or a
 * {@link VirtualMachineError} at the thread that does so, and again wherever one passes
 * as a signal. That thread is one on which nobody would see it, and the turn would run
 * for ever, so the signal is a {@link CarriedError}.
 */
final class ThrownErrors<T> extends Flux<T> {

	private final Flux<T> source;

	private ThrownErrors(Flux<T> source) {
		this.source = source;
	}

	static <T> Flux<T> passedOn(Flux<T> source) {
		return new ThrownErrors<>(source);
	}

	@Override
	public void subscribe(CoreSubscriber<? super T> actual) {
		Guarded<T> guarded = new Guarded<>(actual);
		try {
			this.source.subscribe(guarded);
		}
		catch (Error ex) {
			guarded.thrown(ex);
		}
	}

	private static final class Guarded<T> implements CoreSubscriber<T>, Subscription {

		private final CoreSubscriber<? super T> actual;

		private volatile Subscription source = Operators.emptySubscription();

		private volatile boolean subscribed;

		private volatile boolean ended;

		Guarded(CoreSubscriber<? super T> actual) {
			this.actual = actual;
		}

		@Override
		public Context currentContext() {
			return this.actual.currentContext();
		}

		@Override
		public void onSubscribe(Subscription subscription) {
			this.source = subscription;
			this.subscribed = true;
			this.actual.onSubscribe(this);
		}

		@Override
		public void onNext(T element) {
			this.actual.onNext(element);
		}

		@Override
		public void onError(Throwable ex) {
			this.ended = true;
			this.actual.onError(CarriedError.carrying(ex));
		}

		@Override
		public void onComplete() {
			this.ended = true;
			this.actual.onComplete();
		}

		@Override
		public void request(long count) {
			try {
				this.source.request(count);
			}
			catch (Error ex) {
				thrown(ex);
			}
		}

		@Override
		public void cancel() {
			this.ended = true;
			this.source.cancel();
		}

		void thrown(Error ex) {
			if (this.ended) {
				throw ex;
			}
			this.ended = true;
			this.source.cancel();
			if (this.subscribed) {
				this.actual.onError(CarriedError.carrying(ex));
			}
			else {
				Operators.error(this.actual, CarriedError.carrying(ex));
			}
		}

	}

}
