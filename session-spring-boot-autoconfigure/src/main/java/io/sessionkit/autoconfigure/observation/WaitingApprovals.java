package io.sessionkit.autoconfigure.observation;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BiFunction;
import java.util.function.Supplier;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.binder.MeterBinder;
import io.sessionkit.approval.ApprovalStatus;
import io.sessionkit.approval.ToolApproval;
import io.sessionkit.store.Page;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

/**
 * Gauges of the tool calls that wait for a person. A scrape gets the newest count and
 * never waits for the store: if the count is old, another thread counts again, one at a
 * time and at most once in each interval, however many scrape. Until the first count, and
 * after one that failed, the gauges have no value.
 */
final class WaitingApprovals implements MeterBinder {

	/** The most calls that are read for one owner. More are counted as that many. */
	static final int MOST = 1_000;

	private static final Log logger = LogFactory.getLog(WaitingApprovals.class);

	/** The newest count; the gauges have no value while there is none. */
	private record Count(double proposed, double uncertain) {

		static final Count UNKNOWN = new Count(Double.NaN, Double.NaN);

	}

	private final BiFunction<String, Page, List<ToolApproval>> pending;

	private final List<String> owners;

	private final long interval;

	private final AtomicBoolean counting = new AtomicBoolean();

	private volatile Count newest = Count.UNKNOWN;

	private volatile long countedAt;

	/**
	 * Creates the gauges.
	 * @param pending lists the calls that wait in the sessions of an owner
	 * @param owners the owners of the sessions whose calls are counted
	 * @param interval how old a count may be
	 */
	WaitingApprovals(BiFunction<String, Page, List<ToolApproval>> pending, List<String> owners, Duration interval) {
		this.pending = pending;
		this.owners = List.copyOf(owners);
		this.interval = interval.toNanos();
		this.countedAt = System.nanoTime() - this.interval;
	}

	@Override
	public void bindTo(MeterRegistry registry) {
		if (this.owners.isEmpty()) {
			logger.info("There is no gauge of waiting tool calls: name the owners whose calls are counted in"
					+ " sessionkit.observation.waiting-owners.");
			return;
		}
		gauge(ApprovalStatus.PROPOSED, () -> count().proposed()).register(registry);
		gauge(ApprovalStatus.UNCERTAIN, () -> count().uncertain()).register(registry);
	}

	private static Gauge.Builder<?> gauge(ApprovalStatus status, Supplier<Number> value) {
		return Gauge.builder("sessionkit.approvals.waiting", value)
			.description("Tool calls that wait for a person, of sessions of the counted owners.")
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
		List<ToolApproval> waiting = new ArrayList<>();
		for (String owner : this.owners) {
			waiting.addAll(this.pending.apply(owner, Page.first(MOST)));
		}
		long uncertain = waiting.stream().filter((call) -> call.status() == ApprovalStatus.UNCERTAIN).count();
		return new Count(waiting.size() - uncertain, uncertain);
	}

}
