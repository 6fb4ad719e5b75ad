package io.sessionkit.migration;

import java.time.Instant;
import java.util.List;

import io.sessionkit.migration.ImportReport.Outcome;
import org.jspecify.annotations.Nullable;

/**
 * Reads a source, a part at a time.
 */
interface SourceReader {

	/** Returns the name of the kind of source. */
	String name();

	/**
	 * Returns the next conversations, in the order of the source.
	 * @param after the last conversation that was read; null for none
	 * @param limit how many at most
	 */
	List<SourceConversation> conversations(@Nullable SourceConversation after, int limit);

	/**
	 * Returns why a conversation cannot be imported.
	 * @param now the time
	 * @return null if it can
	 */
	@Nullable Outcome refusal(SourceConversation conversation, Instant now);

	/**
	 * Returns the next messages of a conversation, oldest first.
	 * @param after the position of the last one that was read; {@link Long#MIN_VALUE} for
	 * none
	 * @param limit how many at most; fewer only at the end
	 * @throws io.sessionkit.codec.UnreadablePayloadException if this conversation cannot
	 * be read, while others can
	 */
	List<SourceMessage> messages(SourceConversation conversation, long after, int limit);

}
