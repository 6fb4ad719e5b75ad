package io.sessionkit.internal.row;

import java.util.Map;

import io.sessionkit.SessionKey;
import io.sessionkit.codec.JsonMessageCodec;
import io.sessionkit.codec.MessageCodec;
import io.sessionkit.codec.UnstorableMessageException;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.UserMessage;

import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Texts of a codec of an application that not each store keeps: PostgreSQL refuses the
 * one, and UTF-8 has no form for the others.
 */
class ProvenPayloadTests {

	private static final SessionKey KEY = SessionKey.of("owner", "thread");

	@ParameterizedTest
	@ValueSource(strings = { "\0", "\ud83d", "\ude00" })
	void textThatNotEachStoreKeepsIsRefused(String flaw) {
		MessageCodec codec = new EndingCodec(flaw);
		assertThatExceptionOfType(UnstorableMessageException.class)
			.isThrownBy(() -> ProvenPayload.of(KEY, new UserMessage("secret"), codec))
			.withMessageContaining("EndingCodec")
			.withMessageNotContaining("secret");
		assertThatExceptionOfType(UnstorableMessageException.class)
			.isThrownBy(() -> ProvenPayload.of(KEY, Map.of("title", "secret"), codec))
			.withMessageContaining("EndingCodec")
			.withMessageNotContaining("secret");
	}

	/** Writes more behind the text, which it reads without it. */
	private static final class EndingCodec implements MessageCodec {

		private final MessageCodec json = JsonMessageCodec.create();

		private final String end;

		EndingCodec(String end) {
			this.end = end;
		}

		@Override
		public String encode(SessionKey key, Message message) {
			return this.json.encode(key, message) + this.end;
		}

		@Override
		public Message decode(SessionKey key, String payload) {
			return this.json.decode(key, payload.substring(0, payload.length() - this.end.length()));
		}

		@Override
		public Message storable(Message message) {
			return this.json.storable(message);
		}

		@Override
		public String encodeValues(SessionKey key, Map<String, ? extends @Nullable Object> values) {
			return this.json.encodeValues(key, values) + this.end;
		}

		@Override
		public Map<String, @Nullable Object> decodeValues(SessionKey key, String payload) {
			return this.json.decodeValues(key, payload.substring(0, payload.length() - this.end.length()));
		}

	}

}
