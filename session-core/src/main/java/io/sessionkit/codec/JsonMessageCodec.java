package io.sessionkit.codec;

import java.util.Map;

import io.sessionkit.SessionKey;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonToken;

import org.springframework.ai.chat.messages.Message;

/**
 * Stores messages and values as plain JSON, in a versioned envelope that no setting of
 * the application changes. Safe for use by many threads.
 * <p>
 * Spring AI's user, system, assistant and tool response messages come back equal: null
 * and empty text, tool calls and responses, media with bytes, text or {@code URL}, and
 * metadata. Metadata and values may be null, strings, booleans, numbers of
 * {@code java.lang} and {@code java.math}, characters, {@code byte[]}, {@code UUID},
 * {@code URI}, {@code Instant}, {@code Duration}, the dates and times of
 * {@code java.time} with and without zone, and lists, sets and maps with string keys of
 * these, 200 levels deep, with a million values at most. Lists, sets and maps come back
 * as new collections that belong to the reader, in the same order. Everything else is
 * refused, including enums, arrays of other types and lone surrogates: no class is ever
 * looked up by a name that was stored.
 * <p>
 * The state of providers comes back in the form that the provider expects: Anthropic's
 * thinking blocks as Anthropic's own class, Gemini's thought signatures as
 * {@code byte[]}, the reasoning text of OpenAI and others as strings. If Anthropic's
 * class is not on the class path, its thinking blocks become an opaque object in the
 * metadata, which is stored again as it was read. State that a provider keeps only in
 * fields of its own message class (DeepSeek, Bedrock) has no stored form:
 * {@link #storable} leaves it out.
 * <p>
 * This codec does not know fields that a newer version of Spring AI adds to its own
 * classes. It refuses content in such a field. {@link #storable} refuses it too, but
 * leaves out a medium with such content as a whole. The field {@code parts} of a stored
 * message is reserved: this version writes none and refuses to read one.
 * <p>
 * The payload does not depend on the session key, which is only named in exceptions.
 */
public final class JsonMessageCodec implements MessageCodec {

	private static final String VALUES_KIND = "values";

	private static final String VALUES_FIELD = "values";

	private final boolean strict;

	private final LeftOut leftOut = new LeftOut();

	private JsonMessageCodec(boolean strict) {
		this.strict = strict;
	}

	/**
	 * Creates a codec whose {@link #storable} leaves out the parts of a reply that it
	 * cannot store.
	 * @return the codec
	 */
	public static JsonMessageCodec create() {
		return new JsonMessageCodec(false);
	}

	/**
	 * Creates a codec whose {@link #storable} throws an exception if this one would leave
	 * something out. The new codec has its own {@linkplain #leftOut() count}.
	 * @return a strict codec
	 */
	public JsonMessageCodec strict() {
		return new JsonMessageCodec(true);
	}

	/** Equals codecs that are strict as this one is. */
	@Override
	public boolean equals(@Nullable Object other) {
		return other instanceof JsonMessageCodec codec && codec.strict == this.strict;
	}

	@Override
	public int hashCode() {
		return Boolean.hashCode(this.strict);
	}

	@Override
	public String encode(SessionKey key, Message message) {
		try {
			String kind = MessageWriter.kindOf(message).stored();
			return Envelope.write(kind, (out) -> new MessageWriter(out).write(message));
		}
		catch (NotStorableException ex) {
			throw unstorable(ex, message);
		}
	}

	@Override
	public Message decode(SessionKey key, String payload) {
		return Envelope.read(key, payload, MessageReader::read);
	}

	@Override
	public String encodeValues(SessionKey key, Map<String, ? extends @Nullable Object> values) {
		try {
			return Envelope.write(VALUES_KIND, (out) -> new MessageWriter(out).writeValues(VALUES_FIELD, values));
		}
		catch (NotStorableException ex) {
			throw unstorable(ex, "values");
		}
	}

	@Override
	public Map<String, @Nullable Object> decodeValues(SessionKey key, String payload) {
		return Envelope.read(key, payload, (in, kind) -> {
			boolean values = VALUES_KIND.equals(kind) && VALUES_FIELD.equals(in.nextName());
			MalformedPayloadException.unless(values, "it holds no values");
			Map<String, @Nullable Object> read = ValueReader.nextMap(in);
			in.nextToken();
			ValueReader.checkEnd(in, JsonToken.END_OBJECT);
			return read;
		});
	}

	/**
	 * Returns a reply without the parts that cannot be stored. An enum constant in the
	 * metadata, at any depth, becomes its name, which is neither counted nor refused by a
	 * strict codec. A metadata entry that contains something else that is unknown, or a
	 * lone surrogate, is left out as a whole; so is a medium. A message of a subclass
	 * becomes the plain message of Spring AI. A lone surrogate in the text or in tool
	 * calls and responses becomes U+FFFD, because leaving out the text would lose the
	 * answer. Each of these is counted once.
	 */
	@Override
	public Message storable(Message reply) {
		NotStorableException obstacle = obstacle(reply);
		if (obstacle == null) {
			return reply;
		}
		Message named = StorableReply.named(reply);
		if (obstacle(named) == null) {
			return named;
		}
		if (this.strict) {
			throw unstorable(obstacle, reply);
		}
		return reduced(reply);
	}

	/**
	 * Returns whether a message is of Spring AI's own classes, without media, and with
	 * metadata of strings, booleans and numbers alone.
	 */
	@Override
	public boolean surelyStores(Message message) {
		return PlainMessage.is(message);
	}

	/** Returns what prevents the message from being stored; null for nothing. */
	private static @Nullable NotStorableException obstacle(Message message) {
		if (PlainMessage.is(message)) {
			return null;
		}
		try {
			MessageWriter.kindOf(message);
			Envelope.tryOut((out) -> new MessageWriter(out).write(message));
			return null;
		}
		catch (NotStorableException ex) {
			return ex;
		}
	}

	private Message reduced(Message reply) {
		try {
			return new StorableReply(this.leftOut).reduce(reply);
		}
		catch (NotStorableException ex) {
			throw unstorable(ex, reply);
		}
	}

	/**
	 * Returns how many parts {@link #storable} has left out or repaired since this codec
	 * was created.
	 * @return the count
	 */
	public long leftOut() {
		return this.leftOut.count();
	}

	private static UnstorableMessageException unstorable(NotStorableException ex, Message message) {
		return unstorable(ex, "a message of type " + message.getMessageType());
	}

	private static UnstorableMessageException unstorable(NotStorableException ex, String what) {
		return new UnstorableMessageException("Cannot store " + what + ": " + ex.part() + " " + ex.reason()
				+ ". Use Spring AI's own messages, Unicode text, and metadata of strings, booleans, numbers, "
				+ "dates and times of java.time, UUID, URI, bytes, and lists, sets and maps of these.");
	}

}
