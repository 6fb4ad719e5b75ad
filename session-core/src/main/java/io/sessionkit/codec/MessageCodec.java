package io.sessionkit.codec;

import java.util.Map;

import io.sessionkit.SessionKey;
import org.jspecify.annotations.Nullable;

import org.springframework.ai.chat.messages.Message;

/**
 * Turns messages and values into the text that a store keeps, and back into equal ones.
 * It is the one place that knows how anything with text looks at rest.
 * <p>
 * Implementations are safe for use by many threads. The key names the session that the
 * payload belongs to; a codec may bind the payload to it, so a payload must be decoded
 * under the key it was encoded with.
 */
public interface MessageCodec {

	/**
	 * The message as text that {@link #decode} reads back as an equal message. The text
	 * holds no NUL character and no lone surrogate.
	 * @param key the session it is kept in
	 * @param message a user, assistant, system or tool response message
	 * @return the payload
	 * @throws io.sessionkit.UnstorableMessageException if the message would not come back
	 * equal; the exception names the part, not its content
	 */
	String encode(SessionKey key, Message message);

	/**
	 * The message that was encoded; each call gives a copy of its own.
	 * @param key the session it is kept in
	 * @param payload what {@link #encode} returned, in this or an earlier version
	 * @return the message
	 * @throws io.sessionkit.UnreadablePayloadException if the payload is not one
	 * @throws io.sessionkit.UnsupportedVersionException if a newer version wrote it
	 */
	Message decode(SessionKey key, String payload);

	/**
	 * Named values as text that {@link #decodeValues} reads back as equal values.
	 * @param key the session they are kept in
	 * @param values strings, booleans, numbers, instants, bytes, and lists and maps of
	 * these
	 * @return the payload
	 * @throws io.sessionkit.UnstorableMessageException if a value would not come back
	 * equal
	 */
	String encodeValues(SessionKey key, Map<String, ? extends @Nullable Object> values);

	/**
	 * The values that were encoded.
	 * @param key the session they are kept in
	 * @param payload what {@link #encodeValues} returned
	 * @return the values, a map of the caller's own
	 * @throws io.sessionkit.UnreadablePayloadException if the payload is not one
	 * @throws io.sessionkit.UnsupportedVersionException if a newer version wrote it
	 */
	Map<String, @Nullable Object> decodeValues(SessionKey key, String payload);

	/**
	 * A provider's reply without the parts that could not be stored. What is left out is
	 * counted and logged by metadata key and class; a strict codec throws instead.
	 * @param reply what the provider answered
	 * @return a message that {@link #encode} accepts; the same one if nothing is left out
	 * @throws io.sessionkit.UnstorableMessageException if the codec is strict and a part
	 * cannot be stored, or if nothing is known of what would be left out
	 */
	Message storable(Message reply);

}
