package io.sessionkit.internal.row;

import java.util.ArrayList;
import java.util.List;

import io.sessionkit.internal.row.EncodedCommit.EncodedTurn;
import io.sessionkit.store.NewItem;
import org.jspecify.annotations.Nullable;

/**
 * The items of a commit, as they are stored: the short ones of a first part in the row of
 * the turn, all others in rows of their own. So a later part does not rewrite the turn,
 * and a long text is read only where it is needed.
 *
 * @param packed those in the row of the turn; null for none
 * @param apart those in rows of their own
 */
public record NewItems(@Nullable String packed, List<Apart> apart) {

	/** A text of more characters has a row of its own. */
	public static final int LONGEST = 16 * 1024;

	/**
	 * An item that has a row of its own.
	 *
	 * @param place its sequence after the first item of the commit
	 * @param at when it was recorded
	 * @param tokens its size in tokens
	 * @param body the encoded message
	 */
	public record Apart(int place, long at, int tokens, String body) {
	}

	public static NewItems of(EncodedTurn turn) {
		PackedItems packed = new PackedItems();
		List<Apart> apart = new ArrayList<>();
		for (int place = 0; place < turn.items().size(); place++) {
			NewItem item = turn.items().get(place);
			String body = turn.bodies().get(place);
			if (turn.part() > 0 || body.length() > LONGEST) {
				apart.add(new Apart(place, Micros.of(item.at()), item.tokens(), body));
			}
			else {
				packed.add(place, Micros.of(item.at()), item.tokens(), body);
			}
		}
		return new NewItems(packed.text(), apart);
	}

}
