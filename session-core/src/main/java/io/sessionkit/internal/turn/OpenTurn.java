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
import io.sessionkit.hook.RunningTurn;
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
 * A turn between its question and its end. It is written once, by the first of
 * {@link #complete}, {@link #fail} and {@link #cancel}; a later one does nothing.
 * <p>
 * Safe for use by many threads, as a stream needs: what comes after {@link #freeze} or
 * after the end is ignored or refused.
 */
public final class OpenTurn {

	private static final Log logger = LogFactory.getLog(OpenTurn.class);

	private final TurnRequest request;

	private final StoreOptions options;

	private final String id;

	private final Instant startedAt;

	private final TurnViews views;

	private final @Nullable Session base;

	private final @Nullable HistoryMerge merge;

	private final HookRun hooks;

	private final TurnEvents events;

	private final TurnState state;

	private final TurnPrompt prompt;

	private final SequenceGuard guard;

	private final Rounds rounds;

	private final TurnKeeper keeper;

	private final TurnHold hold;

	private final @Nullable ContinuedTurn continued;

	private @Nullable ChatResponse answer;

	/** What guards beside the model are still to say on the input; null for nothing. */
	private volatile @Nullable InputCheck inputCheck;

	/** Whether hooks have let the input pass, but for those beside the model. */
	private volatile boolean begun;

	private boolean closed;

	OpenTurn(TurnRequest request, SessionStore store, TurnRules rules, TurnViews views, TurnLeases leases) {
		this(request, store, rules, views, leases, KeptInputs.of(request, rules.inputs(), store.options().codec()),
				() -> views.open(request), null);
	}

	/**
	 * A turn that goes on.
	 */
	OpenTurn(TurnRequest request, SessionStore store, TurnRules rules, TurnViews views, TurnLeases leases,
			KeptInputs inputs, Supplier<TurnViews.Opened> opening, @Nullable ContinuedTurn continued) {
		this.request = request;
		this.options = store.options();
		this.views = views;
		this.continued = continued;
		this.begun = continued != null;
		this.merge = rules.merge(request);
		this.id = (continued != null) ? continued.turn().id() : this.options.turnIds().get();
		this.hooks = new HookRun(request.key(), rules.hooks(request), this::running);
		this.events = new TurnEvents(request.key(), this.id, rules.listeners(request), this.hooks.checksReplies());
		this.startedAt = (continued != null) ? continued.turn().startedAt() : this.options.now();
		TurnViews.Opened opened = opening.get();
		this.base = opened.header();
		this.guard = rules.guard();
		this.prompt = new TurnPrompt(request, opened, this.options, rules, views);
		this.rounds = new Rounds(request.key(), new Transcript(this.options::now, this.options.codec()::storable),
				this.hooks, this.events, this.prompt.calibration());
		Map<String, Object> state = (this.base != null) ? this.base.state() : Map.of();
		this.state = new TurnState(new Attributes(request.key(), this.options.codec(), rules.maxState()), state,
				(continued != null) ? continued.pause().state().on(state) : state);
		this.keeper = new TurnKeeper(request.key(), this.hooks, this.events, this.state, new TurnWriter(store, request,
				this.id, this.startedAt, this.base, this.prompt.snapshots(), inputs, continued));
		this.hold = new TurnHold(this, this.options.codec(), this.rounds, this.keeper, leases, continued);
		if (opened.made() != null) {
			this.events.compacted(opened.made());
		}
	}

	/**
	 * The open turn that the session has, so that no other can begin.
	 * @return its number; 0 for none
	 */
	long openTurn() {
		return (this.base != null && this.continued == null) ? this.base.openTurn() : 0;
	}

	/**
	 * Whether a turn that goes on still stands on the head of the thread, so that it can
	 * become history.
	 * @return false if the thread has moved on
	 */
	public boolean isOnHead() {
		return this.base != null && this.continued != null && this.base.head() == this.continued.turn().parent()
				&& this.base.branch().equals(this.continued.turn().branch());
	}

	/**
	 * Asks the hooks about what the caller has said while the turn waited.
	 * @throws SessionRefusedException if a hook refuses it; nothing has changed
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
	 * What is told to somebody who is given a part of the history, from its beginning.
	 */
	private HookContext context(List<Message> history) {
		return new HookContext(key(), this.id, this.request.agent(), Copies.lazy(history),
				this.prompt.turnStarts(history.size()), Copies.lazy(turn()), Copies.values(this.state.values()),
				this.request.parameters());
	}

	/**
	 * What was said in the turn so far; nothing as long as hooks check its input.
	 */
	private List<Message> turn() {
		if (!this.begun) {
			return List.of();
		}
		List<Message> turn = new ArrayList<>(input());
		this.rounds.entries().forEach((entry) -> turn.add(entry.message()));
		return turn;
	}

	private RunningTurn running(Phase phase) {
		return new BoundTurn(this::context, this.state, phase == Phase.BEFORE_SAVE);
	}

	/**
	 * Checks that all that the caller has passed can be sent.
	 * @throws io.sessionkit.InvalidSequenceException if not
	 */
	void checkPassed() {
		this.prompt.checkPassed(key(), this.guard);
	}

	/**
	 * Asks the hooks about the input. Where they do not let it pass, nothing of it is
	 * kept.
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
	 * Whether guards that are asked beside the model have not let the input pass so far.
	 * Nothing that anybody answers may go on before {@link #passInput}.
	 * @return false if there are none, or all have
	 */
	public boolean awaitsInputCheck() {
		InputCheck check = this.inputCheck;
		return check != null && !check.isPassed();
	}

	/**
	 * Whether such a guard has refused the input, or thrown. The model is not to be
	 * called again then: {@link #passInput} throws.
	 * @return false as long as they think
	 */
	public boolean isInputRefused() {
		InputCheck check = this.inputCheck;
		return check != null && check.isRefused();
	}

	/**
	 * Waits until those guards have let the input pass, and asks them on this thread if
	 * nobody else has. Does nothing if there are none, or all have.
	 * @throws SessionRefusedException if one refuses; what it throws is thrown as it is
	 */
	public void passInput() {
		InputCheck check = this.inputCheck;
		if (check != null && !check.isPassed()) {
			check.pass();
		}
	}

	/**
	 * Takes what the model has answered to an input that did not pass: only what it cost
	 * is kept.
	 * @param response what it said last; null for nothing
	 */
	public void unused(@Nullable ChatResponse response) {
		if (response != null) {
			this.rounds.unused(response);
		}
	}

	/**
	 * Asks the merge what is sent, unless nothing is. Where it fails, the input is kept
	 * as it was.
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
	 * Asks the merge what of the history is sent with a turn that goes on; its own
	 * messages stay as they are stored.
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
	 * Which session the turn is on.
	 * @return its key
	 */
	public SessionKey key() {
		return this.request.key();
	}

	/**
	 * The turn as its tools find it.
	 * @return what to bind to them
	 */
	public RunningTurn running() {
		return new BoundTurn(this::context, this.state, false);
	}

	/**
	 * The history that goes before the turn's input.
	 * @return the messages, oldest first, within the limits
	 */
	List<Message> history() {
		return this.prompt.history();
	}

	/**
	 * What goes behind the system text when the turn begins.
	 * @return the history and the input, or what a merge has made of them
	 */
	public List<Message> messages() {
		return this.prompt.messages();
	}

	/**
	 * What the caller says in this turn, as hooks and the merge have left it.
	 * @return the messages, without system text
	 */
	public List<Message> input() {
		return this.prompt.input();
	}

	/**
	 * What a hook answered before the tool loop was entered; it need not be entered then.
	 * @return the answer; null if there is none
	 */
	public @Nullable ChatResponse answer() {
		return this.answer;
	}

	/**
	 * Whether hooks or a gate are asked about replies. They may take their time.
	 * @return true if there are any
	 */
	public boolean mayWait() {
		return this.rounds.mayWait();
	}

	/**
	 * Which turn it is.
	 * @return its id
	 */
	public String id() {
		return this.id;
	}

	/**
	 * What the turn starts with.
	 * @return the request of the call that opened it or goes on with it
	 */
	public TurnRequest request() {
		return this.request;
	}

	/**
	 * Who answers.
	 * @return the agent that the call named that opened the turn; null if it named none
	 */
	public @Nullable String agent() {
		return (this.continued != null) ? this.continued.turn().agent() : this.request.agent();
	}

	/**
	 * Whether this call goes on with a turn that another one has left open.
	 * @return false if the turn is a new one
	 */
	public boolean isContinued() {
		return this.continued != null;
	}

	/**
	 * What the turn holds back, and the lease under which its tools run.
	 * @return the same each time
	 */
	public TurnHold holding() {
		return this.hold;
	}

	/**
	 * How many model calls the turn has seen, those of earlier calls included.
	 * @return the count
	 */
	public int roundNumber() {
		return this.rounds.rounds().size() + ((this.continued != null) ? this.continued.turn().rounds().size() : 0);
	}

	/**
	 * Has replies checked before their tools are called.
	 * @param gate who checks them
	 */
	public void gate(TurnGate gate) {
		this.rounds.gate(gate);
		alongside(gate::records);
	}

	/**
	 * Has records written together with the next part of the turn.
	 * @param records gives them when it is written
	 */
	public void alongside(Supplier<List<RecordWrite>> records) {
		this.keeper.alongside(records);
	}

	/**
	 * Nothing more is written of the turn by this call: it waits.
	 * @return the turn as it is stored
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
	 * Nothing more is written of the turn by this call, which has not begun with it.
	 * @param cause why it has not
	 */
	public void abandon(Throwable cause) {
		if (close()) {
			this.keeper.abandon(cause);
			this.hold.end();
		}
	}

	/**
	 * Ends a turn that waits as a cancelled one, beside the history.
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
	 * Whether a hook may withhold a reply or change it. Then nothing that the model says
	 * may be handed out before the turn is stored.
	 * @return true if streams have to wait
	 */
	public boolean holdsReplies() {
		return this.hooks.checksReplies();
	}

	/**
	 * Whether a model call is under way.
	 * @return true between {@link #beforeRound} and the end of that round
	 */
	public boolean isRoundOpen() {
		return this.rounds.isOpen();
	}

	/**
	 * Takes what the tool advisor forwards and gives what the model is to get.
	 * @param forwarded the messages, system text included
	 * @return a valid sequence within the limits, or the answer of a hook
	 * @throws IllegalStateException if the turn is over
	 * @throws SessionRefusedException if a hook refuses; what a hook throws is thrown as
	 * it is
	 * @throws InvalidSequenceException if the guard is strict and repairs are needed, or
	 * if nothing that the model could answer is left
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
	 * Takes what really leaves for the model, after all advisors. It may be told twice of
	 * one call.
	 * @param leaving messages and options, system text and tools included
	 */
	public void sent(Prompt leaving) {
		if (!this.rounds.isFrozen()) {
			this.prompt.sent(leaving, this.rounds::entries);
		}
	}

	/**
	 * Takes a chunk of a streamed reply.
	 * @param chunk the chunk
	 */
	public void chunk(ChatResponse chunk) {
		this.rounds.chunk(chunk);
	}

	/**
	 * The streamed reply is whole: asks the hooks and records it, before its tools are
	 * called.
	 * @return what is to be handed on in the place of the chunks that were kept back;
	 * null if those may go
	 * @throws SessionRefusedException if a hook refuses
	 * @throws HookFailedException if a hook fails
	 */
	public @Nullable List<ChatResponse> afterStreamedRound() {
		passInput();
		return this.rounds.afterStreamed();
	}

	/**
	 * Asks the hooks about a reply that came as a whole and records it, before its tools
	 * are called.
	 * @param response what the model returned; null and no generations are no reply
	 * @return what is to be handed on
	 * @throws SessionRefusedException if a hook refuses
	 * @throws HookFailedException if a hook fails
	 */
	public @Nullable ChatResponse afterRound(@Nullable ChatResponse response) {
		passInput();
		return this.rounds.afterWhole(response);
	}

	/**
	 * The model call has failed; another may follow in the same turn.
	 */
	public void afterFailedRound() {
		this.rounds.afterFailed();
	}

	/**
	 * Takes what a stream hands to the caller.
	 * @param chunk the chunk
	 */
	public void delivered(ChatResponse chunk) {
		this.rounds.delivered(chunk);
	}

	/**
	 * The tool loop of a stream is over: records what it ended with, if no model call
	 * came after it.
	 * @return the whole answer; null if there was none
	 */
	public @Nullable ChatResponse afterStreamedLoop() {
		passInput();
		return this.rounds.afterStreamedLoop();
	}

	/**
	 * The tool loop is over: records what it ended with, if no model call came after it.
	 * @param generations what the loop returned
	 */
	public void afterLoop(List<Generation> generations) {
		passInput();
		this.rounds.afterLoop(generations);
	}

	/**
	 * Records nothing more: the caller has gone, and what comes now are the effects of
	 * that.
	 */
	public void freeze() {
		this.rounds.freeze();
		this.state.endRunning();
	}

	/**
	 * Stores the turn as history; without an answer, as failed.
	 * @param answer what the caller is about to get
	 * @return the turn as it was stored
	 * @throws SessionConflictException if somebody else wrote to the session; the turn is
	 * kept beside the history, and the exception carries the answer
	 * @throws CommitFailedException if the store failed; it carries the answer
	 * @throws SessionRefusedException if a hook refused what is to be kept; the turn is
	 * kept beside the history, without the answer
	 * @throws HookFailedException if a hook failed on what is to be kept; the same
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
	 * This call writes nothing more of a turn of which a part is stored.
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
	 * Keeps the turn as failed, or as refused if that is what ended it, with what there
	 * was. It is not history, so a retry sends the question once. One of which a part is
	 * stored stays open, unless it was refused or no other call could go on with it.
	 * @param cause what ended the turn; what goes wrong here is added to it as suppressed
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
	 * Keeps the turn of a caller that has gone: completed if the answer was whole, else
	 * as cancelled with what there was. Where replies are held the caller has seen
	 * nothing yet, so it is cancelled in any case. There is nobody to tell of an error;
	 * it is logged.
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

	synchronized boolean isClosed() {
		return this.closed;
	}

	private synchronized boolean close() {
		boolean first = !this.closed;
		this.closed = true;
		this.rounds.freeze();
		this.state.endRunning();
		return first;
	}

	/**
	 * What there is of the turn; nothing as long as guards have not let its input pass.
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
