package io.sessionkit.internal.turn;

import java.time.Instant;
import java.util.ArrayList;
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
import io.sessionkit.hook.HistoryMerge;
import io.sessionkit.hook.HookContext;
import io.sessionkit.hook.TurnAccess;
import io.sessionkit.hook.TurnBinding;
import io.sessionkit.internal.message.Copies;
import io.sessionkit.internal.round.HookRun;
import io.sessionkit.internal.round.RoundRequest;
import io.sessionkit.internal.round.Rounds;
import io.sessionkit.internal.round.Transcript;
import io.sessionkit.internal.round.TurnEvents;
import io.sessionkit.internal.round.TurnGate;
import io.sessionkit.internal.view.MergeReport;
import io.sessionkit.internal.view.Merged;
import io.sessionkit.store.RecordWrite;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.StoreOptions;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.model.ChatResponse;
import org.springframework.ai.chat.model.Generation;
import org.springframework.ai.chat.prompt.Prompt;

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

	private final @Nullable HistoryMerge merge;

	private final HookRun hooks;

	private final TurnEvents events;

	private final TurnAttributes attributes;

	private final TurnPrompt prompt;

	private final SequenceGuard guard;

	private final Rounds rounds;

	private final TurnKeeper keeper;

	private final TurnHold hold;

	private final @Nullable ContinuedTurn continued;

	private @Nullable ChatResponse answer;

	/**
	 * The check of the input by guards that run beside the model; null if there is none.
	 */
	private volatile @Nullable InputCheck inputCheck;

	/**
	 * True once hooks have let the input pass, except for guards that run beside the
	 * model.
	 */
	private volatile boolean begun;

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
		this.begun = continued != null;
		Extensions extensions = rules.extensions().and(request.extensions());
		this.merge = extensions.merge();
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
		this.keeper = new TurnKeeper(request.key(), this.hooks, this.events, this.attributes, new TurnWriter(store,
				request, this.id, this.startedAt, this.base, this.prompt.snapshots(), parameters, continued));
		this.hold = new TurnHold(new TurnHold.Held(request.key(), this.id, this::recorded, this::isClosed, this::alone),
				this.options.codec(), this.rounds, this.keeper, leases, continued);
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
		List<Message> queued = (held != null) ? held.queued() : List.of();
		if (!queued.isEmpty() && !this.hooks.isEmpty()) {
			HookRun.Passed<List<Message>> passed = this.hooks.beforeMore(queued);
			if (passed.answer() != null) {
				throw new IllegalStateException("A hook answered a message that was queued on session " + key()
						+ " while its turn waited; the tool results before it need the model. Refuse it instead.");
			}
			queued = passed.value();
			checkStorable(queued);
		}
		this.rounds.queue(queued);
	}

	private HookContext context() {
		return context(history());
	}

	/**
	 * Returns the context for a hook or merge that is given the beginning of the history.
	 */
	private HookContext context(List<Message> history) {
		return new HookContext(key(), this.id, this.request.agent(), Copies.lazy(history),
				this.prompt.turnStarts(history.size()), Copies.lazy(turn()), Copies.values(this.attributes.values()),
				this.request.parameters());
	}

	/**
	 * Returns the messages of the turn so far; none while hooks are still checking its
	 * input.
	 */
	private List<Message> turn() {
		if (!this.begun) {
			return List.of();
		}
		List<Message> turn = new ArrayList<>(input());
		this.rounds.entries().forEach((entry) -> turn.add(entry.message()));
		return turn;
	}

	private TurnAccess running(Phase phase) {
		return new BoundTurn(this::context, this.attributes, phase == Phase.BEFORE_SAVE);
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
		this.begun = true;
	}

	private void checkInput() {
		try {
			HookRun.Passed<List<Message>> passed = this.hooks.beforeTurn(input());
			if (passed.replaced()) {
				checkStorable(passed.value());
				this.prompt.changed(key(), passed.value(), this.guard);
			}
			if (this.hooks.checksBesideModel()) {
				this.inputCheck = new InputCheck(() -> this.hooks.besideModel(passed.value()));
			}
			if (passed.answer() != null) {
				passInput();
				this.answer = this.rounds.answer(passed.answer());
			}
		}
		catch (Throwable ex) {
			this.prompt.input(List.of());
			fail(ex);
			throw ex;
		}
	}

	/**
	 * Returns whether guards that run beside the model have not let the input pass yet.
	 * No answer may be handed on before {@link #passInput}.
	 * @return false if there are no such guards, or if all have let the input pass
	 */
	public boolean awaitsInputCheck() {
		InputCheck check = this.inputCheck;
		return check != null && !check.isPassed();
	}

	/**
	 * Returns whether such a guard has refused the input or thrown. The model must not be
	 * called again in that case: {@link #passInput} throws.
	 * @return false until the guards have finished
	 */
	public boolean isInputRefused() {
		InputCheck check = this.inputCheck;
		return check != null && check.isRefused();
	}

	/**
	 * Waits until those guards have let the input pass, and runs them on this thread if
	 * no other thread has. Does nothing if there are none, or if all have let it pass.
	 * @throws SessionRefusedException if one refuses; what a guard throws is thrown as it
	 * is
	 */
	public void passInput() {
		InputCheck check = this.inputCheck;
		if (check != null && !check.isPassed()) {
			check.pass();
		}
	}

	/**
	 * Records the answer of the model to an input that did not pass. Only its cost is
	 * kept.
	 * @param response the last response of the model; null if there is none
	 */
	public void unused(@Nullable ChatResponse response) {
		if (response != null) {
			this.rounds.unused(response);
		}
	}

	/**
	 * Asks the merge for the messages to send, unless a hook has answered already. If the
	 * merge fails, the input is kept as it was.
	 */
	void merge() {
		if (this.merge == null || this.answer != null) {
			return;
		}
		try {
			List<Message> history = this.prompt.mergeable();
			Merged result = bound(() -> Merged.of(this.merge, context(history), history, input()));
			checkStorable(result.input());
			use(result);
		}
		catch (Throwable ex) {
			fail(ex);
			throw ex;
		}
	}

	/**
	 * Asks the merge which part of the history to send with a continued turn. The
	 * messages of the turn stay as they are stored.
	 */
	void mergeAgain() {
		if (this.merge != null && this.continued != null) {
			List<Message> history = this.prompt.mergeable();
			List<Message> said = this.continued.input(input());
			use(bound(() -> Merged.again(this.merge, context(history), history, said, input())));
		}
	}

	private Merged bound(Supplier<Merged> merging) {
		try (TurnBinding binding = TurnBinding.of(running())) {
			return merging.get();
		}
	}

	private void use(Merged result) {
		MergeReport.of(this.prompt.mergeable(), input(), result).log(key());
		this.prompt.merged(key(), result, this.guard);
	}

	private void checkStorable(List<Message> messages) {
		messages.forEach((message) -> this.options.codec().encode(key(), message));
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
		return new BoundTurn(this::context, this.attributes, false);
	}

	/**
	 * Returns the history that precedes the input of the turn.
	 * @return the messages, oldest first, within the limits
	 */
	List<Message> history() {
		return this.prompt.history();
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
	 * Returns whether hooks or a gate check replies. They may block.
	 * @return true if there are any
	 */
	public boolean mayWait() {
		return this.rounds.mayWait();
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
	 * Returns whether a hook may withhold or change a reply. If so, nothing that the
	 * model says may be handed out before the turn is stored.
	 * @return true if streams have to wait
	 */
	public boolean holdsReplies() {
		return this.hooks.checksReplies();
	}

	/**
	 * Returns whether a model call is in progress.
	 * @return true between {@link #beforeRound} and the end of that round
	 */
	public boolean isRoundOpen() {
		return this.rounds.isOpen();
	}

	/**
	 * Turns the messages that the tool advisor forwards into the request for the model.
	 * @param forwarded the messages, including system text
	 * @return a valid sequence within the limits, or the response that replaces the model
	 * call: the answer of a hook, or that of the gate
	 * @throws IllegalStateException if the turn is over
	 * @throws SessionRefusedException if a hook refuses; what a hook throws is thrown as
	 * it is
	 * @throws InvalidSequenceException if the guard is strict and repairs are needed, or
	 * if nothing is left that the model could answer
	 */
	public RoundRequest beforeRound(List<Message> forwarded) {
		ChatResponse pause = this.rounds.pause();
		if (pause != null) {
			return new RoundRequest(List.of(), pause);
		}
		List<Message> whole = this.rounds.record(forwarded);
		ChatResponse instead = this.rounds.instead();
		if (instead != null) {
			return new RoundRequest(List.of(), instead);
		}
		List<Transcript.Entry> said = this.rounds.entries();
		HookRun.Passed<List<Message>> passed = this.hooks.beforeModel(
				this.hooks.isEmpty() ? whole : this.prompt.beforeHooks(whole, said),
				(request) -> this.prompt.turnStart(request, said));
		if (passed.answer() != null) {
			passInput();
			return new RoundRequest(List.of(), this.rounds.answer(passed.answer()));
		}
		List<Message> sent = this.prompt.afterHooks(whole, passed, said);
		this.rounds.begin();
		this.events.modelCalled(sent.size());
		return new RoundRequest(sent, null);
	}

	/**
	 * Records the final prompt sent to the model, after all advisors have run. May be
	 * called twice for the same model call.
	 * @param leaving the messages and options, including system text and tools
	 */
	public void sent(Prompt leaving) {
		if (!this.rounds.isFrozen()) {
			this.prompt.sent(leaving, this.rounds::entries);
		}
	}

	/**
	 * Records a chunk of a streamed reply.
	 * @param chunk the chunk
	 */
	public void chunk(ChatResponse chunk) {
		this.rounds.chunk(chunk);
	}

	/**
	 * Runs the hooks on a streamed reply that is complete and records it, before its
	 * tools run.
	 * @return the responses to hand on instead of the chunks that were held back; null if
	 * those chunks may be handed on
	 * @throws SessionRefusedException if a hook refuses
	 * @throws HookFailedException if a hook fails
	 */
	public @Nullable List<ChatResponse> afterStreamedRound() {
		passInput();
		return this.rounds.afterStreamed();
	}

	/**
	 * Runs the hooks on a reply that arrived as a whole and records it, before its tools
	 * run.
	 * @param response the response of the model; null and a response without generations
	 * count as no reply
	 * @return the response to hand on
	 * @throws SessionRefusedException if a hook refuses
	 * @throws HookFailedException if a hook fails
	 */
	public @Nullable ChatResponse afterRound(@Nullable ChatResponse response) {
		passInput();
		return this.rounds.afterWhole(response);
	}

	/**
	 * Ends a round whose model call has failed. Another may follow in the same turn.
	 */
	public void afterFailedRound() {
		this.rounds.afterFailed();
	}

	/**
	 * Records a chunk that a stream hands to the caller.
	 * @param chunk the chunk
	 */
	public void delivered(ChatResponse chunk) {
		this.rounds.delivered(chunk);
	}

	/**
	 * Ends the tool loop of a stream, and records what it ended with if no model call
	 * came after it.
	 * @return the whole answer; null if there was none
	 */
	public @Nullable ChatResponse afterStreamedLoop() {
		passInput();
		return this.rounds.afterStreamedLoop();
	}

	/**
	 * Ends the tool loop, and records what it ended with if no model call came after it.
	 * @param generations what the loop returned
	 */
	public void afterLoop(List<Generation> generations) {
		passInput();
		this.rounds.afterLoop(generations);
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
			boolean unchecked = holdsReplies() || awaitsInputCheck();
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
		if (awaitsInputCheck()) {
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
