package io.sessionkit.internal;

import java.time.Duration;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * Threads that all applications share for which SessionKit was loaded once, and that end
 * when there is nothing to do. Work has the context class loader of the thread that hands
 * it over, and none stays behind: a thread would keep an application in memory that has
 * ended, and give its classes to another one.
 */
public final class SharedThreads extends ThreadPoolExecutor {

	private SharedThreads(String prefix, int least, int most, Duration idle, BlockingQueue<Runnable> queue) {
		super(least, most, idle.toMillis(), TimeUnit.MILLISECONDS, queue,
				new OwnThreads(OwnThreads.numbers(prefix), OwnThreads.own()));
	}

	/**
	 * Creates threads that take their work from one queue, so that nothing waits for one
	 * thread that is held for ever.
	 * @param prefix the beginning of their names, with a hyphen at the end
	 * @param most the largest number of threads
	 * @param idle the time after which a thread without work ends
	 */
	public static SharedThreads queueing(String prefix, int most, Duration idle) {
		SharedThreads threads = new SharedThreads(prefix, most, most, idle, new LinkedBlockingQueue<>());
		threads.allowCoreThreadTimeOut(true);
		return threads;
	}

	/**
	 * Creates threads that refuse work for which none of them is free.
	 * @param prefix the beginning of their names, with a hyphen at the end
	 * @param most the largest number of threads
	 * @param idle the time after which a thread without work ends
	 */
	public static SharedThreads refusing(String prefix, int most, Duration idle) {
		return new SharedThreads(prefix, 0, most, idle, new SynchronousQueue<>());
	}

	@Override
	public void execute(Runnable work) {
		ClassLoader loader = OwnThreads.loader();
		super.execute(() -> run(work, loader));
	}

	private static void run(Runnable work, ClassLoader loader) {
		Thread thread = Thread.currentThread();
		thread.setContextClassLoader(loader);
		try {
			work.run();
		}
		finally {
			thread.setContextClassLoader(OwnThreads.own());
		}
	}

}
