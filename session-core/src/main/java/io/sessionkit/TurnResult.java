package io.sessionkit;

import java.util.List;

/**
 * A turn as it was stored.
 *
 * @param key the session
 * @param turn the turn: id, number, status, usage of each round
 * @param items all items of the turn that are stored, in order. If the turn was paused,
 * the items of the earlier calls are included
 * @param overLimit whether the turn alone was larger than {@code trim.max-messages} or
 * {@code trim.max-tokens}; it was sent whole nevertheless
 */
public record TurnResult(SessionKey key, Turn turn, List<SessionItem> items, boolean overLimit) {

	public TurnResult {
		items = List.copyOf(items);
	}

}
