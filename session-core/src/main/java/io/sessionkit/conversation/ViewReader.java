package io.sessionkit.conversation;

import java.util.List;
import java.util.Optional;

import io.sessionkit.SessionItem;
import io.sessionkit.SessionKey;
import io.sessionkit.hook.Trim;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.SessionView;
import io.sessionkit.store.Window;

/**
 * Opens a session with as much of its view as the limits leave, in one round trip. Where
 * tokens are limited the number of items is a guess, and only if too few were read it is
 * read again. With pins all is read, since a turn of any age may stay. Safe for use by
 * many threads.
 */
final class ViewReader {

	/**
	 * How many turns are read at first to find those that a turn continues, if the limits
	 * have left them out.
	 */
	private static final int FIRST_CARRIED = 8;

	private static final int MOST_CARRIED = 1 << 20;

	private final SessionStore store;

	private final Trim trim;

	private final TokenMemory memory;

	ViewReader(SessionStore store, Trim trim, TokenMemory memory) {
		this.store = store;
		this.trim = trim;
		this.memory = memory;
	}

	boolean limitsTokens() {
		return this.trim.limitsTokens();
	}

	Optional<SessionView> open(TurnRequest request) {
		Optional<SessionView> view = openWithinLimits(request);
		int turns = FIRST_CARRIED;
		while (view.isPresent() && turns <= MOST_CARRIED && !CarriedTurns.areIn(view.get(), request.input())) {
			view = open(this.store, request.key(), Window.turns(turns));
			turns *= 4;
		}
		return view;
	}

	private Optional<SessionView> openWithinLimits(TurnRequest request) {
		if (!this.trim.pins().isEmpty()) {
			return open(this.store, request.key(), (request.limit() == 0) ? Window.HEADER : Window.ALL);
		}
		Window window = window(request);
		if (!this.trim.limitsTokens() || window.isEmpty()) {
			return open(this.store, request.key(), window);
		}
		int items = this.memory.itemsFor(request.key(), this.trim.maxTokens());
		for (boolean again = false;; again = true) {
			Optional<SessionView> view = open(this.store, request.key(), window.and(Window.items(items)));
			if (view.isEmpty() || items >= window.items() || isEnough(view.get(), window)) {
				return view;
			}
			if (items >= view.get().session().totals().items()) {
				// another limit leaves less than there is, such as one on turns of which
				// some
				// have no items any more: this many are not too few next time
				if (again) {
					this.memory.fitted(request.key(), items);
				}
				return view;
			}
			items = (int) Math.min(3L * items, Integer.MAX_VALUE);
		}
	}

	/**
	 * A session with a part of its view. Where the head was moved to a turn that
	 * remembers a summary that was deleted, the view begins anew without it.
	 */
	static Optional<SessionView> open(SessionStore store, SessionKey key, Window window) {
		Optional<SessionView> view = store.open(key, window);
		if (view.isPresent() && view.get().session().checkpoint() > 0 && view.get().checkpoint() == null) {
			new Deletion(key, store).startViewAnew(view.get().session());
			return store.open(key, window);
		}
		return view;
	}

	private Window window(TurnRequest request) {
		int room = (this.trim.maxMessages() == Integer.MAX_VALUE) ? Integer.MAX_VALUE
				: Math.max(0, this.trim.maxMessages() - request.input().size());
		return new Window(this.trim.maxTurns(), room).and(Window.items(request.limit()));
	}

	private boolean isEnough(SessionView view, Window window) {
		List<SessionItem> items = view.items();
		SessionKey key = view.session().key();
		double factor = this.memory.factor(key);
		double tokens = 0;
		for (int i = items.size() - 1; i >= 0; i--) {
			tokens += items.get(i).tokens() * factor;
			if (tokens > this.trim.maxTokens()) {
				this.memory.fitted(key, items.size() - i);
				return true;
			}
		}
		if (items.size() >= view.session().totals().items()) {
			this.memory.fittedAll(key, items.size(), this.trim.maxTokens());
			return true;
		}
		return items.stream().mapToLong(SessionItem::turn).distinct().count() >= window.turns();
	}

}
