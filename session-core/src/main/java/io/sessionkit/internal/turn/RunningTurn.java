package io.sessionkit.internal.turn;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.Supplier;

import io.sessionkit.OnCancel;
import io.sessionkit.Session;
import io.sessionkit.SessionConflictException;
import io.sessionkit.SessionKey;
import io.sessionkit.SessionLostException;
import io.sessionkit.Turn;
import io.sessionkit.TurnResult;
import io.sessionkit.TurnStatus;
import io.sessionkit.context.InvalidSequenceException;
import io.sessionkit.hook.HookFailedException;
import io.sessionkit.hook.SessionHook;
import io.sessionkit.hook.SessionRefusedException;
import io.sessionkit.internal.attribute.JoiningInput;
import io.sessionkit.internal.attribute.TurnAttributes;
import io.sessionkit.internal.binding.TurnAccess;
import io.sessionkit.internal.binding.TurnSession;
import io.sessionkit.internal.commit.RecordedTurn;
import io.sessionkit.internal.commit.TurnHold;
import io.sessionkit.internal.commit.TurnKeeper;
import io.sessionkit.internal.commit.TurnOrigins;
import io.sessionkit.internal.lease.HeldReply;
import io.sessionkit.internal.lease.ToolLease;
import io.sessionkit.internal.line.Admission;
import io.sessionkit.internal.line.Answer;
import io.sessionkit.internal.line.Drain;
import io.sessionkit.internal.line.Offering;
import io.sessionkit.internal.opening.ContinuedTurn;
import io.sessionkit.internal.opening.Extensions;
import io.sessionkit.internal.opening.KeptParameters;
import io.sessionkit.internal.opening.OpenedView;
import io.sessionkit.internal.opening.TurnPlace;
import io.sessionkit.internal.opening.TurnRequest;
import io.sessionkit.internal.round.HookRun;
import io.sessionkit.internal.round.HookedTurn;
import io.sessionkit.internal.round.InputCheck;
import io.sessionkit.internal.round.Rounds;
import io.sessionkit.internal.round.Transcript;
import io.sessionkit.internal.round.TurnEvents;
import io.sessionkit.internal.round.TurnGate;
import io.sessionkit.internal.view.ForgottenItems;
import io.sessionkit.observation.CallStage;
import io.sessionkit.observation.ObservedCall;
import io.sessionkit.store.CommitFailedException;
import io.sessionkit.store.RecordWrite;
import io.sessionkit.store.SessionRecord;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.StoreLayer;
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

	private final TurnSetup setup;

	private final KeptParameters parameters;

	private final @Nullable ContinuedTurn continued;

	private final String id;

	private final Instant startedAt;

	/** The header as this turn sees it: the turn before it is the head. */
	private final @Nullable Session base;

	private final TurnPlace place;

	private final HookRun hooks;

	private final TurnEvents events;

	private final @Nullable TurnMerge merge;

	private final TurnPrompt prompt;

	private final Rounds rounds;

	private final ToolLoop loop;

	private final TurnAttributes attributes;

	private final ForgottenItems forgotten;

	private final TurnContext context;

	private final SessionUse use;

	/** The check of the input by guards that run beside the model. */
	private volatile InputCheck inputCheck = InputCheck.PASSED;

	/** Null until something of the turn is stored. */
	private @Nullable TurnKeeper keeper;

	/** Null until the turn may hold a reply back. */
	private volatile @Nullable TurnHold hold;

	private @Nullable ChatResponse answer;

	private boolean closed;

	/** Held while a part is stored; guards whether the turn is closed. */
	private final Lock ending = new ReentrantLock();

	/**
	 * Creates a turn that continues an open one, or a new one if there is none to
	 * continue.
	 */
	RunningTurn(TurnRequest request, TurnSetup setup, KeptParameters parameters, @Nullable ContinuedTurn continued) {
		this.request = request;
		this.setup = setup;
		this.parameters = parameters;
		this.continued = continued;
		StoreOptions options = setup.store().options();
		Extensions ofAll = setup.rules().extensions().at(request.start());
		Extensions extensions = ofAll.and(request.extensions());
		this.hooks = hooks(ofAll.hooks(), request.extensions().hooks());
		this.startedAt = (continued != null) ? continued.turn().startedAt() : options.now();
		OpenedView opened = (continued != null) ? continued.opened()
				: request.observed().observe(CallStage.OPEN, () -> setup.views().open(request));
		this.base = opened.seen();
		this.place = opened.place();
		this.use = new SessionUse(new ToolLease(request.key(), (continued != null) ? continued.lease() : null),
				setup.leases().life(request.key(), timeToLive()));
		this.id = (continued != null) ? continued.turn().id() : options.newTurnId(firstNumber());
		if (continued != null) {
			request.observed().opened(this.id);
		}
		this.events = events(extensions);
		this.prompt = new TurnPrompt(request, opened, setup);
		this.rounds = new Rounds(request.key(), new Transcript(options::now, options.codec()::storable), this.hooks,
				this.events, this.prompt::answered);
		this.loop = new ToolLoop(this.prompt, this.rounds, this.hooks, this.events, this::inputCheck);
		this.attributes = setup.attributes(request.key(), opened.attributes(), continued);
		this.forgotten = new ForgottenItems(request.key(), (this.base != null) ? this.base.summaryTurn() : 0,
				this.prompt::lines);
		this.context = new TurnContext(request.parameters(), session(), this::storedNumber, this.id, agent(),
				this.prompt, this.rounds, this.attributes, this.forgotten, this.use.children(),
				continued != null || this.hooks.isEmpty());
		this.merge = (extensions.merge() != null) ? new TurnMerge(key(), extensions.merge(), this.prompt, this.context)
				: null;
		if (opened.made() != null) {
			this.events.summarized(opened.made());
		}
		endWithOuter();
	}

	private long storedNumber() {
		Turn stored = keeper().stored();
		return (stored != null) ? stored.number() : 0;
	}

	/** Lets the turn around this one end its session, if that is a child for one turn. */
	private void endWithOuter() {
		TurnAccess outer = this.context.outer();
		if (this.request.endsWithTurn() && outer != null) {
			SessionStore store = this.setup.store(); // the outer turn keeps what is done,
														// but not this turn
			SessionKey key = key();
			outer.endsWith(session(), () -> store.erase(key));
		}
	}

	private TurnSession session() {
		return new TurnSession(StoreLayer.beneath(this.setup.store()), this.request.key());
	}

	/** Returns null if the session does not expire, or if this call does not write it. */
	private @Nullable Duration timeToLive() {
		Session header = this.place.header();
		Duration life = (header != null) ? header.timeToLive() : this.setup.store().options().timeToLive();
		return this.request.isStored() ? life : null;
	}

	private HookRun hooks(List<SessionHook> ofAll, List<SessionHook> ofCall) {
		return (ofAll.isEmpty() && ofCall.isEmpty()) ? HookRun.NONE
				: new HookRun(key(), ofAll, ofCall, (phase) -> this.context.running(phase), observed());
	}

	private TurnEvents events(Extensions extensions) {
		boolean silent = extensions.listeners().isEmpty() && observed() == ObservedCall.NONE;
		return silent ? TurnEvents.NONE
				: new TurnEvents(session(), this.id, extensions.listeners(), this.hooks.checksReplies(), observed());
	}

	/**
	 * Returns the number of the open turn of the session, which keeps this one from
	 * beginning.
	 * @return the number; 0 if there is no open turn
	 */
	public long openTurn() {
		return (this.base != null && this.continued == null && this.request.isStored()) ? this.base.openTurn() : 0;
	}

	/**
	 * Returns the name of the branch whose history the turn follows.
	 * @return the branch; the first one if there is no session yet
	 */
	String branch() {
		return (this.base != null) ? this.base.branch() : Session.MAIN;
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
	 * Returns whether the history is there that the call has brought which opened the
	 * turn.
	 * @return true also for a turn whose call has brought none
	 */
	boolean hasItsHistory() {
		return this.continued == null || this.continued.hasItsHistory();
	}

	/**
	 * Takes the messages that the caller has queued while the turn waited, and runs the
	 * hooks on them that were not asked before.
	 * @throws SessionRefusedException if a hook refuses them; nothing has changed
	 * @throws IllegalStateException if a hook answers them
	 */
	public void joinQueued() {
		List<JoiningInput> queued = queued();
		if (!queued.isEmpty()) {
			join(checks().queued(queued));
		}
	}

	/**
	 * Takes the messages that callers have queued into a turn that is to end without the
	 * model. Those that a hook refuses or answers are left out.
	 * @return how many calls have queued messages that are left out. If a hook throws
	 * anything else, it is thrown as it is, and nothing has changed
	 */
	public int takeQueued() {
		List<JoiningInput> queued = queued();
		if (queued.isEmpty()) {
			return 0;
		}
		List<JoiningInput> passed = checks().acceptable(queued);
		join(passed);
		return queued.size() - passed.size();
	}

	private List<JoiningInput> queued() {
		HeldReply held = holding().reply();
		return (held != null) ? held.queued() : List.of();
	}

	private void join(List<JoiningInput> passed) {
		holding().queued(passed);
		this.rounds.queue(passed.stream().flatMap((each) -> each.messages().stream()).toList());
	}

	/**
	 * Runs the hooks on the input, which is to become part of another turn than this one.
	 * @return what may be stored of it until then; null if a hook answers it, so that
	 * nothing but a turn of its own can have the answer
	 * @throws SessionRefusedException if a hook refuses it; what a hook throws is thrown
	 * as it is
	 */
	public @Nullable JoiningInput toJoin() {
		if (this.hooks.isEmpty()) {
			return JoiningInput.unchecked(this.prompt.input());
		}
		try {
			return checks().joining(this.prompt.input());
		}
		finally {
			this.use.children().end();
		}
	}

	private InputChecks checks() {
		return new InputChecks(key(), this.hooks, this.attributes, this.context, this.setup.codec());
	}

	/**
	 * Begins the turn: checks that everything that the caller has passed can be sent,
	 * runs the hooks on it, and asks the merge for the messages to send.
	 * @throws InvalidSequenceException if something that was passed cannot be sent
	 */
	void begin() {
		observed().opened(this.id);
		if (!this.request.onlyAsks() || this.request.start().isGiven()) {
			this.prompt.checkPassed();
		}
		if (!this.hooks.isEmpty()) {
			checkInput();
			this.context.begin();
		}
		if (this.merge != null && this.answer == null) {
			merge(this.merge);
		}
	}

	/** If the hooks do not let the input pass, nothing of it is kept. */
	private void checkInput() {
		try {
			InputChecks checks = checks();
			HookRun.Passed<List<Message>> passed = checks.begin(this.prompt.input());
			this.inputCheck = checks.besideModel(passed.value());
			if (passed.replaced()) {
				this.prompt.changed(passed.value());
			}
			if (passed.answer() != null) {
				this.answer = this.loop.answer(passed.answer());
			}
		}
		catch (Throwable ex) {
			this.prompt.input(List.of());
			fail(ex);
			throw ex;
		}
	}

	/** If the merge fails, the input is kept as it was. */
	private void merge(TurnMerge asked) {
		try {
			asked.begin(this.setup.codec());
		}
		catch (Throwable ex) {
			fail(ex);
			throw ex;
		}
	}

	/**
	 * Asks the merge which part of the history to send with a continued turn. The
	 * messages of the turn stay as they are stored. A history that the call has brought
	 * which opened the turn is sent as it is.
	 */
	void mergeAgain() {
		if (this.continued != null && this.merge != null && !this.prompt.isGiven()) {
			this.merge.again(this.continued);
		}
	}

	/**
	 * Returns the tool loop of the turn.
	 * @return the same object each time
	 */
	public ToolLoop loop() {
		return this.loop;
	}

	/**
	 * Returns the check of the input by guards that run beside the model.
	 * @return the check; one that has passed if there are no such guards
	 */
	public InputCheck inputCheck() {
		return this.inputCheck;
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
	public HookedTurn running() {
		return this.context.running();
	}

	/**
	 * Returns the attributes of the session as this turn has them.
	 * @return the same object each time
	 */
	public TurnAttributes attributes() {
		return this.attributes;
	}

	/**
	 * Returns the messages that follow the system text when the turn begins.
	 * @return the history and the input, or what a merge has made of them
	 */
	public List<Message> messages() {
		return this.prompt.messages();
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
	 * Returns the observer of the call.
	 * @return the observer; one that observes nothing if there is none
	 */
	public ObservedCall observed() {
		return this.request.observed();
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
	 * Returns whether another call could continue the turn if this one stopped at a step.
	 * @return false if the turn is not stored, if a transaction of the caller may roll
	 * back what is stored, or if the turn has messages to forget, which are not kept with
	 * a part of it
	 */
	public boolean canBeHandedOver() {
		return this.request.isStored() && this.forgotten.isEmpty() && !this.setup.store().mayRollBack();
	}

	/**
	 * Returns whether this call continues a turn that another call has left open.
	 * @return false if the turn is a new one
	 */
	public boolean isContinued() {
		return this.continued != null;
	}

	/**
	 * Returns the exception for a session that was erased or has expired since the turn
	 * was opened.
	 * @return the exception; null if the session is there
	 */
	public @Nullable SessionLostException lost() {
		return keeper().lost(null);
	}

	/**
	 * Returns the reply that the turn holds back, and the lease under which its tools
	 * run.
	 * @return the same object each time
	 */
	public synchronized TurnHold holding() {
		TurnHold known = this.hold;
		if (known == null) {
			TurnHold.Held held = new TurnHold.Held(key(), this::recorded, this::isClosed, this::alone);
			HeldReply reply = (this.continued != null) ? this.continued.pause().held() : null;
			known = new TurnHold(held, this.setup.codec(), this.rounds, keeper(), this.setup.leases(), this.use.lease(),
					reply);
			this.hold = known;
		}
		return known;
	}

	private synchronized TurnKeeper keeper() {
		TurnKeeper known = this.keeper;
		if (known == null) {
			known = new TurnKeeper(this.setup.store(), origins(), this.continued, this.hooks, this.events,
					this.attributes, this.setup.retentions(), this.use.lease());
			this.keeper = known;
		}
		return known;
	}

	private TurnOrigins origins() {
		return new TurnOrigins(this.request, this.id, this.startedAt, this.place, this.prompt.snapshots(),
				this.parameters, this.forgotten, this.context::isErased);
	}

	/**
	 * Gives back what the call holds of the session, and tells of an end that is no
	 * commit. The outer turn is told of a child session once more: if it has ended
	 * meanwhile, it has erased the session before this turn stored it again.
	 */
	private void endUse() {
		this.use.end(() -> keeper().stored(), this.events::afterUse, this::endWithOuter);
	}

	/**
	 * Sets the admission with which the call works on the session. The call leaves the
	 * line when it ends.
	 * @param admission the admission
	 */
	public synchronized void inLine(Admission admission) {
		this.use.inLine(admission);
		admission.working(new Answer(this.id, firstNumber()));
		keeper().inLine(admission);
		Offering offering = admission.offering();
		if (offering != null && followsSession()) {
			this.loop.steering(new TurnSteering(offering, agent(), (this.base != null) ? this.base.turns() : 0,
					this.rounds, checks()));
		}
	}

	/**
	 * Returns whether messages of other calls may join the turn: it is sent the history
	 * that they would be sent as turns of their own.
	 */
	private boolean followsSession() {
		return this.place.becomesHead() && (!this.prompt.isGiven() || this.place.startsAnew());
	}

	/**
	 * Creates the writes that store that another turn answers the request of this call.
	 * @param other the turn that waits
	 * @return the writes; none if the client of the call cannot repeat it
	 */
	public List<RecordWrite> answeredBy(Turn other) {
		return this.use.answeredBy(other);
	}

	/** Returns the smallest number that the turn can have. */
	private long firstNumber() {
		if (this.continued != null) {
			return this.continued.turn().number();
		}
		return (this.base != null) ? this.base.turns() + 1 : 1;
	}

	/**
	 * Sets the work of this process that ends when the call ends. As long as it lasts,
	 * the session does not expire.
	 * @param counted the work
	 */
	public void atWork(Drain.Work counted) {
		this.use.atWork(counted);
	}

	/** Notes that the turn stops at a step, since its process shuts down. */
	public void handedOver() {
		this.use.handedOver();
	}

	/**
	 * Returns the records of one kind that were read with the turn that this call
	 * continues.
	 * @param kind one of the kinds that are read to continue a turn
	 * @return the records; none for a new turn
	 */
	public List<SessionRecord> records(String kind) {
		return (this.continued != null) ? this.continued.stored().records(kind) : List.of();
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
		holding();
		this.rounds.gate().register(gate);
		alongside(gate::records);
	}

	/**
	 * Registers what supplies the gate of a turn that has none, while its process shuts
	 * down.
	 * @param supplier supplies the gate; null to continue
	 */
	public void stopping(Supplier<@Nullable TurnGate> supplier) {
		this.rounds.gate().stopping(supplier);
	}

	/**
	 * Registers records to write together with the next part of the turn.
	 * @param records supplies the records when the part is written
	 */
	public void alongside(Supplier<List<RecordWrite>> records) {
		keeper().alongside(records);
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
		Turn stored = Objects.requireNonNull(keeper().stored());
		endUnwritten();
		this.events.paused(stored);
		return new TurnResult(key(), stored, keeper().items(), this.prompt.isOverLimit());
	}

	/**
	 * Abandons the turn before this call has started working on it; nothing further is
	 * stored.
	 * @param cause the reason why this call does not work on the turn
	 */
	public void abandon(Throwable cause) {
		if (close()) {
			try {
				keeper().abandon(cause);
			}
			finally {
				endUse();
			}
		}
	}

	/**
	 * Ends a turn that waits as cancelled, beside the history.
	 */
	public void giveUp() {
		if (close()) {
			try {
				keeper().giveUp(recorded());
			}
			finally {
				endUse();
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
		this.forgotten.endRunning();
	}

	/**
	 * Stores the turn as history, or as failed if there is no answer. Without an answer,
	 * a turn of which a part is stored stays open.
	 * @param answer the response that the caller is about to get; null if it is not
	 * delivered
	 * @return the turn as it is stored
	 * @throws IllegalStateException if the turn is over
	 * @throws SessionConflictException if another writer changed the session; the
	 * exception says what is kept of the turn, and carries the answer
	 * @throws io.sessionkit.SessionLostException if the session was erased or has
	 * expired; the exception carries the answer
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
			TurnResult result = keeper().complete(recorded(), answer);
			if (result.turn().status() == TurnStatus.COMPLETED) {
				Session before = (this.place.becomesHead() && !this.place.startsAnew()) ? this.base : null;
				this.setup.views()
					.committed(this.request.isStored() ? before : null, result.turn(), this.events::summarized);
			}
			return result;
		}
		finally {
			endStored();
		}
	}

	/** A turn that is still open may know more of its tools than is stored. */
	private void endStored() {
		if (keeper().isOpen()) {
			endUnwritten();
		}
		else {
			endUse();
		}
	}

	/**
	 * Ends the work of this call on the turn: stores what is still known of its tools and
	 * gives the lease back. Nothing more of the turn itself is written.
	 */
	private void endUnwritten() {
		if (keeper().isOpen() && !this.forgotten.isEmpty()) {
			logger.warn("The turn on session " + key() + " stays open, and the messages that it was to forget stay"
					+ " too: only the call that ends a turn forgets any.");
		}
		try {
			this.rounds.gate().ending();
		}
		catch (RuntimeException ex) {
			logger.warn("What is known of the tools of the open turn on session " + key() + " could not be stored: "
					+ ex.getClass().getName());
		}
		finally {
			endUse();
		}
	}

	/**
	 * Keeps the turn with what was recorded of it: as refused if a refusal ended it,
	 * otherwise as failed. It does not become history, so a retry sends the question only
	 * once. A turn of which a part is stored stays open, unless it was refused or no
	 * other call could continue it; if the lease was lost, another one may do so already.
	 * @param cause the cause of the end; errors that occur here are added to it as
	 * suppressed
	 */
	public void fail(Throwable cause) {
		if (close()) {
			try {
				keepPartialReply(cause::addSuppressed);
				keeper().fail(recorded(), cause, this.use.lease().isHeld() && this.rounds.gate().endsTurn(cause));
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
		cancel(OnCancel.DISCARD);
	}

	/**
	 * Keeps the turn of a caller that has disconnected, like {@link #cancel()}, but with
	 * {@link OnCancel#KEEP} also as completed if a part of the answer was handed to the
	 * caller. If that part cannot become history, because a hook refuses it, another
	 * writer was first or the store fails, the turn is kept as cancelled.
	 * @param onCancel the rule for such a part
	 */
	public void cancel(OnCancel onCancel) {
		freeze();
		if (!close()) {
			return;
		}
		try {
			if (!completeUnseen(onCancel)) {
				keepPartialReply(this::partialReplyIsLost);
				keeper().cancel(recorded());
			}
		}
		catch (RuntimeException ex) {
			logger.warn("The cancelled turn on session " + key() + " could not be stored: " + ex.getClass().getName());
		}
		finally {
			this.events.over();
			endUnwritten();
		}
	}

	/**
	 * Records the partial reply. If it cannot be stored, the turn is kept without it.
	 */
	private void keepPartialReply(Consumer<RuntimeException> failed) {
		try {
			this.rounds.keepPartialReply();
		}
		catch (RuntimeException ex) {
			failed.accept(ex);
		}
	}

	private void partialReplyIsLost(RuntimeException ex) {
		logger.warn("What was said in the cancelled turn on session " + key() + " could not be stored: "
				+ ex.getClass().getName());
	}

	/**
	 * Drops the turn of a caller that has disconnected before anything was done with it.
	 * A new turn has stored nothing yet, so only a continued turn is cancelled.
	 */
	public void drop() {
		if (isContinued()) {
			cancel();
		}
		else {
			this.events.over();
		}
		endUse();
	}

	/**
	 * Completes the turn of a caller that has disconnected, if it has an answer that no
	 * hook still has to check.
	 * @return whether the turn is history now
	 */
	private boolean completeUnseen(OnCancel onCancel) {
		if (this.hooks.checksReplies() || this.inputCheck.isPending()) {
			return false;
		}
		return isStoredUnseen(onCancel);
	}

	/** A turn that cannot be stored as completed is kept as cancelled, if that can be. */
	private boolean isStoredUnseen(OnCancel onCancel) {
		try {
			boolean answered = this.rounds.isAnswerWhole()
					|| (onCancel == OnCancel.KEEP && this.rounds.answerWithDelivered());
			return answered && keeper().completeUnseen(recorded());
		}
		catch (RuntimeException ex) {
			logger.warn("What was said in the cancelled turn on session " + key()
					+ " could not be stored as its answer: " + ex.getClass().getName());
			return false;
		}
	}

	private boolean isClosed() {
		this.ending.lock();
		try {
			return this.closed;
		}
		finally {
			this.ending.unlock();
		}
	}

	/** A thread that ends the turn meanwhile waits for the work. */
	private void alone(Runnable work) {
		this.ending.lock();
		try {
			work.run();
		}
		finally {
			this.ending.unlock();
		}
	}

	private boolean close() {
		boolean first = closeOnce();
		if (first && this.prompt.isAsked() && observed() != ObservedCall.NONE) {
			observed().viewed(this.prompt.tokens(), this.prompt.isTrimmed());
		}
		return first;
	}

	private boolean closeOnce() {
		this.ending.lock();
		try {
			boolean first = !this.closed;
			this.closed = true;
			freeze();
			return first;
		}
		finally {
			this.ending.unlock();
		}
	}

	/**
	 * Returns what was recorded of the turn. It contains no messages while guards have
	 * not let the input pass.
	 */
	RecordedTurn recorded() {
		if (this.inputCheck.isPending()) {
			return new RecordedTurn(List.of(), List.of(), this.rounds.rounds(), false, null, this.prompt.isOverLimit());
		}
		Transcript.Recording said = this.rounds.recording();
		TurnHold known = this.hold;
		return new RecordedTurn((keeper().stored() != null) ? List.of() : this.prompt.asked(this.startedAt),
				(known != null) ? said.entriesFrom(known.storedEntries()) : said.entries(), said.rounds(),
				said.answered(), said.reply(), this.prompt.isOverLimit());
	}

}
