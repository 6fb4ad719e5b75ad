package io.sessionkit.store.redis;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Objects;

import org.springframework.data.redis.core.script.DefaultRedisScript;
import org.springframework.data.redis.core.script.RedisScript;

/**
 * The scripts, each composed of its files. The files describe the arguments and results.
 */
enum Script {

	OPEN("open", "answer", "open-path"),

	PLAIN("plain", "index", "plain-index"),

	COMMIT("answer", "session", "write", "index", "once", "commit"),

	ITEMS("answer", "session", "items"),

	TURN("answer", "session", "turn"),

	TURNS("answer", "session", "turns"),

	RECORDS("answer", "session", "records"),

	HEADERS("answer", "session", "headers"),

	STANDING("answer", "session", "standing"),

	CLEAR("answer", "session", "clear"),

	PUT("answer", "session", "write", "index", "once", "put"),

	NEWEST("answer", "newest"),

	TOUCH("answer", "index", "touch"),

	FORGET("answer", "forget"),

	SCAN("answer", "scan"),

	PURGE("answer", "purge"),

	PROBE("answer", "probe");

	/**
	 * The script, which returns one text: a driver sets a text at once but builds a list
	 * piece by piece.
	 */
	private final RedisScript<byte[]> script;

	Script(String... files) {
		StringBuilder text = new StringBuilder();
		for (String file : files) {
			text.append(read(file + ".lua"));
		}
		this.script = new DefaultRedisScript<>(text.toString(), byte[].class);
	}

	RedisScript<byte[]> script() {
		return this.script;
	}

	private static String read(String file) {
		try (InputStream in = Objects.requireNonNull(Script.class.getResourceAsStream(file), file)) {
			return new String(in.readAllBytes(), StandardCharsets.UTF_8);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

}
