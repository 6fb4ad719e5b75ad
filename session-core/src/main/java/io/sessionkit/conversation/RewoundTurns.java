package io.sessionkit.conversation;

import java.util.List;
import java.util.Set;

import io.sessionkit.SessionKey;
import io.sessionkit.Turn;
import io.sessionkit.codec.MessageCodec;
import io.sessionkit.internal.ledger.Ledger;
import io.sessionkit.store.ChangeRefusedException;
import io.sessionkit.store.ChangeRefusedException.Reason;
import io.sessionkit.store.SessionRecord;

/**
 * The turns of whose effects some were taken back.
 */
final class RewoundTurns {

	/** The kind of the records that say so. */
	static final String KIND = Ledger.COMPENSATION;

	private RewoundTurns() {
	}

	/**
	 * Refuses to make turns history again that say what is no longer so.
	 * @param compensations the records of kind {@link #KIND}
	 * @throws ChangeRefusedException if an effect of one of the turns was taken back
	 */
	static void check(SessionKey key, List<SessionRecord> compensations, MessageCodec codec, List<Turn> turns) {
		Set<String> takenBack = Ledger.turnsTakenBack(compensations, codec);
		turns.stream().filter((turn) -> takenBack.contains(turn.id())).findFirst().ifPresent((turn) -> {
			throw new ChangeRefusedException("Turn " + turn.number() + " of session " + key
					+ " cannot become history again: effects of its tool calls were taken back, or may have been, and"
					+ " the model would rely on them. Ask its question anew.", Reason.EFFECTS_TAKEN_BACK);
		});
	}

}
