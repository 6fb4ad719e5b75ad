package io.sessionkit.benchmarks;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

import org.jspecify.annotations.Nullable;

/**
 * A table in Markdown. Not safe for use by many threads.
 */
final class Table {

	private static final String NONE = "–";

	private final List<List<String>> rows = new ArrayList<>();

	Table(String... columns) {
		this(Arrays.asList(columns));
	}

	Table(List<String> columns) {
		this.rows.add(columns);
	}

	void row(String... cells) {
		row(Arrays.asList(cells));
	}

	void row(List<String> cells) {
		this.rows.add(List.copyOf(cells));
	}

	boolean isEmpty() {
		return this.rows.size() == 1;
	}

	@Override
	public String toString() {
		String divider = "|---|" + "---:|".repeat(this.rows.get(0).size() - 1) + "\n";
		return line(this.rows.get(0)) + divider
				+ this.rows.stream().skip(1).map(Table::line).collect(Collectors.joining());
	}

	private static String line(List<String> cells) {
		return "| " + String.join(" | ", cells) + " |\n";
	}

	/** Formats a whole number. */
	static String whole(double value) {
		return Double.isFinite(value) ? String.format(Locale.ROOT, "%,.0f", value) : NONE;
	}

	/** Formats a whole number. */
	static String whole(@Nullable Double value) {
		return (value != null) ? whole(value.doubleValue()) : NONE;
	}

	/** Formats a number with two decimals. */
	static String fine(double value) {
		return Double.isFinite(value) ? String.format(Locale.ROOT, "%,.2f", value) : NONE;
	}

	/** Formats a number with two decimals, or with none if it is whole. */
	static String count(@Nullable Double value) {
		if (value == null) {
			return NONE;
		}
		return (value == Math.rint(value)) ? whole(value) : fine(value);
	}

}
