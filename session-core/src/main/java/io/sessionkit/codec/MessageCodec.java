package io.sessionkit.codec;

import java.util.Map;

import io.sessionkit.SessionKey;
import org.jspecify.annotations.Nullable;

import org.springframework.ai.chat.messages.Message;

/**
 * Turns messages and values into the text that a store keeps, and back into equal ones.
 * It alone defines the stored form of everything that contains text.
 * <p>
 * Implementations are safe for use by many threads. The key names the session that the
 * payload belongs to. A codec may bind the payload to it, so a payload must be decoded
 * with the key that it was encoded with. Whoever writes one runs
 * {@code MessageCodecContract} against it.
 */
public interface MessageCodec {

	/**
	 * Encodes a message as text that {@link #decode} turns back into an equal message.
	 * The text contains no NUL character and no lone surrogate.
	 * @param key the session that the message is kept in
	 * @param message a user, assistant, system or tool response message
	 * @return the payload
	 * @throws UnstorableMessageException if the message would not come back equal; the
	 * exception names the part, not its content
	 */
	String encode(SessionKey key, Message message);

	/**
	 * Decodes a message. Each call returns a new copy.
	 * @param key the session that the message is kept in
	 * @param payload the text that {@link #encode} returned, in this or an earlier
	 * version
	 * @return the message
	 * @throws UnreadablePayloadException if the text is not a payload that this codec
	 * reads
	 * @throws UnsupportedVersionException if a newer version wrote it
	 */
	Message decode(SessionKey key, String payload);

	/**
	 * Encodes named values as text that {@link #decodeValues} turns back into equal
	 * values of the same classes, a small {@code Long} too. The text contains no NUL
	 * character and no lone surrogate.
	 * @param key the session that the values are kept in
	 * @param values strings, booleans, numbers, dates and times of {@code java.time},
	 * {@code UUID}, {@code URI}, bytes, and lists, sets and maps of these
	 * @return the payload
	 * @throws UnstorableMessageException if a value would not come back equal
	 */
	String encodeValues(SessionKey key, Map<String, ? extends @Nullable Object> values);

	/**
	 * Decodes named values.
	 * @param key the session that the values are kept in
	 * @param payload the text that {@link #encodeValues} returned
	 * @return the values, in a map that belongs to the caller
	 * @throws UnreadablePayloadException if the text is not a payload that this codec
	 * reads
	 * @throws UnsupportedVersionException if a newer version wrote it
	 */
	Map<String, @Nullable Object> decodeValues(SessionKey key, String payload);

	/**
	 * Returns a provider's reply without the parts that cannot be stored. Each part that
	 * is left out is counted by metadata key and class, and the first one of each is
	 * logged. A strict codec throws an exception instead. A codec may replace a value by
	 * a text that says the same, such as an enum constant by its name.
	 * @param reply the provider's reply
	 * @return a message that {@link #encode} accepts; the same one if nothing is left out
	 * or replaced
	 * @throws UnstorableMessageException if the codec is strict and a part cannot be
	 * stored, or if the content that would be left out is of an unknown kind
	 */
	Message storable(Message reply);

	/**
	 * Returns whether {@link #encode} surely accepts a message and {@link #decode} turns
	 * the payload back into an equal one, so that nobody has to try. Otherwise a store
	 * decodes the message once when it is written. It must be quick; the default is
	 * false.
	 * @param message a message
	 * @return false also for a message that has to be encoded to find out
	 */
	default boolean surelyStores(Message message) {
		return false;
	}

}
