package io.sessionkit.samples.chat;

import java.time.Instant;

/**
 * A thread as the page lists it.
 *
 * @param turns the number of its turns, of all branches and whatever became of them
 * @param head the turn that the next one follows; 0 for none
 * @param branch the active branch
 * @param open the turn that waits to be continued; 0 for none
 * @param waiting the number of its tool calls that wait for a person
 * @param takingBack the turn from which on turns are being taken back; 0 for none
 * @param kept what it keeps
 */
record ThreadView(String id, String title, long turns, long head, String branch, long open, int waiting,
		long takingBack, Instant createdAt, Instant updatedAt, Unsummarized unsummarized, KeptView kept) {

	/**
	 * The history that no summary covers.
	 *
	 * @param since the last turn that a summary covers; 0 for none
	 * @param messages the number of its messages
	 * @param limit the number of messages at which the older ones are summarized; 0 for
	 * never
	 */
	record Unsummarized(long since, long messages, long limit) {
	}

}
