package io.sessionkit.autoconfigure.observation;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.binder.MeterBinder;
import io.sessionkit.approval.ApprovalStatus;
import io.sessionkit.approval.ToolApproval;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

/**
 * Gauges of the tool calls that wait for a person. A scrape gets the newest count and
 * never waits for the store: if the count is old, another thread counts again, one at a
 * time and at most once in each interval, however many scrape. Until the first count, and
 * after one that failed, the gauges have no value.
 */
final class WaitingApprovals implements MeterBinder {

	private static final Log logger = LogFactory.getLog(WaitingApprovals.class);

	/** The newest count; the gauges have no value while there is none. */
	private record Count(double proposed, double uncertain) {

		static final Count UNKNOWN = new Count(Double.NaN, Double.NaN);

	}

	private final Supplier<List<ToolApproval>> waiting;

	private final long interval;

	private final AtomicBoolean counting = new AtomicBoolean();

	private volatile Count newest = Count.UNKNOWN;

	private volatile long countedAt;

	/**
	 * Creates the gauges.
	 * @param waiting reads the calls that are counted
	 * @param interval how old a count may be
	 */
	WaitingApprovals(Supplier<List<ToolApproval>> waiting, Duration interval) {
		this.waiting = waiting;
		this.interval = interval.toNanos();
		this.countedAt = System.nanoTime() - this.interval;
	}

	@Override
	public void bindTo(MeterRegistry registry) {
		gauge(ApprovalStatus.PROPOSED, () -> count().proposed()).register(registry);
		gauge(ApprovalStatus.UNCERTAIN, () -> count().uncertain()).register(registry);
	}

	private static Gauge.Builder<?> gauge(ApprovalStatus status, Supplier<Number> value) {
		return Gauge.builder("sessionkit.approvals.waiting", value)
			.description("Tool calls that wait for a person.")
			.tag("status", ObservationNames.value(status));
	}

	private Count count() {
		Count before = this.newest;
		if (System.nanoTime() - this.countedAt >= this.interval && this.counting.compareAndSet(false, true)) {
			Thread counter = new Thread(this::countAgain, "sessionkit-waiting-approvals");
			counter.setDaemon(true);
			counter.start();
		}
		return before;
	}

	private void countAgain() {
		try {
			this.newest = counted();
		}
		catch (RuntimeException ex) {
			this.newest = Count.UNKNOWN;
			logger.debug("The tool calls that wait could not be counted: " + ex.getClass().getName());
		}
		finally {
			this.countedAt = System.nanoTime();
			this.counting.set(false);
		}
	}

	private Count counted() {
		List<ToolApproval> waiting = this.waiting.get();
		long uncertain = waiting.stream().filter((call) -> call.status() == ApprovalStatus.UNCERTAIN).count();
		return new Count(waiting.size() - uncertain, uncertain);
	}

}
