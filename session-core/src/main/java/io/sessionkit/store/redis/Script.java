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

	OPEN("open"),

	PLAIN("index", "plain"),

	COMMIT("session", "write", "index", "once", "commit"),

	ITEMS("session", "items"),

	TURN("session", "kinds", "turn"),

	TURNS("session", "turns"),

	RECORDS("session", "kinds", "records"),

	HEADERS("session", "headers"),

	STANDING("session", "standing"),

	CLEAR("session", "clear"),

	PUT("session", "write", "index", "once", "put"),

	NEWEST("newest"),

	TOUCH("index", "touch"),

	FORGET("forget"),

	SCAN("scan"),

	PURGE("purge"),

	PROBE("probe");

	/**
	 * The script, which returns one text: a driver sets a text at once but builds a list
	 * piece by piece.
	 */
	private final RedisScript<byte[]> script;

	Script(String... files) {
		StringBuilder text = new StringBuilder(read("answer.lua"));
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
