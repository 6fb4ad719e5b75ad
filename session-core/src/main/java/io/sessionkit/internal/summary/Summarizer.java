package io.sessionkit.internal.summary;

import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Consumer;

import io.sessionkit.Session;
import io.sessionkit.SessionKey;
import io.sessionkit.Summary;
import io.sessionkit.Turn;
import io.sessionkit.ViewTotals;
import io.sessionkit.context.Compaction;
import io.sessionkit.context.Compaction.Status;
import io.sessionkit.context.Pins;
import io.sessionkit.context.Summarize;
import io.sessionkit.context.SummaryTrigger;
import io.sessionkit.hook.SessionHook;
import io.sessionkit.hook.TurnBinding;
import io.sessionkit.internal.view.Summaries;
import io.sessionkit.internal.view.TokenMemory;
import io.sessionkit.internal.view.ViewReader;
import io.sessionkit.store.Commit;
import io.sessionkit.store.HeaderChange;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.SessionView;
import io.sessionkit.store.Window;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

/**
 * Replaces older turns of the view with summaries. If anything fails, the session stays
 * as it was, and the turn that needed the summary gets no exception. Safe for use by many
 * threads.
 */
public final class Summarizer implements AutoCloseable {

	private static final Log logger = LogFactory.getLog(Summarizer.class);

	/** The number of attempts to store a summary in a session that other turns change. */
	private static final int ATTEMPTS = 5;

	private static final int MOST_JOBS = 16;

	private final SessionStore store;

	private final Summarize rule;

	private final Pins pins;

	private final TokenMemory memory;

	private final SummaryGuards guards;

	private final SummaryCalls calls = new SummaryCalls();

	private final ExecutorService jobs = SummaryCalls.threads("sessionkit-compaction-", MOST_JOBS);

	private final Set<SessionKey> underWay = ConcurrentHashMap.newKeySet();

	private final Backoff backoff;

	/**
	 * Creates a summarizer.
	 * @param pins the pins, which keep messages as they are
	 * @param hooks the hooks that check what a summarizer reads and writes
	 */
	public Summarizer(SessionStore store, Summarize rule, Pins pins, List<SessionHook> hooks, TokenMemory memory) {
		this.guards = new SummaryGuards(hooks);
		this.store = store;
		this.rule = rule;
		this.pins = pins;
		this.memory = memory;
		this.backoff = new Backoff(rule.backoff());
	}

	public boolean countsTokens() {
		return this.rule.trigger() == null && this.rule.triggerTokens() != Long.MAX_VALUE;
	}

	/**
	 * Returns whether a summary is due before a turn on this session.
	 */
	public boolean isDueBefore(Session header) {
		return this.rule.mode() == Summarize.Mode.BEFORE && isDue(header);
	}

	/**
	 * Makes a summary on the caller's thread.
	 */
	public Compaction compactBefore(SessionKey key) {
		return attemptDue(key);
	}

	/**
	 * Makes a summary on another thread, if one is due.
	 * @param opened the header before the turn
	 * @param turn the turn, which is stored by now
	 * @param report the consumer of the outcome
	 */
	public void compactAfter(Session opened, Turn turn, Consumer<Compaction> report) {
		SessionKey key = opened.key();
		if (this.rule.mode() != Summarize.Mode.BACKGROUND || !isDue(after(opened, turn)) || !this.underWay.add(key)) {
			return;
		}
		try {
			this.jobs.execute(() -> {
				try {
					report.accept(attemptDue(key));
				}
				finally {
					this.underWay.remove(key);
				}
			});
		}
		catch (RejectedExecutionException ex) {
			// all threads are busy, or the application ends: a later turn tries again
			this.underWay.remove(key);
		}
	}

	/**
	 * Makes summaries until nothing is left to summarize.
	 * @param force whether to do so even if none is due
	 */
	public Compaction compact(SessionKey key, boolean force) {
		Compaction whole = without(Status.NOTHING_TO_COVER);
		while (true) {
			Optional<Session> header = this.store.find(key);
			if (!force && header.isPresent() && !isDue(header.get())) {
				return (whole.turns() > 0) ? whole : without(Status.NOT_DUE);
			}
			Compaction next = attempt(key);
			if (next.status() != Status.SUMMARIZED) {
				return (whole.turns() > 0 && next.status() == Status.NOTHING_TO_COVER) ? whole : next;
			}
			whole = new Compaction(Status.SUMMARIZED, next.summary(), whole.turns() + next.turns(), null);
		}
	}

	/**
	 * Returns the header as the turn has left it, without reading it.
	 */
	private static Session after(Session opened, Turn turn) {
		Session.Position after = new Session.Position(turn.number(), opened.items() + turn.items(), opened.branch(),
				turn.number(), opened.openTurn(), opened.summaryTurn(), opened.summaryId(),
				opened.totals().plusTurn(turn.items(), turn.tokens()));
		return new Session(opened.key(), opened.incarnation(), opened.version() + 1, after, opened.details(),
				opened.times());
	}

	private boolean isDue(Session header) {
		return isTriggered(header) && !this.backoff.isPaused(header.key(), this.store.options().now());
	}

	private boolean isTriggered(Session header) {
		ViewTotals totals = header.totals();
		long more = totals.turns() - this.rule.keepTurns();
		if (header.openTurn() != 0 || more < Math.max(1, (this.rule.keepTurns() + 1) / 2)) {
			return false;
		}
		SummaryTrigger trigger = this.rule.trigger();
		if (trigger != null) {
			return asks(trigger, header);
		}
		return totals.tokens() * this.memory.factor(header.key()) >= this.rule.triggerTokens()
				|| totals.items() >= this.rule.triggerMessages();
	}

	private static boolean asks(SummaryTrigger trigger, Session header) {
		try (TurnBinding none = TurnBinding.none()) {
			return trigger.shouldCompact(header);
		}
		catch (RuntimeException | Error ex) {
			logger.warn("The summary trigger " + trigger.getClass().getName() + " threw " + ex.getClass().getName()
					+ " on session " + header.key() + ", which counts as no.");
			return false;
		}
	}

	/**
	 * Makes a summary that a trigger asked for. If there is nothing to summarize, the
	 * session is left alone for a while, because the trigger will ask again.
	 */
	private Compaction attemptDue(SessionKey key) {
		Compaction made = attempt(key);
		if (made.status() == Status.NOTHING_TO_COVER) {
			this.backoff.failed(key, this.store.options().now());
		}
		return made;
	}

	private Compaction attempt(SessionKey key) {
		Compaction made;
		try {
			made = summarize(key);
		}
		catch (SummaryCalls.FailedException ex) {
			made = failed(ex.reason());
		}
		catch (RuntimeException ex) {
			made = failed(ex.getClass().getName());
		}
		if (made.status() == Status.FAILED) {
			this.backoff.failed(key, this.store.options().now());
			logger.warn("Session " + key + " could not be summarized and stays as it is: " + made.failure());
		}
		else if (made.status() == Status.SUMMARIZED) {
			this.backoff.succeeded(key);
		}
		return made;
	}

	private Compaction summarize(SessionKey key) throws SummaryCalls.FailedException {
		SessionView view = ViewReader.open(this.store, key, Window.ALL).orElse(null);
		if (view == null || view.session().openTurn() != 0) {
			return without(Status.NOTHING_TO_COVER);
		}
		Summary before = (view.summary() != null) ? Summaries.read(view.summary(), this.store.options().codec()) : null;
		Coverage coverage = Coverage.of(view, before, this.rule, this.pins);
		if (coverage.isEmpty()) {
			return without(Status.NOTHING_TO_COVER);
		}
		String prompt = SummaryPrompt.of(this.rule.prompt(), (before != null) ? before.text() : null,
				this.guards.checked(coverage.messages()), coverage.tokens(), this.rule.maxInputTokens());
		SummaryCalls.Reply reply = this.calls.ask(this.rule.model(), prompt, this.rule.timeout());
		String text = this.guards.checked(reply.text());
		Summary summary = new Summary(this.store.options().turnIds().get(), coverage.lastTurn(),
				(before != null) ? before.turn() : 0, coverage.totals(), text, coverage.pinned(),
				new Summary.Origin(reply.model(), reply.usage(), this.store.options().now()));
		return put(view, coverage, summary);
	}

	/**
	 * Stores the summary, even if turns were added while it was written. Drops it if the
	 * session no longer begins with the items that it covers, if a turn is open, or if
	 * every attempt collides with another change.
	 */
	private Compaction put(SessionView opened, Coverage coverage, Summary summary) {
		SessionKey key = opened.session().key();
		HeaderChange change = HeaderChange.NONE.summary(summary.turn(), summary.id());
		SessionView now = opened;
		for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
			Commit commit = Commit.on(now.session())
				.header(change)
				.records(List.of(Summaries.write(key, summary, this.store.options().codec())));
			if (this.store.commit(commit).isStored()) {
				return new Compaction(Status.SUMMARIZED, summary, coverage.turns(), null);
			}
			now = this.store.open(key, Window.ALL).orElse(null);
			if (now == null || !now.session().incarnation().equals(opened.session().incarnation())
					|| now.session().openTurn() != 0 || !coverage.isBeginningOf(now)) {
				return without(Status.DROPPED);
			}
		}
		return without(Status.DROPPED);
	}

	@Override
	public void close() {
		this.jobs.shutdown();
		this.calls.close();
	}

	private static Compaction without(Status outcome) {
		return new Compaction(outcome, null, 0, null);
	}

	private static Compaction failed(String reason) {
		return new Compaction(Status.FAILED, null, 0, reason);
	}

}
