package io.sessionkit.internal.view;

import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.ToIntFunction;

import io.sessionkit.Session;
import io.sessionkit.SessionItem;
import io.sessionkit.SessionKey;
import io.sessionkit.SessionSettings;
import io.sessionkit.context.Prune;
import io.sessionkit.context.Trim;
import io.sessionkit.internal.Attempts;
import io.sessionkit.internal.Attempts.Step;
import io.sessionkit.store.PathQuery;
import io.sessionkit.store.PathView;
import io.sessionkit.store.Point;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.SessionView;
import io.sessionkit.store.Window;
import org.jspecify.annotations.Nullable;

import org.springframework.ai.chat.messages.Message;

/**
 * Opens a session with as much of its view as the limits leave, in one round trip. If
 * tokens are limited, the number of items is a guess, and the view is read again only if
 * too few items were read. With pins the whole view is read, because a turn of any age
 * may stay. A session may have limits of its own. Writes nothing. Safe for use by many
 * threads.
 */
public final class ViewReader {

	/**
	 * The number of turns that are read at first to find the turns that a turn continues,
	 * if the limits have left them out.
	 */
	private static final int FIRST_CARRIED = 8;

	private static final int MOST_CARRIED = 1 << 20;

	private final SessionStore store;

	private final Trim trim;

	private final Prune prune;

	private final TokenMemory memory;

	private final SettingsMemory settings = new SettingsMemory();

	public ViewReader(SessionStore store, Trim trim, Prune prune, TokenMemory memory) {
		this.store = store;
		this.trim = trim;
		this.prune = prune;
		this.memory = memory;
	}

	public SessionStore store() {
		return this.store;
	}

	public boolean limitsTokens() {
		return this.trim.limitsTokens();
	}

	/**
	 * Opens a session with as much of its view as the limits leave.
	 * @param limit the number of the newest messages that the call allows; null if it
	 * says nothing
	 * @param input the messages that the turn begins with
	 */
	public Optional<SessionView> open(SessionKey key, @Nullable Integer limit, List<Message> input) {
		return withLimitsOfSession(key, limit, input, (window) -> read(this.store, key, window));
	}

	/**
	 * Returns what a call that has no input would be shown of a session.
	 * @param limit the number of the newest messages that the call allows; null if it
	 * says nothing
	 */
	public List<ViewLine> shown(SessionKey key, @Nullable Integer limit) {
		return open(key, limit, List.of()).map((view) -> LostSummary.named(view, this.store.options().codec()))
			.map((view) -> shown(view, limit))
			.orElse(List.of());
	}

	private List<ViewLine> shown(SessionView view, @Nullable Integer limit) {
		Session header = view.session();
		Limits limits = Limits.of(limit, header.settings(), this.trim);
		List<ViewLine> lines = ViewLine.of(view, this.store.options());
		Trim estimated = limits.estimated(this.memory.factor(header.key()));
		return History
			.of(pruned(lines, header, List.of()), header.summaryTurn(), header.head(), estimated, limits.messages(),
					List.of(), this.store.options().tokens())
			.lines();
	}

	private List<ViewLine> pruned(List<ViewLine> lines, Session header, List<Message> input) {
		return this.prune.equals(Prune.NONE) ? lines
				: new ToolPruner(this.prune, this.trim.pins(), this.store.options().tokens()).prune(lines, header,
						input);
	}

	/**
	 * Opens a session for a turn that does not begin at the head.
	 * @param kinds the kinds of records to read with it
	 * @throws io.sessionkit.store.ChangeRefusedException if there is no such place
	 */
	public Optional<PathView> open(SessionKey key, Point point, @Nullable Integer limit, List<Message> input,
			String... kinds) {
		AtomicReference<@Nullable PathView> read = new AtomicReference<>();
		PathQuery query = PathQuery.to(point).records(kinds);
		return withLimitsOfSession(key, limit, input, (window) -> {
			PathView path = this.store.path(key, query.window(window)).orElse(null);
			read.set(path);
			return Optional.ofNullable(path).map(PathView::view);
		}).map((view) -> Objects.requireNonNull(read.get()));
	}

	/**
	 * Opens a session within the limits that its own header says. They are known before
	 * only if this process has read them; if they are others, the view is read again, so
	 * that it never depends on what was known.
	 */
	private Optional<SessionView> withLimitsOfSession(SessionKey key, @Nullable Integer limit, List<Message> input,
			Reading reading) {
		return Attempts.FEW.make(Limits.of(limit, this.settings.of(key), this.trim), (Limits expected) -> {
			Optional<SessionView> view = within(key, expected, input, reading);
			Limits limits = view.map((opened) -> Limits.of(limit, settings(key, opened), this.trim)).orElse(expected);
			return isEnough(expected, limits) ? Step.done(view) : Step.again(limits);
		})
			// others change the limits each time: what is too much is left out later
			.orElseGet(() -> reading.read(Window.ALL));
	}

	private SessionSettings settings(SessionKey key, SessionView opened) {
		SessionSettings found = opened.session().settings();
		this.settings.read(key, found);
		return found;
	}

	/** Returns whether what was read within expected limits has what is within others. */
	private boolean isEnough(Limits expected, Limits limits) {
		return limits.equals(expected) || (readsWhole(expected) && readsWhole(limits));
	}

	/** Returns whether the whole view is read, of which the limits are taken later. */
	private boolean readsWhole(Limits limits) {
		return !this.trim.pins().isEmpty() && limits.messages() > 0;
	}

	private Optional<SessionView> within(SessionKey key, Limits limits, List<Message> input, Reading reading) {
		SessionView view = enough(key, limits, input, reading).orElse(null);
		return (view != null) ? withLinked(view, limits, input, reading) : Optional.empty();
	}

	/**
	 * Returns a view that does not begin between turns that stay or go together, and has
	 * as many turns as the limit leaves if those count as one.
	 */
	private Optional<SessionView> withLinked(SessionView opened, Limits limits, List<Message> input, Reading reading) {
		SessionView view = opened;
		Window window = limits.window(input.size());
		int turns = window.turns();
		for (int more = FIRST_CARRIED; CarriedTurns.areCut(view, turns, window) && more <= MOST_CARRIED; more *= 4) {
			turns = (int) Math.min(MOST_CARRIED, 2L * view.items().size() + more);
			view = reading.read(Window.turns(turns)).orElse(null);
			if (view == null) {
				return Optional.empty();
			}
		}
		return withCarried(view, input, reading);
	}

	/**
	 * Reads a part of a view.
	 */
	private interface Reading {

		Optional<SessionView> read(Window window);

	}

	/**
	 * Returns the view that a turn with this input opens, of a session that was opened
	 * before the input was known.
	 */
	public Optional<SessionView> reopen(SessionView opened, @Nullable Integer limit, List<Message> input) {
		Limits limits = Limits.of(limit, opened.session().settings(), this.trim);
		Window newest = Window.items(limits.window(input.size()).items());
		SessionView view = this.trim.pins().isEmpty() ? newest(opened, newest) : opened;
		return withCarried(view, input, (window) -> read(this.store, opened.session().key(), window));
	}

	/**
	 * Returns a view with its newest items only, cut at the start of a turn that does not
	 * continue the one before it.
	 */
	public static SessionView newest(SessionView view, Window window) {
		List<SessionItem> items = view.items();
		int from = items.size();
		int turns = 0;
		for (int i = items.size() - 1; i >= 0 && items.size() - i <= window.items(); i--) {
			boolean begins = i == 0 || items.get(i - 1).turn() != items.get(i).turn();
			turns += begins ? 1 : 0;
			boolean linked = i > 0 && CarriedTurns.areLinked(items.get(i - 1).message(), items.get(i).message());
			from = (begins && !linked && turns <= window.turns()) ? i : from;
		}
		return new SessionView(view.session(), view.summary(), items.subList(from, items.size()));
	}

	/** Returns a view with the turns that the input continues. */
	private Optional<SessionView> withCarried(SessionView opened, List<Message> input, Reading reading) {
		Optional<SessionView> view = Optional.of(opened);
		int turns = FIRST_CARRIED;
		while (view.isPresent() && turns <= MOST_CARRIED && !CarriedTurns.areIn(view.get(), input)) {
			view = reading.read(Window.turns(turns));
			turns *= 4;
		}
		return view;
	}

	/** Reads what the limits leave of a view, or more. */
	private Optional<SessionView> enough(SessionKey key, Limits limits, List<Message> input, Reading reading) {
		if (!this.trim.pins().isEmpty()) {
			return reading.read((limits.messages() == 0) ? Window.HEADER : Window.ALL);
		}
		Window window = limits.window(input.size());
		int maxTokens = limits.trim().maxTokens();
		if (!limits.trim().limitsTokens() || window.isEmpty()) {
			return reading.read(window);
		}
		int items = this.memory.itemsFor(key, maxTokens);
		for (boolean again = false;; again = true) {
			Optional<SessionView> view = reading.read(window.and(Window.items(items)));
			if (view.isEmpty() || items >= window.items() || isEnough(view.get(), window, maxTokens, input)) {
				return view;
			}
			if (items >= view.get().session().totals().items()) {
				// another limit leaves fewer items than there are, for example a limit on
				// turns, some of which have no items any more: this number is enough
				// next time
				if (again) {
					this.memory.fitted(key, items);
				}
				return view;
			}
			items = (int) Math.min(3L * items, Integer.MAX_VALUE);
		}
	}

	/**
	 * Returns a session with its whole view.
	 */
	public static Optional<SessionView> read(SessionStore store, SessionKey key) {
		return read(store, key, Window.ALL);
	}

	private static Optional<SessionView> read(SessionStore store, SessionKey key, Window window) {
		return store.open(key, window).map((view) -> LostSummary.without(store, view));
	}

	private boolean isEnough(SessionView view, Window window, int maxTokens, List<Message> input) {
		List<SessionItem> items = view.items();
		SessionKey key = view.session().key();
		int over = over(view, maxTokens, input);
		if (over > 0) {
			this.memory.fitted(key, over);
			return true;
		}
		if (items.size() >= view.session().totals().items()) {
			this.memory.fittedAll(key, items.size(), maxTokens);
			return true;
		}
		return items.stream().mapToLong(SessionItem::turn).distinct().count() >= window.turns();
	}

	/**
	 * Returns how many of the newest items are over the limit on tokens together, as they
	 * are sent: old tool results are short then.
	 * @return 0 if all items that were read are within the limit
	 */
	private int over(SessionView view, int maxTokens, List<Message> input) {
		double most = maxTokens / this.memory.factor(view.session().key());
		int over = over(view.items(), SessionItem::tokens, most);
		if (over == 0 || this.prune.equals(Prune.NONE)) {
			return over;
		}
		return over(pruned(ViewLine.of(view.items()), view.session(), input), ViewLine::tokens, most);
	}

	private static <T> int over(List<T> items, ToIntFunction<T> size, double most) {
		long tokens = 0;
		for (int i = items.size() - 1; i >= 0; i--) {
			tokens += size.applyAsInt(items.get(i));
			if (tokens > most) {
				return items.size() - i;
			}
		}
		return 0;
	}

}
