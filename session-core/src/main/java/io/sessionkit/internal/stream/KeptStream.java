package io.sessionkit.internal.stream;

import java.util.List;
import java.util.Map;
import java.util.function.Predicate;

import org.jspecify.annotations.Nullable;

/**
 * A stream as it is kept.
 *
 * @param name the name of the stream
 * @param chunks its chunks, in order, at least one
 */
public record KeptStream(String name, List<StreamChunk> chunks) {

	public KeptStream {
		chunks = List.copyOf(chunks);
	}

	/**
	 * Returns whether the call of the stream makes a request.
	 * @param request the digest of the name of the request
	 */
	public boolean isOf(String request) {
		return this.chunks.stream().anyMatch((chunk) -> request.equals(chunk.request()));
	}

	/** Returns whether it can be read from its first event on. */
	public boolean isWhole() {
		return this.chunks.get(0).number() == 0;
	}

	/** Returns whether one of its events is like that. */
	public boolean has(Predicate<Map<String, @Nullable Object>> event) {
		return this.chunks.stream().flatMap((chunk) -> chunk.events().stream()).anyMatch(event);
	}

}
