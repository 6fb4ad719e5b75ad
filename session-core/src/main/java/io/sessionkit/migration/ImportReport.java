package io.sessionkit.migration;

import java.util.List;
import java.util.Map;

/**
 * The result of an import. It names conversations and messages by their ids in the
 * source, and has no text of a message.
 *
 * @param dryRun whether nothing was written
 * @param conversations how many conversations had each outcome
 * @param turns how many turns were imported
 * @param messages how many messages these turns have
 * @param summaries how many summaries, and resets in place of one, were imported
 * @param leftOut how many messages of the conversations that were read were left out, by
 * reason
 * @param notImported the first conversations that were not imported,
 * {@value #MAX_DETAILS} at most
 * @param leftOutMessages the first messages that were left out, {@value #MAX_DETAILS} at
 * most
 */
public record ImportReport(boolean dryRun, Map<Outcome, Integer> conversations, long turns, long messages,
		long summaries, Map<Reason, Long> leftOut, List<NotImported> notImported, List<LeftOut> leftOutMessages) {

	/** The largest number of conversations, and of messages, that a report names. */
	public static final int MAX_DETAILS = 1000;

	public ImportReport {
		conversations = Map.copyOf(conversations);
		leftOut = Map.copyOf(leftOut);
		notImported = List.copyOf(notImported);
		leftOutMessages = List.copyOf(leftOutMessages);
	}

	/**
	 * Returns how many conversations had an outcome.
	 * @param outcome the outcome
	 * @return the number
	 */
	public int count(Outcome outcome) {
		return this.conversations.getOrDefault(outcome, 0);
	}

	/**
	 * Returns how many messages were left out for a reason.
	 * @param reason the reason
	 * @return the number
	 */
	public long count(Reason reason) {
		return this.leftOut.getOrDefault(reason, 0L);
	}

	/**
	 * The outcome for one conversation.
	 */
	public enum Outcome {

		/** It is a session now, whole or as far as messages were not left out. */
		IMPORTED,

		/** The conversation was imported before; nothing was written. */
		ALREADY_IMPORTED,

		/** A session with the same key exists that did not come from the conversation. */
		EXISTS,

		/**
		 * An import of it has stopped, and somebody has written to the session since, or
		 * at the same time. Nothing more was written.
		 */
		CHANGED,

		/** Nothing of it could become a turn. */
		EMPTY,

		/** The conversation has expired in the source. */
		EXPIRED,

		/**
		 * The source does not say in which order its messages were said, or takes
		 * different ids for the same, as a database may that ignores case. Also if it has
		 * no sequence of its messages, and more than 100,000 of them.
		 */
		ORDER_UNKNOWN,

		/**
		 * The repository fails to return it, though it lists its conversations, or the
		 * session with its key, or what an import has noted there, cannot be read.
		 * Nothing more was written.
		 */
		UNREADABLE,

		/**
		 * The function that chooses keys has thrown an exception for it, or has returned
		 * null.
		 */
		KEY_REFUSED

	}

	/**
	 * The reason why a message was left out.
	 */
	public enum Reason {

		/** It is a system message, which belongs to calls. */
		SYSTEM_TEXT,

		/** It comes before the first question. */
		LEADING_ANSWER,

		/** It has neither text nor tool calls nor results. */
		EMPTY,

		/** It is of a turn that has no answer, or whose calls have no results. */
		UNFINISHED,

		/**
		 * It is an answer or a result whose question or call was left out, or a summary
		 * of turns that were all left out.
		 */
		NO_QUESTION,

		/** It belongs to a branch of a sub-agent. */
		BRANCH,

		/** It cannot be read, or is of a turn with one that cannot be read. */
		UNREADABLE,

		/** It is of a turn with a message that would not be read back equal. */
		UNSTORABLE

	}

	/**
	 * A conversation that was not imported.
	 *
	 * @param conversation its id in the source
	 * @param outcome the outcome
	 */
	public record NotImported(String conversation, Outcome outcome) {
	}

	/**
	 * A message that was left out.
	 *
	 * @param conversation the id of its conversation in the source
	 * @param message its id in the source; its position if messages have no ids
	 * @param reason the reason
	 */
	public record LeftOut(String conversation, String message, Reason reason) {
	}

}
