package io.sessionkit.faults;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.BooleanSupplier;

import io.sessionkit.store.SessionStore;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Eight callers of two applications talk at once while something breaks; then an auditor
 * looks at what is left.
 */
final class Workload {

	private static final int CALLERS = 8;

	private static final long PATIENCE_MINUTES = 60;

	private final Book book = new Book();

	private final Sessions sessions = Sessions.ofNew();

	private final long seed;

	private final int actions;

	/** The time that callers wait while the store is away. */
	private Duration patience = Duration.ZERO;

	Workload(long seed, int actions) {
		this.seed = seed;
		this.actions = actions;
	}

	/**
	 * The seed that this run begins with, which is printed: a random one, or
	 * {@code -Dsessionkit.seed}.
	 */
	static long seed(String what) {
		long seed = Long.getLong("sessionkit.seed", ThreadLocalRandom.current().nextLong(1_000_000_000));
		System.out.println(what + " from seed " + seed);
		return seed;
	}

	/**
	 * Returns the number of actions that each caller takes: so many in the build,
	 * {@code -Dsessionkit.faults} times as many in a long run.
	 */
	static int actions(int inTheBuild) {
		return inTheBuild * Integer.getInteger("sessionkit.faults", 1);
	}

	/**
	 * From now on callers wait so long when the store was away.
	 */
	Workload waiting(Duration patience) {
		this.patience = patience;
		return this;
	}

	Book book() {
		return this.book;
	}

	/**
	 * Lets all callers talk, while something goes on that may break what they use.
	 * @param ours the store that they use
	 * @param fault runs once they have begun; it ends with the last of them, or before
	 */
	void run(SessionStore ours, Fault fault) {
		ExecutorService threads = Executors.newFixedThreadPool(CALLERS);
		try (App one = new App(ours, this.book); App other = new App(ours, this.book)) {
			List<Future<?>> running = new ArrayList<>();
			for (int i = 0; i < CALLERS; i++) {
				running.add(threads.submit(new Caller("c" + i, (i % 2 == 0) ? one : other, this.book, this.sessions,
						this.seed * CALLERS + i, this.actions, this.patience)));
			}
			fault.during(() -> running.stream().allMatch(Future::isDone));
			for (Future<?> caller : running) {
				caller.get(PATIENCE_MINUTES, TimeUnit.MINUTES);
			}
		}
		catch (TimeoutException ex) {
			throw new AssertionError("A caller hangs; " + this.book.outcomes(), ex);
		}
		catch (Exception ex) {
			throw new AssertionError(ex);
		}
		finally {
			threads.shutdownNow();
		}
	}

	/**
	 * Proves that what is left is what callers were told.
	 * @param clean a way to the store on which nothing breaks any more
	 */
	void audit(SessionStore clean) {
		assertThatMuchWasDone();
		try {
			new Auditor(clean, this.book, this.sessions).audit();
		}
		catch (AssertionError | RuntimeException ex) {
			throw new AssertionError("Run of seed " + this.seed + ": " + ex.getMessage(), ex);
		}
	}

	/**
	 * The same where a store may have forgotten the newest of what it had confirmed:
	 * threads must be whole, although not all are there.
	 */
	void auditWhatIsLeft(SessionStore clean) {
		assertThatMuchWasDone();
		new Auditor(clean, this.book, this.sessions).auditThreads();
	}

	/** Where nobody ever gets anything done, nothing is lost either. */
	private void assertThatMuchWasDone() {
		System.out.println("seen: " + this.book.outcomes());
		assertThat(this.book.outcomes()).as("Run of seed %d", this.seed).containsKeys("ask", "gated", "pops", "decide");
		assertThat(this.book.effects).as("calls that ran, of seed %d", this.seed).isNotEmpty();
	}

	/**
	 * Something that breaks, and recovers.
	 */
	@FunctionalInterface
	interface Fault {

		/** Nothing breaks by itself. */
		Fault NONE = (over) -> {
		};

		/**
		 * Breaks things again and again.
		 * @param over says when the last caller has ended
		 */
		void during(BooleanSupplier over) throws Exception;

	}

}
