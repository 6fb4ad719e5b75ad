package io.sessionkit.internal.turn;

import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Supplier;

import io.sessionkit.CommitFailedException;
import io.sessionkit.HookFailedException;
import io.sessionkit.InvalidSequenceException;
import io.sessionkit.Session;
import io.sessionkit.SessionConflictException;
import io.sessionkit.SessionKey;
import io.sessionkit.SessionRefusedException;
import io.sessionkit.Turn;
import io.sessionkit.TurnResult;
import io.sessionkit.TurnStatus;
import io.sessionkit.Verdict.Phase;
import io.sessionkit.context.SequenceGuard;
import io.sessionkit.hook.TurnAccess;
import io.sessionkit.internal.round.HookRun;
import io.sessionkit.internal.round.Rounds;
import io.sessionkit.internal.round.Transcript;
import io.sessionkit.internal.round.TurnEvents;
import io.sessionkit.internal.round.TurnGate;
import io.sessionkit.store.RecordWrite;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.StoreOptions;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.model.ChatResponse;

/**
 * A turn between its question and its end. The first of {@link #complete}, {@link #fail},
 * {@link #cancel}, {@link #pause}, {@link #abandon} and {@link #giveUp} ends the work of
 * this call on it. After that, {@code complete} and {@code pause} throw, and the others
 * do nothing.
 * <p>
 * Safe for use by many threads, as streams require: what arrives after {@link #freeze} or
 * after the end is ignored or refused.
 */
public final class RunningTurn {

	private static final Log logger = LogFactory.getLog(RunningTurn.class);

	private final TurnRequest request;

	private final StoreOptions options;

	private final String id;

	private final Instant startedAt;

	private final TurnViews views;

	private final @Nullable Session base;

	private final HookRun hooks;

	private final TurnEvents events;

	private final TurnAttributes attributes;

	private final TurnPrompt prompt;

	private final SequenceGuard guard;

	private final TurnContext context;

	private final InputChecks checks;

	private final TurnMerge merge;

	private final Rounds rounds;

	private final TurnRounds loop;

	private final TurnKeeper keeper;

	private final TurnHold hold;

	private final @Nullable ContinuedTurn continued;

	private @Nullable ChatResponse answer;

	private boolean closed;

	RunningTurn(TurnRequest request, SessionStore store, TurnRules rules, TurnViews views, TurnLeases leases) {
		this(request, store, rules, views, leases,
				KeptParameters.of(request, rules.parameters(), store.options().codec()), () -> views.open(request),
				null);
	}

	/**
	 * Creates a turn that continues an open one, or a new one if there is none to
	 * continue.
	 */
	RunningTurn(TurnRequest request, SessionStore store, TurnRules rules, TurnViews views, TurnLeases leases,
			KeptParameters parameters, Supplier<TurnViews.Opened> opening, @Nullable ContinuedTurn continued) {
		this.request = request;
		this.options = store.options();
		this.views = views;
		this.continued = continued;
		Extensions extensions = rules.extensions().and(request.extensions());
		this.id = (continued != null) ? continued.turn().id() : this.options.turnIds().get();
		this.hooks = new HookRun(request.key(), extensions.hooks(), this::running);
		this.events = new TurnEvents(request.key(), this.id, extensions.listeners(), this.hooks.checksReplies());
		this.startedAt = (continued != null) ? continued.turn().startedAt() : this.options.now();
		TurnViews.Opened opened = opening.get();
		this.base = opened.header();
		this.guard = rules.guard();
		this.prompt = new TurnPrompt(request, opened, this.options, rules, views);
		this.rounds = new Rounds(request.key(), new Transcript(this.options::now, this.options.codec()::storable),
				this.hooks, this.events, this.prompt.calibration());
		Map<String, Object> attributes = (this.base != null) ? this.base.attributes() : Map.of();
		this.attributes = new TurnAttributes(
				new AttributeRules(request.key(), this.options.codec(), rules.maxAttributes()), attributes,
				(continued != null) ? continued.pause().attributes().on(attributes) : attributes);
		this.context = new TurnContext(request, this.id, this.prompt, this.rounds, this.attributes);
		this.checks = new InputChecks(request.key(), this.hooks, this.rounds, this.options.codec());
		this.loop = new TurnRounds(this.prompt, this.rounds, this.hooks, this.events, this.checks);
		this.merge = new TurnMerge(request.key(), extensions.merge(), this.prompt, this.guard, this.context);
		this.keeper = new TurnKeeper(request.key(), this.hooks, this.events, this.attributes, new TurnWriter(store,
				request, this.id, this.startedAt, this.base, this.prompt.snapshots(), parameters, continued));
		this.hold = new TurnHold(new TurnHold.Held(request.key(), this.id, this::recorded, this::isClosed, this::alone),
				this.options.codec(), this.rounds, this.keeper, leases, continued);
		if (continued != null) {
			this.context.begin();
		}
		if (opened.made() != null) {
			this.events.compacted(opened.made());
		}
	}

	/**
	 * Returns the number of the open turn of the session, which keeps this one from
	 * beginning.
	 * @return the number; 0 if there is no open turn
	 */
	public long openTurn() {
		return (this.base != null && this.continued == null) ? this.base.openTurn() : 0;
	}

	/**
	 * Returns whether a continued turn still stands on the head of the session, so that
	 * it can become history.
	 * @return false if the session has moved on, and for a new turn
	 */
	public boolean isOnHead() {
		return this.base != null && this.continued != null && this.base.head() == this.continued.turn().parent()
				&& this.base.branch().equals(this.continued.turn().branch());
	}

	/**
	 * Runs the hooks on the messages that the caller has queued while the turn waited.
	 * @throws SessionRefusedException if a hook refuses them; nothing has changed
	 * @throws IllegalStateException if a hook answers them
	 */
	public void beginAgain() {
		HeldReply held = this.hold.reply();
		this.checks.queue((held != null) ? held.queued() : List.of());
	}

	private TurnAccess running(Phase phase) {
		return this.context.running(phase);
	}

	/**
	 * Checks that everything that the caller has passed can be sent.
	 * @throws io.sessionkit.InvalidSequenceException if it cannot
	 */
	void checkPassed() {
		this.prompt.checkPassed(key(), this.guard);
	}

	/**
	 * Runs the hooks on the input. If they do not let it pass, nothing of it is kept.
	 */
	void begin() {
		if (!this.hooks.isEmpty()) {
			checkInput();
		}
		this.context.begin();
	}

	private void checkInput() {
		try {
			HookRun.Passed<List<Message>> passed = this.checks.begin(input());
			if (passed.replaced()) {
				this.prompt.changed(key(), passed.value(), this.guard);
			}
			if (passed.answer() != null) {
				this.answer = this.checks.answer(passed.answer());
			}
		}
		catch (Throwable ex) {
			this.prompt.input(List.of());
			fail(ex);
			throw ex;
		}
	}

	/**
	 * Asks the merge for the messages to send, unless a hook has answered already. If the
	 * merge fails, the input is kept as it was.
	 */
	void merge() {
		if (this.answer == null) {
			try {
				this.merge.begin(this.checks);
			}
			catch (Throwable ex) {
				fail(ex);
				throw ex;
			}
		}
	}

	/**
	 * Asks the merge which part of the history to send with a continued turn. The
	 * messages of the turn stay as they are stored.
	 */
	void mergeAgain() {
		if (this.continued != null) {
			this.merge.again(this.continued);
		}
	}

	/**
	 * Returns the tool loop of the turn.
	 * @return the same object each time
	 */
	public TurnRounds rounds() {
		return this.loop;
	}

	/**
	 * Returns the checks that hooks make on the input.
	 * @return the same object each time
	 */
	public InputChecks inputChecks() {
		return this.checks;
	}

	/**
	 * Returns the key of the session that the turn belongs to.
	 * @return the key
	 */
	public SessionKey key() {
		return this.request.key();
	}

	/**
	 * Returns the turn as its tools see it.
	 * @return the turn to bind to them
	 */
	public TurnAccess running() {
		return this.context.running();
	}

	/**
	 * Returns the messages that follow the system text when the turn begins.
	 * @return the history and the input, or what a merge has made of them
	 */
	public List<Message> messages() {
		return this.prompt.messages();
	}

	/**
	 * Returns the caller's input in this turn, as hooks and the merge have left it.
	 * @return the messages, without system text
	 */
	public List<Message> input() {
		return this.prompt.input();
	}

	/**
	 * Returns the answer that a hook gave before the tool loop. If there is one, the loop
	 * need not run.
	 * @return the answer; null if there is none
	 */
	public @Nullable ChatResponse answer() {
		return this.answer;
	}

	/**
	 * Returns the id of the turn.
	 * @return the id
	 */
	public String id() {
		return this.id;
	}

	/**
	 * Returns the data with which the turn starts.
	 * @return the request of the call that opened or continues the turn
	 */
	public TurnRequest request() {
		return this.request;
	}

	/**
	 * Returns the name of the agent that handles this turn.
	 * @return the agent that was named by the call that opened the turn; null if it named
	 * none
	 */
	public @Nullable String agent() {
		return (this.continued != null) ? this.continued.turn().agent() : this.request.agent();
	}

	/**
	 * Returns whether this call continues a turn that another call has left open.
	 * @return false if the turn is a new one
	 */
	public boolean isContinued() {
		return this.continued != null;
	}

	/**
	 * Returns the reply that the turn holds back, and the lease under which its tools
	 * run.
	 * @return the same object each time
	 */
	public TurnHold holding() {
		return this.hold;
	}

	/**
	 * Returns the number of model calls in the turn, including those of earlier calls.
	 * @return the number
	 */
	public int roundNumber() {
		return this.rounds.rounds().size() + ((this.continued != null) ? this.continued.turn().rounds().size() : 0);
	}

	/**
	 * Registers the gate that checks replies before their tools run.
	 * @param gate the gate
	 */
	public void gate(TurnGate gate) {
		this.rounds.gate(gate);
		alongside(gate::records);
	}

	/**
	 * Registers records to write together with the next part of the turn.
	 * @param records supplies the records when the part is written
	 */
	public void alongside(Supplier<List<RecordWrite>> records) {
		this.keeper.alongside(records);
	}

	/**
	 * Ends this call on a turn that waits. This call writes nothing more of the turn.
	 * @return the turn as it is stored
	 * @throws IllegalStateException if the turn is over
	 */
	public TurnResult pause() {
		if (!close()) {
			throw new IllegalStateException("The turn on session " + key() + " is over already.");
		}
		Turn stored = Objects.requireNonNull(this.keeper.stored());
		endUnwritten();
		this.events.paused(stored);
		return new TurnResult(key(), stored, this.keeper.items(), this.prompt.isOverLimit());
	}

	/**
	 * Abandons the turn before this call has started working on it; nothing further is
	 * stored.
	 * @param cause the reason why this call does not work on the turn
	 */
	public void abandon(Throwable cause) {
		if (close()) {
			this.keeper.abandon(cause);
			this.hold.end();
		}
	}

	/**
	 * Ends a turn that waits as cancelled, beside the history.
	 */
	public void giveUp() {
		if (close()) {
			try {
				this.keeper.giveUp(recorded());
			}
			finally {
				this.hold.end();
			}
		}
	}

	/**
	 * Stops recording: the caller has disconnected, and what arrives now only results
	 * from that.
	 */
	public void freeze() {
		this.rounds.freeze();
		this.attributes.endRunning();
	}

	/**
	 * Stores the turn as history, or as failed if there is no answer.
	 * @param answer the response that the caller is about to get; null if it is not
	 * delivered
	 * @return the turn as it was stored
	 * @throws IllegalStateException if the turn is over
	 * @throws SessionConflictException if another writer changed the session; the turn is
	 * kept beside the history, and the exception carries the answer
	 * @throws CommitFailedException if the store failed; the exception carries the answer
	 * @throws SessionRefusedException if a hook refused what is to be stored; the turn is
	 * kept beside the history, without the answer
	 * @throws HookFailedException if a hook failed on what is to be stored; the turn is
	 * kept in the same way
	 */
	public TurnResult complete(@Nullable ChatResponse answer) {
		if (!close()) {
			throw new IllegalStateException("The turn on session " + key() + " is over already.");
		}
		try {
			TurnResult result = this.keeper.complete(recorded(), answer);
			if (result.turn().status() == TurnStatus.COMPLETED) {
				this.views.committed(this.base, result.turn(), this.events::compacted);
			}
			return result;
		}
		finally {
			this.hold.end();
		}
	}

	/**
	 * Ends the work of this call on the turn: stores what is still known of its tools and
	 * gives the lease back. Nothing more of the turn itself is written.
	 */
	private void endUnwritten() {
		try {
			this.rounds.ending();
		}
		catch (RuntimeException ex) {
			logger.warn("What is known of the tools of the open turn on session " + key() + " could not be stored: "
					+ ex.getClass().getName());
		}
		finally {
			this.hold.end();
		}
	}

	/**
	 * Keeps the turn with what was recorded of it: as refused if a refusal ended it,
	 * otherwise as failed. It does not become history, so a retry sends the question only
	 * once. A turn of which a part is stored stays open, unless it was refused or no
	 * other call could continue it.
	 * @param cause the cause of the end; errors that occur here are added to it as
	 * suppressed
	 */
	public void fail(Throwable cause) {
		if (close()) {
			this.rounds.keepPartialReply();
			try {
				this.keeper.fail(recorded(), cause, this.rounds.endsTurn(cause));
			}
			finally {
				endUnwritten();
			}
		}
	}

	/**
	 * Keeps the turn of a caller that has disconnected: as completed if the answer was
	 * complete, otherwise as cancelled with what was recorded. If replies are held back
	 * or guards are still checking the input, the caller has seen nothing yet, so the
	 * turn is cancelled in any case. Errors are logged, because no caller is left to
	 * report them to.
	 */
	public void cancel() {
		freeze();
		if (!close()) {
			return;
		}
		try {
			boolean unchecked = this.hooks.checksReplies() || this.checks.arePending();
			if (unchecked || !this.rounds.isAnswerWhole() || !this.keeper.completeUnseen(recorded())) {
				this.rounds.keepPartialReply();
				this.keeper.cancel(recorded());
			}
		}
		catch (RuntimeException ex) {
			logger.warn("The cancelled turn on session " + key() + " could not be stored: " + ex.getClass().getName());
		}
		finally {
			endUnwritten();
		}
	}

	private synchronized boolean isClosed() {
		return this.closed;
	}

	/** Whoever ends the turn meanwhile waits for the work. */
	private synchronized void alone(Runnable work) {
		work.run();
	}

	private synchronized boolean close() {
		boolean first = !this.closed;
		this.closed = true;
		this.rounds.freeze();
		this.attributes.endRunning();
		return first;
	}

	/**
	 * Returns what was recorded of the turn. It contains no messages while guards have
	 * not let the input pass.
	 */
	TurnKeeper.Recorded recorded() {
		if (this.checks.arePending()) {
			return new TurnKeeper.Recorded(List.of(), List.of(), this.rounds.rounds(), false, null,
					this.prompt.isOverLimit());
		}
		List<Transcript.Entry> asked = (this.keeper.stored() != null) ? List.of()
				: input().stream().map((message) -> new Transcript.Entry(message, this.startedAt)).toList();
		List<Transcript.Entry> said = this.rounds.entries();
		return new TurnKeeper.Recorded(asked,
				said.subList(Math.min(this.hold.storedEntries(), said.size()), said.size()), this.rounds.rounds(),
				this.rounds.isAnswered(), this.rounds.reply(), this.prompt.isOverLimit());
	}

}
