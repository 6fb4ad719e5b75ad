package io.sessionkit.internal.stream;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;

import ch.qos.logback.classic.spi.ILoggingEvent;
import io.sessionkit.SessionKey;
import io.sessionkit.conversation.Conversations;
import io.sessionkit.internal.door.InnerParts;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.StoreUnavailableException;
import io.sessionkit.test.CapturedLog;
import io.sessionkit.test.TestStores;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.parallel.Isolated;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests what is logged of a stream if the answers of the store to its last write are
 * lost, and what its writer takes for its own.
 */
@Isolated
class StreamWriterLogTests {

	private static final SessionKey KEY = SessionKey.of("ada", "t1");

	private static final Map<String, Object> EVENT = Map.of("event", "text", "text", "a".repeat(100));

	/** The writes whose answers are lost from now on. */
	private final AtomicInteger lost = new AtomicInteger();

	private final SessionStore store = TestStores.MEMORY.create();

	private final Conversations conversations = Conversations.builder(losing()).build();

	@RegisterExtension
	private final CapturedLog log = CapturedLog.of(StreamWriter.class);

	@AfterEach
	void close() {
		this.conversations.close();
	}

	private SessionStore losing() {
		return (SessionStore) Proxy.newProxyInstance(SessionStore.class.getClassLoader(),
				new Class<?>[] { SessionStore.class }, (proxy, method, arguments) -> {
					try {
						Object answer = method.invoke(this.store, arguments);
						if (method.getName().equals("put")
								&& this.lost.getAndUpdate((left) -> Math.max(0, left - 1)) > 0) {
							throw new StoreUnavailableException("The store's answer was lost.", null);
						}
						return answer;
					}
					catch (InvocationTargetException ex) {
						throw ex.getTargetException();
					}
				});
	}

	private StreamWriter writer(long maxSize) {
		StreamLimits limits = new StreamLimits(Duration.ofMinutes(10), maxSize);
		return InnerParts.of(this.conversations, StreamLogs.class).begin(KEY, "s", limits, null, false);
	}

	private void loseTheAnswerTo(Runnable write) {
		this.lost.set(1);
		assertThatExceptionOfType(StoreUnavailableException.class).isThrownBy(write::run);
	}

	private List<String> marks() {
		return InnerParts.of(this.conversations, StreamLogs.class)
			.chunks(KEY, "s")
			.stream()
			.map((chunk) -> chunk.mark().name())
			.toList();
	}

	@Test
	void writerThatFindsItsOwnEndOfAStreamThatIsBrokenOffBlamesNobody() {
		StreamWriter writer = writer(10_000);
		loseTheAnswerTo(writer::breakOff);
		writer.breakOff();
		assertThat(marks()).containsExactly("NONE", "LOST");
		assertThat(this.log.events()).isEmpty();
	}

	@Test
	void writerThatFindsItsOwnEndOfAStreamThatIsTooLargeBlamesNobody() {
		StreamWriter writer = writer(50);
		writer.add(EVENT);
		loseTheAnswerTo(writer::writeNow);
		writer.writeNow();
		assertThat(marks()).containsExactly("NONE", "LOST");
		assertThat(this.log.events()).isEmpty();
	}

	@Test
	void streamThatAReaderHasGivenUpIsLogged() {
		StreamWriter writer = writer(10_000);
		InnerParts.of(this.conversations, StreamLogs.class)
			.append(KEY, "s", StreamChunk.of(1, 0, StreamChunk.Mark.LOST), Duration.ofMinutes(10));
		writer.add(EVENT);
		writer.writeNow();
		assertThat(this.log.events()).extracting(ILoggingEvent::getFormattedMessage)
			.singleElement()
			.asString()
			.contains("given up by a reader");
	}

	/** Otherwise more would be kept of a stream than its limit says. */
	@Test
	void chunkWhoseAnswerWasLostCountsToTheSizeOfItsStream() {
		StreamWriter writer = writer(300);
		writer.add(EVENT);
		loseTheAnswerTo(writer::writeNow);
		writer.writeNow();
		writer.add(EVENT);
		writer.writeNow();
		assertThat(marks()).containsExactly("NONE", "NONE", "LOST");
	}

}
