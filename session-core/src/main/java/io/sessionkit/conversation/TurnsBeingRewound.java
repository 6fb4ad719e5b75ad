package io.sessionkit.conversation;

import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Collectors;

import io.sessionkit.Session;
import io.sessionkit.SessionItem;
import io.sessionkit.SessionKey;
import io.sessionkit.Turn;
import io.sessionkit.codec.MessageCodec;
import io.sessionkit.internal.tree.BegunRewinds;
import io.sessionkit.internal.tree.BranchRecord;
import io.sessionkit.store.ChangeRefusedException;
import io.sessionkit.store.SessionStore;

/**
 * The turns in the history of any branch whose rewind has begun and has not ended. They
 * keep their messages until it has.
 */
final class TurnsBeingRewound {

	private final SessionKey key;

	private final SessionStore store;

	TurnsBeingRewound(SessionKey key, SessionStore store) {
		this.key = key;
		this.store = store;
	}

	/**
	 * Checks that none of them is about to lose messages.
	 * @param items the items that are about to be deleted
	 * @param what the change as a past participle, as "popped" in "it cannot be popped"
	 * @throws ChangeRefusedException if one of them is
	 */
	void check(Collection<SessionItem> items, String what) {
		Set<Long> losing = items.stream().map(SessionItem::turn).collect(Collectors.toSet());
		check((turn) -> losing.contains(turn.number()), what);
	}

	/**
	 * Checks that there are none.
	 * @param what the change that they are in the way of, as above
	 * @throws ChangeRefusedException if there is one
	 */
	void checkNone(String what) {
		check((turn) -> true, what);
	}

	private void check(Predicate<Turn> losing, String what) {
		BegunRewinds begun = BegunRewinds.read(this.key, this.store.records(this.key, BegunRewinds.KIND), codec());
		// they are rare, so the turns of the session are read for them alone
		if (!begun.isEmpty()) {
			this.store.find(this.key)
				.ifPresent((session) -> begun.check(history(session).stream().filter(losing).toList(), what));
		}
	}

	private List<Turn> history(Session session) {
		return new WholeThread(this.key, this.store).turnsOnTheWayTo(heads(session));
	}

	private Set<Long> heads(Session session) {
		Set<Long> heads = new HashSet<>(Set.of(session.head()));
		this.store.records(this.key, BranchRecord.KIND)
			.stream()
			.map((record) -> BranchRecord.read(record, codec()))
			.filter((branch) -> !branch.name().equals(session.branch()))
			.forEach((branch) -> heads.add(branch.head()));
		return heads;
	}

	private MessageCodec codec() {
		return this.store.options().codec();
	}

}
