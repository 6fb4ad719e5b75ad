package io.sessionkit.conversation;

import java.time.Instant;

/**
 * A named way through the turns of a session.
 *
 * @param name its name
 * @param head its last turn; 0 for none
 * @param turns the number of its turns, from the beginning of the session
 * @param items the number of the items of these turns
 * @param createdAt when it was made, by the clock of the application
 * @param active whether calls that name no branch continue this one
 */
public record Branch(String name, long head, long turns, long items, Instant createdAt, boolean active) {
}
