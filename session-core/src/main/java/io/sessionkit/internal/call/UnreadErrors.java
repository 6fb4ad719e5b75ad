package io.sessionkit.internal.call;

import java.util.concurrent.atomic.AtomicBoolean;

import io.sessionkit.internal.CarriedError;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * Errors of a stream that come after its reader has left: a turn is stored before its
 * reader learns that it has failed, and the reader may leave meanwhile.
 */
public final class UnreadErrors {

	private static final Log logger = LogFactory.getLog(UnreadErrors.class);

	private UnreadErrors() {
	}

	/**
	 * Returns a stream that does not pass on an error after its reader has cancelled.
	 * @param stream the stream whose errors are meant
	 */
	public static <T> Flux<T> loggedByClass(Flux<T> stream) {
		return Flux.defer(() -> {
			AtomicBoolean left = new AtomicBoolean();
			return stream.onErrorResume((ex) -> left.get(), UnreadErrors::logged).doOnCancel(() -> left.set(true));
		});
	}

	/** Reactor would log the whole exception, and that of a model may quote a message. */
	private static <T> Mono<T> logged(Throwable ex) {
		logger.warn("A stream has failed after its reader had left: " + CarriedError.original(ex).getClass().getName());
		return Mono.never();
	}

}
