package io.sessionkit.store;

import java.time.Clock;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

import io.sessionkit.Session;
import io.sessionkit.SessionItem;
import io.sessionkit.SessionKey;
import io.sessionkit.Turn;
import io.sessionkit.TurnStatus;
import org.jspecify.annotations.Nullable;

import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.UserMessage;

/**
 * The common parts of the tests of the contract: keys that no other test uses, turns with
 * texts, and threads that start together.
 */
public abstract class SessionStoreFixture {

	public static final Instant AT = Instant.parse("2026-02-03T04:05:06.789Z");

	private static final int TOKENS = 7;

	protected abstract SessionStore store();

	/**
	 * A new store on the data of the one under test, as another process has it.
	 * @return the store; the one under test where there can be no other
	 */
	protected SessionStore another() {
		return store();
	}

	/**
	 * A store like the one under test, whose times are by a clock that the test sets.
	 * @param clock the clock of its options
	 * @return a store; the one under test where the server behind it has a clock of its
	 * own, which no test can set
	 */
	protected SessionStore storeOn(Clock clock) {
		return store();
	}

	/**
	 * Looks under the store for what is left of a session, whether or not it can be read.
	 * @param key the session
	 * @return how many rows, keys or texts there are; -1 where the test cannot look there
	 */
	protected long leftOf(SessionKey key) {
		return -1;
	}

	/**
	 * Makes what is stored of a session itself unreadable, where the test can reach under
	 * the store.
	 * @param key the session
	 * @return whether it was done
	 */
	protected boolean spoil(SessionKey key) {
		return false;
	}

	/**
	 * Copies what is stored of a session, where the test can reach under the store.
	 * @param key the session
	 * @return puts it back in the place of what is stored by then; null where that cannot
	 * be done
	 */
	protected @Nullable Runnable backup(SessionKey key) {
		return null;
	}

	/**
	 * A key of an owner that no other test has.
	 */
	static SessionKey key() {
		return SessionKey.of(name("owner"), name("thread"));
	}

	static String name(String kind) {
		return kind + "-" + UUID.randomUUID();
	}

	Session header(SessionKey key) {
		return store().find(key).orElseThrow();
	}

	/**
	 * Stores completed turns of a question and an answer each: q1, a1, q2, a2 and so on.
	 */
	Session threadOf(SessionKey key, int turns) {
		for (int i = 1; i <= turns; i++) {
			commit(Commit.any(key).turn(completed("q" + i, "a" + i)));
		}
		return header(key);
	}

	/**
	 * Stores a change that must be accepted.
	 */
	CommitResult commit(Commit commit) {
		CommitResult result = store().commit(commit);
		if (result.outcome() != CommitResult.Outcome.COMMITTED) {
			throw new AssertionError("expected to be committed, was " + result);
		}
		return result;
	}

	public static List<Message> batch(String... texts) {
		List<Message> messages = new ArrayList<>();
		for (String text : texts) {
			messages.add((messages.size() % 2 == 0) ? new UserMessage(text) : new AssistantMessage(text));
		}
		return messages;
	}

	public static TurnWrite completed(String... texts) {
		return turn(TurnStatus.COMPLETED, 0, texts);
	}

	public static TurnWrite turn(TurnStatus status, long parent, String... texts) {
		Turn turn = Turn.builder(UUID.randomUUID().toString(), AT)
			.after(parent, Session.MAIN)
			.status(status, status.isOpen() ? null : AT.plusSeconds(1))
			.build();
		return new TurnWrite(turn, 0, items(texts));
	}

	/**
	 * The next part of a turn.
	 */
	public static TurnWrite next(TurnWrite before, TurnStatus status, String... texts) {
		Turn turn = before.turn();
		Turn now = Turn.builder(turn.id(), turn.startedAt())
			.after(turn.parent(), turn.branch())
			.status(status, status.isOpen() ? null : AT.plusSeconds(2))
			.agent(turn.agent())
			.model(turn.model())
			.rounds(turn.rounds())
			.tools(turn.tools())
			.failure(turn.failure())
			.build();
		return new TurnWrite(now, before.part() + 1, items(texts));
	}

	public static List<NewItem> items(String... texts) {
		return batch(texts).stream().map(SessionStoreFixture::item).toList();
	}

	static NewItem item(Message message) {
		return new NewItem(message, AT, TOKENS);
	}

	static int tokens(int items) {
		return items * TOKENS;
	}

	List<String> log(SessionKey key) {
		return texts(store().items(key, Tail.ALL));
	}

	List<String> view(SessionKey key, Window window) {
		return texts(store().open(key, window).orElseThrow().items());
	}

	public static List<String> texts(List<SessionItem> items) {
		return items.stream().map((item) -> item.message().getText()).toList();
	}

	static long[] sequences(List<SessionItem> items) {
		return items.stream().mapToLong(SessionItem::sequence).toArray();
	}

	/**
	 * Returns the results of several threads that started together.
	 */
	public static <T> List<T> race(int threads, Callable<T> task) throws Exception {
		List<Callable<T>> tasks = new ArrayList<>();
		for (int i = 0; i < threads; i++) {
			tasks.add(task);
		}
		return race(tasks);
	}

	public static <T> List<T> race(List<Callable<T>> tasks) throws Exception {
		CyclicBarrier start = new CyclicBarrier(tasks.size());
		ExecutorService threads = Executors.newFixedThreadPool(tasks.size());
		try {
			List<Future<T>> futures = new ArrayList<>();
			for (Callable<T> task : tasks) {
				futures.add(threads.submit(() -> {
					start.await(30, TimeUnit.SECONDS);
					return task.call();
				}));
			}
			List<T> results = new ArrayList<>();
			for (Future<T> future : futures) {
				results.add(future.get(60, TimeUnit.SECONDS));
			}
			return results;
		}
		finally {
			threads.shutdownNow();
		}
	}

	static long count(List<CommitResult> results, CommitResult.Outcome outcome) {
		return results.stream().filter((result) -> result.outcome() == outcome).count();
	}

}
