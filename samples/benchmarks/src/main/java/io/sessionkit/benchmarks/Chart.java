package io.sessionkit.benchmarks;

import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * A chart of the time per turn against stored messages, both on logarithmic axes, as an
 * SVG that is readable on a light and on a dark background.
 */
final class Chart {

	private static final int WIDTH = 960;

	private static final int HEIGHT = 480;

	private static final int LEFT = 80;

	private static final int RIGHT = 300;

	private static final int TOP = 40;

	private static final int BOTTOM = 60;

	private static final int LINE_HEIGHT = 16;

	/** Most eyes can distinguish these colours, on both backgrounds. */
	private static final List<String> COLOURS = List.of("#0f8b8d", "#d1495b", "#3d7dd8", "#b7791f", "#8e5bd0",
			"#5a9f3c", "#c2508f", "#7a7f87", "#c75b12", "#6b7a1e", "#3f9fb8", "#a0522d");

	private static final String HEAD = """
			<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="system-ui, sans-serif" font-size="12">
			<title>Time per turn by number of stored messages</title>
			<style>
			.ground { fill: #ffffff } .text { fill: #1f2328 } .grid { stroke: #d0d7de }
			@media (prefers-color-scheme: dark) {
			.ground { fill: #0d1117 } .text { fill: #e6edf3 } .grid { stroke: #30363d }
			}
			</style>
			<rect class="ground" width="100%%" height="100%%"/>
			<text class="text" x="%d" y="22" font-size="15" font-weight="600">Median time per turn, by messages stored in \
			the thread (lower is better)</text>
			""";

	/** The line of a contender. */
	private record Line(String name, List<Map.Entry<Integer, Double>> points, String colour) {

		double end() {
			return this.points.get(this.points.size() - 1).getValue();
		}

	}

	private final List<Line> lines = new ArrayList<>();

	private final List<Integer> sizes;

	private final int lowest;

	private final int highest;

	Chart(Results results, Options options) {
		this.sizes = options.sizes();
		for (String contender : results.contenders()) {
			List<Map.Entry<Integer, Double>> points = results.times(contender)
				.entrySet()
				.stream()
				.filter((entry) -> entry.getValue().isRun())
				.map((entry) -> Map.entry(entry.getKey(), entry.getValue().median()))
				.toList();
			if (!points.isEmpty() && !contender.endsWith(Contenders.NO_FLUSH)) {
				this.lines.add(new Line(contender, points, COLOURS.get(this.lines.size() % COLOURS.size())));
			}
		}
		List<Double> all = this.lines.stream()
			.flatMap((line) -> line.points().stream())
			.map(Map.Entry::getValue)
			.toList();
		this.lowest = all.isEmpty() ? 0 : (int) Math.floor(Math.log10(Collections.min(all)));
		this.highest = all.isEmpty() ? 1 : (int) Math.ceil(Math.log10(Collections.max(all)));
	}

	/**
	 * Returns the drawing.
	 */
	String svg() {
		StringBuilder svg = new StringBuilder(format(HEAD, WIDTH, HEIGHT, LEFT));
		grid(svg);
		this.lines.forEach((line) -> draw(svg, line));
		names(svg);
		return svg.append("</svg>\n").toString();
	}

	private void grid(StringBuilder svg) {
		for (int power = this.lowest; power <= this.highest; power++) {
			double y = y(Math.pow(10, power));
			svg.append(format("<line class=\"grid\" x1=\"%d\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\"/>%n", LEFT,
					WIDTH - RIGHT, y, y));
			svg.append(format("<text class=\"text\" x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%s</text>%n", LEFT - 8,
					y + 4, time(power)));
		}
		for (int size : this.sizes) {
			svg.append(format("<text class=\"text\" x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%,d</text>%n", x(size),
					HEIGHT - BOTTOM + 22, size));
		}
		svg.append(format("<text class=\"text\" x=\"%d\" y=\"%d\" text-anchor=\"middle\">messages stored</text>%n",
				(LEFT + WIDTH - RIGHT) / 2, HEIGHT - 14));
	}

	private void draw(StringBuilder svg, Line line) {
		String points = line.points()
			.stream()
			.map((point) -> format("%.1f,%.1f", x(point.getKey()), y(point.getValue())))
			.collect(Collectors.joining(" "));
		String dash = line.name().startsWith("by hand") ? " stroke-dasharray=\"5 4\"" : "";
		svg.append(format("<polyline fill=\"none\" stroke=\"%s\" stroke-width=\"2\"%s points=\"%s\"/>%n", line.colour(),
				dash, points));
		line.points()
			.forEach((point) -> svg.append(format("<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3\" fill=\"%s\"/>%n",
					x(point.getKey()), y(point.getValue()), line.colour())));
	}

	/**
	 * Writes the names beside the ends of the lines, moved down if they would overlap.
	 */
	private void names(StringBuilder svg) {
		List<Line> fromAbove = this.lines.stream().sorted(Comparator.comparingDouble(Line::end).reversed()).toList();
		double free = TOP;
		for (Line line : fromAbove) {
			double y = Math.max(free, y(line.end()) + 4);
			free = y + LINE_HEIGHT;
			svg.append(format("<text x=\"%d\" y=\"%.1f\" fill=\"%s\">%s</text>%n", WIDTH - RIGHT + 14, y, line.colour(),
					line.name()));
		}
	}

	private double x(int size) {
		double least = Math.log10(this.sizes.get(0));
		double most = Math.log10(this.sizes.get(this.sizes.size() - 1));
		double part = (most > least) ? (Math.log10(size) - least) / (most - least) : 0;
		return LEFT + part * (WIDTH - RIGHT - LEFT);
	}

	private double y(double micros) {
		double part = (Math.log10(micros) - this.lowest) / (this.highest - this.lowest);
		return HEIGHT - BOTTOM - part * (HEIGHT - BOTTOM - TOP);
	}

	private static String time(int power) {
		double micros = Math.pow(10, power);
		if (micros >= 1_000_000) {
			return format("%.0f s", micros / 1_000_000);
		}
		return (micros >= 1_000) ? format("%.0f ms", micros / 1_000) : format("%.0f µs", micros);
	}

	private static String format(String template, Object... values) {
		return String.format(Locale.ROOT, template, values);
	}

}
