package io.sessionkit.internal.turn;

import java.util.List;
import java.util.function.Supplier;

import io.sessionkit.SessionKey;
import io.sessionkit.Turn;
import io.sessionkit.hook.SessionHook;
import io.sessionkit.internal.attribute.TurnAttributes;
import io.sessionkit.internal.binding.TurnSession;
import io.sessionkit.internal.commit.TurnKeeper;
import io.sessionkit.internal.commit.TurnOrigins;
import io.sessionkit.internal.lease.ToolLease;
import io.sessionkit.internal.line.Admission;
import io.sessionkit.internal.opening.Extensions;
import io.sessionkit.internal.opening.OpenedView;
import io.sessionkit.internal.opening.TurnRequest;
import io.sessionkit.internal.opening.TurnStart;
import io.sessionkit.internal.round.HookRun;
import io.sessionkit.internal.round.Rounds;
import io.sessionkit.internal.round.Transcript;
import io.sessionkit.internal.round.TurnEvents;
import io.sessionkit.internal.view.ForgottenItems;
import io.sessionkit.observation.ObservedCall;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.StoreLayer;
import io.sessionkit.store.StoreOptions;
import org.jspecify.annotations.Nullable;

/**
 * The parts of one turn, made for each other from what its call begins with. Safe for use
 * by many threads.
 */
final class TurnParts {

	private final TurnStart start;

	private final TurnSetup setup;

	private final HookRun hooks;

	private final TurnEvents events;

	private final SessionUse use;

	private final TurnPrompt prompt;

	private final Rounds rounds;

	private final TurnAttributes attributes;

	private final ForgottenItems forgotten;

	private final TurnContext context;

	private final @Nullable TurnMerge merge;

	/** Null until something of the turn is stored. */
	private @Nullable TurnKeeper keeper;

	/**
	 * Makes the parts of a turn.
	 * @param request the request of its call
	 * @param reading reads what the call begins with, which is not done for hooks that
	 * cannot be used
	 * @param admission the admission of the call; null if that does not stand in line
	 */
	TurnParts(TurnRequest request, Supplier<TurnStart> reading, TurnSetup setup, @Nullable Admission admission) {
		SessionKey key = request.key();
		StoreOptions options = setup.store().options();
		TurnSession session = new TurnSession(StoreLayer.beneath(setup.store()), key);
		Extensions ofAll = setup.rules().extensions().at(request.start());
		Extensions extensions = ofAll.and(request.extensions());
		this.setup = setup;
		this.hooks = hooks(request, ofAll.hooks());
		TurnStart start = reading.get();
		OpenedView opened = start.opened();
		this.start = start;
		this.events = events(session, extensions);
		this.use = new SessionUse(new ToolLease(key, start.lease()),
				setup.leases().life(key, start.timeToLive(options)), admission);
		this.prompt = new TurnPrompt(request, opened, setup);
		this.rounds = new Rounds(key, new Transcript(options::now, options.codec()::storable), this.hooks, this.events,
				this.prompt::answered);
		this.attributes = setup.attributes(key, opened.attributes(), start.continued());
		this.forgotten = new ForgottenItems(key, start.summaryTurn(), this.prompt::lines);
		this.context = new TurnContext(start, session, this::storedNumber, this.prompt, this.rounds, this.attributes,
				this.forgotten, this.use.children(), start.isContinued() || this.hooks.isEmpty());
		this.merge = (extensions.merge() != null) ? new TurnMerge(key, extensions.merge(), this.prompt, this.context)
				: null;
		if (opened.made() != null) {
			this.events.summarized(opened.made());
		}
		endWithOuter();
	}

	private HookRun hooks(TurnRequest request, List<SessionHook> ofAll) {
		List<SessionHook> ofCall = request.extensions().hooks();
		return (ofAll.isEmpty() && ofCall.isEmpty()) ? HookRun.NONE
				: new HookRun(request.key(), ofAll, ofCall, (phase) -> this.context.running(phase), request.observed());
	}

	private TurnEvents events(TurnSession session, Extensions extensions) {
		ObservedCall observed = this.start.request().observed();
		boolean silent = extensions.listeners().isEmpty() && observed == ObservedCall.NONE;
		return silent ? TurnEvents.NONE : new TurnEvents(session, this.start.id(), extensions.listeners(),
				this.hooks.checksReplies(), observed);
	}

	private long storedNumber() {
		Turn stored = keeper().stored();
		return (stored != null) ? stored.number() : 0;
	}

	/** Lets the turn around this one end its session, if that is a child for one turn. */
	private void endWithOuter() {
		if (this.start.request().endsWithTurn()) {
			SessionStore store = this.setup.store(); // the outer turn keeps what is done,
														// but not this turn
			SessionKey key = this.start.key();
			this.context.endWithOuter(() -> store.erase(key));
		}
	}

	TurnStart start() {
		return this.start;
	}

	TurnSetup setup() {
		return this.setup;
	}

	HookRun hooks() {
		return this.hooks;
	}

	TurnEvents events() {
		return this.events;
	}

	SessionUse use() {
		return this.use;
	}

	TurnPrompt prompt() {
		return this.prompt;
	}

	Rounds rounds() {
		return this.rounds;
	}

	TurnAttributes attributes() {
		return this.attributes;
	}

	ForgottenItems forgotten() {
		return this.forgotten;
	}

	TurnContext context() {
		return this.context;
	}

	/** Returns the merge of history and input; null if there is none. */
	@Nullable TurnMerge merge() {
		return this.merge;
	}

	/** Returns the checks of what the caller of the turn and others say. */
	InputChecks checks() {
		return new InputChecks(this.start.key(), this.hooks, this.attributes, this.context, this.setup.codec());
	}

	/** Returns what stores the turn, made when it is first asked for. */
	synchronized TurnKeeper keeper() {
		TurnKeeper known = this.keeper;
		if (known == null) {
			TurnOrigins origins = new TurnOrigins(this.start, this.prompt.snapshots(), this.forgotten,
					this.context::isErased);
			known = new TurnKeeper(this.setup.store(), origins, this.hooks, this.events, this.attributes,
					this.setup.retentions(), this.use.lease(), this.use.admission());
			this.keeper = known;
		}
		return known;
	}

	/**
	 * Gives back what the call holds of the session, and tells of an end that is no
	 * commit. The outer turn is told of a child session once more: if it has ended
	 * meanwhile, it has erased the session before this turn stored it again.
	 */
	void endUse() {
		this.use.end(() -> keeper().stored(), this.events::afterUse, this::endWithOuter);
	}

}
