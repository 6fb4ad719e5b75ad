package io.sessionkit.store.memory;

import java.util.Objects;

import io.sessionkit.SessionKey;
import io.sessionkit.codec.MessageCodec;
import org.jspecify.annotations.Nullable;

import org.springframework.ai.chat.messages.Message;

/**
 * A message in its encoded form, decoded, or in both forms. The decoded message never
 * leaves the store; copies of it do.
 */
final class StoredMessage {

	/** Written once more by each thread that finds none; the texts are the same. */
	private @Nullable String payload;

	private final @Nullable Message message;

	private StoredMessage(@Nullable String payload, @Nullable Message message) {
		this.payload = payload;
		this.message = message;
	}

	/**
	 * Returns a message as the codec encoded it.
	 * @param message the payload, decoded; null if it must be decoded for each reader,
	 * because {@link MessageCopier} cannot copy it or it has not been decoded yet
	 */
	static StoredMessage encoded(String payload, @Nullable Message message) {
		return new StoredMessage(payload, message);
	}

	/**
	 * Returns a message that the codec surely stores. It is encoded when its payload is
	 * asked for, which a store in memory never does.
	 */
	static StoredMessage plain(Message message) {
		return new StoredMessage(null, message);
	}

	/** Returns the decoded message; null if it must be decoded for each reader. */
	@Nullable Message message() {
		return this.message;
	}

	String payload(SessionKey key, MessageCodec codec) {
		String known = this.payload;
		if (known == null) {
			known = codec.encode(key, Objects.requireNonNull(this.message));
			this.payload = known;
		}
		return known;
	}

}
