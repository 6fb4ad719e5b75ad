package io.sessionkit.store.memory;

import java.util.List;

import io.sessionkit.store.Commit;
import io.sessionkit.store.NewItem;
import io.sessionkit.store.TurnWrite;
import org.jspecify.annotations.Nullable;

/**
 * A commit whose messages and attributes have passed the codec, so that storing it cannot
 * fail because of its content.
 *
 * @param commit the commit
 * @param messages the messages of its turn, in order
 * @param attributes its attributes; null if it leaves them as they are
 */
record PreparedCommit(Commit commit, List<StoredMessage> messages, @Nullable StoredAttributes attributes) {

	static PreparedCommit of(Commit commit, RoundTrip roundTrip) {
		TurnWrite turn = commit.turn();
		List<NewItem> items = (turn != null) ? turn.items() : List.of();
		return new PreparedCommit(commit,
				items.stream().map((item) -> roundTrip.store(commit.key(), item.message())).toList(),
				roundTrip.store(commit.key(), commit.header().attributes()));
	}

}
