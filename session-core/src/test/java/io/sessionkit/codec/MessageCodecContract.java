package io.sessionkit.codec;

import java.math.BigDecimal;
import java.math.BigInteger;
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
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.stream.IntStream;
import java.util.stream.Stream;

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
import org.springframework.util.MimeTypeUtils;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.fail;

/**
 * The contract of every {@link MessageCodec}. Whoever writes one extends this class and
 * returns the codec.
 */
public abstract class MessageCodecContract {

	private static final SessionKey KEY = SessionKey.of("ada", "t1");

	private static final SessionKey OTHER = SessionKey.of("bob", "t1");

	private static final String SECRET = "s3cret";

	/**
	 * The codec under test.
	 * @return the same or an equal codec each time within a test
	 */
	protected abstract MessageCodec codec();

	@Test
	void messagesComeBackEqual() {
		for (Message message : messages()) {
			Deep.assertEqual(decoded(message), message);
		}
	}

	/** What cannot come back equal must not be written. */
	@Test
	void unusualContentComesBackEqualOrIsRefused() {
		for (Message message : unusual()) {
			String payload = payload(message);
			if (payload != null) {
				assertStorable(payload);
				Deep.assertEqual(codec().decode(KEY, payload), message);
			}
		}
	}

	@Test
	void eachReaderOfAMessageGetsACopy() {
		Message message = user(Map.of("a", 1));
		String payload = codec().encode(KEY, message);
		Message first = codec().decode(KEY, payload);
		first.getMetadata().put("a", 2);
		Deep.assertEqual(codec().decode(KEY, payload), message);
	}

	/**
	 * A number that comes back as one of another class is not what records are read for.
	 */
	@Test
	void valuesComeBackWithTheirClasses() {
		values().forEach((name, value) -> {
			Map<String, @Nullable Object> values = new HashMap<>();
			values.put(name, value);
			assertThat(Deep.value(decoded(values))).as(name).isEqualTo(Deep.value(values));
		});
		assertThat(decoded(Map.of())).isEmpty();
	}

	@Test
	void valuesThatWereReadBelongToTheReader() {
		String payload = codec().encodeValues(KEY, Map.of("list", List.of("a")));
		Map<String, @Nullable Object> first = codec().decodeValues(KEY, payload);
		first.put("b", null);
		assertThat(codec().decodeValues(KEY, payload)).isEqualTo(Map.of("list", List.of("a")));
	}

	@Test
	void valueOfAnUnknownClassIsRefusedAndNotQuoted() {
		assertThatExceptionOfType(UnstorableMessageException.class)
			.isThrownBy(() -> codec().encodeValues(KEY, Map.of("a", new Unknown())))
			.satisfies(MessageCodecContract::assertThatNothingIsQuoted);
		assertThatExceptionOfType(UnstorableMessageException.class)
			.isThrownBy(() -> codec().encode(KEY, user(Map.of("a", new Unknown()))))
			.satisfies(MessageCodecContract::assertThatNothingIsQuoted);
	}

	@Test
	void payloadsAreTextsThatEveryStoreKeeps() {
		messages().forEach((message) -> assertStorable(codec().encode(KEY, message)));
		values().forEach((name, value) -> {
			Map<String, @Nullable Object> values = new HashMap<>();
			values.put(name, value);
			assertStorable(codec().encodeValues(KEY, values));
		});
	}

	@Test
	void textThatIsNoPayloadIsUnreadableAndNotQuoted() {
		for (String payload : List.of("", SECRET, "{\"" + SECRET + "\":1}", "null")) {
			assertThatExceptionOfType(UnreadablePayloadException.class).isThrownBy(() -> codec().decode(KEY, payload))
				.satisfies(MessageCodecContract::assertThatNothingIsQuoted);
			assertThatExceptionOfType(UnreadablePayloadException.class)
				.isThrownBy(() -> codec().decodeValues(KEY, payload))
				.satisfies(MessageCodecContract::assertThatNothingIsQuoted);
		}
	}

	/** A codec may bind a payload to its session, and must say so if it does. */
	@Test
	void payloadOfAnotherSessionIsReadAsItIsOrIsUnreadable() {
		for (Message message : messages()) {
			String payload = codec().encode(KEY, message);
			try {
				Deep.assertEqual(codec().decode(OTHER, payload), message);
			}
			catch (UnreadablePayloadException ex) {
				assertThatNothingIsQuoted(ex);
			}
		}
	}

	@Test
	void replyThatCanBeStoredIsStoredAsItIs() {
		messages().stream()
			.filter(AssistantMessage.class::isInstance)
			.forEach((reply) -> assertThat(codec().storable(reply)).isSameAs(reply));
	}

	@Test
	void replyWithSomethingUnknownIsReducedOrRefused() {
		AssistantMessage reply = AssistantMessage.builder()
			.content("Hello.")
			.properties(Map.of("known", "yes", "unknown", new Unknown()))
			.build();
		try {
			Message storable = codec().storable(reply);
			Deep.assertEqual(decoded(storable), storable);
			assertThat(storable.getText()).isEqualTo("Hello.");
			assertThat(storable.getMetadata()).containsEntry("known", "yes");
		}
		catch (UnstorableMessageException ex) {
			assertThatNothingIsQuoted(ex);
		}
	}

	/** Nobody proves what is surely stored. */
	@Test
	void whatIsSurelyStoredComesBackEqual() {
		assertThat(codec().surelyStores(user(Map.of("a", new Unknown())))).isFalse();
		Stream.concat(messages().stream(), unusual().stream())
			.filter(codec()::surelyStores)
			.forEach((message) -> Deep.assertEqual(decoded(message), message));
	}

	@Test
	void manyThreadsUseOneCodec() {
		MessageCodec codec = codec();
		IntStream.range(0, 400).parallel().forEach((i) -> {
			Message message = new UserMessage("question " + i);
			assertThat(codec.decode(KEY, codec.encode(KEY, message))).isEqualTo(message);
			Map<String, Object> values = Map.of("number", (long) i);
			assertThat(codec.decodeValues(KEY, codec.encodeValues(KEY, values))).isEqualTo(values);
		});
	}

	private Message decoded(Message message) {
		return codec().decode(KEY, codec().encode(KEY, message));
	}

	private Map<String, @Nullable Object> decoded(Map<String, ? extends @Nullable Object> values) {
		return codec().decodeValues(KEY, codec().encodeValues(KEY, values));
	}

	/** Returns null if the codec refuses the message. */
	private @Nullable String payload(Message message) {
		try {
			return codec().encode(KEY, message);
		}
		catch (UnstorableMessageException ex) {
			assertThatNothingIsQuoted(ex);
			return null;
		}
	}

	private static void assertStorable(String payload) {
		assertThat(payload).isNotEmpty().doesNotContain("\0");
		assertThat(StandardCharsets.UTF_8.newEncoder().canEncode(payload)).as("no lone surrogate").isTrue();
	}

	private static void assertThatNothingIsQuoted(Throwable thrown) {
		for (Throwable each = thrown; each != null; each = each.getCause()) {
			if (String.valueOf(each.getMessage()).contains(SECRET)) {
				fail("An exception quotes what was stored: " + each.getClass().getName());
			}
		}
	}

	private static List<Message> messages() {
		ToolCall call = new ToolCall("c1", "function", "look", "{\"id\":1}");
		List<Message> messages = new ArrayList<>();
		messages.add(new UserMessage("Gr\u00fc\u00dfe \ud83d\ude00\n\t\"\\ \u2028 </s>"));
		messages.add(new SystemMessage("be brief"));
		messages.add(user(Map.of("text", "a", "yes", true, "int", 1, "long", 1L, "double", 1.5)));
		messages.add(new AssistantMessage("Hello."));
		messages.add(new AssistantMessage(""));
		messages.add(AssistantMessage.builder().toolCalls(List.of(call)).build());
		messages.add(AssistantMessage.builder()
			.content("I look.")
			.toolCalls(List.of(call, new ToolCall("", "function", "none", "")))
			.properties(Map.of("finishReason", "TOOL_CALLS", "reasoningContent", "It is late."))
			.build());
		messages.add(ToolResponseMessage.builder()
			.responses(List.of(new ToolResponse("c1", "look", "found"), new ToolResponse("", "none", "")))
			.build());
		messages.add(UserMessage.builder().text("Look.").media(List.of(image())).build());
		return messages;
	}

	private static Media image() {
		return Media.builder()
			.mimeType(MimeTypeUtils.IMAGE_PNG)
			.name("dot")
			.data(new byte[] { 0, 1, (byte) 0xff })
			.build();
	}

	private static List<Message> unusual() {
		List<Message> messages = new ArrayList<>();
		messages.add(new UserMessage(SECRET + "\0"));
		messages.add(new UserMessage(SECRET + "\ud800"));
		messages.add(user(Collections.singletonMap("part \udc00", SECRET)));
		values().forEach((name, value) -> messages.add(user(Collections.singletonMap(name, value))));
		return messages;
	}

	private static UserMessage user(Map<String, ? extends @Nullable Object> metadata) {
		return UserMessage.builder().text("Hello.").metadata(new HashMap<>(metadata)).build();
	}

	/** One value of each class that values may have, also inside of others. */
	private static Map<String, @Nullable Object> values() {
		Instant time = Instant.parse("2026-02-03T04:05:06.789012Z");
		Map<String, @Nullable Object> values = new LinkedHashMap<>();
		values.put("nothing", null);
		values.put("text", "a\n\"b\" \ud83d\ude00");
		values.put("empty text", "");
		values.put("boolean", true);
		values.put("int", 1);
		values.put("small long", 1L);
		values.put("long", Long.MIN_VALUE);
		values.put("double", 1.0);
		values.put("integer", BigInteger.TWO.pow(200));
		values.put("decimal", new BigDecimal("1.10"));
		values.put("bytes", new byte[] { 0, 1, (byte) 0xff });
		values.put("uuid", new UUID(1, 2));
		values.put("uri", URI.create("https://example.org/?a=%20"));
		values.put("instant", time);
		values.put("duration", Duration.ofMillis(1));
		values.put("date", LocalDate.of(2026, 2, 3));
		values.put("time", LocalTime.of(4, 5, 6, 7));
		values.put("date and time", LocalDateTime.of(2026, 2, 3, 4, 5));
		values.put("offset", OffsetDateTime.parse("2026-02-03T04:05:00+02:00"));
		values.put("zone", ZonedDateTime.parse("2026-02-03T04:05:00+01:00[Europe/Berlin]"));
		values.put("list", Arrays.asList("a", null, 1L, List.of(), 1));
		values.put("set", Set.of(1L));
		values.put("map", Collections.singletonMap("a", null));
		values.put("map in a list", List.of(Map.of("a", List.of(Map.of("b", time)))));
		return values;
	}

	/** No codec knows it. */
	private static final class Unknown {

		@Override
		public String toString() {
			return SECRET;
		}

	}

}
