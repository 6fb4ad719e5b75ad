package io.sessionkit.internal.row;

import java.util.Objects;

import io.sessionkit.SessionItem;
import io.sessionkit.SessionKey;
import io.sessionkit.internal.message.Copies;
import org.jspecify.annotations.Nullable;

/**
 * An item of a view that is kept. It is decoded when it is first read, since many views
 * are replaced before that. Safe for use by many threads.
 */
final class KnownItem {

	/** An estimate of the memory of an item and its message, without the text. */
	private static final int BYTES = 400;

	private final long turn;

	private final int bytes;

	/** Null once the decoded item is kept. */
	private volatile @Nullable ItemRow row;

	private volatile @Nullable SessionItem item;

	KnownItem(ItemRow row) {
		this.turn = row.turn();
		this.bytes = BYTES + 2 * Math.min(row.body().length(), Integer.MAX_VALUE / 4);
		this.row = row;
	}

	long turn() {
		return this.turn;
	}

	int bytes() {
		return this.bytes;
	}

	/**
	 * Returns the item with a message of its own.
	 */
	SessionItem copy(SessionKey key, RowReader reader) {
		SessionItem known = decoded(key, reader);
		return Copies.isWhole(known.message()) ? new SessionItem(known.sequence(), known.turn(), known.at(),
				known.tokens(), Copies.copy(known.message())) : known;
	}

	private SessionItem decoded(SessionKey key, RowReader reader) {
		// the item is set before the row is cleared
		ItemRow encoded = this.row;
		if (encoded == null) {
			return Objects.requireNonNull(this.item);
		}
		SessionItem decoded = reader.item(key, encoded);
		// a message that cannot be copied is decoded each time
		if (Copies.isWhole(decoded.message())) {
			this.item = decoded;
			this.row = null;
		}
		return decoded;
	}

}
