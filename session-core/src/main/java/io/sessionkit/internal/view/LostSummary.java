package io.sessionkit.internal.view;

import java.util.List;
import java.util.Set;

import io.sessionkit.Session;
import io.sessionkit.Summary;
import io.sessionkit.codec.MessageCodec;
import io.sessionkit.store.Commit;
import io.sessionkit.store.SessionRecord;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.SessionView;
import io.sessionkit.store.Tail;

/**
 * A summary that the header of a session names although its record is gone, for example
 * because an application has deleted it. The view then begins with the newest summary
 * that exists.
 */
public final class LostSummary {

	private LostSummary() {
	}

	/**
	 * Returns whether a view does not begin with the summary that its header names.
	 */
	public static boolean isIn(SessionView view) {
		SessionRecord summary = view.summary();
		return view.session().summaryTurn() > 0
				&& (summary == null || !summary.id().equals(view.session().summaryId()));
	}

	/**
	 * Returns the view as it was read, or all of it with a summary that exists. Nothing
	 * is written.
	 */
	public static SessionView without(SessionStore store, SessionView view) {
		return isIn(view) ? withNewest(store, view.session()) : view;
	}

	/**
	 * Returns a view with a header that names the summary with which the view begins, for
	 * a call that writes nothing.
	 */
	public static SessionView named(SessionView view, MessageCodec codec) {
		if (!isIn(view)) {
			return view;
		}
		Session header = view.session();
		Summary summary = (view.summary() != null) ? Summaries.read(view.summary(), codec) : null;
		Session named = (summary != null)
				? header.at(header.head(), header.totals(), summary.turn(), summary.id(), header.attributes())
				: header.at(header.head(), header.totals(), 0, null, header.attributes());
		return new SessionView(named, view.summary(), view.items());
	}

	private static SessionView withNewest(SessionStore store, Session header) {
		MessageCodec codec = store.options().codec();
		SessionRecord newest = onPath(store, header).stream()
			.max((one, other) -> Summaries.BY_AGE.compare(Summaries.read(one, codec), Summaries.read(other, codec)))
			.orElse(null);
		long covered = (newest != null) ? Summaries.read(newest, codec).turn() : 0;
		return new SessionView(header, newest,
				store.items(header.key(), Tail.ALL).stream().filter((item) -> item.turn() > covered).toList());
	}

	/**
	 * Has the header name a summary that exists. If the session has changed meanwhile, it
	 * stays as it is until the next call.
	 */
	public static void mend(SessionStore store, Session header) {
		List<Summary> kept = onPath(store, header).stream()
			.map((record) -> Summaries.read(record, store.options().codec()))
			.toList();
		store.commit(Commit.on(header).header(Summaries.viewFromNewest(kept)));
	}

	/** Returns the summaries of the history that ends with the head. */
	private static List<SessionRecord> onPath(SessionStore store, Session header) {
		Set<Long> path = new TurnPaths(store, header.key()).to(header.head());
		return store.records(header.key(), SessionStore.SUMMARY)
			.stream()
			.filter((record) -> path.contains(Summaries.read(record, store.options().codec()).turn()))
			.toList();
	}

}
