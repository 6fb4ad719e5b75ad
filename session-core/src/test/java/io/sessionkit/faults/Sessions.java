package io.sessionkit.faults;

import java.util.List;
import java.util.UUID;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.sessionkit.SessionKey;

/**
 * The sessions of a workload.
 *
 * @param talks where turns are asked and deleted
 * @param popped where single messages are taken away again
 * @param gated where calls wait for a person
 */
record Sessions(List<SessionKey> talks, List<SessionKey> popped, List<SessionKey> gated) {

	static Sessions ofNew() {
		String owner = UUID.randomUUID().toString();
		return new Sessions(keys(owner, "talk", 3), keys(owner, "pop", 2), keys(owner, "gate", 4));
	}

	private static List<SessionKey> keys(String owner, String name, int number) {
		return IntStream.range(0, number).mapToObj((i) -> SessionKey.of(owner, name + i)).toList();
	}

	Stream<SessionKey> all() {
		return Stream.of(this.talks, this.popped, this.gated).flatMap(List::stream);
	}

}
