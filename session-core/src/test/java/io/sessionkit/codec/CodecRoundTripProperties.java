package io.sessionkit.codec;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.net.MalformedURLException;
import java.net.URI;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.OffsetDateTime;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.Supplier;

import io.sessionkit.SessionKey;
import io.sessionkit.internal.LoneSurrogates;
import io.sessionkit.internal.message.MessageParts;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import org.springframework.ai.chat.messages.AssistantMessage.ToolCall;
import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.ToolResponseMessage.ToolResponse;
import org.springframework.ai.content.Media;
import org.springframework.util.MimeType;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Generated messages and values come back as they were. A failure names the seed; pass it
 * as {@code -Dsessionkit.seed} to run the same ones again.
 */
@SuppressWarnings("NullAway") // null metadata, which Spring AI takes without declaring it
class CodecRoundTripProperties {

	private static final SessionKey KEY = SessionKey.of("owner", "thread");

	private static final int MESSAGES = 5_000;

	private static final int MAX_NESTING = 4;

	private final JsonMessageCodec codec = JsonMessageCodec.create().strict();

	@Test
	void everyMessageComesBackEqual() {
		forEachSeed((generator) -> {
			Message message = generator.message();
			String payload = this.codec.encode(KEY, message);
			Message decoded = this.codec.decode(KEY, payload);
			Deep.assertEqual(decoded, message);
			assertThat(payload.chars()).noneMatch(Character::isISOControl);
			assertThat(LoneSurrogates.in(payload)).isFalse();
			assertThat(this.codec.storable(message)).isSameAs(message);
			// Metadata of a message has no order, so a second payload may differ in it
			// alone.
			Deep.assertEqual(this.codec.decode(KEY, this.codec.encode(KEY, decoded)), message);
		});
	}

	@Test
	void messageThatIsSurelyStoredComesBackEqual() {
		AtomicInteger sure = new AtomicInteger();
		forEachSeed((generator) -> {
			Message message = (generator.below(2) == 0) ? generator.plainMessage() : generator.message();
			if (this.codec.surelyStores(message)) {
				sure.incrementAndGet();
				Deep.assertEqual(this.codec.decode(KEY, this.codec.encode(KEY, message)), message);
			}
		});
		assertThat(sure).hasValueGreaterThan(MESSAGES / 4).hasValueLessThan(MESSAGES);
	}

	@Test
	void messageThatIsRefusedIsNeverSurelyStored() {
		forEachSeed((generator) -> {
			Message message = generator.brokenMessage();
			assertThat(this.codec.surelyStores(message)).isFalse();
			assertThatExceptionOfType(UnstorableMessageException.class)
				.isThrownBy(() -> this.codec.encode(KEY, message));
		});
	}

	@Test
	void everyValueComesBackEqual() {
		forEachSeed((generator) -> {
			Map<String, @Nullable Object> values = generator.map(0);
			String payload = this.codec.encodeValues(KEY, values);
			Map<String, @Nullable Object> decoded = this.codec.decodeValues(KEY, payload);
			assertThat(Deep.value(decoded)).isEqualTo(Deep.value(values));
			assertThat(this.codec.encodeValues(KEY, decoded)).isEqualTo(payload);
		});
	}

	private static void forEachSeed(Consumer<Generator> property) {
		long first = Long.getLong("sessionkit.seed", System.nanoTime());
		for (long seed = first; seed < first + MESSAGES; seed++) {
			try {
				property.accept(new Generator(new Random(seed)));
			}
			catch (AssertionError | RuntimeException ex) {
				throw new AssertionError("Failed with -Dsessionkit.seed=" + seed, ex);
			}
		}
	}

	private static final class Generator {

		private final Random random;

		private final List<Supplier<@Nullable Object>> scalars = List.of(() -> null, this::text, this::integer,
				this::bool, this::longNumber, () -> (short) integer(), () -> (byte) integer(), this::floatNumber,
				this::doubleNumber, this::bigInteger, () -> new BigDecimal(bigInteger(), integer() % 1000),
				() -> (char) ('a' + below(26)), () -> (char) below(0x20), this::bytes, this::instant, this::duration,
				() -> date(), () -> dateTime().toLocalTime(), this::dateTime, this::offset, this::zoned,
				() -> new UUID(longNumber(), longNumber()),
				() -> URI.create("https://example.org/" + below(1000) + "?a=%20"),
				() -> AnthropicMessages.thinking(text(), text()), () -> AnthropicMessages.redacted(text()));

		Generator(Random random) {
			this.random = random;
		}

		Message message() {
			Map<String, @Nullable Object> metadata = (below(3) == 0) ? new HashMap<>() : map(0);
			metadata.remove("messageType");
			return switch (below(4)) {
				case 0 -> MessageParts.user(text(), media(), metadata);
				case 1 -> MessageParts.system(text(), metadata);
				case 2 -> MessageParts.assistant((below(3) == 0) ? null : text(), list(this::call), media(), metadata);
				default -> MessageParts.tool(list(this::response), metadata);
			};
		}

		/** A message with simple metadata and without media. */
		Message plainMessage() {
			Map<String, @Nullable Object> metadata = new HashMap<>();
			for (int i = below(4); i > 0; i--) {
				metadata.put(key(), this.scalars.get(below(9)).get());
			}
			metadata.remove("messageType");
			return plainMessage(text(), metadata);
		}

		private Message plainMessage(String text, Map<String, @Nullable Object> metadata) {
			return switch (below(4)) {
				case 0 -> MessageParts.user(text, List.of(), metadata);
				case 1 -> MessageParts.system(text, metadata);
				case 2 -> MessageParts.assistant(text, list(this::call), List.of(), metadata);
				default -> MessageParts.tool(List.of(new ToolResponse(text(), text(), text)), metadata);
			};
		}

		/** A message that has one thing that cannot be stored. */
		Message brokenMessage() {
			String lone = text() + "\uD800";
			return switch (below(4)) {
				case 0 -> plainMessage(lone, new HashMap<>());
				case 1 -> plainMessage(text(), new HashMap<>(Map.of(lone, 1)));
				case 2 -> plainMessage(text(), new HashMap<>(Map.of("a", lone)));
				default -> plainMessage(text(), new HashMap<>(Map.of("a", new Object())));
			};
		}

		private ToolCall call() {
			return new ToolCall((below(3) == 0) ? "" : text(), "function", text(), text());
		}

		private ToolResponse response() {
			return new ToolResponse((below(3) == 0) ? "" : text(), text(), text());
		}

		private List<Media> media() {
			return (below(3) == 0) ? list(this::medium) : List.of();
		}

		private Media medium() {
			Media.Builder builder = Media.builder().mimeType(mimeType()).name(text());
			if (below(2) == 0) {
				builder.id(text());
			}
			URI uri = URI.create("https://example.org/" + below(1000) + "?q=%C3%A4#" + below(9));
			try {
				return switch (below(4)) {
					case 0 -> builder.data(bytes()).build();
					case 1 -> builder.data(text()).build();
					case 2 -> builder.data(uri).build();
					default -> builder.data(uri.toURL()).build();
				};
			}
			catch (MalformedURLException ex) {
				throw new IllegalStateException(ex);
			}
		}

		private MimeType mimeType() {
			Map<String, String> parameters = (below(2) == 0)
					? Map.of("charset", "utf-8", "p", "\"" + below(9) + "; x=y\"") : Map.of();
			return new MimeType((below(2) == 0) ? "image" : "Application", "x-" + below(200) + "+json", parameters);
		}

		Map<String, @Nullable Object> map(int depth) {
			Map<String, @Nullable Object> map = new LinkedHashMap<>();
			for (int i = below(6); i > 0; i--) {
				map.put(key(), value(depth + 1));
			}
			return map;
		}

		private String key() {
			return switch (below(8)) {
				case 0 -> "$t";
				case 1 -> "v";
				case 2 -> "";
				case 3 -> text();
				default -> "key" + below(50);
			};
		}

		private @Nullable Object value(int depth) {
			if (depth < MAX_NESTING && below(4) == 0) {
				return switch (below(3)) {
					case 0 -> map(depth);
					case 1 -> set(depth);
					default -> list(() -> value(depth + 1));
				};
			}
			return this.scalars.get(below(this.scalars.size())).get();
		}

		private Set<@Nullable Object> set(int depth) {
			return new LinkedHashSet<>(list(() -> value(depth + 1)));
		}

		private <T extends @Nullable Object> List<T> list(Supplier<T> element) {
			List<T> list = new ArrayList<>();
			for (int i = below(4); i > 0; i--) {
				list.add(element.get());
			}
			return list;
		}

		private String text() {
			StringBuilder text = new StringBuilder();
			for (int i = below(20); i > 0; i--) {
				text.appendCodePoint(codePoint());
			}
			return text.toString();
		}

		private int codePoint() {
			return switch (below(6)) {
				case 0 -> below(0xA0);
				case 1 -> "\"\\/{}[]:,$\u2028\uFEFF\uFFFD\uFFFF".charAt(below(13));
				case 2 -> below(0xD800);
				case 3 -> 0x10000 + below(0x100000);
				default -> 'a' + below(26);
			};
		}

		private byte[] bytes() {
			byte[] bytes = new byte[below(50)];
			this.random.nextBytes(bytes);
			return bytes;
		}

		private int integer() {
			return (below(4) == 0) ? ((below(2) == 0) ? Integer.MIN_VALUE : Integer.MAX_VALUE) : this.random.nextInt();
		}

		private boolean bool() {
			return this.random.nextBoolean();
		}

		private long longNumber() {
			return (below(4) == 0) ? ((below(2) == 0) ? Long.MIN_VALUE : Long.MAX_VALUE) : this.random.nextLong();
		}

		private float floatNumber() {
			return Float.intBitsToFloat(this.random.nextInt());
		}

		private double doubleNumber() {
			return Double.longBitsToDouble(this.random.nextLong());
		}

		private BigInteger bigInteger() {
			return new BigInteger(below(300), this.random).subtract(BigInteger.valueOf(below(1000)));
		}

		private Instant instant() {
			return switch (below(6)) {
				case 0 -> Instant.MIN;
				case 1 -> Instant.MAX;
				default -> Instant.ofEpochSecond(this.random.nextInt() * 100L, below(1_000_000_000));
			};
		}

		private Duration duration() {
			return switch (below(6)) {
				case 0 -> Duration.ofSeconds(Long.MIN_VALUE);
				case 1 -> Duration.ofSeconds(Long.MAX_VALUE, 999_999_999);
				default -> Duration.ofSeconds(this.random.nextInt(), below(1_000_000_000));
			};
		}

		private LocalDate date() {
			return (below(5) == 0) ? LocalDate.MIN : LocalDate.ofEpochDay(this.random.nextInt(4_000_000) - 2_000_000);
		}

		private LocalDateTime dateTime() {
			return date().atTime((below(3) == 0) ? LocalTime.MIDNIGHT
					: LocalTime.ofNanoOfDay(below(86_400) * 1_000_000_001L % 86_400_000_000_000L));
		}

		private OffsetDateTime offset() {
			return LocalDateTime.of(2026, 1 + below(12), 3, below(24), 5)
				.atOffset(ZoneOffset.ofTotalSeconds(below(60_000) - 30_000));
		}

		private ZonedDateTime zoned() {
			List<String> zones = List.of("Europe/Berlin", "America/St_Johns", "UTC", "Z", "+05:30", "UTC+03:00");
			Instant instant = Instant.ofEpochSecond(1_792_886_400L + below(200_000));
			return instant.atZone(ZoneId.of(zones.get(below(zones.size()))));
		}

		private int below(int bound) {
			return this.random.nextInt(bound);
		}

	}

}
