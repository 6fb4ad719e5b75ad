package io.sessionkit.autoconfigure.advisor;

import java.util.List;

import io.sessionkit.stream.TurnStreams;

import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.context.SmartLifecycle;

/**
 * Breaks off the streams that are still at work when the time of {@link SessionDrain} and
 * of the requests of the web server is over. Their readers in other processes are told
 * while there are connections to the store: that of Redis ends its own before any bean is
 * destroyed.
 */
final class StreamClosing implements SmartLifecycle {

	/** Behind the turns that continue by themselves. */
	static final int PHASE = SessionDrain.PHASE - 2;

	private final ListableBeanFactory beans;

	/** The beans that were there at start; none is made when the application closes. */
	private volatile List<TurnStreams> streams = List.of();

	private volatile boolean running;

	/**
	 * Creates the closing.
	 * @param beans the beans of this context, without those of its parents, which go on
	 */
	StreamClosing(ListableBeanFactory beans) {
		this.beans = beans;
	}

	@Override
	public void start() {
		this.streams = List.copyOf(this.beans.getBeansOfType(TurnStreams.class).values());
		this.running = true;
	}

	@Override
	public void stop() {
		this.streams.forEach(TurnStreams::close);
		this.running = false;
	}

	@Override
	public boolean isRunning() {
		return this.running;
	}

	@Override
	public int getPhase() {
		return PHASE;
	}

}
