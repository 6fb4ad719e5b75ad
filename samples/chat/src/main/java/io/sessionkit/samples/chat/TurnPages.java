package io.sessionkit.samples.chat;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

import io.sessionkit.SessionItem;
import io.sessionkit.Turn;
import io.sessionkit.TurnStatus;
import io.sessionkit.conversation.Conversation;
import io.sessionkit.store.Tail;

/**
 * Reads the items of some turns of a thread, and no other items. The log holds those of
 * the completed turns; the others are beside the history, but a person wants to see them
 * too.
 */
final class TurnPages {

	private TurnPages() {
	}

	static List<TurnView> read(Conversation conversation, List<Turn> turns) {
		Map<Long, List<SessionItem>> items = completed(conversation, turns);
		return turns.stream()
			.map((turn) -> TurnView.of(turn,
					isWhole(turn, items) ? items.getOrDefault(turn.number(), List.of())
							: conversation.items(turn.number())))
			.toList();
	}

	/**
	 * Reads the items of all completed turns with two calls, however many turns there
	 * are: the newest turn tells where in the log the others end.
	 */
	private static Map<Long, List<SessionItem>> completed(Conversation conversation, List<Turn> turns) {
		List<Turn> completed = turns.stream()
			.filter((turn) -> turn.status() == TurnStatus.COMPLETED && turn.items() > 0)
			.toList();
		if (completed.size() < 2) {
			return Map.of();
		}
		Turn newest = completed.get(completed.size() - 1);
		List<SessionItem> last = conversation.items(newest.number());
		if (last.isEmpty()) {
			return Map.of();
		}
		int others = completed.stream().mapToInt(Turn::items).sum() - newest.items();
		Map<Long, List<SessionItem>> items = new HashMap<>(conversation.items(new Tail(last.get(0).sequence(), others))
			.stream()
			.collect(Collectors.groupingBy(SessionItem::turn)));
		items.put(newest.number(), last);
		return items;
	}

	/**
	 * Returns false for a turn beside the history, and for one that was left meanwhile.
	 */
	private static boolean isWhole(Turn turn, Map<Long, List<SessionItem>> items) {
		return items.getOrDefault(turn.number(), List.of()).size() == turn.items();
	}

}
