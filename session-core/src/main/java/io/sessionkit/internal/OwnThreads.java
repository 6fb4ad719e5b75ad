package io.sessionkit.internal;

import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;

/**
 * Makes the threads of SessionKit, which are daemons. They inherit no thread-locals: the
 * thread that happens to need a new one works for some user, and what it left there would
 * be in the work for all others. Their context class loader is that of the thread that
 * has created this factory, since one that inherits nothing has that of the system, which
 * knows nothing of what is in the jar of an application.
 */
public final class OwnThreads implements ThreadFactory {

	private final Supplier<String> names;

	private final ClassLoader loader;

	OwnThreads(Supplier<String> names, ClassLoader loader) {
		this.names = names;
		this.loader = loader;
	}

	/**
	 * Creates a factory of threads that all have the same name.
	 */
	public static OwnThreads named(String name) {
		return new OwnThreads(() -> name, loader());
	}

	/**
	 * Creates a factory of threads whose names end with a number.
	 * @param prefix the beginning of the names, with a hyphen at the end
	 */
	public static OwnThreads numbered(String prefix) {
		return new OwnThreads(numbers(prefix), loader());
	}

	static Supplier<String> numbers(String prefix) {
		AtomicInteger number = new AtomicInteger();
		return () -> prefix + number.incrementAndGet();
	}

	/**
	 * Returns the context class loader of the current thread. If that is above the one of
	 * SessionKit, it is not that of an application: threads of the JDK have the system's.
	 */
	static ClassLoader loader() {
		ClassLoader own = own();
		ClassLoader current = Thread.currentThread().getContextClassLoader();
		for (ClassLoader each = own; each != null; each = each.getParent()) {
			if (each == current) {
				return own;
			}
		}
		return (current != null) ? current : own;
	}

	/** Returns the class loader of SessionKit, which several applications may share. */
	static ClassLoader own() {
		return OwnThreads.class.getClassLoader();
	}

	@Override
	public Thread newThread(Runnable work) {
		Thread thread = new Thread(null, work, this.names.get(), 0, false);
		thread.setDaemon(true);
		thread.setContextClassLoader(this.loader);
		return thread;
	}

}
