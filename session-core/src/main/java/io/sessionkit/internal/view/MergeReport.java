package io.sessionkit.internal.view;

import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;

import io.sessionkit.SessionKey;
import io.sessionkit.context.SequenceGuard;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.ToolResponseMessage;

/**
 * Reports what a merge has done that its author probably did not intend. It is allowed,
 * and the log mentions it.
 *
 * @param unsent the number of history messages that the merge returned but that are not
 * sent, because the messages they belong to are missing
 * @param unanswered the number of replies with tool calls whose results the merge left
 * out
 * @param replies the number of replies and tool results that the merge was not given and
 * that are stored with the turn
 */
public record MergeReport(int unsent, int unanswered, int replies) {

	private static final Log logger = LogFactory.getLog(MergeReport.class);

	/**
	 * Compares the result of a merge with the history and the input that it was given.
	 */
	public static MergeReport of(List<Message> history, List<Message> input, Merged merged) {
		if (merged.isPlain(history, input)) {
			return new MergeReport(0, 0, 0);
		}
		List<Message> plain = new ArrayList<>(history);
		plain.addAll(input);
		Repair before = Repair.of(plain);
		Repair after = Repair.of(merged.messages());
		Set<Message> fresh = identities(merged.input());
		long unsent = after.dropped()
			.stream()
			.filter((message) -> !fresh.contains(message) && !before.dropped().contains(message))
			.count();
		Set<Message> given = identities(input);
		long replies = merged.input()
			.stream()
			.filter((message) -> !given.contains(message))
			.filter((message) -> message instanceof AssistantMessage || message instanceof ToolResponseMessage)
			.count();
		return new MergeReport((int) unsent, Math.max(0, after.answered() - before.answered()), (int) replies);
	}

	/**
	 * Logs the findings as warnings, without any text of a message.
	 */
	public void log(SessionKey key) {
		if (this.unsent > 0 || this.unanswered > 0) {
			logger.warn("The HistoryMerge of a turn on session " + key
					+ " has cut through a turn of the history: of what it returned " + this.unsent
					+ " messages are not sent, since their question or their tool calls are missing, and "
					+ this.unanswered + " replies with tool calls are sent without results. Cut"
					+ " where a turn begins: see HistoryMerge.keepLastTurns(..) and HookContext.turnStarts().");
		}
		if (this.replies > 0) {
			logger.warn("The HistoryMerge of a turn on session " + key + " returned " + this.replies
					+ " replies or tool"
					+ " results that say something else than those of the history, so they are stored with this turn,"
					+ " and with the next one again. To change a message of the history for a request only, set it into"
					+ " the list of the history: history.set(..).");
		}
	}

	private static Set<Message> identities(List<Message> messages) {
		Set<Message> identities = Collections.newSetFromMap(new IdentityHashMap<>());
		identities.addAll(messages);
		return identities;
	}

	/**
	 * The changes that a list needs so that providers accept it.
	 *
	 * @param dropped the messages that cannot be sent
	 * @param answered the number of replies that get results that are not their own
	 */
	private record Repair(Set<Message> dropped, int answered) {

		public static Repair of(List<Message> messages) {
			List<Message> sent = SequenceGuard.repairing().apply(messages);
			Set<Message> dropped = identities(messages);
			sent.forEach(dropped::remove);
			Set<Message> known = identities(messages);
			int answered = (int) sent.stream().filter((message) -> !known.contains(message)).count();
			return new Repair(dropped, answered);
		}

	}

}
