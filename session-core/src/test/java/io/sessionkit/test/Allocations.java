package io.sessionkit.test;

import java.lang.management.ManagementFactory;

import com.sun.management.ThreadMXBean;

/**
 * Measures what the calling thread allocates. It is more than in an application, since
 * the tests run without the compiler that removes unneeded objects.
 */
public final class Allocations {

	private static final int WARM_UP = 150;

	private static final int TIMES = 50;

	private Allocations() {
	}

	/**
	 * Runs a call many times.
	 * @param call the call
	 * @return the KB, of 1,024 bytes, that it allocates on average once it is warm
	 */
	public static long kilobytesOf(Runnable call) {
		ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
		for (int i = 0; i < WARM_UP; i++) {
			call.run();
		}
		long before = threads.getCurrentThreadAllocatedBytes();
		for (int i = 0; i < TIMES; i++) {
			call.run();
		}
		return (threads.getCurrentThreadAllocatedBytes() - before) / TIMES / 1_024;
	}

}
