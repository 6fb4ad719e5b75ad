package io.sessionkit.internal.opening;

import java.util.List;
import java.util.Map;

import io.sessionkit.Session;
import io.sessionkit.context.SummaryResult;
import io.sessionkit.internal.view.ViewLine;
import io.sessionkit.store.SessionView;
import org.jspecify.annotations.Nullable;

/**
 * A session as a turn found it.
 *
 * @param view the view, with the header as if the turn before were the head; null if
 * there is no session
 * @param place the place at which the turn hangs
 * @param made the outcome of a summary that was due; null if none was
 * @param brought what precedes the view; null for nothing
 */
public record OpenedView(@Nullable SessionView view, TurnPlace place, @Nullable SummaryResult made,
		@Nullable Brought brought) {

	/**
	 * History that the session does not hold.
	 *
	 * @param lines its lines
	 * @param asItIs whether it is all of the history, to be sent as it is
	 * @param attributes the attributes of the turn that it was read from; null if the
	 * turn has those of its session
	 */
	public record Brought(List<ViewLine> lines, boolean asItIs, @Nullable Map<String, Object> attributes) {
	}

	OpenedView(@Nullable SessionView view, TurnPlace place) {
		this(view, place, null, null);
	}

	static OpenedView atHead(@Nullable SessionView view) {
		return new OpenedView(view, TurnPlace.atHead((view != null) ? view.session() : null));
	}

	OpenedView on(@Nullable Session now) {
		return new OpenedView(this.view, this.place.on(now), this.made, this.brought);
	}

	OpenedView after(@Nullable SummaryResult summary) {
		return new OpenedView(this.view, this.place, summary, this.brought);
	}

	OpenedView behind(Brought history) {
		return new OpenedView(this.view, this.place, this.made, history);
	}

	/** Returns the attributes with which the turn begins. */
	public Map<String, Object> attributes() {
		if (this.brought != null && this.brought.attributes() != null) {
			return this.brought.attributes();
		}
		return (this.view != null) ? this.view.session().attributes() : Map.of();
	}

	/** Returns the header as the turn sees it; null if there is no session. */
	public @Nullable Session seen() {
		return (this.view != null) ? this.view.session() : null;
	}

}
