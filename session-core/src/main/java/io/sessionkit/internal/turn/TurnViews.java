package io.sessionkit.internal.turn;

import java.util.function.Consumer;

import io.sessionkit.Session;
import io.sessionkit.Turn;
import io.sessionkit.context.Compaction;
import io.sessionkit.context.Compaction.Status;
import io.sessionkit.internal.summary.Summarizer;
import io.sessionkit.internal.view.TokenMemory;
import io.sessionkit.internal.view.ViewReader;
import io.sessionkit.store.SessionView;
import org.jspecify.annotations.Nullable;

/**
 * Opens the views from which turns start, after making a summary if one is due. Safe for
 * use by many threads.
 */
public final class TurnViews {

	/**
	 * A session as a turn found it.
	 *
	 * @param view the view, with the header as if the turn before were the head; null if
	 * there is no session
	 * @param place the place at which the turn hangs
	 * @param made the outcome of a summary that was due; null if none was
	 */
	record Opened(@Nullable SessionView view, TurnPlace place, @Nullable Compaction made) {

		static Opened atHead(@Nullable SessionView view, @Nullable Compaction made) {
			return new Opened(view, TurnPlace.atHead((view != null) ? view.session() : null), made);
		}

		@Nullable Session header() {
			return (this.view != null) ? this.view.session() : null;
		}

	}

	private final ViewReader reader;

	private final TokenMemory memory;

	private final @Nullable Summarizer summarizer;

	private final boolean countsTokens;

	private final TurnPlaces places;

	public TurnViews(ViewReader reader, TokenMemory memory, @Nullable Summarizer summarizer) {
		this.reader = reader;
		this.places = new TurnPlaces(reader);
		this.memory = memory;
		this.summarizer = summarizer;
		this.countsTokens = reader.limitsTokens() || (summarizer != null && summarizer.countsTokens());
	}

	Opened open(TurnRequest request) {
		if (request.start().kind() != TurnRequest.Start.Kind.HEAD) {
			return this.places.open(request);
		}
		SessionView view = read(request);
		// a session whose turn waits is left as it is until that turn continues
		boolean waits = view != null && view.session().openTurn() != 0;
		if (this.summarizer == null || view == null || waits || !this.summarizer.isDueBefore(view.session())) {
			return Opened.atHead(view, null);
		}
		Compaction made = this.summarizer.compactBefore(request.key());
		boolean changed = made.status() == Status.SUMMARIZED || made.status() == Status.DROPPED;
		return Opened.atHead(changed ? read(request) : view, made);
	}

	/**
	 * Opens the view for a continued turn, before what is stored of the turn is known.
	 * What the turn started from is not summarized now.
	 */
	Opened openAgain(TurnRequest request) {
		return Opened.atHead(read(request), null);
	}

	/**
	 * Returns the view for a continued turn.
	 * @param opened what was opened before
	 * @param request the request with the stored messages of the turn
	 * @param turn the turn as it is stored
	 */
	Opened continued(SessionView opened, TurnRequest request, Turn turn) {
		boolean atHead = turn.parent() == opened.session().head() && turn.branch().equals(opened.session().branch());
		Opened elsewhere = atHead ? null : this.places.openAgain(request, turn);
		return (elsewhere != null) ? elsewhere
				: Opened.atHead(this.reader.reopen(opened, request.limit(), request.input()).orElse(null), null);
	}

	/**
	 * Returns the request with the question of the turn that it asks again.
	 * @throws IllegalArgumentException if there is no such turn, or it has no question
	 */
	TurnRequest asked(TurnRequest request) {
		return request.start().asksAgain() ? this.places.asked(request) : request;
	}

	/**
	 * Makes a summary on another thread if one is due after a turn has become history.
	 * @param opened the header before the turn; null if there was none
	 * @param report receives the outcome of a summary that is made or tried now
	 */
	void committed(@Nullable Session opened, Turn turn, Consumer<Compaction> report) {
		if (this.summarizer != null && opened != null) {
			this.summarizer.compactAfter(opened, turn, report);
		}
	}

	/**
	 * Returns whether a limit or a trigger counts tokens.
	 */
	boolean countsTokens() {
		return this.countsTokens;
	}

	TokenMemory memory() {
		return this.memory;
	}

	/**
	 * Reads the view, and checks what the caller expects before a summary is made, which
	 * costs a model call.
	 */
	private @Nullable SessionView read(TurnRequest request) {
		SessionView view = this.reader.open(request.key(), request.limit(), request.input()).orElse(null);
		request.checkExpected((view != null) ? view.session() : null);
		return view;
	}

}
