package io.sessionkit.store.memory;

import java.util.HashMap;
import java.util.Map;

import io.sessionkit.SessionItem;
import io.sessionkit.SessionKey;
import io.sessionkit.Turn;
import io.sessionkit.codec.MessageCodec;
import io.sessionkit.codec.UnreadablePayloadException;
import io.sessionkit.codec.UnstorableMessageException;
import io.sessionkit.internal.Names;
import io.sessionkit.internal.message.PlainValues;
import io.sessionkit.internal.row.EncodedCommit.EncodedHeader;
import io.sessionkit.internal.row.EncodedCommit.EncodedTurn;
import io.sessionkit.internal.row.ProvenPayload;
import io.sessionkit.store.HeaderChange;
import org.jspecify.annotations.Nullable;

import org.springframework.ai.chat.messages.Message;

/**
 * Encodes what is written and decodes it at once, unless the codec surely stores it, so
 * that a value that would be lost is refused when it is written instead of missed when it
 * is read. Returns only copies of what was decoded.
 */
final class RoundTrip {

	private final MessageCodec codec;

	RoundTrip(MessageCodec codec) {
		this.codec = codec;
	}

	StoredMessage store(SessionKey key, Message message) {
		if (this.codec.surelyStores(message) && MessageCopier.canCopy(message)) {
			return StoredMessage.plain(MessageCopier.copy(message));
		}
		String payload = ProvenPayload.written(key, message, this.codec);
		Message decoded = ProvenPayload.read(key, message, payload, this.codec);
		return StoredMessage.encoded(payload, MessageCopier.canCopy(decoded) ? decoded : null);
	}

	SessionItem read(SessionKey key, StoredItem item) {
		Message decoded = item.message().message();
		Message copy = (decoded != null) ? MessageCopier.copy(decoded) : decode(key, item);
		return new SessionItem(item.sequence(), item.turn(), item.at(), item.tokens(), copy);
	}

	private Message decode(SessionKey key, StoredItem item) {
		try {
			return this.codec.decode(key, item.message().payload(key, this.codec));
		}
		catch (UnreadablePayloadException ex) {
			throw new UnreadablePayloadException("Item " + item.sequence() + " of session " + key + " cannot be read.",
					ex);
		}
	}

	/**
	 * Checks that a title, tags and settings that are changed pass the codec.
	 */
	void check(SessionKey key, HeaderChange change) {
		if (change.title() != null || change.tags() != null || change.settings() != null) {
			EncodedHeader.of(key, change, this.codec);
		}
	}

	/**
	 * Checks that what is kept of a turn beside its messages passes the codec.
	 */
	void check(SessionKey key, Turn turn) {
		EncodedTurn.check(key, turn, this.codec);
	}

	@Nullable StoredAttributes store(SessionKey key, @Nullable Map<String, Object> attributes) {
		if (attributes == null || attributes.isEmpty()) {
			return (attributes != null) ? StoredAttributes.EMPTY : null;
		}
		String payload = this.codec.encodeValues(key, attributes);
		Map<String, Object> decoded = decode(key, payload);
		attributes.forEach((name, value) -> {
			if (!PlainValues.equal(value, decoded.get(name))) {
				throw new UnstorableMessageException(
						"The attribute " + Names.quoted(name) + " of " + value.getClass().getName()
								+ " does not come back equal from " + this.codec.getClass().getName() + ".");
			}
		});
		return new StoredAttributes(payload, PlainValues.arePlain(decoded) ? decoded : null);
	}

	Map<String, Object> read(SessionKey key, StoredAttributes attributes) {
		Map<String, Object> decoded = attributes.values();
		return (decoded != null) ? decoded : decode(key, attributes.payload());
	}

	private Map<String, Object> decode(SessionKey key, String payload) {
		Map<String, Object> values = new HashMap<>();
		this.codec.decodeValues(key, payload).forEach((name, value) -> {
			if (value != null) {
				values.put(name, value);
			}
		});
		return Map.copyOf(values);
	}

}
