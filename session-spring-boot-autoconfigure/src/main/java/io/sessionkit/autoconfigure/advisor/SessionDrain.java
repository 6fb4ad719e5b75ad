package io.sessionkit.autoconfigure.advisor;

import java.time.Duration;
import java.util.List;

import io.sessionkit.autoconfigure.internal.WrittenTime;
import io.sessionkit.conversation.Conversations;
import io.sessionkit.stream.TurnStreams;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.context.ApplicationContext;
import org.springframework.context.ApplicationContextAware;
import org.springframework.context.ApplicationListener;
import org.springframework.context.SmartLifecycle;
import org.springframework.context.event.ContextClosedEvent;

/**
 * Ends the work on sessions in order when the application shuts down, while its beans are
 * still there. It does so in the phase in which a web server ends its requests, and at
 * the same time: requests end because their turns are handed over. Nothing new begins,
 * and turns stop, from the moment at which the context begins to close: executors are
 * waited for in an earlier phase, and their tasks may have turns at work.
 */
final class SessionDrain implements SmartLifecycle, ApplicationListener<ContextClosedEvent>, ApplicationContextAware {

	/** The phase of Spring Boot's graceful shutdown of web servers. */
	static final int PHASE = DEFAULT_PHASE - 1024;

	private static final Log logger = LogFactory.getLog(SessionDrain.class);

	private final ListableBeanFactory beans;

	private final Duration timeout;

	private final Duration phaseTimeout;

	/** The beans that were there at start; none is made when the application closes. */
	private volatile List<Conversations> conversations = List.of();

	private volatile List<TurnStreams> streams = List.of();

	private volatile boolean running;

	private @Nullable ApplicationContext context;

	/**
	 * Creates the drain.
	 * @param beans the beans of this context, without those of its parents, which go on
	 * @param timeout how long it waits
	 * @param phaseTimeout how long Spring waits for a phase
	 */
	SessionDrain(ListableBeanFactory beans, Duration timeout, Duration phaseTimeout) {
		this.beans = beans;
		this.timeout = timeout;
		this.phaseTimeout = phaseTimeout;
	}

	@Override
	public void setApplicationContext(ApplicationContext context) {
		this.context = context;
	}

	/** A context is told of the end of its children too. */
	@Override
	public void onApplicationEvent(ContextClosedEvent event) {
		if (event.getApplicationContext() == this.context) {
			refuse();
		}
	}

	@Override
	public void start() {
		if (this.timeout.compareTo(this.phaseTimeout) > 0) {
			logger.warn("'sessionkit.shutdown.timeout' is " + WrittenTime.of(this.timeout)
					+ ", and Spring goes on after " + WrittenTime.of(this.phaseTimeout)
					+ ". Raise 'spring.lifecycle.timeout-per-shutdown-phase', or lower it.");
		}
		this.conversations = List.copyOf(this.beans.getBeansOfType(Conversations.class).values());
		this.streams = List.copyOf(this.beans.getBeansOfType(TurnStreams.class).values());
		this.conversations.forEach(Conversations::accept);
		this.running = true;
	}

	@Override
	public void stop() {
		drain();
		this.running = false;
	}

	/**
	 * Drains on another thread, so that the other beans of the phase stop meanwhile. If
	 * nothing is at work, there is nothing to wait for.
	 */
	@Override
	public void stop(Runnable callback) {
		if (!refuse()) {
			this.running = false;
			callback.run();
			return;
		}
		thread(() -> {
			try {
				drain();
			}
			finally {
				this.running = false;
				callback.run();
			}
		}).start();
	}

	/** Makes a thread that inherits no thread-locals, which may be those of a user. */
	private static Thread thread(Runnable work) {
		Thread thread = new Thread(null, work, "sessionkit-drain", 0, false);
		thread.setContextClassLoader(Thread.currentThread().getContextClassLoader());
		return thread;
	}

	/** Lets nothing new begin, and returns whether anything is at work. */
	private boolean refuse() {
		boolean idle = true;
		for (Conversations each : this.conversations) {
			idle &= each.drain(Duration.ZERO);
		}
		for (TurnStreams each : this.streams) {
			idle &= each.awaitWritten(Duration.ZERO);
		}
		return !idle;
	}

	private void drain() {
		long begun = System.nanoTime();
		boolean idle = true;
		for (Conversations each : this.conversations) {
			idle &= each.drain(left(begun));
		}
		Duration left = idle ? left(begun) : Duration.ZERO;
		this.streams.forEach((each) -> each.awaitWritten(left));
	}

	private Duration left(long begun) {
		Duration left = this.timeout.minusNanos(System.nanoTime() - begun);
		return left.isNegative() ? Duration.ZERO : left;
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
