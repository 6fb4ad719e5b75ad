package io.sessionkit.internal.opening;

import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.ToIntFunction;

import io.sessionkit.Session;
import io.sessionkit.SessionKey;
import io.sessionkit.Turn;
import io.sessionkit.context.SummaryResult;
import io.sessionkit.context.SummaryResult.Status;
import io.sessionkit.internal.binding.TurnAccess;
import io.sessionkit.internal.binding.TurnBinding;
import io.sessionkit.internal.binding.TurnFacts;
import io.sessionkit.internal.binding.TurnSession;
import io.sessionkit.internal.lease.SessionLife;
import io.sessionkit.internal.snapshot.SnapshotReader;
import io.sessionkit.internal.summary.Summarizer;
import io.sessionkit.internal.view.BroughtLines;
import io.sessionkit.internal.view.LostSummary;
import io.sessionkit.internal.view.TokenMemory;
import io.sessionkit.internal.view.ViewLine;
import io.sessionkit.internal.view.ViewReader;
import io.sessionkit.store.SessionView;
import io.sessionkit.store.StoreLayer;
import io.sessionkit.store.StoreOptions;
import io.sessionkit.store.Window;
import org.jspecify.annotations.Nullable;

import org.springframework.ai.chat.messages.Message;

/**
 * Opens the views from which turns start, after making a summary if one is due. Safe for
 * use by many threads.
 */
public final class TurnViews {

	private final ViewReader reader;

	private final TokenMemory memory;

	private final @Nullable Summarizer summarizer;

	private final boolean countsTokens;

	private final HeadView head;

	private final TurnPlaces places;

	public TurnViews(ViewReader reader, TokenMemory memory, @Nullable Summarizer summarizer) {
		this.reader = reader;
		this.head = new HeadView(reader);
		this.places = new TurnPlaces(reader, this.head);
		this.memory = memory;
		this.summarizer = summarizer;
		this.countsTokens = reader.limitsTokens() || (summarizer != null && summarizer.countsTokens());
	}

	/**
	 * Opens the view for a new turn. This may write: a session that would expire lives
	 * on, the name of a lost summary is mended, and a summary that is due is made.
	 * @param request the request with its question
	 * @return what the turn starts from
	 */
	public OpenedView open(TurnRequest request) {
		OpenedView opened = switch (request.start().kind()) {
			case HEAD -> openHead(request);
			case EDIT, REGENERATE, ANSWER -> extended(this.places.open(request));
			case BRANCH -> openBranch(request);
			case USE_IF_PROVIDED, REPLACE_SESSION -> extended(openGiven(request));
			case OVERRIDE -> openGiven(request);
			case READ -> openRead(request);
		};
		return withParent(request, opened);
	}

	/** The session must not expire while the turn waits for the model. */
	private OpenedView extended(OpenedView opened) {
		Session header = opened.place().header();
		Session now = SessionLife.extended(this.reader.store(), header);
		return (now != header) ? opened.on(now) : opened;
	}

	private @Nullable SessionView extended(@Nullable SessionView view) {
		Session header = (view != null) ? view.session() : null;
		Session now = SessionLife.extended(this.reader.store(), header);
		return (view != null && now != null && now != header) ? new SessionView(now, view.summary(), view.items())
				: view;
	}

	/** A history that the call brings, or that was read by a turn, is all there is. */
	private OpenedView withParent(TurnRequest request, OpenedView opened) {
		TurnRequest.ChildOf child = request.child();
		boolean reads = child != null && child.reads() && opened.brought() == null;
		return (child != null && reads) ? opened.behind(parent(request, child)) : opened;
	}

	/**
	 * Opens a session for a turn whose call brings the history: the header alone.
	 */
	private OpenedView openGiven(TurnRequest request) {
		SessionView opened = this.reader.store().open(request.key(), Window.HEADER).orElse(null);
		Session header = (opened != null) ? opened.session() : null;
		request.checkExpected(header);
		TurnPlace place = (request.start().kind() == TurnRequest.Start.Kind.REPLACE_SESSION)
				? TurnPlace.startingAnew(opened, request.start().given(), options().codec()) : TurnPlace.atHead(header);
		SessionView view = (header != null) ? new SessionView(header, null, List.of()) : null;
		return new OpenedView(view, place)
			.behind(new OpenedView.Brought(BroughtLines.of(request.start().given(), tokens()), true, null));
	}

	/**
	 * Opens a session only to read it. The code of a turn that runs on it gets what that
	 * turn has read of it, without asking the store.
	 */
	private OpenedView openRead(TurnRequest request) {
		TurnFacts enclosing = TurnBinding.enclosing(session(request.key())).orElse(null);
		if (enclosing == null) {
			SessionView view = this.reader.open(request.key(), request.limit(), request.input()).orElse(null);
			request.checkExpected((view != null) ? view.session() : null);
			return OpenedView.atHead((view != null) ? LostSummary.named(view, options().codec()) : null);
		}
		return OpenedView.atHead(null).behind(new OpenedView.Brought(lines(enclosing), false, enclosing.attributes()));
	}

	private OpenedView.Brought parent(TurnRequest request, TurnRequest.ChildOf child) {
		return new OpenedView.Brought(turnOfParent(child).map(this::lines)
			.orElseGet(() -> BroughtLines.of(this.reader.shown(child.parent(), request.limit()))), false, null);
	}

	/** The session of the turn that gave the child its key may be in another store. */
	private Optional<TurnFacts> turnOfParent(TurnRequest.ChildOf child) {
		return Optional.ofNullable(child.turn())
			.map(TurnAccess::facts)
			.or(() -> TurnBinding.enclosing(session(child.parent())));
	}

	private TurnSession session(SessionKey key) {
		return new TurnSession(StoreLayer.beneath(this.reader.store()), key);
	}

	private List<ViewLine> lines(TurnFacts enclosing) {
		return BroughtLines.of(List.copyOf(enclosing.history()), enclosing.turnStarts(), tokens());
	}

	private StoreOptions options() {
		return this.reader.store().options();
	}

	private ToIntFunction<Message> tokens() {
		return options().tokens();
	}

	private OpenedView openHead(TurnRequest request) {
		SessionView opened = this.head.openMended(request);
		// a session whose turn waits is left as it is until that turn continues
		boolean waits = opened != null && opened.session().openTurn() != 0;
		SessionView view = waits ? opened : extended(opened);
		SummaryResult made = madeBefore((view != null) ? view.session() : null);
		return OpenedView.atHead(hasChanged(made) ? this.head.openMended(request) : view).after(made);
	}

	/** The active branch is summarized whether or not a call names it. */
	private OpenedView openBranch(TurnRequest request) {
		OpenedView opened = extended(this.places.open(request));
		SummaryResult made = opened.place().becomesHead() ? madeBefore(opened.seen()) : null;
		return (hasChanged(made) ? this.places.open(request) : opened).after(made);
	}

	/** Makes a summary if one is due, and returns its outcome; null if none is. */
	private @Nullable SummaryResult madeBefore(@Nullable Session header) {
		return (this.summarizer != null && header != null && this.summarizer.isDueBefore(header))
				? this.summarizer.summarizeBefore(header.key()) : null;
	}

	private static boolean hasChanged(@Nullable SummaryResult made) {
		return made != null && (made.status() == Status.SUMMARIZED || made.status() == Status.DROPPED);
	}

	/**
	 * Opens the view for a continued turn, before what is stored of the turn is known.
	 * What the turn started from is not summarized now.
	 */
	public OpenedView openToContinue(TurnRequest request) {
		return OpenedView.atHead(extended(this.head.openMended(request)));
	}

	/**
	 * Returns the view for a continued turn.
	 * @param opened what was opened before
	 * @param request the request with the stored messages of the turn
	 * @param turn the turn as it is stored
	 */
	public OpenedView continued(SessionView opened, TurnRequest request, Turn turn) {
		if (turn.parameters().get(Turn.STARTS_ANEW) instanceof Number seed) {
			return this.places.openAnew(opened, turn, seed.intValue());
		}
		boolean atHead = turn.parent() == opened.session().head() && turn.branch().equals(opened.session().branch());
		OpenedView elsewhere = atHead ? null : this.places.openElsewhere(request, turn);
		OpenedView again = (elsewhere != null) ? elsewhere
				: OpenedView.atHead(this.reader.reopen(opened, request.limit(), request.input()).orElse(null));
		return withParent(request,
				turn.parameters().containsKey(Turn.GIVEN_HISTORY) ? behindGiven(request.key(), again, turn) : again);
	}

	/**
	 * Returns a session behind the history that the call has brought which opened the
	 * turn, as the model was sent it, as far as it is there.
	 */
	private OpenedView behindGiven(SessionKey key, OpenedView again, Turn turn) {
		Session header = again.seen();
		SessionView view = (header != null) ? new SessionView(header, null, List.of()) : null;
		List<Message> sent = new SnapshotReader(key, this.reader.store()).read(turn).messages();
		return new OpenedView(view, again.place())
			.behind(new OpenedView.Brought(BroughtLines.of(sent, tokens()), true, null));
	}

	/**
	 * Returns the request with the question of the turn that it asks again.
	 * @throws io.sessionkit.store.ChangeRefusedException if there is no such turn, or it
	 * has no question
	 */
	public TurnRequest withQuestion(TurnRequest request) {
		return request.start().asksAgain() ? this.places.withQuestion(request) : request;
	}

	/**
	 * Makes a summary on another thread if one is due after a turn has become history.
	 * @param opened the header before the turn; null if there was none
	 * @param report receives the outcome of a summary that is made or tried now
	 */
	public void committed(@Nullable Session opened, Turn turn, Consumer<SummaryResult> report) {
		if (this.summarizer != null && opened != null) {
			this.summarizer.summarizeAfter(opened, turn, report);
		}
	}

	/**
	 * Returns whether a limit or a trigger counts tokens.
	 */
	public boolean countsTokens() {
		return this.countsTokens;
	}

	public TokenMemory memory() {
		return this.memory;
	}

}
