package io.sessionkit.benchmarks;

import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.Locale;

import com.sun.management.ThreadMXBean;
import org.jspecify.annotations.Nullable;

/**
 * One contender on sessions of one size. Sessions of up to a thousand messages are
 * rebuilt for each round, so that they have that size when they are measured. Longer ones
 * grow by a few hundred messages while they are measured.
 */
final class Cell {

	private static final int MADE_ANEW = 1_000;

	/** Enough turns to show a compaction that happens only now and then. */
	private static final int TRIED = 22;

	private static final int LEAD_IN = 15;

	private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

	private final Contender contender;

	private final int size;

	private final CannedChatModel model;

	private final Samples samples = new Samples();

	private @Nullable String notRun;

	private String thread;

	private int sent;

	private long questions;

	private long allocated;

	Cell(Contender contender, int size, CannedChatModel model) {
		this.contender = contender;
		this.size = size;
		this.model = model;
		this.thread = "t" + size;
	}

	Contender contender() {
		return this.contender;
	}

	int size() {
		return this.size;
	}

	String thread() {
		return this.thread;
	}

	void preload() {
		this.contender.preload(this.thread, this.size);
	}

	/**
	 * Tries a few turns, and gives up if one takes too long.
	 */
	void tryOut(Duration turnLimit) {
		long end = System.nanoTime() + turnLimit.toNanos();
		for (int i = 0; i < TRIED && this.notRun == null && (i == 0 || System.nanoTime() < end); i++) {
			long took = turn();
			if (took > turnLimit.toNanos()) {
				this.notRun = String.format(Locale.ROOT, "not run: more than %d s per turn (%.1f s)",
						turnLimit.toSeconds(), took / 1e9);
			}
		}
	}

	/**
	 * Runs the turns of this contender in a round.
	 * @param round the number of the round
	 * @param options how much it may measure
	 * @param measured whether the times count
	 */
	void play(int round, Options options, boolean measured) {
		if (this.notRun != null || isDone(options)) {
			return;
		}
		if (this.size <= MADE_ANEW) {
			this.thread = "t" + this.size + "-" + round;
			preload();
		}
		leadIn(options.pace().blockTime());
		long end = System.nanoTime() + options.pace().blockTime().toNanos();
		for (int i = 0; i < options.pace().blockTurns() && (i == 0 || System.nanoTime() < end); i++) {
			long before = THREADS.getCurrentThreadAllocatedBytes();
			long took = turn();
			if (measured) {
				this.allocated += THREADS.getCurrentThreadAllocatedBytes() - before;
				this.samples.add(took);
			}
		}
		this.sent = this.model.requestSize();
	}

	/**
	 * Returns whether this contender has used up its time, so that slow ones do not use
	 * that of the others.
	 */
	private boolean isDone(Options options) {
		return this.samples.sum() > options.pace().blockTime().toNanos() * options.pace().rounds() * 2;
	}

	/**
	 * Fills the window, lets the pool check its idle connections, and brings back to the
	 * caches what the others have evicted. It does so for all sizes alike; otherwise a
	 * new session would look faster.
	 */
	private void leadIn(Duration time) {
		int needed = Math.max(1, (Contenders.WINDOW_MESSAGES - this.size) / 2);
		long end = System.nanoTime() + time.toNanos();
		for (int i = 0; i < needed || (i < LEAD_IN && System.nanoTime() < end); i++) {
			turn();
		}
	}

	private long turn() {
		var question = Dialogue.question(this.questions++);
		long start = System.nanoTime();
		this.contender.threads().turn(this.thread, question);
		return System.nanoTime() - start;
	}

	TurnTime result() {
		return (this.notRun != null) ? TurnTime.notRun(this.notRun)
				: TurnTime.of(this.samples, this.sent, this.allocated);
	}

}
