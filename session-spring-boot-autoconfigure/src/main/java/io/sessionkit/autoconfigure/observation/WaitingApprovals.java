package io.sessionkit.autoconfigure.observation;

import java.time.Duration;
import java.util.List;
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
 * never waits for the store: if the count is old, another thread counts again, at most
 * once in each interval, however many scrape. Until the first count, after one that
 * failed, and while one hangs, the gauges have no value. One that hangs is given up,
 * since its connection may be dead and others not; a few threads at most hang like that.
 */
final class WaitingApprovals implements MeterBinder {

	private static final Log logger = LogFactory.getLog(WaitingApprovals.class);

	/** The newest count; the gauges have no value while there is none. */
	private record Count(double proposed, double uncertain) {

		static final Count UNKNOWN = new Count(Double.NaN, Double.NaN);

	}

	/** The number of intervals after which a count is given up. */
	private static final int PATIENCE = 3;

	/** The largest number of threads that count. */
	private static final int MOST_THREADS = 3;

	private final Supplier<List<ToolApproval>> waiting;

	private final long interval;

	/** The newest count; guarded by this, as all that follows. */
	private Count newest = Count.UNKNOWN;

	/** The time at which the newest count began or ended. */
	private long at;

	/** The number of counts that have begun. */
	private int begun;

	/** True while the newest count is under way. */
	private boolean counting;

	/** The number of threads that count. */
	private int threads;

	/**
	 * Creates the gauges.
	 * @param waiting reads the calls that are counted
	 * @param interval how old a count may be
	 */
	WaitingApprovals(Supplier<List<ToolApproval>> waiting, Duration interval) {
		this.waiting = waiting;
		this.interval = interval.toNanos();
		this.at = System.nanoTime() - this.interval;
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

	private synchronized Count count() {
		Count before = this.newest;
		long age = System.nanoTime() - this.at;
		boolean hangs = this.counting && age > this.interval * PATIENCE;
		if (hangs) {
			this.newest = Count.UNKNOWN;
		}
		if (this.threads < MOST_THREADS && (hangs || !this.counting && age >= this.interval)) {
			begin();
		}
		return hangs ? Count.UNKNOWN : before;
	}

	private void begin() {
		int number = ++this.begun;
		CallOfStore.start("sessionkit-waiting-approvals", () -> countAgain(number));
		this.threads++;
		this.counting = true;
		this.at = System.nanoTime();
	}

	private void countAgain(int number) {
		Count count = Count.UNKNOWN;
		try {
			count = counted();
		}
		catch (RuntimeException ex) {
			logger.debug("The tool calls that wait could not be counted: " + ex.getClass().getName());
		}
		finally {
			ended(number, count);
		}
	}

	/** A count that was given up may come late. */
	private synchronized void ended(int number, Count count) {
		this.threads--;
		if (number == this.begun) {
			this.newest = count;
			this.counting = false;
			this.at = System.nanoTime();
		}
	}

	private Count counted() {
		List<ToolApproval> waiting = this.waiting.get();
		long uncertain = waiting.stream().filter((call) -> call.status() == ApprovalStatus.UNCERTAIN).count();
		return new Count(waiting.size() - uncertain, uncertain);
	}

}
