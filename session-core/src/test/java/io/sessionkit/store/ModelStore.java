package io.sessionkit.store;

import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

import io.sessionkit.SessionKey;
import io.sessionkit.store.CommitResult.Outcome;
import org.jspecify.annotations.Nullable;

/**
 * A model of a store after any number of changes: a map of {@link ModelSession}s.
 */
final class ModelStore {

	final Map<SessionKey, ModelSession> sessions = new LinkedHashMap<>();

	private long stamp;

	/**
	 * The state that a commit was based on.
	 *
	 * @param session the session that was opened, of which there can be several with one
	 * key, one after the other
	 * @param version its version then
	 */
	record Base(ModelSession session, long version) {
	}

	/**
	 * The expected outcome of a commit.
	 *
	 * @param result what is answered; null where an exception is the only right answer
	 * @param invalid whether it breaks a rule, so that it is refused with an exception
	 * @param paused whether it would leave an open turn behind, so that it is refused
	 */
	record Expected(@Nullable CommitResult result, boolean invalid, boolean paused) {
	}

	@Nullable ModelSession find(SessionKey key) {
		return this.sessions.get(key);
	}

	/**
	 * Makes a change, if it is to be made.
	 * @param base what the commit was based on; null where it names no base
	 */
	Expected commit(Commit commit, @Nullable Base base) {
		ModelSession there = find(commit.key());
		ModelSession session = (there != null) ? there : new ModelSession(commit.key());
		TurnWrite write = commit.turn();
		ModelTurn turn = (write != null) ? session.find(write.turn().id()) : null;
		if (turn != null && write.part() < turn.parts) {
			return new Expected(new CommitResult(Outcome.REPEATED, session.version, turn.number(), 0), false, false);
		}
		boolean expected = isAsExpected(commit, base, there) && session.isNext(write)
				&& (turn == null || turn.status().isOpen())
				&& commit.records().stream().allMatch(session::isAsExpected);
		if (!expected) {
			return new Expected(new CommitResult(Outcome.CONFLICT, session.version, 0, 0), false, false);
		}
		if (session.isInvalid(commit)) {
			return new Expected(null, true, false);
		}
		if (session.strandsOpenTurn(commit)) {
			return new Expected(null, false, true);
		}
		this.sessions.put(commit.key(), session);
		return new Expected(session.apply(commit, ++this.stamp), false, false);
	}

	private static boolean isAsExpected(Commit commit, @Nullable Base base, @Nullable ModelSession there) {
		return switch (commit.expect()) {
			case ABSENT -> there == null;
			case UNCHANGED ->
				there != null && base != null && base.session() == there && base.version() == there.version;
			case ANY -> there != null || (commit.turn() != null && commit.turn().part() == 0);
		};
	}

	/**
	 * Writes a record, if it is as expected.
	 */
	boolean put(SessionKey key, RecordWrite write) {
		ModelSession session = find(key);
		if (session == null || !session.isAsExpected(write)) {
			return false;
		}
		session.write(write, ++this.stamp);
		return true;
	}

	boolean erase(SessionKey key) {
		return this.sessions.remove(key) != null;
	}

	/**
	 * The sessions of an owner, last written first.
	 */
	List<ModelSession> list(String owner) {
		return this.sessions.values()
			.stream()
			.filter((session) -> session.key.owner().equals(owner))
			.sorted(Comparator.comparingLong((ModelSession session) -> session.writtenAt).reversed())
			.toList();
	}

	/**
	 * Finds a record as it was written that a store has handed out; empty if there is
	 * none.
	 */
	Optional<ModelSession.ModelRecord> find(SessionRecord record) {
		return Optional.ofNullable(find(record.key())).map((session) -> session.record(record.kind(), record.id()));
	}

}
