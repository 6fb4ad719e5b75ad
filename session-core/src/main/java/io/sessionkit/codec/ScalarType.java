package io.sessionkit.codec;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.net.URI;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.OffsetDateTime;
import java.time.ZonedDateTime;
import java.util.Arrays;
import java.util.Map;
import java.util.UUID;
import java.util.function.Function;
import java.util.stream.Collectors;

import org.jspecify.annotations.Nullable;

/**
 * A class whose values are stored as a tag and their {@code toString()}, from which they
 * can be parsed. A tag is part of the stored format: its meaning never changes.
 */
enum ScalarType {

	LONG("long", Long.class, Long::valueOf),

	SHORT("short", Short.class, Short::valueOf),

	BYTE("byte", Byte.class, Byte::valueOf),

	FLOAT("float", Float.class, Float::valueOf),

	DOUBLE("double", Double.class, Double::valueOf),

	BIG_INTEGER("integer", BigInteger.class, (text) -> new BigInteger(limited(text))),

	BIG_DECIMAL("decimal", BigDecimal.class, (text) -> new BigDecimal(limited(text))),

	CHARACTER("char", Character.class, ScalarType::character),

	INSTANT("instant", Instant.class, Instant::parse),

	DURATION("duration", Duration.class, Duration::parse),

	LOCAL_DATE("date", LocalDate.class, LocalDate::parse),

	LOCAL_TIME("time", LocalTime.class, LocalTime::parse),

	LOCAL_DATE_TIME("datetime", LocalDateTime.class, LocalDateTime::parse),

	OFFSET_DATE_TIME("offset-datetime", OffsetDateTime.class, OffsetDateTime::parse),

	ZONED_DATE_TIME("zoned-datetime", ZonedDateTime.class, ZonedDateTime::parse),

	UUID_VALUE("uuid", UUID.class, UUID::fromString),

	URI_VALUE("uri", URI.class, URI::create);

	/**
	 * The time to read a number grows with the square of its length: a million digits
	 * take a minute.
	 */
	private static final int MAX_DIGITS = 10_000;

	private static final double BITS_PER_DIGIT = 3.33;

	private static final Map<Class<?>, ScalarType> BY_CLASS = Arrays.stream(values())
		.collect(Collectors.toUnmodifiableMap((type) -> type.type, Function.identity()));

	private static final Map<String, ScalarType> BY_TAG = Arrays.stream(values())
		.collect(Collectors.toUnmodifiableMap(ScalarType::tag, Function.identity()));

	private final String tag;

	private final Class<?> type;

	private final Function<String, Object> parser;

	ScalarType(String tag, Class<?> type, Function<String, Object> parser) {
		this.tag = tag;
		this.type = type;
		this.parser = parser;
	}

	static @Nullable ScalarType of(Class<?> type) {
		return BY_CLASS.get(type);
	}

	static @Nullable ScalarType tagged(String tag) {
		return BY_TAG.get(tag);
	}

	String tag() {
		return this.tag;
	}

	/**
	 * Returns whether the value's text gives an equal value. A URI that was built from
	 * parts, or a date with a zone that the application defines, may not do so. The
	 * result is false for a number of more than 10,000 digits.
	 */
	boolean comesBack(Object value) {
		try {
			return !isLong(value) && value.equals(this.parser.apply(value.toString()));
		}
		catch (RuntimeException ex) {
			return false;
		}
	}

	/**
	 * Returns the value that a text stands for.
	 * @throws MalformedPayloadException if the text is not a value of this type
	 */
	Object parse(String text) {
		try {
			return this.parser.apply(text);
		}
		catch (RuntimeException ex) {
			// Its message would quote the text.
			throw new MalformedPayloadException("a value tagged '" + this.tag + "' is none");
		}
	}

	/**
	 * Checks the length before the text is created, which takes as long as reading it.
	 */
	private static boolean isLong(Object value) {
		BigInteger digits = (value instanceof BigDecimal decimal) ? decimal.unscaledValue()
				: (value instanceof BigInteger integer) ? integer : BigInteger.ZERO;
		return digits.bitLength() > MAX_DIGITS * BITS_PER_DIGIT;
	}

	private static String limited(String number) {
		MalformedPayloadException.unless(number.length() <= MAX_DIGITS, "a number has too many digits");
		return number;
	}

	private static Character character(String text) {
		MalformedPayloadException.unless(text.length() == 1, "a character has another length");
		return text.charAt(0);
	}

}
