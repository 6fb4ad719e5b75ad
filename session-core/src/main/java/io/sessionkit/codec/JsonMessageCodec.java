package io.sessionkit.codec;

import java.util.Map;

import io.sessionkit.SessionKey;
import io.sessionkit.UnstorableMessageException;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonToken;

import org.springframework.ai.chat.messages.Message;

/**
 * Keeps messages and values as plain JSON, in a versioned envelope that no setting of the
 * application changes. Safe for use by many threads.
 * <p>
 * Spring AI's user, system, assistant and tool response messages come back equal: null
 * and empty text, tool calls and responses, media with bytes, text or {@code URL}, and
 * metadata. Metadata and values may be null, strings, booleans, numbers of
 * {@code java.lang} and {@code java.math}, characters, {@code byte[]}, {@code UUID},
 * {@code URI}, {@code Instant}, {@code Duration}, the dates and times of
 * {@code java.time} with and without zone, and lists, sets and maps with string keys of
 * these, 200 levels deep. Lists, sets and maps come back as ones of the reader's own, in
 * the same order. Everything else is refused, enums and arrays of other types too, and so
 * are lone surrogates: no class is ever looked up by a name that was stored.
 * <p>
 * Providers' state comes back as the provider wants it: Anthropic's thinking blocks as
 * Anthropic's own class, Gemini's thought signatures as {@code byte[]}, the reasoning
 * text of OpenAI's and others' as strings. Where Anthropic's class is not on the class
 * path, its thinking blocks stand in the metadata as an opaque object that is stored
 * again as it was read. State that a provider keeps only in fields of its own message
 * class (DeepSeek, Bedrock) has no stored form: {@link #storable} leaves it out.
 * <p>
 * A field that one of Spring AI's own classes has in a newer version is not known here:
 * content in it is refused, also by {@link #storable}, except that a medium is left out
 * whole. The field {@code parts} of a stored message is reserved: this version writes
 * none and refuses to read one.
 * <p>
 * The key does not take part in the payload; it is named in exceptions.
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
	 * A codec whose {@link #storable} leaves out what it cannot store of a reply.
	 * @return the codec
	 */
	public static JsonMessageCodec create() {
		return new JsonMessageCodec(false);
	}

	/**
	 * A codec whose {@link #storable} throws where this one leaves something out. It
	 * counts for itself.
	 * @return a strict codec
	 */
	public JsonMessageCodec strict() {
		return new JsonMessageCodec(true);
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
	 * A reply without what cannot be stored. A metadata entry that holds something
	 * unknown anywhere, or a lone surrogate, is left out whole; so is a medium. A
	 * subclass of Spring AI's message becomes the plain message. In the text and in tool
	 * calls and responses a lone surrogate becomes U+FFFD, since leaving out the text
	 * would lose the answer. Each of these is counted once.
	 */
	@Override
	public Message storable(Message reply) {
		try {
			MessageWriter.kindOf(reply);
			Envelope.tryOut((out) -> new MessageWriter(out).write(reply));
			return reply;
		}
		catch (NotStorableException ex) {
			if (this.strict) {
				throw unstorable(ex, reply);
			}
		}
		try {
			return new StorableReply(this.leftOut).reduce(reply);
		}
		catch (NotStorableException ex) {
			throw unstorable(ex, reply);
		}
	}

	/**
	 * How many parts {@link #storable} left out or repaired since this codec was created.
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
				+ ". Use Spring AI's own messages, Unicode text, and metadata of strings, booleans, numbers, dates, "
				+ "bytes, and lists and maps of these.");
	}

}
