package io.sessionkit.autoconfigure.observation;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.sessionkit.Session;
import io.sessionkit.SessionItem;
import io.sessionkit.SessionKey;
import io.sessionkit.Turn;
import io.sessionkit.store.Commit;
import io.sessionkit.store.CommitResult;
import io.sessionkit.store.Page;
import io.sessionkit.store.PathQuery;
import io.sessionkit.store.PathView;
import io.sessionkit.store.RecordPage;
import io.sessionkit.store.RecordWrite;
import io.sessionkit.store.SessionRecord;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.SessionView;
import io.sessionkit.store.StoreLayer;
import io.sessionkit.store.StoreUnavailableException;
import io.sessionkit.store.Tail;
import io.sessionkit.store.TurnView;
import io.sessionkit.store.Window;
import org.jspecify.annotations.Nullable;

import org.springframework.ai.chat.messages.Message;

/**
 * Counts the calls that a store did not answer, or refused, and the sessions that a purge
 * has deleted. Everything else is as the store does it.
 */
final class CountedStore implements StoreLayer {

	private final SessionStore store;

	private final Map<Operation, Counter> errors;

	private final Counter deleted;

	CountedStore(SessionStore store, MeterRegistry registry) {
		this.store = store;
		this.errors = Stream.of(Operation.values())
			.collect(Collectors.toMap(Function.identity(), (operation) -> errors(registry, operation)));
		this.deleted = Counter.builder("sessionkit.purge.deleted")
			.description("Expired sessions and records that this process has deleted.")
			.register(registry);
	}

	@Override
	public SessionStore layered() {
		return this.store;
	}

	/**
	 * The kinds of calls.
	 */
	private enum Operation {

		OPEN, COMMIT, READ, LIST, RECORD, ERASE, PURGE

	}

	private static Counter errors(MeterRegistry registry, Operation operation) {
		return Counter.builder("sessionkit.store.errors")
			.description("Calls of the store that it did not answer, or refused.")
			.tag("operation", ObservationNames.value(operation))
			.register(registry);
	}

	private <T extends @Nullable Object> T call(Operation operation, Supplier<T> work) {
		try {
			return work.get();
		}
		catch (StoreUnavailableException ex) {
			Counter counter = this.errors.get(operation);
			if (counter != null) {
				counter.increment();
			}
			throw ex;
		}
	}

	@Override
	public Optional<SessionView> open(SessionKey key, Window window) {
		return call(Operation.OPEN, () -> this.store.open(key, window));
	}

	@Override
	public CommitResult commit(Commit commit) {
		return call(Operation.COMMIT, () -> this.store.commit(commit));
	}

	@Override
	public Optional<PathView> path(SessionKey key, PathQuery query) {
		return call(Operation.OPEN, () -> this.store.path(key, query));
	}

	@Override
	public List<SessionItem> items(SessionKey key, Tail tail) {
		return call(Operation.READ, () -> this.store.items(key, tail));
	}

	@Override
	public List<SessionItem> items(SessionKey key, long turn) {
		return call(Operation.READ, () -> this.store.items(key, turn));
	}

	@Override
	public List<Turn> turns(SessionKey key, Tail tail) {
		return call(Operation.READ, () -> this.store.turns(key, tail));
	}

	@Override
	public Optional<TurnView> turn(SessionKey key, long number, Set<String> kinds) {
		return call(Operation.OPEN, () -> this.store.turn(key, number, kinds));
	}

	@Override
	public List<Session> list(String owner, Page page) {
		return call(Operation.LIST, () -> this.store.list(owner, page));
	}

	@Override
	public boolean erase(SessionKey key) {
		return call(Operation.ERASE, () -> this.store.erase(key));
	}

	@Override
	public int deleteExpired(int limit) {
		int sessions = call(Operation.PURGE, () -> this.store.deleteExpired(limit));
		this.deleted.increment(sessions);
		return sessions;
	}

	@Override
	public boolean put(SessionKey key, RecordWrite record) {
		return call(Operation.RECORD, () -> this.store.put(key, record));
	}

	@Override
	public List<SessionRecord> records(SessionKey key, String kind) {
		return call(Operation.RECORD, () -> this.store.records(key, kind));
	}

	@Override
	public Optional<SessionRecord> record(SessionKey key, String kind, String id) {
		return call(Operation.RECORD, () -> this.store.record(key, kind, id));
	}

	@Override
	public List<SessionRecord> records(String owner, String kind, Page page) {
		return call(Operation.LIST, () -> this.store.records(owner, kind, page));
	}

	@Override
	public RecordPage oldestRecords(String kind, @Nullable String after, int limit) {
		return call(Operation.LIST, () -> this.store.oldestRecords(kind, after, limit));
	}

	@Override
	public List<Message> messages(SessionKey key) {
		return call(Operation.READ, () -> this.store.messages(key));
	}

	@Override
	public List<Message> messages(SessionKey key, int limit) {
		return call(Operation.READ, () -> this.store.messages(key, limit));
	}

	@Override
	public void add(SessionKey key, List<? extends Message> messages) {
		call(Operation.COMMIT, () -> {
			this.store.add(key, messages);
			return true;
		});
	}

	@Override
	public Optional<Message> pop(SessionKey key) {
		return call(Operation.COMMIT, () -> this.store.pop(key));
	}

	@Override
	public boolean clear(SessionKey key) {
		return call(Operation.ERASE, () -> this.store.clear(key));
	}

	@Override
	public Optional<Session> find(SessionKey key) {
		return call(Operation.OPEN, () -> this.store.find(key));
	}

}
