package io.sessionkit.internal.commit;

import java.util.function.BooleanSupplier;

import io.sessionkit.SessionKey;
import io.sessionkit.internal.opening.TurnPlace;
import io.sessionkit.internal.opening.TurnRequest;
import io.sessionkit.internal.opening.TurnStart;
import io.sessionkit.internal.snapshot.SnapshotTaker;
import io.sessionkit.internal.view.ForgottenItems;

/**
 * The beginning of a turn.
 *
 * @param start what its call begins with
 * @param snapshots takes its snapshot
 * @param forgotten the items that it forgets when it becomes history
 * @param erased returns whether its own code has erased its session
 */
public record TurnOrigins(TurnStart start, SnapshotTaker snapshots, ForgottenItems forgotten, BooleanSupplier erased) {

	SessionKey key() {
		return this.start.key();
	}

	TurnRequest request() {
		return this.start.request();
	}

	TurnPlace place() {
		return this.start.place();
	}

}
