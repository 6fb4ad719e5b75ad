package io.sessionkit.internal.retention;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;

import io.sessionkit.Session;
import io.sessionkit.SessionKey;
import io.sessionkit.codec.JsonMessageCodec;
import io.sessionkit.context.Retention;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.StoreOptions;
import io.sessionkit.store.memory.InMemorySessionStore;
import io.sessionkit.test.ObservedStore;
import io.sessionkit.test.SetClock;
import org.junit.jupiter.api.Test;

import org.springframework.ai.chat.messages.UserMessage;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests what a process that works on many sessions remembers of its looks at them.
 */
class RetentionsTests {

	private static final int SESSIONS = 12_000;

	private final SetClock clock = new SetClock();

	private final SessionStore memory = new InMemorySessionStore(
			StoreOptions.of(JsonMessageCodec.create()).clock(this.clock));

	private final AtomicInteger looks = new AtomicInteger();

	@Test
	void eachOfManySessionsInRotationIsReadOnceInATenthOfTheAge() {
		List<Session> sessions = IntStream.range(0, SESSIONS).mapToObj(this::session).toList();
		this.clock.pass(Duration.ofDays(31));
		ObservedStore observed = new ObservedStore(this.memory);
		observed.beforePath(this.looks::incrementAndGet);
		Retentions retentions = new Retentions(observed, Retention.keepFor(Duration.ofDays(30)));
		for (int round = 1; round <= 3; round++) {
			sessions.forEach((session) -> retentions.after(session, session.turns(), () -> null));
			assertThat(this.looks).hasValue(SESSIONS);
		}
	}

	private Session session(int number) {
		SessionKey key = SessionKey.of("ada", "t" + number);
		this.memory.add(key, List.of(new UserMessage("q")));
		return this.memory.find(key).orElseThrow();
	}

}
