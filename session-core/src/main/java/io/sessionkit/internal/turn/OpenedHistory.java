package io.sessionkit.internal.turn;

import java.util.ArrayList;
import java.util.List;

import io.sessionkit.Session;
import io.sessionkit.SessionSettings;
import io.sessionkit.context.Prune;
import io.sessionkit.context.Trim;
import io.sessionkit.internal.opening.OpenedView;
import io.sessionkit.internal.opening.ReplayedParameters;
import io.sessionkit.internal.opening.TurnParameters;
import io.sessionkit.internal.opening.TurnRequest;
import io.sessionkit.internal.opening.TurnRules;
import io.sessionkit.internal.view.History;
import io.sessionkit.internal.view.Limits;
import io.sessionkit.internal.view.RequestSize;
import io.sessionkit.internal.view.ToolPruner;
import io.sessionkit.internal.view.ViewLine;
import io.sessionkit.store.SessionView;
import org.jspecify.annotations.Nullable;

/**
 * The history with which one turn begins.
 *
 * @param view the lines that it is made of
 * @param history what the limits on turns leave of them
 * @param trim the limits of the requests
 * @param isGiven whether the call that opened the turn has brought it, so that it is sent
 * as it is
 * @param isCut whether the limits have left out some of what the session holds
 * @param size counts its tokens; null if no limit and no trigger does
 */
record OpenedHistory(List<ViewLine> view, History history, Trim trim, boolean isGiven, boolean isCut,
		@Nullable RequestSize size) {

	static OpenedHistory of(TurnRequest request, OpenedView opened, TurnSetup setup) {
		List<ViewLine> own = ViewLine.of(opened.view(), setup.store().options());
		OpenedView.Brought brought = opened.brought();
		List<ViewLine> all = (brought != null) ? joined(brought.lines(), own) : own;
		return (brought != null && brought.asItIs()) ? given(request, all, setup)
				: limited(request, opened, all, setup);
	}

	private static List<ViewLine> joined(List<ViewLine> first, List<ViewLine> second) {
		List<ViewLine> joined = new ArrayList<>(first.size() + second.size());
		joined.addAll(first);
		joined.addAll(second);
		return joined;
	}

	private static OpenedHistory given(TurnRequest request, List<ViewLine> lines, TurnSetup setup) {
		History history = History.given(lines);
		boolean counts = setup.views().countsTokens();
		return new OpenedHistory(lines, history, Trim.NONE, true, false,
				counts ? size(history, factor(request, setup), setup) : null);
	}

	private static OpenedHistory limited(TurnRequest request, OpenedView opened, List<ViewLine> lines,
			TurnSetup setup) {
		Session base = opened.seen();
		Limits limits = Limits.of(request.limit(), (base != null) ? base.settings() : SessionSettings.NONE,
				setup.rules().sent().trim());
		boolean counts = setup.views().countsTokens() || limits.trim().limitsTokens();
		double factor = counts ? factor(request, setup) : 1;
		List<ViewLine> view = pruned(request, lines, base, limits.trim(), setup);
		History history = History.of(shown(view, setup), (base != null) ? base.summaryTurn() : 0,
				(base != null) ? base.head() : 0, limits.estimated(factor), limits.messages(), request.input(),
				setup.store().options().tokens());
		return new OpenedHistory(view, history, limits.trim(), false,
				history.lines().size() < view.size() || isPartlyRead(opened.view()),
				counts ? size(history, factor, setup) : null);
	}

	private static double factor(TurnRequest request, TurnSetup setup) {
		return setup.views().memory().factor(request.key());
	}

	private static RequestSize size(History history, double factor, TurnSetup setup) {
		return new RequestSize(history.lines(), setup.store().options().tokens(), factor);
	}

	private static boolean isPartlyRead(@Nullable SessionView view) {
		return view != null && view.items().size() < view.session().totals().items();
	}

	private static List<ViewLine> pruned(TurnRequest request, List<ViewLine> lines, @Nullable Session session,
			Trim trim, TurnSetup setup) {
		TurnRules.Sent sent = setup.rules().sent();
		return sent.prune().equals(Prune.NONE) ? lines
				: new ToolPruner(sent.prune(), trim.pins(), setup.store().options().tokens()).prune(lines, session,
						request.input());
	}

	/**
	 * Returns the lines as they are shown: with the parameters that were kept to be shown
	 * again.
	 */
	private static List<ViewLine> shown(List<ViewLine> lines, TurnSetup setup) {
		TurnParameters parameters = setup.rules().kept().parameters();
		return parameters.replayed().isEmpty() ? lines
				: ReplayedParameters.show(lines, parameters, setup.store().options().tokens());
	}

}
