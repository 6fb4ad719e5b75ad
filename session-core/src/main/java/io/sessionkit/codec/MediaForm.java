package io.sessionkit.codec;

import java.net.MalformedURLException;
import java.net.URL;

import io.sessionkit.internal.LoneSurrogates;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonGenerator;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;

import org.springframework.ai.content.Media;
import org.springframework.util.MimeType;
import org.springframework.util.MimeTypeUtils;

/**
 * The stored form of a medium: mime type with parameters, id, name, and its data as
 * bytes, text or URL, as in the medium. A URL is never opened.
 */
final class MediaForm {

	private @Nullable String mime;

	private @Nullable String id;

	private @Nullable String name;

	private @Nullable Object data;

	private MediaForm() {
	}

	/**
	 * Writes the medium.
	 * @param part the name of the medium in the exception
	 * @throws NotStorableException if it would not come back with equal parts
	 */
	static void write(JsonGenerator out, @Nullable Media media, String part) {
		Media known = ofKnownClass(media, part);
		UnknownContent.refuse(known, part);
		out.writeStartObject();
		writeText(out, "mime", mime(known.getMimeType(), part), part);
		writeText(out, "id", known.getId(), part);
		writeText(out, "name", known.getName(), part);
		writeData(out, known.getData(), part);
		out.writeEndObject();
	}

	// A subclass may have fields that are not known here.
	private static Media ofKnownClass(@Nullable Media media, String part) {
		if (media == null || media.getClass() != Media.class) {
			throw (media != null) ? NotStorableException.unknownClass(part, media.getClass())
					: new NotStorableException(part, "is null", null);
		}
		return media;
	}

	private static String mime(MimeType type, String part) {
		String text = type.toString();
		try {
			if (MimeTypeUtils.parseMimeType(text).equals(type)) {
				return text;
			}
		}
		catch (RuntimeException ex) {
			// Falls through: the type cannot be read back.
		}
		throw new NotStorableException(part, "has a mime type that its text does not give", type.getClass());
	}

	private static void writeData(JsonGenerator out, Object data, String part) {
		if (data instanceof byte[] bytes) {
			out.writeName("bytes");
			out.writeBinary(ValueWriter.BASE64, bytes, 0, bytes.length);
		}
		else if (data instanceof String text) {
			writeText(out, "text", text, part);
		}
		else if (data instanceof URL url) {
			writeText(out, "url", url(url, part), part);
		}
		else {
			throw NotStorableException.unknownClass(part, data.getClass());
		}
	}

	private static String url(URL url, String part) {
		String text = url.toExternalForm();
		try {
			if (parseUrl(text).toExternalForm().equals(text)) {
				return text;
			}
		}
		catch (MalformedURLException ex) {
			// Falls through: the URL has a handler of its own.
		}
		throw new NotStorableException(part, "has a URL that its text does not give", URL.class);
	}

	private static void writeText(JsonGenerator out, String field, @Nullable String text, String part) {
		if (text == null) {
			return;
		}
		if (LoneSurrogates.in(text)) {
			throw NotStorableException.loneSurrogate(part);
		}
		out.writeStringProperty(field, text);
	}

	/**
	 * Reads the medium whose object has just begun.
	 */
	static Media read(JsonParser in) {
		MediaForm form = new MediaForm();
		for (String field = in.nextName(); field != null; field = in.nextName()) {
			form.readField(in, field);
		}
		ValueReader.checkEnd(in, JsonToken.END_OBJECT);
		return form.toMedia();
	}

	private void readField(JsonParser in, String field) {
		switch (field) {
			case "mime" -> this.mime = ValueReader.nextString(in);
			case "id" -> this.id = ValueReader.nextString(in);
			case "name" -> this.name = ValueReader.nextString(in);
			case "bytes" -> this.data = ValueReader.nextBytes(in);
			case "text" -> this.data = ValueReader.nextString(in);
			case "url" -> this.data = nextUrl(in);
			default -> throw new MalformedPayloadException("a medium has an unknown field");
		}
	}

	private static URL nextUrl(JsonParser in) {
		try {
			return parseUrl(ValueReader.nextString(in));
		}
		catch (MalformedURLException ex) {
			throw new MalformedPayloadException("the URL of a medium is none");
		}
	}

	// Does not use URI: a URL may contain characters that a URI must escape.
	@SuppressWarnings("deprecation")
	private static URL parseUrl(String text) throws MalformedURLException {
		return new URL(text);
	}

	private Media toMedia() {
		Media.Builder builder = Media.builder().mimeType(mimeType());
		if (this.id != null) {
			builder.id(this.id);
		}
		if (this.name != null) {
			builder.name(this.name);
		}
		return withData(builder).build();
	}

	private Media.Builder withData(Media.Builder builder) {
		if (this.data instanceof byte[] bytes) {
			return builder.data(bytes);
		}
		if (this.data instanceof URL url) {
			return builder.data(url);
		}
		if (this.data instanceof String text) {
			return builder.data(text);
		}
		throw new MalformedPayloadException("a medium has no data");
	}

	private MimeType mimeType() {
		try {
			return MimeTypeUtils.parseMimeType((this.mime != null) ? this.mime : "");
		}
		catch (RuntimeException ex) {
			throw new MalformedPayloadException("a medium has no mime type");
		}
	}

}
