package io.sessionkit.autoconfigure.observation;

/**
 * Starts threads that call the store for a request that may not wait for it. They inherit
 * no thread-locals of the request, such as the key of a routing DataSource, since what
 * they find out is for all.
 */
final class CallOfStore {

	private CallOfStore() {
	}

	static void start(String name, Runnable call) {
		Thread thread = new Thread(null, call, name, 0, false);
		thread.setDaemon(true);
		thread.setContextClassLoader(Thread.currentThread().getContextClassLoader());
		thread.start();
	}

}
