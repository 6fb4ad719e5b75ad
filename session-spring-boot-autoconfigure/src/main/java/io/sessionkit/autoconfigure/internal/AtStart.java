package io.sessionkit.autoconfigure.internal;

import org.springframework.context.SmartLifecycle;

/**
 * A task that runs once all beans have been created, including those that initialize
 * others, and before a server accepts requests.
 */
public abstract class AtStart implements SmartLifecycle {

	private volatile boolean running;

	protected abstract void run();

	@Override
	public final void start() {
		run();
		this.running = true;
	}

	@Override
	public final void stop() {
		this.running = false;
	}

	@Override
	public final boolean isRunning() {
		return this.running;
	}

	@Override
	public final int getPhase() {
		return Integer.MIN_VALUE;
	}

}
