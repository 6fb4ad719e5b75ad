package io.sessionkit.store.redis;

import java.nio.ByteBuffer;

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

	private static final byte[] NONE = {};

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
	 * else than the session that was opened, if it has no items, or if the turn that its
	 * id names is there
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
		// a turn without items does not count as one of the view
		return (follows && !mayBeThere && !turn.items().isEmpty()) ? new PlainTurn(encoded, turn, base, write) : null;
	}

	Arguments arguments(long lag, long slack) {
		return new Arguments().with(state(this.base.version(), this.base.position()))
			.with(PackedHeader.stamp(this.encoded.stamp()) + state(version(), next()))
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
		return new CommitResult(Outcome.COMMITTED, version(), number(), firstItem());
	}

	private long version() {
		return this.base.version() + this.encoded.step();
	}

	private long number() {
		return this.base.turns() + 1;
	}

	private long firstItem() {
		return this.turn.items().isEmpty() ? 0 : this.base.items() + 1;
	}

	private Session.Position next() {
		Session.Position before = this.base.position();
		int items = this.turn.items().size();
		return new Session.Position(number(), before.items() + items, before.branch(), number(), 0,
				before.summaryTurn(), before.summaryId(), before.totals().plusTurn(items, this.turn.tokens()));
	}

	private String state(long version, Session.Position position) {
		ViewTotals totals = position.totals();
		return this.base.incarnation() + ' ' + version + ' ' + position.turns() + ' ' + position.items() + ' '
				+ position.openTurn() + ' ' + position.head() + ' ' + totals.turns() + ' ' + totals.items() + ' '
				+ totals.tokens() + '\n';
	}

	/** Returns the turn as it is stored, but for its path. */
	private byte[] packed() {
		Turn written = this.turn.turn();
		Long ended = Micros.ofNullable(written.endedAt());
		boolean empty = this.turn.items().isEmpty();
		byte[][] texts = { bytes(this.base.branch()), bytes(written.id()), bytes(this.write.text()),
				bytes(this.turn.origin()), bytes(this.turn.outcome()) };
		byte[][] items = items();
		StringBuilder numbers = new StringBuilder().append("COMPLETED 0 1 ")
			.append(this.turn.items().size())
			.append(' ')
			.append(this.turn.tokens())
			.append(" 1 ")
			.append(this.base.items() + 1)
			.append(' ')
			.append(Micros.of(written.startedAt()))
			.append(' ')
			.append((ended != null) ? ended : "")
			.append(' ')
			.append(version() - number())
			.append(empty ? " 0" : " 1");
		for (byte[] text : texts) {
			numbers.append(' ').append(text.length);
		}
		numbers.append(' ').append(size(items)).append('\n');
		return joined(new byte[][] { bytes(numbers.toString()) }, texts, items);
	}

	private byte[][] items() {
		byte[][] pieces = new byte[2 * this.turn.items().size()][];
		for (int i = 0; i < this.turn.items().size(); i++) {
			NewItem item = this.turn.items().get(i);
			byte[] body = bytes(this.turn.bodies().get(i));
			pieces[2 * i] = bytes((this.base.items() + 1 + i) + " " + Micros.of(item.at()) + ' ' + item.tokens() + ' '
					+ body.length + '\n');
			pieces[2 * i + 1] = body;
		}
		return pieces;
	}

	private static byte[] bytes(@Nullable String text) {
		return (text != null) ? RedisKeys.bytes(text) : NONE;
	}

	private static int size(byte[][] pieces) {
		int size = 0;
		for (byte[] piece : pieces) {
			size += piece.length;
		}
		return size;
	}

	private static byte[] joined(byte[][] first, byte[][] second, byte[][] third) {
		ByteBuffer all = ByteBuffer.allocate(size(first) + size(second) + size(third));
		for (byte[][] pieces : new byte[][][] { first, second, third }) {
			for (byte[] piece : pieces) {
				all.put(piece);
			}
		}
		return all.array();
	}

}
