package io.sessionkit.extension;

import java.util.ArrayList;
import java.util.List;

import io.sessionkit.hook.HistoryMerge;
import io.sessionkit.hook.HookContext;

import org.springframework.ai.chat.messages.Message;

/**
 * Sends the newest turns, and of the older ones those that have a keyword in them.
 */
public final class KeywordTurns implements HistoryMerge {

	private final String keyword;

	private final int newest;

	/**
	 * A merge.
	 * @param keyword the word that keeps a turn
	 * @param newest how many of the newest turns are sent in any case
	 */
	public KeywordTurns(String keyword, int newest) {
		this.keyword = keyword;
		this.newest = newest;
	}

	@Override
	public List<Message> merge(HookContext context, List<Message> history, List<Message> input) {
		List<Message> messages = new ArrayList<>();
		List<Integer> starts = context.turnStarts();
		for (int turn = 0; turn < starts.size(); turn++) {
			int end = (turn + 1 < starts.size()) ? starts.get(turn + 1) : history.size();
			List<Message> said = history.subList(starts.get(turn), end);
			if (turn >= starts.size() - this.newest || said.stream().anyMatch(this::hasKeyword)) {
				messages.addAll(said);
			}
		}
		messages.addAll(input);
		return messages;
	}

	private boolean hasKeyword(Message message) {
		return message.getText() != null && message.getText().contains(this.keyword);
	}

}
