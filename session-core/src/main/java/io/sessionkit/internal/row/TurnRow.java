package io.sessionkit.internal.row;

import io.sessionkit.TurnStatus;
import io.sessionkit.codec.UnreadablePayloadException;
import io.sessionkit.internal.Names;
import org.jspecify.annotations.Nullable;

/**
 * A turn as it is stored.
 *
 * @param id its id
 * @param parent the turn it follows
 * @param path its place in the tree
 * @param branch the branch it was written on
 * @param status its status
 * @param parts how many parts of it are stored
 * @param items how many items it has
 * @param tokens the tokens of these items
 * @param startedAt when it was opened
 * @param endedAt when it ended; null while it is open
 * @param attributes the encoded attributes as of this turn; null for none
 * @param origin agent, tools, snapshot and kept parameters, encoded, as the first part
 * wrote them; null if there are none
 * @param outcome model, rounds, failure and verdicts, encoded, as of the newest part
 */
public record TurnRow(String id, long parent, HeaderRow.Path path, String branch, TurnStatus status, int parts,
		int items, int tokens, long startedAt, @Nullable Long endedAt, @Nullable String attributes,
		@Nullable String origin, String outcome) {

	/**
	 * Returns the status that is stored by its name.
	 * @throws UnreadablePayloadException if this version has no such status
	 */
	public static TurnStatus status(String name) {
		try {
			return TurnStatus.valueOf(name);
		}
		catch (IllegalArgumentException ex) {
			throw new UnreadablePayloadException("a turn has the status " + Names.quoted(name)
					+ ", which this version does not know. Use the version that wrote it.", null);
		}
	}

	public long number() {
		return this.path.head();
	}

	/** Returns this turn with the items of one more part. */
	public TurnRow plus(int moreItems, int moreTokens) {
		return new TurnRow(this.id, this.parent, this.path, this.branch, this.status, this.parts + 1,
				this.items + moreItems, this.tokens + moreTokens, this.startedAt, this.endedAt, this.attributes,
				this.origin, this.outcome);
	}

}
