package io.sessionkit.advisor;

import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicReference;

import io.micrometer.context.ContextSnapshotFactory;
import io.sessionkit.internal.SharedThreads;
import io.sessionkit.internal.Thrown;
import io.sessionkit.internal.binding.TurnBinding;
import io.sessionkit.internal.call.WaitingThread;
import io.sessionkit.internal.turn.RunningTurn;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

import org.springframework.ai.chat.client.ChatClientResponse;
import org.springframework.ai.chat.model.ChatResponse;

/**
 * Calls the model while guards check the input, and cancels that call if they do not pass
 * the input. Nothing from the model is passed on before the guards have passed the input.
 */
final class BesideModel {

	private static final int MOST_THREADS = 256;

	/**
	 * The threads for model calls, while the guards run on the thread of the caller. A
	 * call that was cancelled and does not end keeps its thread.
	 */
	private static final ExecutorService threads = SharedThreads.refusing("sessionkit-model-", MOST_THREADS,
			Duration.ofSeconds(10));

	private static final ContextSnapshotFactory snapshots = ContextSnapshotFactory.builder().build();

	private BesideModel() {
	}

	/**
	 * Calls the model on another thread, and runs the guards on this one.
	 */
	static ChatClientResponse call(RunningTurn turn, Callable<ChatClientResponse> model) {
		return call(turn, model, threads);
	}

	/**
	 * Calls the model on one of the given threads. If none is free, the guards run first.
	 */
	static ChatClientResponse call(RunningTurn turn, Callable<ChatClientResponse> model, ExecutorService threads) {
		Future<ChatClientResponse> running;
		try {
			running = threads.submit(carrying(model));
		}
		catch (RejectedExecutionException ex) {
			turn.inputCheck().pass();
			return called(model);
		}
		try {
			turn.inputCheck().pass();
		}
		catch (Throwable ex) {
			cancel(running, turn);
			throw ex;
		}
		return result(running, turn);
	}

	/**
	 * Wraps work so that the running turn, the observation, and all context that the
	 * application has registered for propagation are available on the other thread.
	 */
	private static <T> Callable<T> carrying(Callable<T> work) {
		return snapshots.captureAll().wrap(TurnBinding.carrying(work));
	}

	private static ChatClientResponse called(Callable<ChatClientResponse> model) {
		try {
			return model.call();
		}
		catch (RuntimeException ex) {
			throw ex;
		}
		catch (Exception ex) {
			throw new IllegalStateException(ex);
		}
	}

	/**
	 * Cancels the model call. If it has ended already, its answer is not used but its
	 * usage is recorded.
	 */
	private static void cancel(Future<ChatClientResponse> running, RunningTurn turn) {
		if (!running.cancel(true)) {
			try {
				turn.loop().unused(running.get().chatResponse());
			}
			catch (InterruptedException ex) {
				Thread.currentThread().interrupt();
			}
			catch (ExecutionException ex) {
				// it failed, and nothing waits for it any more
			}
		}
	}

	private static ChatClientResponse result(Future<ChatClientResponse> running, RunningTurn turn) {
		try {
			return running.get();
		}
		catch (InterruptedException ex) {
			running.cancel(true);
			Thread.currentThread().interrupt();
			throw interrupted(turn, ex);
		}
		catch (ExecutionException ex) {
			throw Thrown.unchecked(ex.getCause());
		}
	}

	private static IllegalStateException interrupted(RunningTurn turn, InterruptedException ex) {
		return new IllegalStateException(
				"The call on session " + turn.key() + " was interrupted while it waited for the model.", ex);
	}

	/**
	 * Subscribes to the model at once, and holds back all its signals, including the end,
	 * until the guards have passed the input.
	 */
	static Flux<ChatClientResponse> stream(RunningTurn turn, Flux<ChatClientResponse> model) {
		return Flux.defer(() -> {
			AtomicReference<@Nullable ChatResponse> last = new AtomicReference<>();
			Mono<RunningTurn> passed = passed(turn).cache();
			// the error is passed on once, as the error of the guards
			Mono<RunningTurn> gate = passed.onErrorResume((ex) -> Mono.never());
			Flux<ChatClientResponse> held = model.doOnNext((response) -> last.set(response.chatResponse()))
				.materialize()
				.delayUntil((signal) -> gate)
				.dematerialize();
			return Flux.merge(passed.thenMany(Flux.<ChatClientResponse>empty()), held).doOnError((ex) -> {
				if (turn.inputCheck().isPending()) {
					turn.loop().unused(last.get());
				}
			});
		});
	}

	/**
	 * Runs the guards on a thread that may wait.
	 * @return the turn, when the guards have passed the input
	 */
	static Mono<RunningTurn> passed(RunningTurn turn) {
		return WaitingThread.run(() -> {
			turn.inputCheck().pass();
			return turn;
		});
	}

}
