package io.sessionkit.store.memory;

import java.util.ArrayList;
import java.util.List;

import io.sessionkit.SessionKey;
import io.sessionkit.Turn;
import io.sessionkit.internal.message.Copies;
import io.sessionkit.store.Commit;
import io.sessionkit.store.TurnWrite;
import org.jspecify.annotations.Nullable;

/**
 * A commit whose content has passed the codec, so that storing it cannot fail because of
 * it.
 *
 * @param commit the commit
 * @param turns its turns, oldest first; none if it has none
 * @param attributes its attributes; null if it leaves them as they are
 */
record PreparedCommit(Commit commit, List<PreparedTurn> turns, @Nullable StoredAttributes attributes) {

	/**
	 * A turn whose messages and attributes have passed the codec.
	 *
	 * @param write the turn
	 * @param messages its messages, in order
	 * @param attributes the attributes that it leaves; null if those of the turn before
	 */
	record PreparedTurn(TurnWrite write, List<StoredMessage> messages, @Nullable StoredAttributes attributes) {
	}

	static PreparedCommit of(Commit commit, RoundTrip roundTrip) {
		List<PreparedTurn> turns = new ArrayList<>();
		roundTrip.check(commit.key(), commit.header());
		commit.earlier().forEach((turn) -> turns.add(prepared(commit.key(), turn, roundTrip)));
		if (commit.turn() != null) {
			turns.add(prepared(commit.key(), commit.turn(), roundTrip));
		}
		return new PreparedCommit(commit, turns, roundTrip.store(commit.key(), commit.header().attributes()));
	}

	private static PreparedTurn prepared(SessionKey key, TurnWrite turn, RoundTrip roundTrip) {
		roundTrip.check(key, turn.turn());
		return new PreparedTurn(turn.turn().parameters().isEmpty() ? turn : withOwnParameters(turn),
				turn.items().stream().map((item) -> roundTrip.store(key, item.message())).toList(),
				roundTrip.store(key, turn.attributes()));
	}

	/** Copies what is inside of the parameters, which their writer may change later. */
	private static TurnWrite withOwnParameters(TurnWrite write) {
		Turn turn = write.turn();
		Turn.Origin origin = new Turn.Origin(turn.startedAt(), turn.agent(), turn.tools(), turn.snapshot(),
				Copies.values(turn.parameters()));
		return new TurnWrite(new Turn(turn.id(), turn.place(), origin, turn.progress()), write.part(), write.items(),
				write.attributes(), write.beside());
	}

}
