package io.sessionkit.store.redis;

import java.nio.charset.StandardCharsets;

import io.sessionkit.Session;
import io.sessionkit.Turn;
import io.sessionkit.ViewTotals;
import io.sessionkit.internal.row.EncodedCommit;
import io.sessionkit.internal.row.EncodedCommit.EncodedTurn;
import io.sessionkit.internal.row.Micros;
import io.sessionkit.internal.row.TurnIds;
import io.sessionkit.store.Commit;
import io.sessionkit.store.CommitResult;
import io.sessionkit.store.CommitResult.Outcome;
import io.sessionkit.store.HeaderChange;
import io.sessionkit.store.NewItem;
import org.jspecify.annotations.Nullable;

/**
 * A completed turn that follows the newest one, packed by its writer from what was
 * opened: <code>plain.lua</code> only compares and appends. What is stored like that
 * <code>session.lua</code> describes.
 */
final class PlainTurn {

	private final EncodedCommit encoded;

	private final EncodedTurn turn;

	private final Session base;

	private final WriteId write;

	private PlainTurn(EncodedCommit encoded, EncodedTurn turn, Session base, WriteId write) {
		this.encoded = encoded;
		this.turn = turn;
		this.base = base;
		this.write = write;
	}

	/**
	 * Returns the turn of a commit.
	 * @return the turn; null if the commit does more than append it, or expects something
	 * else than the session that was opened, or if the turn that its id names is there
	 */
	static @Nullable PlainTurn of(EncodedCommit encoded, WriteId write) {
		Commit commit = encoded.commit();
		Session base = commit.base();
		EncodedTurn turn = encoded.turn();
		if (base == null || turn == null || !encoded.isPlain() || !commit.header().equals(HeaderChange.NONE)) {
			return null;
		}
		boolean follows = base.head() == base.turns() && base.openTurn() == 0;
		long place = TurnIds.place(turn.turn().id());
		boolean mayBeThere = place > 0 && place <= base.turns();
		return (follows && !mayBeThere) ? new PlainTurn(encoded, turn, base, write) : null;
	}

	Arguments arguments(long lag, long slack) {
		return new Arguments().with(state(this.base.version(), this.base.position()))
			.with(PackedHeader.stamp(this.encoded.stamp()) + state(this.base.version() + 1, next()))
			.with(packed())
			.with(number())
			.with(id())
			.with((this.base.timeToLive() != null) ? Long.valueOf(Micros.of(this.base.timeToLive())) : null)
			.with(lag + " " + slack + ' ' + this.base.key().id());
	}

	private String id() {
		String id = this.turn.turn().id();
		return ((TurnIds.place(id) == number()) ? '=' : '+') + id;
	}

	CommitResult result() {
		return new CommitResult(Outcome.COMMITTED, this.base.version() + 1, number(), firstItem());
	}

	private long number() {
		return this.base.turns() + 1;
	}

	private long firstItem() {
		return this.turn.items().isEmpty() ? 0 : this.base.items() + 1;
	}

	private Session.Position next() {
		Session.Position before = this.base.position();
		ViewTotals totals = before.totals();
		int items = this.turn.items().size();
		return new Session.Position(number(), before.items() + items, before.branch(), number(), 0,
				before.summaryTurn(), before.summaryId(),
				new ViewTotals(totals.turns() + 1, totals.items() + items, totals.tokens() + this.turn.tokens()));
	}

	private String state(long version, Session.Position position) {
		ViewTotals totals = position.totals();
		return this.base.incarnation() + ' ' + version + ' ' + position.turns() + ' ' + position.items() + ' '
				+ position.openTurn() + ' ' + position.head() + ' ' + totals.turns() + ' ' + totals.items() + ' '
				+ totals.tokens() + '\n';
	}

	/** Returns the turn as it is stored, but for its path. */
	private String packed() {
		Turn written = this.turn.turn();
		Long ended = Micros.ofNullable(written.endedAt());
		String origin = (this.turn.origin() != null) ? this.turn.origin() : "";
		String items = items();
		return "COMPLETED 0 1 " + this.turn.items().size() + ' ' + this.turn.tokens() + " 1 " + (this.base.items() + 1)
				+ ' ' + Micros.of(written.startedAt()) + ' ' + ((ended != null) ? ended : "") + ' '
				+ (this.base.version() + 1 - number()) + ' ' + (this.turn.items().isEmpty() ? 0 : 1) + ' '
				+ size(this.base.branch()) + ' ' + size(written.id()) + ' ' + size(this.write.text()) + ' '
				+ size(origin) + ' ' + size(this.turn.outcome()) + ' ' + size(items) + '\n' + this.base.branch()
				+ written.id() + this.write.text() + origin + this.turn.outcome() + items;
	}

	private String items() {
		StringBuilder items = new StringBuilder();
		for (int i = 0; i < this.turn.items().size(); i++) {
			NewItem item = this.turn.items().get(i);
			String body = this.turn.bodies().get(i);
			items.append(this.base.items() + 1 + i)
				.append(' ')
				.append(Micros.of(item.at()))
				.append(' ')
				.append(item.tokens())
				.append(' ')
				.append(size(body))
				.append('\n')
				.append(body);
		}
		return items.toString();
	}

	private static int size(String text) {
		return text.getBytes(StandardCharsets.UTF_8).length;
	}

}
