package io.sessionkit.internal.row;

import java.util.Map;

import io.sessionkit.SessionKey;
import io.sessionkit.codec.JsonMessageCodec;
import io.sessionkit.codec.MessageCodec;
import io.sessionkit.codec.UnreadablePayloadException;
import io.sessionkit.codec.UnstorableMessageException;
import io.sessionkit.internal.Names;
import io.sessionkit.internal.message.MessageContent;
import org.jspecify.annotations.Nullable;

import org.springframework.ai.chat.messages.Message;

/**
 * Encodes what is written, and proves that it can be read back: what a codec of an
 * application loses is refused when it is written instead of missed when it is read.
 */
public final class ProvenPayload {

	private ProvenPayload() {
	}

	/**
	 * Encodes a message. SessionKit's own codec needs no proof, and no other one for what
	 * it {@linkplain MessageCodec#surelyStores surely stores}.
	 * @throws UnstorableMessageException if it would not come back equal
	 */
	public static String of(SessionKey key, Message message, MessageCodec codec) {
		String payload = written(key, message, codec);
		if (!(codec instanceof JsonMessageCodec) && !codec.surelyStores(message)) {
			read(key, message, payload, codec);
		}
		return payload;
	}

	/**
	 * Encodes a message that {@link #read} proves.
	 */
	public static String written(SessionKey key, Message message, MessageCodec codec) {
		return checked(codec.encode(key, message), "a message of " + message.getClass().getName(), codec);
	}

	/**
	 * Encodes values.
	 */
	static String of(SessionKey key, Map<String, ?> values, MessageCodec codec) {
		return checked(codec.encodeValues(key, values), "values", codec);
	}

	private static String checked(@Nullable String payload, String what, MessageCodec codec) {
		if (payload == null || payload.isEmpty()) {
			throw new UnstorableMessageException("The codec " + codec.getClass().getName() + " has returned "
					+ ((payload == null) ? "null" : "an empty text") + " for " + what
					+ ". Return the text that it can decode.");
		}
		String flaw = (codec instanceof JsonMessageCodec) ? null : Names.flawOfText(payload);
		if (flaw != null) {
			throw new UnstorableMessageException("The text that the codec " + codec.getClass().getName()
					+ " has returned for " + what + " " + flaw + ". Return one that every store keeps unchanged.");
		}
		return payload;
	}

	/**
	 * Returns the message that was encoded as it is read back.
	 * @throws UnstorableMessageException if it does not come back equal
	 */
	public static Message read(SessionKey key, Message message, String payload, MessageCodec codec) {
		Message decoded = decoded(key, message, payload, codec);
		if (decoded == null || !MessageContent.of(message).isSameAs(MessageContent.of(decoded))) {
			throw new UnstorableMessageException("A message of " + message.getClass().getName()
					+ " does not come back equal from " + codec.getClass().getName()
					+ ". Leave out of it what the codec does not know, or use a codec that knows it.");
		}
		return decoded;
	}

	private static @Nullable Message decoded(SessionKey key, Message message, String payload, MessageCodec codec) {
		try {
			return codec.decode(key, payload);
		}
		catch (UnreadablePayloadException ex) {
			throw new UnstorableMessageException("The codec " + codec.getClass().getName()
					+ " cannot read what it has written of a message of " + message.getClass().getName() + ".");
		}
	}

}
