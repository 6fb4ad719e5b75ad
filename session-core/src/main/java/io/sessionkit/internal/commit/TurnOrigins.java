package io.sessionkit.internal.commit;

import java.time.Instant;
import java.util.function.BooleanSupplier;

import io.sessionkit.internal.opening.KeptParameters;
import io.sessionkit.internal.opening.TurnPlace;
import io.sessionkit.internal.opening.TurnRequest;
import io.sessionkit.internal.snapshot.SnapshotTaker;
import io.sessionkit.internal.view.ForgottenItems;

/**
 * The beginning of a turn.
 *
 * @param request the request of the call that opened or continues the turn
 * @param id the id of the turn
 * @param startedAt when it began
 * @param place the place at which it hangs, with the header as it was opened
 * @param snapshots takes its snapshot
 * @param parameters the parameters that are kept with it
 * @param forgotten the items that it forgets when it becomes history
 * @param erased returns whether its own code has erased its session
 */
public record TurnOrigins(TurnRequest request, String id, Instant startedAt, TurnPlace place, SnapshotTaker snapshots,
		KeptParameters parameters, ForgottenItems forgotten, BooleanSupplier erased) {

}
