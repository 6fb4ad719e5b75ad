package io.sessionkit.stream;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import io.sessionkit.SessionKey;
import io.sessionkit.TurnStatus;
import io.sessionkit.hook.SessionEvent;
import io.sessionkit.stream.CallEvent.Ended;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import reactor.core.publisher.Flux;

import org.springframework.ai.chat.messages.UserMessage;
import org.springframework.ai.chat.model.ChatResponse;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The end of a call that is stopped while its turn is stored.
 */
@Timeout(60)
class CallReaderTests {

	private static final Ended CANCELLED = new Ended("7-c0ffee", 0, TurnStatus.CANCELLED);

	private final List<CallEvent> events = new CopyOnWriteArrayList<>();

	private final CountDownLatch ended = new CountDownLatch(1);

	private final CountDownLatch stopped = new CountDownLatch(1);

	/**
	 * The listener passes the end on while whoever stops the call finds it stored, and
	 * does so too.
	 */
	@Test
	void callThatIsStoppedWhileItsTurnIsStoredHasOneEnd() throws InterruptedException {
		CallReader[] reader = new CallReader[1];
		Thread[] listener = new Thread[1];
		CallReader.events((created) -> {
			reader[0] = created;
			Flux.<ChatResponse>never().doOnCancel(() -> {
				listener[0] = new Thread(() -> created.failed(failed()));
				listener[0].start();
				await(this.ended);
			}).subscribe(created);
		}).subscribe((event) -> {
			this.events.add(event);
			this.ended.countDown();
			if (Thread.currentThread() == listener[0]) {
				await(this.stopped);
			}
		});

		reader[0].stop();
		this.stopped.countDown();
		listener[0].join();

		assertThat(this.events).containsExactly(CANCELLED);
	}

	@Test
	void nothingComesBehindTheEndOfACallThatIsStopped() {
		CallReader[] reader = new CallReader[1];
		CallReader.events((created) -> {
			reader[0] = created;
			Flux.<ChatResponse>never().subscribe(created);
		}).subscribe((event) -> {
			this.events.add(event);
			if (event instanceof Ended) {
				reader[0].joined(List.of(new UserMessage("q")));
				reader[0].waits(() -> false);
				reader[0].toolEnded("add", "{}", "1");
				reader[0].lost();
				reader[0].failed(failed());
			}
		});

		reader[0].stop();
		reader[0].failed(failed());

		Awaitility.await()
			.atMost(Duration.ofSeconds(30))
			.untilAsserted(() -> assertThat(this.events).containsExactly(CANCELLED));
	}

	private static SessionEvent.Failed failed() {
		return new SessionEvent.Failed(SessionKey.of("t1"), "7-c0ffee", SessionEvent.Kept.TURN, TurnStatus.CANCELLED,
				null);
	}

	private static void await(CountDownLatch latch) {
		try {
			assertThat(latch.await(20, TimeUnit.SECONDS)).isTrue();
		}
		catch (InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
	}

}
