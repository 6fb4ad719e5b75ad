package io.sessionkit.store.redis;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Objects;

import org.springframework.data.redis.core.script.DefaultRedisScript;
import org.springframework.data.redis.core.script.RedisScript;

/**
 * The scripts, each put together from its files. What they take and return is said in
 * them.
 */
enum Script {

	OPEN("session", "open"),

	COMMIT("session", "write", "index", "commit"),

	ITEMS("session", "items"),

	TURN("session", "turn"),

	TURNS("session", "turns"),

	RECORDS("session", "records"),

	HEADERS("session", "headers"),

	CLEAR("session", "clear"),

	PUT("session", "write", "index", "put"),

	TOUCH("index", "touch"),

	FORGET("forget"),

	SCAN("scan"),

	PURGE("purge"),

	PROBE("probe");

	/** The list that a script returns is of whatever the script puts into it. */
	@SuppressWarnings("rawtypes")
	private final RedisScript<List> script;

	Script(String... files) {
		StringBuilder text = new StringBuilder();
		for (String file : files) {
			text.append(read(file + ".lua"));
		}
		this.script = new DefaultRedisScript<>(text.toString(), List.class);
	}

	@SuppressWarnings("rawtypes")
	RedisScript<List> script() {
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
