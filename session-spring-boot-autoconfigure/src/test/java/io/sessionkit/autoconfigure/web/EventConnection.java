package io.sessionkit.autoconfigure.web;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import org.jspecify.annotations.Nullable;

/**
 * A connection on which server-sent events are read, until it is cut. It counts bytes,
 * those of the heading too, and takes only events that are complete, as a browser does.
 */
final class EventConnection {

	private static final Pattern FIELD = Pattern.compile("(?m)^(id|event|data): ?(.*)$");

	private static final int PATIENCE_MILLIS = 60_000;

	/** An event as a browser has it. */
	record Event(String id, String name, String data) {

	}

	/** The answer as it was read before the connection was cut or ended. */
	record Answer(int status, List<Event> events) {

		@Nullable String lastId() {
			return this.events.isEmpty() ? null : this.events.get(this.events.size() - 1).id();
		}

		boolean hasEnd() {
			return this.events.stream().anyMatch((event) -> List.of("ended", "failed", "lost").contains(event.name()));
		}

	}

	private EventConnection() {
	}

	/**
	 * Sends a request and reads so many bytes of the answer at most.
	 */
	static Answer read(int port, String method, String path, Map<String, String> headers, String body, int bytes)
			throws IOException {
		try (Socket socket = new Socket("127.0.0.1", port)) {
			socket.setSoTimeout(PATIENCE_MILLIS);
			byte[] content = body.getBytes(StandardCharsets.UTF_8);
			StringBuilder head = new StringBuilder(method + " " + path + " HTTP/1.0\r\nHost: localhost\r\n"
					+ "Content-Type: text/plain; charset=utf-8\r\nContent-Length: " + content.length + "\r\n");
			headers.forEach((name, value) -> head.append(name).append(": ").append(value).append("\r\n"));
			socket.getOutputStream().write(head.append("\r\n").toString().getBytes(StandardCharsets.UTF_8));
			socket.getOutputStream().write(content);
			socket.getOutputStream().flush();
			return answer(bytes(socket.getInputStream(), bytes));
		}
	}

	private static byte[] bytes(InputStream in, int most) throws IOException {
		ByteArrayOutputStream read = new ByteArrayOutputStream();
		byte[] buffer = new byte[512];
		while (read.size() < most) {
			int count = in.read(buffer, 0, Math.min(buffer.length, most - read.size()));
			if (count < 0) {
				break;
			}
			read.write(buffer, 0, count);
		}
		return read.toByteArray();
	}

	/** Bytes that were cut within a character are behind the last complete event. */
	private static Answer answer(byte[] bytes) {
		String text = new String(bytes, StandardCharsets.UTF_8);
		int heading = text.indexOf("\r\n\r\n");
		if (heading < 0) {
			return new Answer(0, List.of());
		}
		List<Event> events = new ArrayList<>();
		String rest = text.substring(heading + 4);
		for (int end = rest.indexOf("\n\n"); end >= 0; end = rest.indexOf("\n\n")) {
			events.add(event(rest.substring(0, end)));
			rest = rest.substring(end + 2);
		}
		return new Answer(Integer.parseInt(text.split(" ")[1]), events);
	}

	private static Event event(String block) {
		String[] fields = { "", "", "" };
		Matcher matcher = FIELD.matcher(block);
		while (matcher.find()) {
			fields[List.of("id", "event", "data").indexOf(matcher.group(1))] = matcher.group(2);
		}
		return new Event(fields[0], fields[1], fields[2]);
	}

}
