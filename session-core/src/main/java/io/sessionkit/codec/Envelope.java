package io.sessionkit.codec;

import java.io.StringWriter;
import java.io.Writer;
import java.util.function.Consumer;

import io.sessionkit.SessionKey;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonGenerator;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.ObjectReadContext;
import tools.jackson.core.ObjectWriteContext;
import tools.jackson.core.StreamReadConstraints;
import tools.jackson.core.StreamReadFeature;
import tools.jackson.core.TokenStreamFactory;
import tools.jackson.core.json.JsonFactory;

/**
 * The JSON object around everything that is stored:
 *
 * <pre>
 * {"v":1, "t":"user", ...}           version, kind, then the fields of the kind
 * {"v":1, "k":"2026-01", ...}        the id of the key that the rest is encrypted with
 * </pre>
 *
 * Version, key id and kind come first and in this order, so that a reader recognizes a
 * payload that it cannot read before it reads anything else. The JSON settings are fixed
 * here: no setting of the application's own mapper changes what is stored.
 */
final class Envelope {

	static final int VERSION = 1;

	private static final String VERSION_FIELD = "v";

	private static final String KEY_FIELD = "k";

	private static final String KIND_FIELD = "t";

	/*
	 * Length limits would refuse on reading what was accepted on writing. The nesting
	 * limit is the library's own (500 levels), which is more than ValueWriter accepts.
	 */
	private static final JsonFactory JSON = JsonFactory.builder()
		.disable(StreamReadFeature.INCLUDE_SOURCE_IN_LOCATION)
		.disable(TokenStreamFactory.Feature.FAIL_ON_SYMBOL_HASH_OVERFLOW)
		.streamReadConstraints(StreamReadConstraints.builder()
			.maxStringLength(Integer.MAX_VALUE)
			.maxNameLength(Integer.MAX_VALUE)
			.build())
		.characterEscapes(new ControlEscapes())
		.build();

	private Envelope() {
	}

	/**
	 * Returns the payload with the fields that the body writes.
	 * @throws NotStorableException if the body throws it
	 */
	static String write(String kind, Consumer<JsonGenerator> body) {
		StringWriter payload = new StringWriter();
		write(payload, kind, body);
		return payload.toString();
	}

	/**
	 * Runs the body without keeping what it writes, to find out whether it can be
	 * written.
	 * @throws NotStorableException if the body throws it
	 */
	static void tryOut(Consumer<JsonGenerator> body) {
		write(Writer.nullWriter(), "", body);
	}

	private static void write(Writer target, String kind, Consumer<JsonGenerator> body) {
		try (JsonGenerator out = JSON.createGenerator(ObjectWriteContext.empty(), target)) {
			out.writeStartObject();
			out.writeNumberProperty(VERSION_FIELD, VERSION);
			out.writeStringProperty(KIND_FIELD, kind);
			body.accept(out);
			out.writeEndObject();
		}
	}

	/**
	 * Returns what the body reads from the payload.
	 * @throws UnreadablePayloadException if the text is not a payload, or is encrypted
	 * @throws UnsupportedVersionException if another version wrote the payload, or if it
	 * has a field that is reserved for another version
	 */
	static <T> T read(SessionKey key, String payload, Body<T> body) {
		try (JsonParser in = JSON.createParser(ObjectReadContext.empty(), payload)) {
			T result = body.read(in, kind(in, key));
			MalformedPayloadException.unless(in.nextToken() == null, "there is text after its end");
			return result;
		}
		catch (MalformedPayloadException ex) {
			throw unreadable(key, ex.getMessage());
		}
		catch (NewerPayloadException ex) {
			throw new UnsupportedVersionException("A payload of session " + key + " has " + ex.getMessage()
					+ ", which this SessionKit does not know. Read it with the SessionKit that wrote it.");
		}
		catch (JacksonException ex) {
			// The library's own message quotes the payload.
			throw unreadable(key, "it is not JSON" + position(ex));
		}
	}

	private static String kind(JsonParser in, SessionKey key) {
		MalformedPayloadException.unless(in.nextToken() == JsonToken.START_OBJECT, "it is not a JSON object");
		checkVersion(in, key);
		String name = in.nextName();
		if (KEY_FIELD.equals(name)) {
			checkPlain(in);
			name = in.nextName();
		}
		boolean named = KIND_FIELD.equals(name) && in.nextToken() == JsonToken.VALUE_STRING;
		MalformedPayloadException.unless(named, "it does not say what kind it is");
		return in.getString();
	}

	private static void checkVersion(JsonParser in, SessionKey key) {
		boolean versioned = VERSION_FIELD.equals(in.nextName()) && in.nextToken() == JsonToken.VALUE_NUMBER_INT;
		MalformedPayloadException.unless(versioned, "it does not begin with a version");
		int version = in.getIntValue();
		if (version != VERSION) {
			throw new UnsupportedVersionException(
					"A payload of session " + key + " has version " + version + ", and this SessionKit reads version "
							+ VERSION + ". Read it with the SessionKit that wrote it.");
		}
	}

	private static void checkPlain(JsonParser in) {
		JsonToken token = in.nextToken();
		boolean plain = token == JsonToken.VALUE_NULL || (token == JsonToken.VALUE_STRING && in.getString().isEmpty());
		MalformedPayloadException.unless(plain,
				"it is encrypted, and this codec reads plain payloads; read it with the codec that wrote it");
	}

	private static UnreadablePayloadException unreadable(SessionKey key, @Nullable String reason) {
		return new UnreadablePayloadException("A payload of session " + key + " cannot be read: " + reason + ".", null);
	}

	private static String position(JacksonException ex) {
		return (ex.getLocation() != null) ? " near character " + ex.getLocation().getCharOffset() : "";
	}

	/**
	 * Reads the fields after the kind up to the end of the object.
	 */
	@FunctionalInterface
	interface Body<T> {

		T read(JsonParser in, String kind);

	}

}
