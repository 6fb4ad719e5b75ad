package io.sessionkit.internal.run;

import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;

import io.micrometer.context.ContextSnapshotFactory;
import io.sessionkit.internal.OwnThreads;
import io.sessionkit.internal.Thrown;
import io.sessionkit.internal.binding.ActingCaller;
import io.sessionkit.internal.binding.TurnBinding;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/**
 * One run of a tool within a time limit, on a thread of its own. When the time is over,
 * the thread is interrupted, and nobody waits for it any longer. If the tool does not end
 * then, it keeps its thread, and what it returns is not used.
 */
final class LimitedRun implements Runnable {

	private static final Log logger = LogFactory.getLog(LimitedRun.class);

	/** The time after which a tool that was stopped and has not ended is worth a word. */
	private static final Duration PATIENCE = Duration.ofSeconds(1);

	private static final AtomicInteger threads = new AtomicInteger();

	private static final ContextSnapshotFactory snapshots = ContextSnapshotFactory.builder().build();

	/** The runs of this process that were stopped and have not ended. */
	private static final AtomicInteger unended = new AtomicInteger();

	private final String tool;

	private final Duration limit;

	private final Callable<String> work;

	private final CompletableFuture<String> result = new CompletableFuture<>();

	/** The thread while the tool runs on it. */
	private @Nullable Thread thread;

	/** True if an interrupt came before the tool had its thread. */
	private boolean interrupted;

	/** The time at which the tool was stopped; null if it was not. */
	private @Nullable Long stoppedAt;

	/**
	 * Prepares a run. What the application has registered for propagation, the turn, the
	 * caller and the context of a stream are carried to the other thread. Once the tool
	 * is stopped, it cannot change its turn any more.
	 */
	LimitedRun(String tool, Duration limit, Callable<String> work) {
		this.tool = tool;
		this.limit = limit;
		this.work = snapshots.captureAll()
			.wrap(TurnBinding.carryingTool(ActingCaller.carrying(work),
					(turn) -> new StoppableTurn(turn, tool, this::isStopped)));
	}

	/**
	 * Starts a thread for this run alone, which leaves no thread-locals to the tool of
	 * another caller.
	 */
	private void start() {
		OwnThreads.named("sessionkit-tool-" + threads.incrementAndGet()).newThread(this).start();
	}

	/**
	 * Runs the tool and waits for its end. A thread that is interrupted while it waits
	 * passes the interrupt on to the tool.
	 * @return the result of the tool
	 * @throws StoppedTool if the time is over
	 */
	String await() {
		long begun = System.nanoTime();
		start();
		boolean interrupted = false;
		try {
			while (true) {
				try {
					return this.result.get(this.limit.toNanos() - (System.nanoTime() - begun), TimeUnit.NANOSECONDS);
				}
				catch (InterruptedException ex) {
					interrupted = true;
					interrupt();
				}
			}
		}
		catch (TimeoutException ex) {
			return stopped();
		}
		catch (ExecutionException ex) {
			throw Thrown.unchecked(ex.getCause());
		}
		finally {
			if (interrupted) {
				Thread.currentThread().interrupt();
			}
		}
	}

	private String stopped() {
		if (!stop()) {
			return ended();
		}
		StoppedTool stopped = new StoppedTool(this.tool, this.limit);
		int before = unended.get() - 1;
		logger.warn(stopped.text() + ((before > 0)
				? " " + before + " runs of tools of this process that were stopped before have not ended." : ""));
		throw stopped;
	}

	/** Returns the result of a tool that has ended at the last moment. */
	private String ended() {
		try {
			return this.result.join();
		}
		catch (CompletionException ex) {
			throw Thrown.unchecked(ex.getCause());
		}
	}

	private synchronized boolean stop() {
		if (this.result.isDone()) {
			return false;
		}
		this.stoppedAt = System.nanoTime();
		unended.incrementAndGet();
		interrupt();
		return true;
	}

	private synchronized boolean isStopped() {
		return this.stoppedAt != null;
	}

	/** Interrupts the tool. */
	private synchronized void interrupt() {
		this.interrupted = this.thread == null;
		if (this.thread != null) {
			this.thread.interrupt();
		}
	}

	@Override
	public void run() {
		if (!begin(Thread.currentThread())) {
			return;
		}
		try {
			String returned = this.work.call();
			end(() -> this.result.complete(returned));
		}
		catch (Exception | Error ex) {
			end(() -> this.result.completeExceptionally(ex));
		}
	}

	/** Returns false if the time is over before the tool has begun. */
	private synchronized boolean begin(Thread current) {
		if (this.stoppedAt != null) {
			unended.decrementAndGet();
			return false;
		}
		this.thread = current;
		if (this.interrupted) {
			current.interrupt();
		}
		return true;
	}

	private synchronized void end(Runnable ending) {
		this.thread = null;
		Long stopped = this.stoppedAt;
		if (stopped == null) {
			ending.run();
			return;
		}
		int left = unended.decrementAndGet();
		Duration late = Duration.ofNanos(System.nanoTime() - stopped);
		if (late.compareTo(PATIENCE) > 0) {
			logger.warn("Tool '" + this.tool + "' has ended " + late.toSeconds()
					+ " s after it was stopped. What it has returned is not used. " + left
					+ " stopped runs of tools of this process have not ended.");
		}
	}

}
