package io.sessionkit.benchmarks;

import java.util.OptionalDouble;

import org.jspecify.annotations.Nullable;

/**
 * A contender in the memory of the process.
 */
final class MemoryContender implements Contender {

	private final String name;

	private final Threads threads;

	MemoryContender(String name, Threads threads) {
		this.name = name;
		this.threads = threads;
	}

	@Override
	public String name() {
		return this.name;
	}

	@Override
	public @Nullable String byHand() {
		return null;
	}

	@Override
	public Threads threads() {
		return this.threads;
	}

	@Override
	public void preload(String thread, int messages) {
		this.threads.preload(thread, messages);
	}

	@Override
	public void settle() {
		// nothing to put in order
	}

	/** Returns the size of the whole heap. Only its growth is meaningful. */
	@Override
	public OptionalDouble storedBytes() {
		Runtime runtime = Runtime.getRuntime();
		System.gc();
		return OptionalDouble.of(runtime.totalMemory() - runtime.freeMemory());
	}

	@Override
	public TurnCost count(String thread, int turns) {
		return TurnCost.ofRoundTrips(0);
	}

	@Override
	public ServerWork work(String thread, int turns) {
		return ServerWork.UNKNOWN;
	}

	@Override
	public void close() {
		// ends with the process
	}

}
