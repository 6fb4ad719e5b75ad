package io.sessionkit.internal.argument;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * Reads JSON so that equal values become equal objects, however they were written.
 */
final class PlainJson {

	/**
	 * A double has fewer digits before its decimal point; a number with more is not
	 * written out.
	 */
	private static final int LARGEST_EXPONENT = 400;

	private PlainJson() {
	}

	static Map<String, @Nullable Object> map(JsonNode object) {
		Map<String, @Nullable Object> values = new LinkedHashMap<>();
		object.properties().forEach((entry) -> values.put(entry.getKey(), value(entry.getValue())));
		return Collections.unmodifiableMap(values);
	}

	private static @Nullable Object value(JsonNode node) {
		if (node.isObject()) {
			return map(node);
		}
		if (node.isArray()) {
			return list(node);
		}
		if (node.isNumber()) {
			return number(node.decimalValue());
		}
		return node.isNull() ? null : node.isBoolean() ? node.booleanValue() : node.stringValue();
	}

	private static List<@Nullable Object> list(JsonNode array) {
		List<@Nullable Object> values = new ArrayList<>();
		array.values().forEach((element) -> values.add(value(element)));
		return Collections.unmodifiableList(values);
	}

	private static Object number(BigDecimal number) {
		BigDecimal plain = number.stripTrailingZeros();
		if (plain.scale() > 0 || plain.scale() < -LARGEST_EXPONENT) {
			return plain;
		}
		BigInteger whole = plain.toBigIntegerExact();
		if (whole.bitLength() < Integer.SIZE) {
			return whole.intValue();
		}
		return (whole.bitLength() < Long.SIZE) ? (Object) whole.longValue() : whole;
	}

	static boolean isPlain(JsonNode node) {
		if (node.isContainer()) {
			return node.valueStream().allMatch(PlainJson::isPlain);
		}
		return !node.isNumber() || node.isIntegralNumber() || isDouble(node.decimalValue());
	}

	private static boolean isDouble(BigDecimal number) {
		double read = number.doubleValue();
		return !Double.isInfinite(read) && new BigDecimal(Double.toString(read)).compareTo(number) == 0;
	}

}
