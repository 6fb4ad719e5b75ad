package io.sessionkit.internal.tree;

import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

import io.sessionkit.SessionKey;
import io.sessionkit.Turn;
import io.sessionkit.codec.MessageCodec;
import io.sessionkit.store.ChangeRefusedException;
import io.sessionkit.store.ChangeRefusedException.Reason;
import io.sessionkit.store.SessionRecord;

/**
 * The turns whose rewind has begun and has not ended: a call that takes an effect of
 * theirs back waits for a person, is decided and has not run, runs, or is uncertain. Such
 * a turn stays in the history with all of its messages, since a rewind that is continued
 * looks for them there.
 */
public final class BegunRewinds {

	/** The kind of the records of the calls that take effects back. */
	public static final String KIND = "compensation";

	/** The stored names of the statuses of a call that is not over. */
	private static final Set<String> NOT_OVER = Set.of("PROPOSED", "APPROVED", "CLAIMED", "UNCERTAIN");

	private final SessionKey key;

	/** The ids of the turns. */
	private final Set<String> turns;

	private BegunRewinds(SessionKey key, Set<String> turns) {
		this.key = key;
		this.turns = turns;
	}

	/**
	 * Reads the turns of a session.
	 * @param records the records of kind {@value #KIND}
	 */
	public static BegunRewinds read(SessionKey key, List<SessionRecord> records, MessageCodec codec) {
		return new BegunRewinds(key,
				records.stream()
					.map((record) -> codec.decodeValues(key, record.payload()))
					.filter((call) -> NOT_OVER.contains(String.valueOf(call.get("status"))))
					.map(BegunRewinds::turn)
					.collect(Collectors.toSet()));
	}

	private static String turn(Map<String, Object> call) {
		return String.valueOf(call.get("turn"));
	}

	/** Returns whether a turn is one of them. */
	public boolean has(Turn turn) {
		return this.turns.contains(turn.id());
	}

	/** Returns whether there are none. */
	public boolean isEmpty() {
		return this.turns.isEmpty();
	}

	/**
	 * Checks that none of these turns is about to leave the history, or to lose messages.
	 * @param leaving the turns that are about to do so
	 * @param what the change as a past participle, as "undone" in "it cannot be undone"
	 * @throws ChangeRefusedException if one of them is
	 */
	public void check(List<Turn> leaving, String what) {
		leaving.stream().filter(this::has).findFirst().ifPresent((turn) -> {
			throw new ChangeRefusedException("Session " + this.key + " cannot be " + what + ": turn " + turn.number()
					+ " has to stay in the history as it is, since its rewind has not ended. Decide the calls of"
					+ " Compensations.pending(..), and end the rewind with Compensations.rewind(..), or reject those"
					+ " of Compensations.ledger(..) that are APPROVED and do not run.", Reason.REWIND_UNFINISHED);
		});
	}

}
