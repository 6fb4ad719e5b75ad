package io.sessionkit.chatmemory;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import java.util.function.Supplier;

import io.sessionkit.Session;
import io.sessionkit.SessionConflictException;
import io.sessionkit.SessionKey;
import io.sessionkit.Turn;
import io.sessionkit.TurnStatus;
import io.sessionkit.codec.MessageCodec;
import io.sessionkit.internal.Attempts;
import io.sessionkit.internal.binding.TurnBinding;
import io.sessionkit.internal.binding.TurnSession;
import io.sessionkit.internal.message.OpenTurn;
import io.sessionkit.internal.tree.LeftTurns;
import io.sessionkit.internal.view.LostSummary;
import io.sessionkit.internal.view.MemoryRecord;
import io.sessionkit.internal.view.ViewLine;
import io.sessionkit.internal.view.ViewReader;
import io.sessionkit.store.Commit;
import io.sessionkit.store.HeaderChange;
import io.sessionkit.store.PathQuery;
import io.sessionkit.store.PathView;
import io.sessionkit.store.Point;
import io.sessionkit.store.RecordWrite;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.SessionView;
import io.sessionkit.store.StoreLayer;
import io.sessionkit.store.Tail;
import io.sessionkit.store.TurnWrite;
import io.sessionkit.store.Window;
import org.jspecify.annotations.Nullable;

import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.SystemMessage;

/**
 * Reads and writes one session as a memory. Each write is a compare-and-set on the record
 * of the memory, and is made again if another writer was first. Used by one thread.
 */
final class MemorySession {

	private static final Predicate<Message> IS_SYSTEM = SystemMessage.class::isInstance;

	private final SessionStore store;

	private final SessionKey key;

	MemorySession(SessionStore store, SessionKey key) {
		this.store = store;
		this.key = key;
	}

	/**
	 * Reads the memory.
	 * @param window how much of the history to read
	 */
	MemoryView read(Window window) {
		PathView path = path(window);
		if (path == null) {
			return new MemoryView(null, List.of(), MemoryRecord.of(List.of(), codec()));
		}
		MemoryRecord memory = MemoryRecord.of(path.records(MemoryRecord.KIND), codec());
		List<ViewLine> lines = window.isEmpty() ? List.of()
				: ViewLine.of(view(path, window), this.store.options())
					.stream()
					.filter((line) -> !isHidden(line, memory) && !IS_SYSTEM.test(line.message()))
					.toList();
		return new MemoryView(path.session(), lines, memory);
	}

	private @Nullable PathView path(Window window) {
		PathQuery query = PathQuery.to(Point.HEAD).window(window).records(MemoryRecord.KIND);
		return this.store.path(this.key, query).orElse(null);
	}

	private SessionView view(PathView path, Window window) {
		return LostSummary.isIn(path.view()) ? ViewReader.newest(LostSummary.without(this.store, path.view()), window)
				: path.view();
	}

	private static boolean isHidden(ViewLine line, MemoryRecord memory) {
		return (line.source() instanceof ViewLine.Source.Item item && item.sequence() <= memory.hidden())
				|| (line.source() instanceof ViewLine.Source.Summary summary
						&& summary.summary().equals(memory.hiddenSummary()));
	}

	/** Adds messages behind those that are there. */
	void add(List<Message> messages) {
		List<Message> storable = storable(messages);
		List<Message> system = storable.stream().filter(IS_SYSTEM).toList();
		List<Message> said = storable.stream().filter(IS_SYSTEM.negate()).toList();
		write("added to", () -> {
			MemoryView view = read(Window.HEADER);
			List<Message> abandoned = abandoned(view, said);
			if (!abandoned.isEmpty()) {
				setAside(view, abandoned);
				return false;
			}
			MemoryRecord memory = system.isEmpty() ? view.memory()
					: view.memory().system(system.subList(system.size() - 1, system.size()));
			return isAppended(view, memory, said,
					(view.session() != null) ? Commit.any(this.key) : Commit.first(this.key));
		});
		setAsideNoReply(storable);
	}

	/**
	 * Keeps what waited beside the history if the answer to it has no content. Until then
	 * it waits with that answer, so that all that was added is stored at once. If others
	 * write all the time, the next messages that are added set it aside.
	 */
	private void setAsideNoReply(List<Message> added) {
		if (SaidTurns.hasNoReply(added)) {
			Attempts.MANY.until(this::isNoReplyAside);
		}
	}

	private boolean isNoReplyAside() {
		MemoryView view = read(Window.HEADER);
		boolean done = !SaidTurns.hasNoReply(view.memory().open());
		if (!done) {
			setAside(view, view.memory().open());
		}
		return done;
	}

	/** Makes these messages the whole content of the memory, without deleting a turn. */
	void replace(List<Message> messages) {
		List<Message> storable = storable(messages);
		List<Message> system = storable.stream().filter(IS_SYSTEM).toList();
		List<Message> said = new ArrayList<>(storable.stream().filter(IS_SYSTEM.negate()).toList());
		write("saved to", () -> {
			MemoryView view = read(Window.ALL);
			int evicted = view.evicted(said);
			if (evicted < 0) {
				return isReplaced(view, system, said);
			}
			int history = view.lines().size() - evicted;
			List<Message> added = said.subList(history + view.memory().open().size(), said.size());
			List<Message> abandoned = abandoned(view, added);
			if (!abandoned.isEmpty()) {
				setAside(view, abandoned);
				// the list has them too, behind the history, where they are no valid
				// sequence
				said.subList(history, history + abandoned.size()).clear();
				return false;
			}
			Session session = view.session();
			return isAppended(view, view.without(evicted).system(system), added,
					(session != null) ? Commit.on(session) : Commit.first(this.key));
		});
		setAsideNoReply(said);
	}

	/** Erases the session with all its turns, also one that begins around this code. */
	void clear() {
		TurnBinding.clear(new TurnSession(StoreLayer.beneath(this.store), this.key), () -> this.store.clear(this.key),
				() -> this.store.erase(this.key));
	}

	private List<Message> storable(List<Message> messages) {
		return SaidTurns.withoutHiddenThoughts(messages)
			.stream()
			.map((message) -> (message instanceof AssistantMessage) ? codec().storable(message) : message)
			.toList();
	}

	private void write(String what, Supplier<Boolean> attempt) {
		if (!Attempts.MANY.until(attempt::get)) {
			throw new SessionConflictException("Session " + this.key + " could not be " + what
					+ ": others wrote to it all the time. Nothing was stored; try again.", null);
		}
	}

	/**
	 * Returns the question that is open and gets no answer if messages follow it. What
	 * cannot be written is refused before the question is set aside.
	 * @return the messages of the question; empty if there is no such question
	 */
	private List<Message> abandoned(MemoryView view, List<Message> messages) {
		checkNotPaused(view);
		List<Message> open = view.memory().open();
		List<Message> abandoned = SaidTurns.of(this.key, open, messages, view.head() != 0).abandoned();
		if (!abandoned.isEmpty()) {
			SaidTurns.of(this.key, open.subList(abandoned.size(), open.size()), messages, view.head() != 0);
			checkStorable(view, messages);
		}
		return abandoned;
	}

	/**
	 * Appends messages that leave nothing open behind, and returns whether they are
	 * stored now.
	 * @param commit the commit to write them with
	 */
	private boolean isAppended(MemoryView view, MemoryRecord memory, List<Message> messages, Commit commit) {
		SaidTurns said = SaidTurns.of(this.key, view.memory().open(), messages, view.head() != 0);
		List<RecordWrite> records = memory.open(said.open()).write(view.memory(), key(view), codec());
		if (records.isEmpty() && said.turns().isEmpty()) {
			return true;
		}
		return isStored(commit.records(records), said.turns());
	}

	/**
	 * Moves the head back to what is the same, writes the rest behind it, and returns
	 * whether that is stored now. The turns that the head has left are remembered.
	 */
	private boolean isReplaced(MemoryView view, List<Message> system, List<Message> messages) {
		Session session = view.session();
		checkNotPaused(view);
		int common = view.common(messages);
		long fork = (common > 0) ? view.turnOf(common) : turnBefore(view);
		// refuses what is not a valid sequence before anything is written
		SaidTurns said = SaidTurns.of(this.key, List.of(), messages.subList(common, messages.size()), fork != 0);
		if (session == null || !view.memory().open().isEmpty()) {
			checkStorable(view, messages);
			setAside(view, view.memory().open());
			return false;
		}
		List<RecordWrite> records = new ArrayList<>(left(session, fork));
		records.addAll(view.memory().system(system).open(said.open()).write(view.memory(), key(view), codec()));
		HeaderChange move = HeaderChange.NONE.head(session.branch(), fork);
		return isStored(Commit.on(session).header(move).records(records), said.turns());
	}

	/**
	 * Returns the turn before all that the memory shows, 0 for none. What it does not
	 * show was not changed: turns that it has evicted, and those before a reset.
	 */
	private long turnBefore(MemoryView view) {
		long first = view.lines().isEmpty() ? Long.MAX_VALUE : view.lines().get(0).turn();
		return this.store.path(this.key, PathQuery.to(Point.HEAD).turns(Tail.ALL))
			.stream()
			.flatMap((path) -> path.turns().stream())
			.mapToLong(Turn::number)
			.filter((number) -> number < first)
			.max()
			.orElse(0);
	}

	private List<RecordWrite> left(Session session, long fork) {
		return this.store.path(this.key, PathQuery.to(Point.HEAD).turns(Tail.ALL))
			.stream()
			.flatMap((path) -> path.turns().stream())
			.filter((turn) -> turn.number() > fork)
			.findFirst()
			.map((turn) -> new LeftTurns(session.head(), session.branch(), fork, turn.number(), session.version()))
			.map((left) -> List.of(left.write(session.key(), codec())))
			.orElse(List.of());
	}

	/** Keeps an open question that gets no answer any more beside the history. */
	private void setAside(MemoryView view, List<Message> messages) {
		Session session = view.session();
		if (session == null) {
			return;
		}
		Turn turn = turn().after(session.head(), session.branch())
			.status(TurnStatus.FAILED, this.store.options().now())
			.failure(Turn.NO_REPLY)
			.build();
		List<Message> open = view.memory().open();
		MemoryRecord memory = view.memory().open(open.subList(messages.size(), open.size()));
		this.store.commit(Commit.any(this.key)
			.turn(write(turn, messages))
			.records(memory.write(view.memory(), key(view), codec())));
	}

	private void checkStorable(MemoryView view, List<Message> messages) {
		messages.forEach((message) -> codec().encode(key(view), message));
	}

	private boolean isStored(Commit commit, List<List<Message>> turns) {
		List<TurnWrite> writes = turns.stream().map((turn) -> write(turn().build(), turn)).toList();
		return this.store.commit(writes.isEmpty() ? commit : commit.turns(writes)).isStored();
	}

	private TurnWrite write(Turn turn, List<Message> messages) {
		return new TurnWrite(turn, 0, this.store.options().items(messages, turn.startedAt()));
	}

	private Turn.Builder turn() {
		return Turn.builder(this.store.options().turnIds().get(), this.store.options().now());
	}

	private static void checkNotPaused(MemoryView view) {
		if (view.session() != null) {
			OpenTurn.check(view.session(), "written as a chat memory");
		}
	}

	/** Returns the key in full, which a store may complete with the owner. */
	private SessionKey key(MemoryView view) {
		return (view.session() != null) ? view.session().key() : this.key;
	}

	private MessageCodec codec() {
		return this.store.options().codec();
	}

}
