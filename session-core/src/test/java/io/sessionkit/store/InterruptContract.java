package io.sessionkit.store;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicReference;

import io.sessionkit.SessionException;
import io.sessionkit.SessionKey;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Threads that are interrupted, as those of a cancelled stream or a stopped server are. A
 * call either works, or throws a {@link SessionException} on a thread that is still
 * interrupted; and it harms nobody else.
 */
abstract class InterruptContract extends ExpiryContract {

	private static final int WRITERS = 3;

	private static final int READERS = 2;

	/**
	 * Returns the number of writes that each writer makes while it is interrupted.
	 */
	int interruptedWrites() {
		return 40;
	}

	@Test
	void interruptedThreadIsServedOrToldAndHarmsNobody() throws Exception {
		SessionKey key = key();
		SessionKey bystander = key();
		threadOf(key, 1);
		int added = 0;
		for (Map.Entry<String, Callable<?>> operation : operations(key).entrySet()) {
			callInterrupted(operation.getKey(), operation.getValue());
			store().add(bystander, batch("q" + added, "a" + added));
			assertThat(store().messages(bystander)).as("after %s", operation.getKey()).hasSize(2 * ++added);
			assertThat(store().put(bystander, RecordWrite.put("note", "1", "text"))).isTrue();
			assertThat(store().list(bystander.owner(), Page.first(1))).hasSize(1);
		}
	}

	private Map<String, Callable<?>> operations(SessionKey key) {
		Map<String, Callable<?>> operations = new LinkedHashMap<>();
		operations.put("open", () -> store().open(key, Window.ALL));
		operations.put("items", () -> store().items(key, Tail.ALL));
		operations.put("items of a turn", () -> store().items(key, 1));
		operations.put("turns", () -> store().turns(key, Tail.ALL));
		operations.put("list", () -> store().list(key.owner(), Page.first(10)));
		operations.put("plain commit", () -> store().commit(Commit.any(key).turn(completed("q", "a"))));
		operations.put("first commit", () -> store().commit(Commit.first(key()).turn(completed("q", "a"))));
		operations.put("commit", () -> store()
			.commit(Commit.any(key).turn(completed("q")).records(List.of(RecordWrite.put("note", "1", "text")))));
		operations.put("put", () -> store().put(key, RecordWrite.put("note", "2", "text")));
		operations.put("records", () -> store().records(key, "note"));
		operations.put("records of the owner", () -> store().records(key.owner(), "note", Page.first(10)));
		operations.put("deletion", () -> store().deleteExpired(10));
		operations.put("erasure", () -> {
			store().erase(key);
			return true;
		});
		return operations;
	}

	private static void callInterrupted(String name, Callable<?> operation) throws Exception {
		AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
		Thread thread = new Thread(() -> {
			Thread.currentThread().interrupt();
			try {
				operation.call();
			}
			catch (Exception | Error ex) {
				failure.set(failureOf(name, ex));
			}
		});
		thread.start();
		thread.join();
		assertThat(failure.get()).isNull();
	}

	/** Returns the fault of an exception; null if it is one that the docs name. */
	private static @Nullable Throwable failureOf(String name, Throwable thrown) {
		boolean interrupted = Thread.currentThread().isInterrupted();
		if (thrown instanceof SessionException && interrupted) {
			return null;
		}
		return new AssertionError(name + (interrupted ? "" : ", on a thread that is not interrupted any more"), thrown);
	}

	@Test
	void interruptsWhileOthersReadAndWriteHarmNobody() throws Exception {
		List<SessionKey> keys = new ArrayList<>();
		List<List<String>> acknowledged = new ArrayList<>();
		List<Throwable> failures = new CopyOnWriteArrayList<>();
		List<Thread> threads = new ArrayList<>();
		for (int i = 0; i < WRITERS; i++) {
			SessionKey key = key();
			List<String> stored = new CopyOnWriteArrayList<>();
			threadOf(key, 1);
			keys.add(key);
			acknowledged.add(stored);
			threads.add(new Thread(() -> write(key, stored, failures)));
		}
		for (int i = 0; i < READERS; i++) {
			SessionKey key = keys.get(i);
			threads.add(new Thread(() -> read(key, threads.get(0), failures)));
		}
		interrupt(threads);
		assertThat(failures).isEmpty();
		for (int i = 0; i < WRITERS; i++) {
			List<String> log = log(keys.get(i));
			assertThat(log).doesNotHaveDuplicates().containsAll(acknowledged.get(i));
			assertThat(log.size() % 2).isZero();
			store().add(keys.get(i), batch("last"));
			assertThat(log(keys.get(i))).endsWith("last");
		}
	}

	private void write(SessionKey key, List<String> stored, List<Throwable> failures) {
		for (int i = 0; i < interruptedWrites(); i++) {
			String question = "question " + i;
			if (isDone(failures, () -> {
				store().add(key, batch(question, "answer to " + question));
				return store().put(key, RecordWrite.put("note", "1", question));
			})) {
				stored.add(question);
			}
		}
	}

	private void read(SessionKey key, Thread writer, List<Throwable> failures) {
		while (writer.isAlive()) {
			isDone(failures, () -> store().open(key, Window.ALL).orElseThrow());
			isDone(failures, () -> store().turns(key, Tail.ALL));
		}
	}

	private static boolean isDone(List<Throwable> failures, Callable<?> operation) {
		try {
			operation.call();
			return true;
		}
		catch (Exception | Error ex) {
			Throwable failure = failureOf("interrupted meanwhile", ex);
			if (failure != null) {
				failures.add(failure);
			}
			return false;
		}
		finally {
			Thread.interrupted();
		}
	}

	private static void interrupt(List<Thread> threads) throws InterruptedException {
		Random random = new Random(42);
		threads.forEach(Thread::start);
		while (threads.stream().anyMatch(Thread::isAlive)) {
			threads.get(random.nextInt(threads.size())).interrupt();
			Thread.sleep(random.nextInt(3));
		}
	}

}
