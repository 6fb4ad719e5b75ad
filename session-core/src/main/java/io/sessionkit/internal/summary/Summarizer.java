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
import io.sessionkit.context.Summarize;
import io.sessionkit.context.SummaryResult;
import io.sessionkit.context.SummaryResult.Status;
import io.sessionkit.context.SummaryTrigger;
import io.sessionkit.context.Trim;
import io.sessionkit.hook.SessionHook;
import io.sessionkit.hook.SummaryContext;
import io.sessionkit.hook.SummaryContext.Kind;
import io.sessionkit.internal.Attempts;
import io.sessionkit.internal.Attempts.Step;
import io.sessionkit.internal.Interrupts;
import io.sessionkit.internal.LoneSurrogates;
import io.sessionkit.internal.Told;
import io.sessionkit.internal.binding.TurnBinding;
import io.sessionkit.internal.binding.TurnSession;
import io.sessionkit.internal.view.Limits;
import io.sessionkit.internal.view.Summaries;
import io.sessionkit.internal.view.TokenMemory;
import io.sessionkit.internal.view.ViewReader;
import io.sessionkit.observation.CallObserver;
import io.sessionkit.store.Commit;
import io.sessionkit.store.HeaderChange;
import io.sessionkit.store.SessionRecord;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.SessionView;
import io.sessionkit.store.StoreLayer;
import io.sessionkit.store.StoreUnavailableException;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.Message;

/**
 * Replaces older turns of the view with summaries. If anything fails, the session stays
 * as it was, and the turn that needed the summary gets no exception. Safe for use by many
 * threads.
 */
public final class Summarizer implements AutoCloseable {

	private static final Log logger = LogFactory.getLog(Summarizer.class);

	private static final int MOST_JOBS = 16;

	/** The tokens up to which a summary may be longer than what it stands for. */
	private static final int SHORT = 500;

	private final SessionStore store;

	private final Summarize rule;

	private final Trim trim;

	private final TokenMemory memory;

	private final SummaryGuards guards;

	private final CallObserver observer;

	private final SummaryCalls calls = new SummaryCalls();

	private final ExecutorService jobs = SummaryCalls.threads("sessionkit-summarize-", MOST_JOBS);

	private final Set<SessionKey> underWay = ConcurrentHashMap.newKeySet();

	private final Backoff backoff;

	/**
	 * Creates a summarizer.
	 * @param trim the limits of all calls, and the pins, which keep messages as they are
	 * @param hooks the hooks that check what a summarizer reads and writes
	 * @param observer observes the making of each summary
	 */
	public Summarizer(SessionStore store, Summarize rule, Trim trim, List<SessionHook> hooks, TokenMemory memory,
			CallObserver observer) {
		this.observer = observer;
		this.guards = new SummaryGuards(hooks);
		this.store = store;
		this.rule = rule;
		this.trim = trim;
		this.memory = memory;
		this.backoff = new Backoff(rule.backoff());
	}

	/** Returns the trigger of the application; null if there is none. */
	public @Nullable SummaryTrigger trigger() {
		return this.rule.trigger();
	}

	public boolean countsTokens() {
		return this.rule.trigger() == null && this.rule.triggerTokens() != Long.MAX_VALUE;
	}

	/**
	 * Returns whether a summary is due before a turn on this session.
	 */
	public boolean isDueBefore(Session header) {
		return this.rule.mode() == Summarize.Mode.BEFORE && isOn(header) && isDueInTurn(header);
	}

	/** The turn has read the header, so a trigger that changed it would cost the turn. */
	private boolean isDueInTurn(Session header) {
		try (TurnBinding waiting = TurnBinding
			.listening(TurnBinding.sessions(new TurnSession(StoreLayer.beneath(this.store), header.key())))) {
			return isDue(header);
		}
	}

	/**
	 * Makes a summary on the caller's thread.
	 */
	public SummaryResult summarizeBefore(SessionKey key) {
		return attemptDue(key);
	}

	/**
	 * Makes a summary on another thread, if one is due.
	 * @param opened the header before the turn
	 * @param turn the turn, which is stored by now
	 * @param report the consumer of the outcome
	 */
	public void summarizeAfter(Session opened, Turn turn, Consumer<SummaryResult> report) {
		SessionKey key = opened.key();
		if (this.rule.mode() == Summarize.Mode.BACKGROUND && isOn(opened) && isDue(after(opened, turn))
				&& this.underWay.add(key)) {
			attemptInBackground(key, report);
		}
	}

	private void attemptInBackground(SessionKey key, Consumer<SummaryResult> report) {
		try {
			this.jobs.execute(() -> attemptUnderWay(key, report));
		}
		catch (RejectedExecutionException ex) {
			// all threads are busy, or the application ends: a later turn tries again
			this.underWay.remove(key);
		}
	}

	private void attemptUnderWay(SessionKey key, Consumer<SummaryResult> report) {
		try {
			report.accept(attemptDue(key));
		}
		finally {
			this.underWay.remove(key);
		}
	}

	/**
	 * Makes summaries until nothing is left to summarize.
	 * @param force whether to do so even if none is due
	 */
	public SummaryResult summarizeNow(SessionKey key, boolean force) {
		SummaryResult whole = without(Status.NOTHING_TO_COVER);
		while (true) {
			Optional<Session> header = this.store.find(key);
			if (!force && header.isPresent() && !isDue(header.get())) {
				return (whole.turns() > 0) ? whole : without(Status.NOT_DUE);
			}
			SummaryResult next = attempt(key, true);
			if (whole.turns() > 0 && next.status() == Status.NOTHING_TO_COVER) {
				return whole;
			}
			if (next.status() != Status.SUMMARIZED) {
				return new SummaryResult(next.status(), whole.summary(), whole.turns(), next.failure());
			}
			whole = new SummaryResult(Status.SUMMARIZED, next.summary(), whole.turns() + next.turns(), null);
		}
	}

	/**
	 * Returns the header as the turn has left it, without reading it, but for its
	 * version. A turn that was continued was the open one.
	 */
	private static Session after(Session opened, Turn turn) {
		long open = (opened.openTurn() == turn.number()) ? 0 : opened.openTurn();
		Session.Position after = new Session.Position(turn.number(), opened.items() + turn.items(), opened.branch(),
				turn.number(), open, opened.summaryTurn(), opened.summaryId(),
				opened.totals().plusTurn(turn.items(), turn.tokens()));
		return new Session(opened.key(), opened.incarnation(), opened.version(), after, opened.details(),
				opened.times());
	}

	/** Returns whether the session lets triggers make summaries. */
	private static boolean isOn(Session header) {
		return !Boolean.FALSE.equals(header.settings().summarize());
	}

	private boolean isDue(Session header) {
		return isTriggered(header) && !this.backoff.isPaused(header.key(), this.store.options().now());
	}

	private boolean isTriggered(Session header) {
		ViewTotals totals = header.totals();
		if (header.openTurn() != 0 || totals.turns() < this.rule.fewestTurns()) {
			return false;
		}
		SummaryTrigger trigger = this.rule.trigger();
		if (trigger != null) {
			return asks(trigger, header);
		}
		double tokens = totals.tokens() * this.memory.factor(header.key());
		return tokens >= this.rule.triggerTokens() || totals.items() >= this.rule.triggerMessages()
				|| (hasTrigger() && isLimited(header, tokens));
	}

	private boolean hasTrigger() {
		return this.rule.triggerTokens() != Long.MAX_VALUE || this.rule.triggerMessages() != Long.MAX_VALUE;
	}

	/**
	 * Returns whether a limit has no room for one more turn like those of the view. What
	 * is no longer sent must be in a summary by then. Calls that limit the messages of
	 * history get no summary.
	 */
	private boolean isLimited(Session header, double tokens) {
		Trim limits = Limits.of(null, header.settings(), this.trim).trim();
		ViewTotals totals = header.totals();
		double more = 1 + 1.0 / totals.turns();
		return totals.turns() >= limits.maxTurns() || tokens * more > limits.maxTokens()
				|| totals.items() * more > limits.maxMessages();
	}

	private static boolean asks(SummaryTrigger trigger, Session header) {
		try (TurnBinding hidden = TurnBinding.listening(TurnBinding.sessions())) {
			return trigger.isDue(header);
		}
		catch (Throwable ex) {
			Interrupts.keep(ex);
			logger.warn("The summary trigger " + trigger.getClass().getName() + " counts as no on session "
					+ header.key() + ", since it threw " + Told.of(ex));
			return false;
		}
	}

	/**
	 * Makes a summary that a trigger asked for. If there is nothing to summarize, the
	 * session is left alone for a while, because the trigger will ask again.
	 */
	private SummaryResult attemptDue(SessionKey key) {
		SummaryResult made = attempt(key, false);
		if (made.status() == Status.NOTHING_TO_COVER) {
			logger.debug("A summary of session " + key + " is due, but there is nothing to summarize");
			this.backoff.failed(key, this.store.options().now());
		}
		return made;
	}

	private SummaryResult attempt(SessionKey key, boolean asked) {
		SummaryResult made = this.observer.summarize(() -> summarizeOrFail(key, asked));
		if (made.status() == Status.FAILED) {
			this.backoff.failed(key, this.store.options().now());
			logger.warn("Session " + key + " could not be summarized: " + made.failure());
		}
		else if (made.status() == Status.SUMMARIZED) {
			this.backoff.succeeded(key);
		}
		return made;
	}

	private SummaryResult summarizeOrFail(SessionKey key, boolean asked) {
		try {
			return summarize(key, asked);
		}
		catch (SummaryCalls.FailedException ex) {
			return failed(ex.reason());
		}
		catch (Exception ex) {
			return failed(ex.getClass().getName());
		}
	}

	/**
	 * Makes a summary.
	 * @param asked whether a caller asks for it, not a trigger
	 */
	private SummaryResult summarize(SessionKey key, boolean asked) throws SummaryCalls.FailedException {
		SessionView view = ViewReader.read(this.store, key).orElse(null);
		if (view == null || view.session().openTurn() != 0 || !(asked || isOn(view.session()))) {
			return without(Status.NOTHING_TO_COVER);
		}
		Summary before = (view.summary() != null) ? Summaries.read(view.summary(), this.store.options().codec()) : null;
		Coverage coverage = Coverage.of(view, before, this.rule, this.trim.pins());
		if (coverage.isEmpty()) {
			return without(Status.NOTHING_TO_COVER);
		}
		Summary summary = write(key, coverage);
		checkLength(view.session(), coverage, summary);
		return put(view, coverage, summary);
	}

	/**
	 * Refuses a summary that would leave no room for the turns after it, or that is
	 * longer than what it stands for.
	 */
	private void checkLength(Session header, Coverage coverage, Summary summary) throws SummaryCalls.FailedException {
		long tokens = tokens(summary);
		int limit = Limits.of(null, header.settings(), this.trim).trim().maxTokens();
		if (tokens * this.memory.factor(header.key()) > limit / 2.0) {
			throw new SummaryCalls.FailedException(
					"too long: it has " + tokens + " tokens, more than half of the limit on tokens, which is " + limit);
		}
		long covered = coverage.tokens() + ((coverage.before() != null) ? tokens(coverage.before()) : 0);
		if (tokens > SHORT && tokens >= covered) {
			throw new SummaryCalls.FailedException(
					"too long: it has " + tokens + " tokens, and what it stands for " + covered);
		}
	}

	private long tokens(Summary summary) {
		return this.store.options().tokens().applyAsInt(new AssistantMessage(summary.text()));
	}

	/**
	 * Lets the model write the summary. The hooks check its input and its output, and
	 * again the previous summary, which may be older than the hooks.
	 */
	private Summary write(SessionKey key, Coverage coverage) throws SummaryCalls.FailedException {
		Summary before = coverage.before();
		String soFar = (before != null && !before.isReset())
				? this.guards.checked(SummaryContext.of(key, Kind.SUMMARY_SO_FAR), before.text()) : null;
		List<Message> messages = this.guards.checked(SummaryContext.of(key, Kind.MESSAGES), coverage.messages());
		boolean fits = coverage.tokens() <= this.rule.maxInputTokens();
		int longest = fits ? SummaryPrompt.LONGEST_TEXT
				: SummaryPrompt.longestText(messages, this.rule.maxInputTokens(), this.store.options().tokens());
		String prompt = SummaryPrompt.of(this.rule.prompt(), soFar, messages, longest);
		SummaryCalls.Reply reply = this.calls.ask(this.rule.model(), prompt, this.rule.timeout());
		String text = LoneSurrogates.replaced(this.guards.checked(SummaryContext.of(key, Kind.SUMMARY), reply.text()));
		return new Summary(this.store.options().turnIds().get(), coverage.lastTurn(),
				(before != null) ? before.turn() : 0, coverage.totals(), text, coverage.pinned(),
				new Summary.Origin(reply.model(), reply.usage(), this.store.options().now()));
	}

	/**
	 * Stores the summary, even if turns were added while it was written, or one waits by
	 * now: what is open follows the head, and no summary covers it. Drops it if the
	 * session no longer begins with the items that it covers, or if every attempt
	 * collides with another change.
	 */
	private SummaryResult put(SessionView opened, Coverage coverage, Summary summary) {
		return Attempts.FEW.make(opened, (SessionView now) -> {
			if (store(now.session(), summary)) {
				return Step.done(new SummaryResult(Status.SUMMARIZED, summary, coverage.turns(), null));
			}
			return Step.again(reopened(opened, coverage));
		}).orElseGet(() -> without(Status.DROPPED));
	}

	/** Stores the summary, and returns whether the session was still as in the header. */
	private boolean store(Session header, Summary summary) {
		try {
			return isStored(header, summary);
		}
		catch (StoreUnavailableException ex) {
			if (!ex.isUnwritten() && isInForce(header.key(), summary)) {
				// the answer of the store was lost, and not the write
				return true;
			}
			throw ex;
		}
	}

	private boolean isInForce(SessionKey key, Summary summary) {
		return this.store.find(key).filter((header) -> summary.id().equals(header.summaryId())).isPresent();
	}

	private boolean isStored(Session header, Summary summary) {
		return this.store
			.commit(Commit.on(header)
				.header(HeaderChange.NONE.summary(summary.turn(), summary.id()))
				.records(List.of(Summaries.write(header.key(), summary, this.store.options().codec()))))
			.isStored();
	}

	/**
	 * Returns the session as it is now; null if the summary does not fit it any more.
	 */
	private @Nullable SessionView reopened(SessionView opened, Coverage coverage) {
		return ViewReader.read(this.store, opened.session().key())
			.filter((now) -> now.session().incarnation().equals(opened.session().incarnation())
					&& coverage.isBeginningOf(now) && isSameSummary(opened, now))
			.orElse(null);
	}

	/** Retention may have taken messages out of the summary before. */
	private static boolean isSameSummary(SessionView opened, SessionView now) {
		SessionRecord before = opened.summary();
		SessionRecord there = now.summary();
		return (before != null && there != null) ? before.revision() == there.revision() : before == there;
	}

	@Override
	public void close() {
		this.jobs.shutdown();
		this.calls.close();
	}

	private static SummaryResult without(Status outcome) {
		return new SummaryResult(outcome, null, 0, null);
	}

	private static SummaryResult failed(String reason) {
		return new SummaryResult(Status.FAILED, null, 0, reason);
	}

}
