package io.sessionkit;

import java.util.List;

/**
 * A turn as it was stored.
 *
 * @param key the session
 * @param turn the turn: id, number, status, usage of each round
 * @param items all items of the turn that are stored, in order: those of its parts and of
 * the calls that it paused in between too
 * @param overLimit whether the turn alone was larger than {@code trim.max-messages} or
 * {@code trim.max-tokens} and was sent whole all the same
 */
public record TurnResult(SessionKey key, Turn turn, List<SessionItem> items, boolean overLimit) {

	public TurnResult {
		items = List.copyOf(items);
	}

}
