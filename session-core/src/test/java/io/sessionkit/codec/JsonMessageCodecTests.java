package io.sessionkit.codec;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.net.URI;
import java.net.URL;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Date;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;

import io.sessionkit.SessionKey;
import io.sessionkit.internal.message.MessageParts;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.AssistantMessage.ToolCall;
import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.MessageType;
import org.springframework.ai.chat.messages.SystemMessage;
import org.springframework.ai.chat.messages.ToolResponseMessage;
import org.springframework.ai.chat.messages.ToolResponseMessage.ToolResponse;
import org.springframework.ai.chat.messages.UserMessage;
import org.springframework.ai.content.Media;
import org.springframework.util.MimeType;
import org.springframework.util.MimeTypeUtils;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

@SuppressWarnings("NullAway") // null metadata, which Spring AI takes without declaring it
class JsonMessageCodecTests {

	private static final SessionKey KEY = SessionKey.of("thread-7");

	private static final String SECRET = "s3cret";

	private final JsonMessageCodec codec = JsonMessageCodec.create();

	@Test
	void textOfOneMegabyteComesBack() {
		String text = "\"a\\\uD83D\uDE00\n".repeat(200_000);
		assertThat(decoded(new UserMessage(text)).getText()).isEqualTo(text);
	}

	@Test
	void twentyMegabytesOfMediaComeBack() {
		byte[] bytes = new byte[20_000_000];
		Message decoded = decoded(user(Map.of(), Media.builder().mimeType(Media.Format.VIDEO_MP4).data(bytes).build()));
		assertThat(((UserMessage) decoded).getMedia().get(0).getDataAsByteArray()).isEqualTo(bytes);
	}

	@Test
	void aKeyLongerThanTheParserAllowsByDefaultComesBack() {
		Message message = user(Map.of("k".repeat(100_000), 1));
		assertThat(decoded(message)).isEqualTo(message);
	}

	@Test
	void nullTextDiffersFromEmptyText() {
		assertThat(decoded(new AssistantMessage(null)).getText()).isNull();
		assertThat(decoded(new AssistantMessage("")).getText()).isEmpty();
	}

	@Test
	void everyControlCharacterIsEscaped() {
		StringBuilder all = new StringBuilder();
		for (char c = 0; c < 0xA0; c++) {
			all.append(c);
		}
		Message message = user(Map.of("key" + all, all.toString()));
		String payload = this.codec.encode(KEY, message);
		assertThat(payload.chars()).noneMatch(Character::isISOControl);
		assertThat(payload).contains("\\u0000", "\\u007F", "\\u009F");
		assertThat(this.codec.decode(KEY, payload)).isEqualTo(message);
	}

	@Test
	void toolCallsWithEmptyAndRepeatedIdsKeepTheirOrder() {
		List<ToolCall> calls = List.of(new ToolCall("", "function", "b", "{}"), new ToolCall("", "function", "a", ""),
				new ToolCall("", "function", "b", "not json"));
		Message message = AssistantMessage.builder().content("").toolCalls(calls).build();
		assertThat(decoded(message)).isEqualTo(message);
	}

	@Test
	void metadataOfNullComesBack() {
		Map<String, Object> metadata = new HashMap<>();
		metadata.put("nothing", null);
		Message decoded = decoded(user(metadata));
		assertThat(decoded.getMetadata()).containsEntry("nothing", null).containsEntry("messageType", MessageType.USER);
	}

	@Test
	void nestedMapsKeepTheirOrder() {
		Map<String, Object> map = new LinkedHashMap<>();
		for (int i = 20; i > 0; i--) {
			map.put("key" + i, i);
		}
		Map<?, ?> decoded = (Map<?, ?>) decoded(user(Map.of("map", map))).getMetadata().get("map");
		assertThat(new ArrayList<Object>(decoded.keySet())).isEqualTo(new ArrayList<Object>(map.keySet()));
	}

	@Test
	void urlStaysUrlAndUriStaysText() throws Exception {
		URL url = URI.create("https://example.org/a?b=c").toURL();
		UserMessage decoded = (UserMessage) decoded(user(Map.of(), new Media(MimeTypeUtils.IMAGE_PNG, url.toURI()),
				Media.builder().mimeType(MimeTypeUtils.IMAGE_PNG).data(url).name("n").build()));
		assertThat(decoded.getMedia().get(0).getData()).isEqualTo("https://example.org/a?b=c");
		assertThat(decoded.getMedia().get(1).getData()).isInstanceOf(URL.class).hasToString(url.toString());
	}

	@Test
	void aGeneratedMediaNameComesBack() {
		Media media = new Media(MimeTypeUtils.IMAGE_PNG, URI.create("https://example.org/a"));
		UserMessage decoded = (UserMessage) decoded(user(Map.of(), media));
		assertThat(decoded.getMedia().get(0).getName()).isEqualTo(media.getName());
		assertThat(decoded.getMedia().get(0).getId()).isNull();
	}

	@Test
	void mimeTypeParametersComeBack() {
		MimeType type = new MimeType("text", "plain", Map.of("charset", "UTF-8", "q", "\"a, b; c\""));
		Media media = Media.builder().mimeType(type).data("x").build();
		assertThat(((UserMessage) decoded(user(Map.of(), media))).getMedia().get(0).getMimeType()).isEqualTo(type);
	}

	@Test
	void decodedMessagesShareNothing() {
		Map<String, Object> nested = new HashMap<>(Map.of("bytes", new byte[] { 1 }));
		UserMessage message = user(Map.of("nested", nested, "list", List.of("a")),
				Media.builder().mimeType(MimeTypeUtils.IMAGE_PNG).data(new byte[] { 1 }).build());
		String payload = this.codec.encode(KEY, message);
		UserMessage first = (UserMessage) this.codec.decode(KEY, payload);
		@SuppressWarnings("unchecked")
		Map<String, Object> firstNested = (Map<String, Object>) first.getMetadata().get("nested");
		((byte[]) Objects.requireNonNull(firstNested.get("bytes")))[0] = 9;
		firstNested.put("added", 1);
		((List<?>) Objects.requireNonNull(first.getMetadata().get("list"))).clear();
		first.getMedia().get(0).getDataAsByteArray()[0] = 9;
		first.getMetadata().put("added", 1);
		first.getMedia().clear();
		Deep.assertEqual(this.codec.decode(KEY, payload), message);
	}

	@Test
	void loneSurrogatesAreRefusedByTheNameOfTheirPart() {
		String lone = SECRET + "\uD83D";
		assertUnstorable(new UserMessage(lone), "text");
		assertUnstorable(new SystemMessage("\uDE00" + SECRET), "text");
		assertUnstorable(user(Map.of("note", lone)), "metadata 'note'");
		assertUnstorable(user(Map.of("note", Map.of("a", List.of(lone)))), "metadata 'note'");
		assertUnstorable(user(Map.of("note\uD83D", "x")), "metadata 'note\\uD83D'");
		assertUnstorable(user(Map.of("note", Map.of(lone, "x"))), "metadata 'note'");
		assertUnstorable(user(Map.of("note", '\uD83D')), "metadata 'note'");
		assertUnstorable(user(Map.of(), Media.builder().mimeType(MimeTypeUtils.TEXT_PLAIN).data(lone).build()),
				"medium 1");
		assertUnstorable(call(new ToolCall("1", "function", "find", lone)), "tool call 1: args");
		assertUnstorable(ToolResponseMessage.builder()
			.responses(List.of(new ToolResponse("1", "find", ""), new ToolResponse("2", "find", lone)))
			.build(), "tool response 2: data");
		assertThatThrownBy(() -> this.codec.encodeValues(KEY, Map.of("note", lone)))
			.hasMessageContaining("value 'note'");
	}

	@Test
	void whatHasNoStoredFormIsRefusedByKeyAndClass() {
		assertUnstorable(user(Map.of("when", new Date(0))), "metadata 'when' holds a java.util.Date");
		assertUnstorable(user(Map.of("zone", ZoneOffset.UTC)), "java.time.ZoneOffset");
		assertUnstorable(user(Map.of("unit", TimeUnit.DAYS)), "java.util.concurrent.TimeUnit");
		assertUnstorable(user(Map.of("array", new int[0])), "metadata 'array'");
		assertUnstorable(user(Map.of("map", Map.of(1, "one"))), "a key that is not a string");
		assertUnstorable(user(Map.of("list", List.of(List.of(new StringBuilder(SECRET))))), "java.lang.StringBuilder");
	}

	@Test
	void anotherMessageTypeInTheMetadataIsRefused() {
		UserMessage message = new UserMessage("Hi.");
		message.getMetadata().put("messageType", MessageType.TOOL);
		assertUnstorable(message, "metadata 'messageType'");
	}

	@Test
	void valuesThatContainThemselvesAreRefused() {
		Map<String, Object> map = new HashMap<>();
		map.put("self", map);
		List<Object> list = new ArrayList<>();
		list.add(list);
		list.add(list);
		assertUnstorable(user(Map.of("map", map)), "contains itself");
		assertUnstorable(user(Map.of("list", list)), "contains itself");
	}

	@Test
	void twoHundredLevelsComeBackAndOneMoreIsRefused() {
		Message message = user(Map.of("deep", nested(ValueWriter.MAX_DEPTH)));
		Deep.assertEqual(decoded(message), message);
		assertUnstorable(user(Map.of("deep", nested(ValueWriter.MAX_DEPTH + 1))), "nested deeper than 200 levels");
	}

	@Test
	void valuesThatGrowWithoutEndAsTextAreRefused() {
		Object doubling = "x";
		for (int i = 0; i < 60; i++) {
			doubling = List.of(doubling, doubling);
		}
		assertUnstorable(user(Map.of("doubling", doubling)), "more than 1000000 values");
	}

	@Test
	void subclassesAreRefusedByName() {
		assertUnstorable(new OwnAssistantMessage("Hi.", Map.of()), OwnAssistantMessage.class.getName());
		assertUnstorable(new OwnMessage(), OwnMessage.class.getName());
	}

	@ParameterizedTest
	@ValueSource(strings = { "", " ", "null", "[]", "1", "\"s3cret\"", "s3cret", "{", "{}", "{\"s3cret\":1}",
			"{\"t\":\"user\",\"v\":1,\"text\":\"s3cret\"}", "{\"v\":\"1\",\"t\":\"user\",\"text\":\"s3cret\"}",
			"{\"v\":1}", "{\"v\":1,\"t\":\"s3cret\"}", "{\"v\":1,\"t\":\"user\"}",
			"{\"v\":1,\"t\":\"user\",\"text\":null}", "{\"v\":1,\"t\":\"user\",\"text\":[\"s3cret\"]}",
			"{\"v\":1,\"t\":\"user\",\"text\":\"s3cret\"", "{\"v\":1,\"t\":\"user\",\"text\":\"s3cret\"}}",
			"{\"v\":1,\"t\":\"user\",\"text\":\"s3cret\"} s3cret",
			"{\"v\":1,\"t\":\"user\",\"text\":\"a\",\"s3cret\":1}",
			"{\"v\":1,\"t\":\"user\",\"text\":\"a\",\"calls\":[{\"id\":\"1\"}]}",
			"{\"v\":1,\"t\":\"system\",\"text\":\"a\",\"responses\":[]}", "{\"v\":1,\"t\":\"tool\"}",
			"{\"v\":1,\"t\":\"assistant\",\"calls\":[\"s3cret\"]}", "{\"v\":1,\"t\":\"assistant\",\"calls\":[[]]}",
			"{\"v\":1,\"t\":\"assistant\",\"calls\":[{\"id\":{}}]}", "{\"v\":1,\"t\":\"assistant\",\"meta\":[]}",
			"{\"v\":1,\"t\":\"assistant\",\"meta\":{\"s3cret\":1.5}}",
			"{\"v\":1,\"t\":\"assistant\",\"meta\":{\"a\":12345678901}}",
			"{\"v\":1,\"t\":\"assistant\",\"meta\":{\"a\":s3cret}}",
			"{\"v\":1,\"t\":\"assistant\",\"meta\":{\"a\":{\"$t\":\"s3cret\",\"v\":1}}}",
			"{\"v\":1,\"t\":\"assistant\",\"meta\":{\"a\":{\"$t\":\"long\",\"v\":\"s3cret\"}}}",
			"{\"v\":1,\"t\":\"assistant\",\"meta\":{\"a\":{\"$t\":\"long\",\"v\":\"1\",\"x\":1}}}",
			"{\"v\":1,\"t\":\"assistant\",\"meta\":{\"a\":{\"$t\":\"char\",\"v\":\"s3cret\"}}}",
			"{\"v\":1,\"t\":\"assistant\",\"meta\":{\"a\":{\"$t\":\"bytes\",\"v\":\"s3cret!\"}}}",
			"{\"v\":1,\"t\":\"assistant\",\"meta\":{\"a\":{\"$t\":\"java.lang.Runtime\",\"v\":{}}}}",
			"{\"v\":1,\"t\":\"assistant\",\"meta\":{\"a\":{\"b\":1,\"$t\":\"long\"}}}",
			"{\"v\":1,\"t\":\"assistant\",\"media\":[{}]}",
			"{\"v\":1,\"t\":\"assistant\",\"media\":[{\"mime\":\"s3cret\",\"text\":\"a\"}]}",
			"{\"v\":1,\"t\":\"assistant\",\"media\":[{\"mime\":\"a/b\",\"url\":\"s3cret\"}]}",
			"{\"v\":1,\"t\":\"values\",\"values\":{}}", "{\"v\":99999999999,\"t\":\"user\",\"text\":\"s3cret\"}",
			"{\"v\":1,\"k\":\"s3cret\",\"t\":\"user\",\"text\":\"s3cret\"}", "{\"v\":1,\"k\":7}" })
	void aPayloadThatIsNoneIsUnreadableAndNotQuoted(String payload) {
		assertThatExceptionOfType(UnreadablePayloadException.class).isThrownBy(() -> this.codec.decode(KEY, payload))
			.withMessageContaining("'thread-7'")
			.withNoCause()
			.satisfies((ex) -> assertThat(ex.getMessage()).doesNotContain(SECRET));
	}

	@ParameterizedTest
	@ValueSource(strings = { "", "[]", "{\"v\":1,\"t\":\"user\",\"text\":\"a\"}", "{\"v\":1,\"t\":\"values\"}",
			"{\"v\":1,\"t\":\"values\",\"values\":[]}", "{\"v\":1,\"t\":\"values\",\"values\":{},\"x\":1}",
			"{\"v\":1,\"t\":\"values\",\"values\":{}", "{\"v\":1,\"t\":\"values\",\"values\":{}}{}" })
	void valuesThatAreNoneAreUnreadable(String payload) {
		assertThatExceptionOfType(UnreadablePayloadException.class)
			.isThrownBy(() -> this.codec.decodeValues(KEY, payload));
	}

	@Test
	void everyTruncatedPayloadIsUnreadable() {
		String payload = this.codec.encode(KEY, EnvelopeVersion1Tests.messages().get(8));
		for (int length = 0; length < payload.length(); length++) {
			String cut = payload.substring(0, length);
			assertThatThrownBy(() -> this.codec.decode(KEY, cut)).isInstanceOf(UnreadablePayloadException.class);
		}
	}

	/** Reading one takes time with the square of its length. */
	@ParameterizedTest
	@ValueSource(strings = { "integer", "decimal" })
	void aNumberOfAMillionDigitsIsUnreadable(String tag) {
		String payload = "{\"v\":1,\"t\":\"user\",\"text\":\"a\",\"meta\":{\"n\":{\"$t\":\"" + tag + "\",\"v\":\""
				+ "7".repeat(1_000_000) + "\"}}}";
		assertThatExceptionOfType(UnreadablePayloadException.class).isThrownBy(() -> this.codec.decode(KEY, payload));
	}

	@Test
	void numbersOfTenThousandDigitsComeBackAndLongerOnesAreRefused() {
		BigInteger digits = new BigInteger("7".repeat(9_999));
		Message message = user(Map.of("integer", digits, "decimal", new BigDecimal(digits, 12)));
		Deep.assertEqual(decoded(message), message);
		for (Number large : List.of(BigInteger.ONE.shiftLeft(4_000_000), new BigDecimal(BigInteger.TEN.pow(10_001)))) {
			assertUnstorable(user(Map.of("large", large)), large.getClass().getName());
		}
	}

	@Test
	void aPayloadNestedWithoutEndIsUnreadable() {
		String payload = "{\"v\":1,\"t\":\"assistant\",\"meta\":{\"a\":" + "[".repeat(100_000);
		assertThatExceptionOfType(UnreadablePayloadException.class).isThrownBy(() -> this.codec.decode(KEY, payload));
	}

	@ParameterizedTest
	@ValueSource(strings = { "{\"v\":2,\"what\":\"ever\"}", "{\"v\":0}", "{\"v\":-1,\"t\":\"user\",\"text\":\"a\"}" })
	void anotherVersionIsUnsupported(String payload) {
		assertThatExceptionOfType(UnsupportedVersionException.class).isThrownBy(() -> this.codec.decode(KEY, payload))
			.withMessageContaining("reads version 1");
		assertThatExceptionOfType(UnsupportedVersionException.class)
			.isThrownBy(() -> this.codec.decodeValues(KEY, payload));
	}

	/**
	 * The field is reserved: a version that knows it may write it without a version 2.
	 */
	@ParameterizedTest
	@ValueSource(strings = { "{\"v\":1,\"t\":\"assistant\",\"parts\":[{\"reasoning\":\"s3cret\"}]}",
			"{\"v\":1,\"t\":\"assistant\",\"text\":\"s3cret\",\"parts\":[]}",
			"{\"v\":1,\"t\":\"user\",\"text\":\"a\",\"parts\":null,\"s3cret\":1}",
			"{\"v\":1,\"t\":\"tool\",\"responses\":[],\"parts\":{\"s3cret\":1}}" })
	void messageWithPartsIsThatOfANewerVersion(String payload) {
		assertThatExceptionOfType(UnsupportedVersionException.class).isThrownBy(() -> this.codec.decode(KEY, payload))
			.withMessageContaining("'thread-7'")
			.withMessageContaining("message parts")
			.satisfies((ex) -> assertThat(ex.getMessage()).doesNotContain(SECRET));
	}

	@Test
	void anEncryptedPayloadSaysThatItIs() {
		assertThatExceptionOfType(UnreadablePayloadException.class)
			.isThrownBy(() -> this.codec.decode(KEY, "{\"v\":1,\"k\":\"2026\",\"d\":\"AAAA\"}"))
			.withMessageContaining("encrypted");
	}

	@Test
	void anEmptyKeyIdIsPlain() {
		assertThat(this.codec.decode(KEY, "{\"v\":1,\"k\":\"\",\"t\":\"user\",\"text\":\"a\"}"))
			.isEqualTo(new UserMessage("a"));
		assertThat(this.codec.decode(KEY, "{\"v\":1,\"k\":null,\"t\":\"user\",\"text\":\"a\"}"))
			.isEqualTo(new UserMessage("a"));
	}

	@Test
	void noValuesComeBackEmpty() {
		String payload = this.codec.encodeValues(KEY, Map.of());
		assertThat(this.codec.decodeValues(KEY, payload)).isEmpty();
	}

	private Message decoded(Message message) {
		return this.codec.decode(KEY, this.codec.encode(KEY, message));
	}

	private void assertUnstorable(Message message, String part) {
		assertThatExceptionOfType(UnstorableMessageException.class).isThrownBy(() -> this.codec.encode(KEY, message))
			.withMessageContaining(part)
			.satisfies((ex) -> assertThat(ex.getMessage()).doesNotContain(SECRET));
	}

	private static UserMessage user(Map<String, ?> metadata, Media... media) {
		Map<String, @Nullable Object> copy = new HashMap<>(metadata);
		return MessageParts.user("Hello.", List.of(media), copy);
	}

	private static AssistantMessage call(ToolCall call) {
		return AssistantMessage.builder().toolCalls(List.of(call)).build();
	}

	private static Object nested(int levels) {
		Object value = 1L;
		for (int i = 0; i < levels; i++) {
			value = (i % 2 == 0) ? Collections.singleton(value) : Collections.singletonMap("$t", value);
		}
		return value;
	}

	private static final class OwnAssistantMessage extends AssistantMessage {

		OwnAssistantMessage(@Nullable String text, Map<String, Object> metadata) {
			super(text, metadata, List.of(), List.of());
		}

	}

	private static final class OwnMessage implements Message {

		@Override
		public MessageType getMessageType() {
			return MessageType.ASSISTANT;
		}

		@Override
		public String getText() {
			return "";
		}

		@Override
		public Map<String, Object> getMetadata() {
			return Map.of();
		}

	}

}
