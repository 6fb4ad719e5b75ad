package io.sessionkit.internal.commit;

import java.util.List;

import io.sessionkit.TurnResult;
import io.sessionkit.store.RecordWrite;
import io.sessionkit.store.SessionStore;

/**
 * Ends a turn of which nothing becomes part of its session. It is the only difference
 * between such a turn and others: hooks and limits take part in all of them.
 */
final class UnstoredTurn extends TurnWriter {

	UnstoredTurn(SessionStore store, TurnOrigins origins) {
		super(store, origins);
	}

	@Override
	boolean stores() {
		return false;
	}

	@Override
	TurnResult commit(Outline outline, List<RecordWrite> more) {
		return unwritten(outline);
	}

	@Override
	TurnResult keepAside(Outline outline, List<RecordWrite> more) {
		return unwritten(outline);
	}

}
