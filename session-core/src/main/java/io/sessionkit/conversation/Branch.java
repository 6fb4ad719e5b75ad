package io.sessionkit.conversation;

import java.time.Instant;

/**
 * A named way through the turns of a session. Its turns are those of the path that ends
 * at its head.
 *
 * @param name its name
 * @param head its last turn; 0 for none
 * @param createdAt when it was made, by the clock of the application
 * @param active whether calls that name no branch continue this one
 */
public record Branch(String name, long head, Instant createdAt, boolean active) {

	/**
	 * The size of a branch, from the beginning of the session to its head.
	 *
	 * @param turns the number of its turns that have items
	 * @param items the number of the items of these turns
	 */
	public record Size(long turns, long items) {
	}

}
