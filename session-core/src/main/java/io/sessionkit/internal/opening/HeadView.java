package io.sessionkit.internal.opening;

import io.sessionkit.internal.view.LostSummary;
import io.sessionkit.internal.view.ViewReader;
import io.sessionkit.store.SessionView;
import org.jspecify.annotations.Nullable;

/**
 * Opens the view of the active branch for turns. If the summary is lost that the header
 * names, this writes: the header names one that exists before the turn begins. Safe for
 * use by many threads.
 */
final class HeadView {

	private final ViewReader reader;

	HeadView(ViewReader reader) {
		this.reader = reader;
	}

	/**
	 * Opens the view, and checks what the caller expects before a summary is made, which
	 * costs a model call.
	 * @return the view; null if there is no session
	 */
	@Nullable SessionView openMended(TurnRequest request) {
		SessionView view = read(request);
		if (view != null && LostSummary.isIn(view)) {
			LostSummary.mend(this.reader.store(), view.session());
			view = read(request);
		}
		return view;
	}

	private @Nullable SessionView read(TurnRequest request) {
		SessionView view = this.reader.open(request.key(), request.limit(), request.input()).orElse(null);
		request.checkExpected((view != null) ? view.session() : null);
		return view;
	}

}
