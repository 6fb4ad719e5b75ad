package io.sessionkit;

import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * The history that was sent to the model in the first model call of a turn, after hooks
 * and advisors, without the system text and without the turn's own messages. It refers to
 * messages that are in the log. Messages that were changed before they were sent are kept
 * in a record of the turn, so that they can be deleted.
 *
 * @param systemDigest the SHA-256 of the system text in UTF-8, in hexadecimal; null if
 * there was none
 * @param system the system text; null unless it is kept
 * @param parts the parts of the history, in order
 */
public record Snapshot(@Nullable String systemDigest, @Nullable String system, List<Part> parts) {

	public Snapshot {
		parts = List.copyOf(parts);
	}

	/**
	 * One or more consecutive messages of a snapshot.
	 */
	public sealed interface Part {

		/**
		 * Returns how many messages the part stands for.
		 * @return the number of messages
		 */
		int size();

	}

	/**
	 * Items as they are stored, with every sequence from the first to the last.
	 *
	 * @param from the sequence of the first
	 * @param to the sequence of the last
	 * @param firstTurn the turn of the first
	 * @param lastTurn the turn of the last
	 */
	public record Items(long from, long to, long firstTurn, long lastTurn) implements Part {

		public Items {
			if (from > to || firstTurn > lastTurn) {
				throw new IllegalArgumentException("Items cannot run from " + from + " to " + to + ", from turn "
						+ firstTurn + " to turn " + lastTurn + ".");
			}
		}

		@Override
		public int size() {
			return (int) (this.to - this.from + 1);
		}

	}

	/**
	 * An item of tool results that was sent without the results.
	 *
	 * @param sequence the sequence of the item
	 * @param turn the number of its turn
	 * @param placeholder the text that was sent instead of each result
	 */
	public record Pruned(long sequence, long turn, String placeholder) implements Part {

		@Override
		public int size() {
			return 1;
		}

	}

	/**
	 * The two messages of a summary.
	 *
	 * @param summary the id of the record that holds it
	 */
	public record Summary(String summary) implements Part {

		@Override
		public int size() {
			return 2;
		}

	}

	/**
	 * Messages that are kept as they were sent.
	 *
	 * @param size how many there are; they are the next ones in the record of the turn
	 */
	public record Verbatim(int size) implements Part {

		public Verbatim {
			if (size < 1) {
				throw new IllegalArgumentException("A part of a snapshot has one message or more, not " + size + ".");
			}
		}

	}

}
