package io.sessionkit.store.memory;

import java.util.ArrayList;
import java.util.List;

import io.sessionkit.SessionKey;
import io.sessionkit.store.Commit;
import io.sessionkit.store.TurnWrite;
import org.jspecify.annotations.Nullable;

/**
 * A commit whose messages and attributes have passed the codec, so that storing it cannot
 * fail because of its content.
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
		commit.earlier().forEach((turn) -> turns.add(prepared(commit.key(), turn, roundTrip)));
		if (commit.turn() != null) {
			turns.add(prepared(commit.key(), commit.turn(), roundTrip));
		}
		return new PreparedCommit(commit, turns, roundTrip.store(commit.key(), commit.header().attributes()));
	}

	private static PreparedTurn prepared(SessionKey key, TurnWrite turn, RoundTrip roundTrip) {
		return new PreparedTurn(turn,
				turn.items().stream().map((item) -> roundTrip.store(key, item.message())).toList(),
				roundTrip.store(key, turn.attributes()));
	}

}
