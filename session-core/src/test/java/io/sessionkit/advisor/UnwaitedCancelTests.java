package io.sessionkit.advisor;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.test.publisher.TestPublisher;
import reactor.test.publisher.TestPublisher.Violation;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A stream whose source takes long to be cancelled.
 */
class UnwaitedCancelTests {

	private final TestPublisher<String> source = TestPublisher.createNoncompliant(Violation.CLEANUP_ON_TERMINATE);

	private final CountDownLatch closed = new CountDownLatch(1);

	private final AtomicReference<Thread> closing = new AtomicReference<>();

	private final List<String> read = new CopyOnWriteArrayList<>();

	@Test
	void whatTheSourceStillSaysIsNotPassedOn() {
		Disposable reader = reader();
		this.source.next("one");
		reader.dispose();
		Awaitility.await().until(() -> this.closing.get() != null);
		assertThat(this.closing.get().isDaemon()).isTrue();
		this.source.next("two");
		this.source.error(new IllegalStateException("closed"));
		this.closed.countDown();
		Awaitility.await().until(this.source::wasCancelled);
		assertThat(this.read).containsExactly("one");
	}

	@Test
	void sourceThatHasEndedIsNotCancelled() {
		Disposable reader = reader();
		this.source.next("one");
		this.source.complete();
		reader.dispose();
		assertThat(this.read).containsExactly("one", "end");
		assertThat(this.source.wasCancelled()).isFalse();
	}

	private Disposable reader() {
		Flux<String> slow = this.source.flux().doOnCancel(() -> {
			this.closing.set(Thread.currentThread());
			await(this.closed);
		});
		return UnwaitedCancel.of(slow)
			.subscribe(this.read::add, (ex) -> this.read.add("failed"), () -> this.read.add("end"));
	}

	private static void await(CountDownLatch latch) {
		try {
			latch.await();
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

}
