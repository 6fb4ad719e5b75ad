package io.sessionkit.internal.opening;

import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;

import io.sessionkit.Session;
import io.sessionkit.SessionConflictException;
import io.sessionkit.SessionKey;
import io.sessionkit.SessionNotFoundException;
import io.sessionkit.Turn;
import io.sessionkit.TurnStatus;
import io.sessionkit.ViewTotals;
import io.sessionkit.internal.Attempts;
import io.sessionkit.internal.Names;
import io.sessionkit.internal.opening.TurnRequest.Start;
import io.sessionkit.internal.tree.BegunRewinds;
import io.sessionkit.internal.tree.BranchRecord;
import io.sessionkit.internal.tree.LeftTurns;
import io.sessionkit.internal.tree.StoredQuestion;
import io.sessionkit.internal.tree.StoredTurns;
import io.sessionkit.internal.view.ViewLine;
import io.sessionkit.internal.view.ViewReader;
import io.sessionkit.store.ChangeRefusedException;
import io.sessionkit.store.ChangeRefusedException.Reason;
import io.sessionkit.store.PathQuery;
import io.sessionkit.store.PathView;
import io.sessionkit.store.Point;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.SessionView;
import io.sessionkit.store.Tail;
import io.sessionkit.store.TurnView;
import io.sessionkit.store.Window;
import org.jspecify.annotations.Nullable;

import org.springframework.ai.chat.messages.Message;

/**
 * Finds the places of turns that do not begin at the head of the active branch. Safe for
 * use by many threads.
 */
final class TurnPlaces {

	private final ViewReader reader;

	private final HeadView head;

	TurnPlaces(ViewReader reader, HeadView head) {
		this.reader = reader;
		this.head = head;
	}

	/**
	 * Returns the request with the question of the turn that it asks again.
	 */
	TurnRequest withQuestion(TurnRequest request) {
		return expecting(request, this::askedOf);
	}

	/**
	 * Finds what is named by a number or a name. If it is not there, the reason may be
	 * that the session was lost, so a caller that expects a turn is told that. It is read
	 * only then.
	 */
	private <T> T expecting(TurnRequest request, Function<TurnRequest, T> find) {
		try {
			return find.apply(request);
		}
		catch (SessionNotFoundException | ChangeRefusedException ex) {
			if (request.expectedTurn() > 0) {
				request.checkExpected(store().find(request.key()).orElse(null));
			}
			throw ex;
		}
	}

	private TurnRequest askedOf(TurnRequest request) {
		if (!request.input().isEmpty()) {
			throw new IllegalStateException("The call on session " + request.key()
					+ " asks the question of a turn again, so it takes no message. Use SessionAdvisor.editing(..)"
					+ " for another question.");
		}
		Start start = request.start();
		long turn = (start.turn() > 0) ? start.turn() : newest(request.key());
		List<Message> question = question(request.key(), turn);
		boolean named = start.turn() > 0 && start.kind() != Start.Kind.ANSWER;
		return request.start(new Start(named ? Start.Kind.EDIT : Start.Kind.REGENERATE, turn, null))
			.input(question.stream().map(ReplayedParameters::without).toList());
	}

	private List<Message> question(SessionKey key, long number) {
		TurnView turn = store().turn(key, number, Set.of()).orElse(null);
		List<Message> question = (turn != null) ? new StoredQuestion(key, turn.turn(), turn.items()).messages()
				: List.of();
		if (question.isEmpty()) {
			throw new ChangeRefusedException(
					"Turn " + number + " of session " + key + " has no question that could be asked again.",
					(turn != null) ? Reason.NO_QUESTION : Reason.UNKNOWN_TURN);
		}
		return question;
	}

	/** A turn that waits is the newest one if there is no other yet. */
	private long newest(SessionKey key) {
		return newest(key, Tail.newest(1)).or(() -> newest(key, Tail.ALL))
			.or(() -> store().find(key).map(Session::openTurn).filter((waiting) -> waiting > 0))
			.orElseThrow(() -> new ChangeRefusedException(
					"Session " + key + " has no turn whose question could be asked again. Add .user(..) to the call.",
					Reason.NO_QUESTION));
	}

	/** Returns the newest turn of the active branch whose messages are not deleted. */
	private Optional<Long> newest(SessionKey key, Tail tail) {
		return store().path(key, PathQuery.to(Point.HEAD).turns(tail))
			.stream()
			.flatMap((path) -> path.turns().stream())
			.filter((turn) -> turn.items() > 0)
			.map(Turn::number)
			.max(Comparator.naturalOrder());
	}

	OpenedView open(TurnRequest request) {
		Start start = request.start();
		if (request.input().isEmpty()) {
			throw new IllegalStateException("The call on session " + request.key()
					+ " names the place at which it begins and has no message. Add .user(..) to the call, or ask the"
					+ " question of a turn again with SessionAdvisor.regenerating(..).");
		}
		return expecting(request,
				(each) -> (start.branch() != null) ? onBranch(each, start.branch()) : inPlaceOf(each, start.turn()));
	}

	/**
	 * Opens the view before a turn, whose place the new turn takes.
	 */
	private OpenedView inPlaceOf(TurnRequest request, long turn) {
		PathView path = read(request, Point.before(turn), LeftTurns.KIND, BegunRewinds.KIND);
		Session header = path.session();
		Session seen = path.view().session();
		if (request.start().asksAgain()) {
			checkNewest(header, turn);
		}
		if (path.next() != turn) {
			checkNotDeleted(request.key(), turn);
		}
		if (path.next() == 0 && header.head() != seen.head()) {
			throw new ChangeRefusedException(
					"Turn " + turn + " of session " + request.key() + " does not follow a turn of the active branch '"
							+ header.branch()
							+ "'. Switch to its branch first, or make it active with Conversation.choose(..).",
					Reason.NOT_ON_BRANCH);
		}
		checkRewindsEnded(path, turn);
		LeftTurns left = (path.next() > 0)
				? new LeftTurns(header.head(), header.branch(), seen.head(), path.next(), header.version()) : null;
		return new OpenedView(path.view(), new TurnPlace(header, seen, left, null));
	}

	/**
	 * Checks that a turn was not deleted as one of the oldest: all turns that are left
	 * would leave the history with it.
	 */
	private void checkNotDeleted(SessionKey key, long number) {
		StoredTurns.find(store(), key, number)
			.filter((turn) -> turn.status() == TurnStatus.COMPLETED && turn.items() == 0)
			.ifPresent((turn) -> {
				throw new ChangeRefusedException("Turn " + number + " of session " + key
						+ " has no messages any more: they were deleted, as retention deletes the oldest turns."
						+ " Name a turn that still has messages.", Reason.DELETED);
			});
	}

	/**
	 * Turns that have begun to be rewound are rare, so others are read for them alone.
	 */
	private void checkRewindsEnded(PathView path, long turn) {
		Session header = path.session();
		BegunRewinds rewinds = BegunRewinds.read(header.key(), path.records(BegunRewinds.KIND),
				store().options().codec());
		if (path.next() > 0 && !rewinds.isEmpty()) {
			rewinds.check(store().path(header.key(), PathQuery.to(Point.HEAD).turns(Tail.ALL))
				.stream()
				.flatMap((active) -> active.turns().stream())
				.filter((each) -> each.number() >= turn)
				.toList(), "asked in the place of turn " + turn);
		}
	}

	/**
	 * Checks that nobody has written since the newest turn was looked for: the turns
	 * behind it would be left unseen.
	 */
	private void checkNewest(Session header, long turn) {
		long newest = (header.head() == turn) ? turn : newest(header.key());
		if (newest != turn) {
			throw new SessionConflictException("Session " + header.key() + " moved on from turn " + turn
					+ ", whose question was to be asked again, to turn " + newest
					+ ". Nothing was sent. Read the session, and call again.", null);
		}
	}

	/** A branch that others make active, or leave, while it is read is read again. */
	private OpenedView onBranch(TurnRequest request, String name) {
		return Attempts.FEW.make(() -> {
			Session header = store().find(request.key()).orElseThrow(() -> notFound(request.key()));
			OpenedView opened = name.equals(header.branch()) ? atHead(request)
					: onBranch(request, named(request.key(), name));
			return Optional.of(opened).filter((each) -> each.place().fits(name));
		})
			.orElseThrow(() -> new SessionConflictException("The call on branch '" + name + "' of session "
					+ request.key() + " could not begin: others switched branches all the time. Nothing was sent."
					+ " Try again.", null));
	}

	private OpenedView atHead(TurnRequest request) {
		SessionView view = this.head.openMended(request);
		if (view == null) {
			throw notFound(request.key());
		}
		return OpenedView.atHead(view);
	}

	private OpenedView onBranch(TurnRequest request, BranchRecord branch) {
		PathView path = read(request, Point.at(branch.head()), LeftTurns.KIND);
		SessionView view = path.view();
		Session seen = view.session().on(branch.name());
		return new OpenedView(new SessionView(seen, view.summary(), view.items()),
				new TurnPlace(path.session(), seen, null, branch));
	}

	private BranchRecord named(SessionKey key, String name) {
		return branch(key, name).orElseThrow(() -> new ChangeRefusedException(
				"Session " + key + " has no branch " + Names.quoted(name) + ". Make it with Conversation.branch(..).",
				Reason.UNKNOWN_BRANCH));
	}

	private Optional<BranchRecord> branch(SessionKey key, String name) {
		return store().records(key, BranchRecord.KIND)
			.stream()
			.filter((record) -> record.id().equals(name))
			.findFirst()
			.map((record) -> BranchRecord.read(record, store().options().codec()));
	}

	/**
	 * Opens the view for a turn that waited and does not hang on the head.
	 * @return the view; null if the session has moved on, so that the turn cannot become
	 * history any more
	 */
	@Nullable OpenedView openElsewhere(TurnRequest request, Turn turn) {
		Session header = store().find(request.key()).orElseThrow(() -> notFound(request.key()));
		if (!turn.branch().equals(header.branch())) {
			return branch(request.key(), turn.branch()).filter((branch) -> branch.head() == turn.parent())
				.map((branch) -> onBranch(request, branch))
				.orElse(null);
		}
		PathView path = read(request, Point.at(turn.parent()), LeftTurns.KIND);
		boolean leaves = LeftTurns.read(path.records(LeftTurns.KIND), store().options().codec())
			.stream()
			.anyMatch((left) -> left.tip() == header.head() && left.fork() == turn.parent());
		return leaves ? new OpenedView(path.view(), new TurnPlace(path.session(), path.view().session(), null, null))
				: null;
	}

	/**
	 * Opens the view for a turn that waited, with which the session is to start anew.
	 * @param opened the session
	 * @param seed the number of turns between the head and that turn
	 */
	OpenedView openAnew(SessionView opened, Turn turn, int seed) {
		Session header = opened.session();
		PathQuery query = PathQuery.to(Point.at(turn.parent())).window(Window.turns(seed)).turns(Tail.newest(seed));
		PathView path = (seed > 0) ? store().path(header.key(), query).orElse(null) : null;
		long before = (path != null && !path.turns().isEmpty()) ? path.turns().get(0).parent() : turn.parent();
		if (header.head() != before || !turn.branch().equals(header.branch())) {
			return OpenedView.atHead(new SessionView(header, null, List.of()));
		}
		Session seen = header.at(turn.parent(), ViewTotals.NONE, before, null, header.attributes());
		List<ViewLine> lines = (path != null) ? ViewLine.of(path.view().items()) : List.of();
		return new OpenedView(new SessionView(seen, null, List.of()),
				TurnPlace.startingAnew(opened, seen, store().options().codec()))
			.behind(new OpenedView.Brought(lines, true, null));
	}

	private PathView read(TurnRequest request, Point point, String... kinds) {
		PathView path = this.reader.open(request.key(), point, request.limit(), request.input(), kinds)
			.orElseThrow(() -> notFound(request.key()));
		request.checkExpected(path.session());
		return path;
	}

	private SessionStore store() {
		return this.reader.store();
	}

	private static SessionNotFoundException notFound(SessionKey key) {
		return new SessionNotFoundException("There is no session " + key + ", or it has expired.");
	}

}
