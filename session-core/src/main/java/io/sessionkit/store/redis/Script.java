package io.sessionkit.store.redis;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Objects;

import org.springframework.data.redis.core.script.DigestUtils;

/**
 * The scripts, each composed of its files. The files describe the arguments and results.
 */
enum Script {

	OPEN("open", "answer", "open-path"),

	PLAIN("plain", "index", "plain-index"),

	COMMIT("answer", "session", "summaries", "write", "index", "once", "places", "commit"),

	ITEMS("answer", "session", "items"),

	PATH("answer", "session", "summaries", "expired", "kinds", "places", "path"),

	TURN("answer", "session", "summaries", "expired", "kinds", "turn"),

	TURNS("answer", "session", "turns"),

	RECORD("answer", "session", "record"),

	RECORDS("answer", "session", "summaries", "expired", "kinds", "records"),

	HEADERS("answer", "session", "headers"),

	STANDING("answer", "session", "standing"),

	CLEAR("answer", "session", "clear"),

	PUT("answer", "session", "summaries", "write", "index", "once", "put"),

	NEWEST("answer", "newest"),

	OLDEST("answer", "oldest"),

	FOUND("answer", "session", "found"),

	SHARE("answer", "share"),

	TOUCH("answer", "index", "touch"),

	FORGET("answer", "forget"),

	SCAN("answer", "scan"),

	PURGE("answer", "purge"),

	SWEEP("answer", "session", "summaries", "expired", "sweep"),

	PROBE("answer", "probe"),

	CHECK("answer", "check");

	/**
	 * The script, which returns one text: a driver sets a text at once but builds a list
	 * piece by piece.
	 */
	private final byte[] text;

	private final String digest;

	Script(String... files) {
		StringBuilder text = new StringBuilder();
		for (String file : files) {
			text.append(read(file + ".lua"));
		}
		this.text = text.toString().getBytes(StandardCharsets.UTF_8);
		this.digest = DigestUtils.sha1DigestAsHex(text.toString());
	}

	/** Returns the script in UTF-8, not to be changed. */
	byte[] text() {
		return this.text;
	}

	/** Returns the digest by which a server knows it. */
	String digest() {
		return this.digest;
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
