package io.sessionkit.internal.turn;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;

import io.sessionkit.Durability;
import io.sessionkit.SessionKey;
import io.sessionkit.TurnOpenException;
import io.sessionkit.codec.MessageCodec;
import io.sessionkit.context.InvalidSequenceException;
import io.sessionkit.hook.SessionHook;
import io.sessionkit.internal.Interrupts;
import io.sessionkit.internal.Renewals;
import io.sessionkit.internal.attribute.JoiningInput;
import io.sessionkit.internal.lease.TurnLeases;
import io.sessionkit.internal.line.Admission;
import io.sessionkit.internal.line.Drain;
import io.sessionkit.internal.line.Lines;
import io.sessionkit.internal.line.Offer;
import io.sessionkit.internal.message.TurnSplitter;
import io.sessionkit.internal.opening.KeptParameters;
import io.sessionkit.internal.opening.OpenedView;
import io.sessionkit.internal.opening.TurnParameters;
import io.sessionkit.internal.opening.TurnRequest;
import io.sessionkit.internal.opening.TurnRules;
import io.sessionkit.internal.opening.TurnStart;
import io.sessionkit.internal.opening.TurnViews;
import io.sessionkit.internal.retention.Retentions;
import io.sessionkit.observation.CallObserver;
import io.sessionkit.observation.CallStage;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.StoreOptions;
import io.sessionkit.store.StoreUnavailableException;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.ai.chat.messages.Message;

/**
 * Runs the turns of sessions: opens new ones, and finds those that calls have left open.
 * Safe for use by many threads.
 */
public final class Turns implements AutoCloseable {

	private static final Log logger = LogFactory.getLog(Turns.class);

	private final TurnSetup setup;

	private final WaitingTurns waitingTurns;

	private final Durability durability;

	private final Lines lines;

	private final Renewals renewals = new Renewals();

	private final Drain drain = new Drain();

	/**
	 * Creates the object that runs turns.
	 * @param lease how long a call that does not renew it keeps an open turn, or its
	 * place in line
	 */
	public Turns(SessionStore store, TurnRules rules, TurnViews views, Duration lease, Durability durability) {
		this.setup = new TurnSetup(store, rules, views, new TurnLeases(store, lease, this.renewals, rules.observer()),
				new Retentions(store, rules.kept().retention()));
		this.lines = new Lines(store, lease, this.renewals, rules.observer());
		this.durability = durability;
		this.waitingTurns = new WaitingTurns(this.setup);
	}

	/**
	 * Opens what a turn starts with: header and view at once, after checking that its
	 * input can be stored. A view that is behind is brought up to date before that: its
	 * session lives on, a lost summary is mended, one that is due is made. The turn has
	 * not begun, and nothing has to be done to end it.
	 * @param asking the data with which the turn starts
	 * @param admission the admission of the call; null if it does not stand in line
	 * @return the turn; it cannot begin if its {@code openTurn()} is not 0
	 * @throws io.sessionkit.codec.UnstorableMessageException if a message of the input
	 * cannot be stored; the store was not called
	 * @throws io.sessionkit.store.StoreUnavailableException if the store does not answer
	 * @throws io.sessionkit.SessionLostException if the session does not have the turn
	 * that the caller expects
	 */
	public OpenedTurn open(TurnRequest asking, @Nullable Admission admission) {
		TurnRequest request = this.setup.views().withQuestion(asking);
		KeptParameters parameters = storable(request);
		return new OpenedTurn(new TurnParts(request, () -> read(request, parameters), this.setup, admission));
	}

	private TurnStart read(TurnRequest request, KeptParameters parameters) {
		StoreOptions options = this.setup.store().options();
		Instant now = options.now();
		OpenedView opened = request.observed().observe(CallStage.OPEN, () -> this.setup.views().open(request));
		return TurnStart.anew(request, opened, now, parameters, options);
	}

	/**
	 * Checks what a call brings to its turn, without the store, so that a call that can
	 * never be stored need not wait for others first.
	 * @param asking the data with which the turn starts
	 * @throws io.sessionkit.codec.UnstorableMessageException if a message of the input or
	 * a parameter that is kept cannot be stored
	 * @throws InvalidSequenceException if a session cannot begin with the history that
	 * the call brings
	 */
	public void checkStorable(TurnRequest asking) {
		storable(asking);
	}

	/** Checks what a turn is stored with, and returns the parameters that are kept. */
	private KeptParameters storable(TurnRequest request) {
		MessageCodec codec = this.setup.codec();
		checkStorable(request.key(), request.input(), codec);
		if (request.start().isGiven()) {
			checkGiven(request, codec);
		}
		if (request.agent() != null) {
			codec.encodeValues(request.key(), Map.of("agent", request.agent()));
		}
		TurnParameters kept = this.setup.rules().kept().parameters();
		return kept.names().isEmpty() ? KeptParameters.NONE : KeptParameters.of(request, kept, codec);
	}

	private static void checkStorable(SessionKey key, List<Message> messages, MessageCodec codec) {
		for (Message message : messages) {
			if (!codec.surelyStores(message)) {
				codec.encode(key, message);
			}
		}
	}

	/** Refuses a history that could be sent, but not stored where it is to be. */
	private static void checkGiven(TurnRequest request, MessageCodec codec) {
		List<Message> given = request.start().given();
		if (request.isStored()) {
			checkStorable(request.key(), given, codec);
		}
		String fault = (request.start().kind() == TurnRequest.Start.Kind.REPLACE_SESSION && !given.isEmpty())
				? TurnSplitter.fault(given) : null;
		if (fault != null) {
			throw new InvalidSequenceException("The history with which session " + request.key()
					+ " is to start anew cannot be its beginning: the messages " + fault + ". Nothing was sent.");
		}
		checkAlone(request);
	}

	/** Refuses what would change or extend a history that is sent as it is. */
	private static void checkAlone(TurnRequest request) {
		TurnRequest.ChildOf child = request.child();
		String other = (request.extensions().merge() != null) ? "a HistoryMerge, which would change it"
				: (child != null && child.reads()) ? "a child session with readingParent(), which would add to it"
						: null;
		if (other != null) {
			throw new IllegalStateException("The call on session " + request.key()
					+ " brings a history, which is sent as it is, and " + other + ". Leave one of them out.");
		}
	}

	/**
	 * Returns what a call offers to the turn at work while it waits. The hooks of all
	 * calls are asked before it is stored. What they do not let pass is not offered: the
	 * call then has a turn of its own, whose hooks say why.
	 * @param asking the data with which the turn of the call starts
	 * @return the offer; null if there is none
	 * @throws StoreUnavailableException if the store does not answer, before hooks are
	 * asked. It is not known then whether the call has an offer
	 */
	public @Nullable Offer offer(TurnRequest asking) {
		Offer offer = asking.offer();
		if (offer == null || hooks().isEmpty()) {
			return offer;
		}
		OpenedTurn checking = open(asking.toCheck(), null);
		try {
			JoiningInput joining = checking.toJoin();
			return (joining != null) ? new Offer(joining, offer.agent(), offer.expectedTurn()) : null;
		}
		catch (Exception ex) {
			Interrupts.keep(ex);
			logger.debug("A call that waits on session " + asking.key()
					+ " does not offer its message, a hook did not let it pass: " + ex.getClass().getName());
			return null;
		}
	}

	/**
	 * Begins a turn that was read: runs the hooks on the input and asks the merge for the
	 * messages to send. The turn is written when it is completed, failed, cancelled or
	 * held, and leaves no trace before that. The call leaves the line when the turn ends.
	 * @param turn the turn, which begins once
	 * @return the turn
	 * @throws TurnOpenException if the session has an open turn
	 * @throws io.sessionkit.context.InvalidSequenceException if the input has tool
	 * results that answer no call, or a reply that cannot be sent at its position
	 * @throws io.sessionkit.hook.SessionRefusedException if a hook refuses the input; the
	 * turn is kept as refused, without the input. What a hook throws is thrown as it is,
	 * and the turn is kept as failed
	 */
	public RunningTurn begin(OpenedTurn turn) {
		if (turn.openTurn() != 0) {
			throw paused(turn, turn.request().start().asksAgain());
		}
		return turn.begin();
	}

	/**
	 * Returns the exception for a turn that cannot begin because another one is open.
	 * @param turn the turn that was read
	 * @param asksAgain whether it was to ask a question that is stored, so that the call
	 * has no message
	 * @return the exception
	 */
	public TurnOpenException paused(OpenedTurn turn, boolean asksAgain) {
		return new TurnOpenException("Session " + turn.key() + " has an open turn, number " + turn.openTurn()
				+ ": tool calls wait in it, it broke off at a step, or a process works on it. Decide the calls that"
				+ " Approvals.pending(..) lists, if there are any, and call again without a message to continue it;"
				+ " or cancel it with Approvals.cancel(..), or set"
				+ " sessionkit.approval.on-new-message to queue or cancel. "
				+ (asksAgain ? "No question was asked again." : "The new message was not stored."), turn.openTurn());
	}

	/**
	 * Returns the exception for a message that cannot be queued, since a hook answers it.
	 * @param turn the turn that was read
	 * @return the exception
	 */
	public TurnOpenException answeredWhileOpen(OpenedTurn turn) {
		return new TurnOpenException("A hook has answered the new message on session " + turn.key()
				+ ", whose open turn, number " + turn.openTurn() + ", has to end first. The new message was not stored."
				+ " Decide the calls that Approvals.pending(..) lists and call without a message to continue that turn,"
				+ " or end it with Approvals.cancel(..); then call again with the message.", turn.openTurn());
	}

	/**
	 * Returns the access to the turns that wait to be continued.
	 * @return the object that finds and continues them
	 */
	public WaitingTurns waitingTurns() {
		return this.waitingTurns;
	}

	/**
	 * Returns the leases of open turns and of rewinds.
	 * @return the object that gives them out
	 */
	public TurnLeases leases() {
		return this.setup.leases();
	}

	/**
	 * Returns the lines in which the calls on sessions stand.
	 * @return the lines
	 */
	public Lines lines() {
		return this.lines;
	}

	/**
	 * Returns the work of this process, which ends in order when it shuts down.
	 * @return the same object each time
	 */
	public Drain drain() {
		return this.drain;
	}

	/**
	 * Returns the store of the sessions.
	 * @return the store
	 */
	public SessionStore store() {
		return this.setup.store();
	}

	/**
	 * Returns the observer of all calls.
	 * @return the observer; one that observes nothing if there is none
	 */
	public CallObserver observer() {
		return this.setup.rules().observer();
	}

	/**
	 * Returns the hooks of all calls.
	 * @return the hooks, the outermost first; empty if there are none
	 */
	public List<SessionHook> hooks() {
		return this.setup.rules().extensions().hooks();
	}

	/**
	 * Returns the rule for when turns are written.
	 * @return the durability
	 */
	public Durability durability() {
		return this.durability;
	}

	/**
	 * Stops the threads that renew leases and places in line.
	 */
	@Override
	public void close() {
		this.renewals.close();
	}

}
