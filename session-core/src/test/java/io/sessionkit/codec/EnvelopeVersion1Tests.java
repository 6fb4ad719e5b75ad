package io.sessionkit.codec;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.net.MalformedURLException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.OffsetDateTime;
import java.time.ZonedDateTime;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;

import io.sessionkit.SessionKey;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.AssistantMessage.ToolCall;
import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.SystemMessage;
import org.springframework.ai.chat.messages.ToolResponseMessage;
import org.springframework.ai.chat.messages.ToolResponseMessage.ToolResponse;
import org.springframework.ai.chat.messages.UserMessage;
import org.springframework.ai.content.Media;
import org.springframework.util.MimeType;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Holds the stored format still: what version 1 wrote is kept in a file, and is read and
 * written the same for good. A change that fails here needs a version 2, with version 1
 * read beside it. Add lines; never change one.
 */
public class EnvelopeVersion1Tests {

	private static final SessionKey KEY = SessionKey.of("thread");

	private final JsonMessageCodec codec = JsonMessageCodec.create();

	@Test
	void everyStoredMessageIsRead() {
		List<String> stored = stored();
		List<Message> messages = messages();
		assertThat(stored).hasSize(messages.size() + 1);
		for (int i = 0; i < messages.size(); i++) {
			Deep.assertEqual(this.codec.decode(KEY, stored.get(i)), messages.get(i));
		}
	}

	@Test
	void storedValuesAreRead() {
		assertThat(Deep.value(this.codec.decodeValues(KEY, lastOf(stored())))).isEqualTo(Deep.value(values()));
	}

	@Test
	void theSameIsWritten() {
		List<String> written = new ArrayList<>();
		messages().forEach((message) -> written.add(this.codec.encode(KEY, message)));
		written.add(this.codec.encodeValues(KEY, values()));
		assertThat(written).isEqualTo(stored());
	}

	/*
	 * One metadata entry each: the order of several is that of a HashMap.
	 */
	@SuppressWarnings("NullAway") // Spring AI's builders take null values and components
	public static List<Message> messages() {
		Map<String, Object> nothing = new LinkedHashMap<>();
		nothing.put("nothing", null);
		return List.of(new UserMessage("Hello, \"world\" \\ \n\t\u0000\u001f\u007f\u0085 äß漢字 \uD83D\uDE00"),
				new UserMessage(""), new SystemMessage("Be brief."),
				SystemMessage.builder().text("").metadata(Map.of("of", "me")).build(), new AssistantMessage(null),
				new AssistantMessage(""), new AssistantMessage("Hi."),
				UserMessage.builder().text("null").metadata(nothing).build(),
				UserMessage.builder().text("all types").metadata(Map.of("values", values())).build(),
				UserMessage.builder().text("a tag of the user's").metadata(Map.of("$t", Map.of("$t", "long"))).build(),
				UserMessage.builder().text("media").media(media()).build(),
				AssistantMessage.builder()
					.content(null)
					.toolCalls(List.of(new ToolCall("call_1", "function", "find", "{\"q\":\"x\"}"),
							new ToolCall("", "function", "find", ""), new ToolCall("", null, "find", null)))
					.build(),
				AssistantMessage.builder().content("seen").media(media()).build(),
				ToolResponseMessage.builder()
					.responses(List.of(new ToolResponse("call_1", "find", "\"found\""),
							new ToolResponse("", "find", ""), new ToolResponse("", null, null)))
					.build(),
				ToolResponseMessage.builder().metadata(Map.of("rounds", 1)).build(),
				AnthropicMessages.plain("Let me look.", List.of(new ToolCall("toolu_1", "function", "find", "{}")),
						AnthropicMessages.thinking("a thought", "c2ln"), AnthropicMessages.redacted("ZGF0YQ==")),
				AssistantMessage.builder()
					.content("")
					.properties(Map.of("thoughtSignatures", List.of(new byte[] { 1, -1 }, new byte[0])))
					.build());
	}

	private static List<Media> media() {
		MimeType utf16 = MimeType.valueOf("text/plain;charset=UTF-16;format=\"a; b\"");
		try {
			return List.of(
					Media.builder()
						.mimeType(Media.Format.IMAGE_PNG)
						.data(new byte[] { 0, 1, -128, 127 })
						.id("m1")
						.name("bytes")
						.build(),
					Media.builder().mimeType(utf16).data("as text").name("text").build(),
					Media.builder()
						.mimeType(Media.Format.IMAGE_JPEG)
						.data(URI.create("https://example.org/a%20b.jpg"))
						.name("uri")
						.build(),
					Media.builder()
						.mimeType(Media.Format.IMAGE_JPEG)
						.data(URI.create("https://example.org/b.jpg?c=d#e").toURL())
						.id("")
						.name("url")
						.build());
		}
		catch (MalformedURLException ex) {
			throw new IllegalStateException(ex);
		}
	}

	private static Map<String, @Nullable Object> values() {
		Map<String, @Nullable Object> values = new LinkedHashMap<>();
		values.put("string", "text");
		values.put("null", null);
		values.put("yes", true);
		values.put("no", false);
		values.put("integer", -42);
		values.put("long", 42L);
		values.put("short", (short) 1);
		values.put("byte", (byte) -1);
		values.put("float", 1.5f);
		values.put("double", -0.0);
		values.put("nan", Double.NaN);
		values.put("infinite", Float.NEGATIVE_INFINITY);
		values.put("big integer", new BigInteger("123456789012345678901234567890"));
		values.put("big decimal", new BigDecimal("1.2300E-20"));
		values.put("character", '\u0000');
		values.put("bytes", "bytes".getBytes(StandardCharsets.UTF_8));
		values.put("uuid", UUID.fromString("00000000-0000-0001-8000-000000000002"));
		values.put("uri", URI.create("urn:example:a%20b"));
		values.put("instant", Instant.parse("2026-02-03T04:05:06.789012345Z"));
		values.put("duration", Duration.ofSeconds(-1, 1));
		values.put("date", LocalDate.of(2026, 2, 3));
		values.put("time", LocalTime.of(4, 5));
		values.put("date and time", LocalDateTime.of(2026, 2, 3, 4, 5, 6));
		values.put("offset", OffsetDateTime.parse("2026-02-03T04:05:06+07:00"));
		values.put("zone", ZonedDateTime.parse("2026-10-25T02:30:00+01:00[Europe/Berlin]"));
		values.put("list", Arrays.asList("a", null, 1L, List.of(), List.of("b")));
		values.put("set", new LinkedHashSet<>(List.of("z", 1, "a")));
		values.put("map", new LinkedHashMap<>(Map.of("$t", 7L)));
		values.put("empty", Map.of());
		return values;
	}

	private static List<String> stored() {
		try (InputStream file = EnvelopeVersion1Tests.class.getResourceAsStream("envelope-v1.json")) {
			String text = new String(Objects.requireNonNull(file).readAllBytes(), StandardCharsets.UTF_8);
			return text.lines()
				.filter((line) -> line.startsWith("{"))
				.map((line) -> line.endsWith(",") ? line.substring(0, line.length() - 1) : line)
				.toList();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	private static String lastOf(List<String> lines) {
		return lines.get(lines.size() - 1);
	}

}
